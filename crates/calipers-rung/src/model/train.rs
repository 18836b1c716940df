//! Training on the labels of some nodes: Adam on the mean cross-entropy, the last weights kept.

use calipers_core::{Error, Result};

use crate::model::features::Features;
use crate::model::graph::Graph;
use crate::model::loss::{accuracy, cross_entropy, labels_of};
use crate::model::matrix::{Matrix, WIDTH};
use crate::model::network::mlp::{Dropout, Gradients, Layer, Perceptron};
use crate::model::penalty::Penalty;
use crate::model::propagation::Propagation;
use crate::model::propagation::backward::Through;
use crate::model::propagation::links::Links;
use crate::model::random::{Draws, Stream};
use crate::model::rung::{Rung, check_rows};
use crate::model::settings::{LAMBDA_HAT, LAYERS, Settings};
use crate::model::watch::{Accuracy, Status, Watch, tell};

/// How a model is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The penalty on edges.
    pub penalty: Penalty,
    /// The widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// How often all train nodes are seen.
    pub epochs: u32,
    /// The share of hidden units left out.
    pub dropout: f64,
    /// The learning rate.
    pub lr: f64,
    /// The pull of every weight towards 0, added to its gradient.
    pub weight_decay: f64,
    /// The share of the smoothing term, in (0, 1].
    pub lambda_hat: f64,
    /// The number of propagation steps, K.
    pub layers: u32,
    /// The seed of initial weights and dropout.
    pub seed: u64,
}

impl Training {
    /// The usual training under this penalty.
    pub fn new(penalty: Penalty) -> Self {
        Self {
            penalty,
            hidden: vec![64],
            epochs: 300,
            dropout: 0.5,
            lr: 0.05,
            weight_decay: 5e-4,
            lambda_hat: LAMBDA_HAT,
            layers: LAYERS,
            seed: 0,
        }
    }

    /// # Errors
    /// Usage: a number outside its range.
    pub fn check(&self) -> Result<()> {
        let outside = |what: &str, found: String, allowed: &str| {
            Err(Error::usage(format!("{what} out of range")).found(found).allowed(allowed))
        };
        if !(self.lr > 0.0 && self.lr.is_finite()) {
            return outside("learning rate (lr)", self.lr.to_string(), "numbers above 0");
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return outside(
                "weight decay (weight_decay)",
                self.weight_decay.to_string(),
                "numbers from 0 on",
            );
        }
        if self.hidden.contains(&0) {
            return outside("width of a hidden layer (hidden)", "0".to_owned(), "whole numbers above 0");
        }
        self.settings().check()
    }

    fn settings(&self) -> Settings {
        Settings {
            penalty: self.penalty,
            lambda_hat: self.lambda_hat,
            layers: self.layers,
            dropout: Some(self.dropout),
            seed: Some(self.seed),
            epochs: Some(self.epochs),
        }
    }

    /// Weights and biases uniform in +-1/sqrt(inputs), counted through weight (output by output) and bias of
    /// one layer after the other.
    fn initial(&self, inputs: usize, classes: usize) -> Perceptron {
        let draws = Draws::new(self.seed, Stream::Initial);
        let mut k = 0;
        let mut next = |bound: f64| {
            k += 1;
            (2.0 * draws.uniform(k - 1) - 1.0) * bound
        };
        let mut inputs = inputs;
        let mut layers = Vec::new();
        for &outputs in self.hidden.iter().chain([&classes]) {
            let mut layer = Layer::zeros(inputs, outputs);
            let bound = 1.0 / (inputs.max(1) as f64).sqrt();
            for unit in 0..outputs {
                (0..inputs).for_each(|input| layer.weight.row_mut(input)[unit] = next(bound));
            }
            layer.bias.row_mut(0).iter_mut().for_each(|bias| *bias = next(bound));
            layers.push(layer);
            inputs = outputs;
        }
        Perceptron { layers }
    }
}

/// Trains a model on the labels of the `train` nodes; the `val` nodes are only measured, for whoever watches.
///
/// # Errors
/// Settings out of range; graph and features of different sizes; no train nodes, or one without a label; a
/// loss or weights that are not finite, with the epoch; interrupted.
#[expect(clippy::too_many_arguments, reason = "the evidence, the settings and the way to run are all needed")]
pub fn train(
    graph: &Graph,
    features: &Features,
    labels: &[i64],
    classes: usize,
    train: &[usize],
    val: &[usize],
    training: &Training,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Rung> {
    training.check()?;
    check_rows(graph, features)?;
    if train.is_empty() {
        return Err(Error::value("no train nodes").advice("choose a split with train nodes"));
    }
    if classes == 0 {
        return Err(Error::value("no classes").advice("give the labels of the nodes"));
    }
    let train_labels = labels_of("train", train, labels, classes)?;
    let val_labels = labels_of("val", val, labels, classes)?;
    let transposed = features.transposed();
    let settings = training.settings();
    let propagation = Propagation::new(Links::of_graph(graph), &settings, threads);
    let mut perceptron = training.initial(features.columns(), classes);
    let mut adam = Adam::new(&perceptron, training);
    // Epochs leave their memory to the next: on Cora, fresh memory took a fifth of the time.
    let (mut outputs, mut used, mut gradients) = (Vec::new(), None, Gradients::default());
    for epoch in 0..training.epochs {
        let dropout = Dropout { share: training.dropout, seed: training.seed, epoch };
        outputs = perceptron.record(features, dropout, threads, outputs);
        let initial = outputs.last().expect("a perceptron has layers");
        let in_epoch =
            |error: Error| error.at(format!("epoch {}", epoch + 1)).advice("try a smaller learning rate");
        let tape = propagation.record(initial, used.take()).map_err(in_epoch)?;
        let loss = cross_entropy(&tape.scores, &train_labels, train);
        if !loss.value.is_finite() {
            return Err(in_epoch(Error::value("the loss is not finite").found(loss.value)));
        }
        let derivatives = propagation.backward(&tape, initial, loss.gradient, Through::Scores, |_| {});
        let by_scores = &derivatives.initial;
        gradients = perceptron.backward(&transposed, &outputs, by_scores, dropout, threads, gradients);
        adam.step(&mut perceptron, &gradients.layers);
        used = Some(tape);
        let measure = || {
            let scores =
                propagation.forward(&perceptron.forward(features, threads)).map(|(scores, _)| scores);
            let share = |nodes: &[usize], labels: &[usize]| {
                scores.as_ref().map_or(f64::NAN, |scores: &Matrix| accuracy(scores, labels, nodes))
            };
            Accuracy {
                train: share(train, &train_labels),
                val: (!val.is_empty()).then(|| share(val, &val_labels)),
            }
        };
        let status = Status::Epoch { epoch: epoch + 1, loss: loss.value, accuracy: &measure };
        tell(watch, u64::from(epoch) + 1, u64::from(training.epochs), status)?;
    }
    let model = Rung::rounded(perceptron, settings);
    // No loss has seen the weights after the last step, nor as they are rounded.
    if !model.is_finite() {
        return Err(Error::value("the weights are not finite")
            .at(format!("epoch {}", training.epochs))
            .allowed("numbers that an f32 holds")
            .advice("try a smaller learning rate"));
    }
    Ok(model)
}

/// Adam with weight decay in the gradient.
struct Adam {
    means: Vec<Layer>,
    squares: Vec<Layer>,
    lr: f64,
    decay: f64,
    /// Powers of the two rates of forgetting.
    powers: (f64, f64),
}

const FORGET_MEAN: f64 = 0.9;
const FORGET_SQUARE: f64 = 0.999;
const LEAST_DIVISOR: f64 = 1e-8;

impl Adam {
    fn new(perceptron: &Perceptron, training: &Training) -> Self {
        let zeros =
            || perceptron.layers.iter().map(|layer| Layer::zeros(layer.inputs(), layer.outputs())).collect();
        Self {
            means: zeros(),
            squares: zeros(),
            lr: training.lr,
            decay: training.weight_decay,
            powers: (1.0, 1.0),
        }
    }

    fn step(&mut self, perceptron: &mut Perceptron, gradients: &[Layer]) {
        self.powers.0 *= FORGET_MEAN;
        self.powers.1 *= FORGET_SQUARE;
        let layers =
            perceptron.layers.iter_mut().zip(gradients).zip(self.means.iter_mut().zip(&mut self.squares));
        for ((layer, gradient), (mean, square)) in layers {
            let rule =
                Rule { lr: self.lr, decay: self.decay, unbiased: (1.0 - self.powers.0, 1.0 - self.powers.1) };
            rule.apply(&mut layer.weight, &gradient.weight, &mut mean.weight, &mut square.weight);
            rule.apply(&mut layer.bias, &gradient.bias, &mut mean.bias, &mut square.bias);
        }
    }
}

struct Rule {
    lr: f64,
    decay: f64,
    unbiased: (f64, f64),
}

impl Rule {
    fn apply(&self, weights: &mut Matrix, gradients: &Matrix, means: &mut Matrix, squares: &mut Matrix) {
        let moments = means.data_mut().iter_mut().zip(squares.data_mut());
        for ((weight, gradient), (mean, square)) in
            weights.data_mut().iter_mut().zip(gradients.data()).zip(moments)
        {
            for k in 0..WIDTH {
                let gradient = gradient[k] + self.decay * weight[k];
                mean[k] = FORGET_MEAN * mean[k] + 0.1 * gradient;
                square[k] = FORGET_SQUARE * square[k] + 0.001 * gradient * gradient;
                let root = (square[k] / self.unbiased.1).sqrt();
                weight[k] -= self.lr * (mean[k] / self.unbiased.0) / (root + LEAST_DIVISOR);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::penalty::{Kind, SCAD_A, ScadScale, Weights};
    use crate::model::watch::Unwatched;

    fn training(kind: Kind) -> Training {
        let gamma = kind.takes_gamma().then_some(3.0);
        let penalty = Penalty::new(kind, Weights::Exact, gamma, SCAD_A, ScadScale::One).unwrap();
        Training { epochs: 3, hidden: vec![8, 5], ..Training::new(penalty) }
    }

    /// A ring of nodes of two classes.
    fn ring(nodes: usize) -> (Graph, Features, Vec<i64>) {
        let edges: Vec<(u32, u32)> = (0..nodes as u32).map(|i| (i, (i + 1) % nodes as u32)).collect();
        let labels = (0..nodes).map(|node| i64::from(node >= nodes / 2)).collect();
        (Graph::new(nodes, &edges).unwrap(), Features::identity(nodes), labels)
    }

    #[test]
    fn training_learns_what_can_be_learned_and_tells_of_it() {
        struct Last(std::sync::Mutex<Option<Accuracy>>);
        impl Watch for Last {
            fn step(&self, done: u64, total: u64, status: Status<'_>) -> bool {
                if let (true, Status::Epoch { accuracy, .. }) = (done == total, status) {
                    *self.0.lock().unwrap() = Some(accuracy());
                }
                true
            }
        }
        let (graph, features, labels) = ring(30);
        let watch = Last(std::sync::Mutex::new(None));
        let how = Training { epochs: 60, ..training(Kind::L1) };
        train(&graph, &features, &labels, 2, &[2, 5, 9, 18, 22, 27], &[3, 25], &how, 1, &watch).unwrap();
        let expected = Accuracy { train: 1.0, val: Some(1.0) };
        assert_eq!(watch.0.into_inner().unwrap(), Some(expected));
    }

    #[test]
    fn threads_do_not_change_a_bit_and_seeds_do() {
        let (graph, features, labels) = ring(2000);
        let nodes: Vec<usize> = (0..2000).step_by(7).collect();
        for kind in [Kind::Mcp, Kind::Adaptive] {
            let run = |seed, threads| {
                let how = Training { seed, hidden: vec![80, 40], ..training(kind) };
                train(&graph, &features, &labels, 2, &nodes, &[], &how, threads, &Unwatched).unwrap()
            };
            assert_eq!(run(0, 1), run(0, 4));
            assert_ne!(run(0, 1).tensors(), run(1, 1).tensors());
        }
    }

    #[test]
    fn a_trained_model_is_the_same_after_its_tensors_were_stored() {
        let (graph, features, labels) = ring(12);
        let model = train(&graph, &features, &labels, 2, &[0, 11], &[], &training(Kind::Scad), 1, &Unwatched)
            .unwrap();
        let again = Rung::from_tensors(model.tensors(), model.settings().clone()).unwrap();
        assert_eq!(again, model);
        assert_eq!(model.settings().epochs, Some(3));
    }

    #[test]
    fn bad_calls_say_what_is_wrong() {
        let (graph, features, labels) = ring(12);
        let text = |nodes: &[usize], how: &Training| {
            train(&graph, &features, &labels, 2, nodes, &[], how, 1, &Unwatched).unwrap_err().to_string()
        };
        let usual = training(Kind::L2);
        assert!(text(&[], &usual).contains("no train nodes"));
        assert!(text(&[3, 12], &usual).contains("train entry 1, node 12"));
        for (how, what) in [
            (Training { lr: 0.0, ..usual.clone() }, "learning rate"),
            (Training { dropout: 1.0, ..usual.clone() }, "dropout"),
            (Training { lambda_hat: 0.0, ..usual.clone() }, "lambda_hat"),
            (Training { weight_decay: -1.0, ..usual.clone() }, "weight decay"),
            (Training { hidden: vec![4, 0], ..usual.clone() }, "hidden layer"),
        ] {
            assert!(text(&[1], &how).contains(what), "{what}");
        }
        let error = text(&[1, 8], &Training { lr: 1e200, epochs: 9, ..usual });
        assert!(error.contains("epoch 2"), "{error}");
    }
}
