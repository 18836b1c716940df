//! The trained model: weights and settings, from tensors and back.

use calipers_core::{Error, Result};

use crate::model::features::Features;
use crate::model::graph::Graph;
use crate::model::matrix::Matrix;
use crate::model::network::mlp::{Layer, Perceptron};
use crate::model::propagation::Propagation;
use crate::model::propagation::links::Links;
use crate::model::settings::Settings;

/// An array of numbers by its shape, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its lengths.
    pub shape: Vec<usize>,
    /// Its values.
    pub data: Vec<f32>,
}

/// A RUNG model; its weights are f32, its arithmetic f64.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    perceptron: Perceptron,
    settings: Settings,
}

/// The aggregated features of every node, which are its class scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward {
    /// Row by row.
    pub features: Vec<f64>,
    /// Features per node.
    pub columns: usize,
    /// Nodes that a step left as they were because every edge was pruned and nothing pulled them back.
    pub stuck_nodes: usize,
}

/// The two ways in which the tensors of a layer are named.
const PREFIXES: [&str; 2] = ["mlp.", "mlp.linears."];

impl Rung {
    /// From the tensors `mlp.0.weight` (outputs, inputs), `mlp.0.bias` (outputs), `mlp.1.weight`, ..., or the
    /// same under `mlp.linears.`.
    ///
    /// # Errors
    /// A tensor that is missing, superfluous, of another shape or not finite, or settings out of range.
    pub fn from_tensors(tensors: Vec<(String, Tensor)>, settings: Settings) -> Result<Self> {
        settings.check()?;
        let prefix = PREFIXES
            .into_iter()
            .rev()
            .find(|prefix| tensors.iter().any(|(name, _)| name.starts_with(prefix)));
        let prefix = prefix.unwrap_or(PREFIXES[0]);
        let mut layers: Vec<Layer> = Vec::new();
        let get = |name: &str| tensors.iter().find(|(found, _)| found == name).map(|(_, tensor)| tensor);
        while layers.is_empty() || 2 * layers.len() < tensors.len() {
            let [weight, bias] = ["weight", "bias"].map(|part| format!("{prefix}{}.{part}", layers.len()));
            let missing = |name: &str| {
                let found = tensors.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
                Error::value("tensor missing").at(name).found(if found.is_empty() {
                    "none".to_owned()
                } else {
                    found
                })
            };
            let inputs = layers.last().map(Layer::outputs);
            layers.push(layer(
                (&weight, get(&weight).ok_or_else(|| missing(&weight))?),
                (&bias, get(&bias).ok_or_else(|| missing(&bias))?),
                inputs,
            )?);
        }
        Ok(Self { perceptron: Perceptron { layers }, settings })
    }

    /// The perceptron's weights, rounded to f32 once and for all.
    pub(crate) fn rounded(mut perceptron: Perceptron, settings: Settings) -> Self {
        for layer in &mut perceptron.layers {
            for values in [layer.weight.data_mut(), layer.bias.data_mut()] {
                values.as_flattened_mut().iter_mut().for_each(|value| *value = f64::from(*value as f32));
            }
        }
        Self { perceptron, settings }
    }

    /// Whether every weight is a number.
    pub(crate) fn is_finite(&self) -> bool {
        let finite = |matrix: &Matrix| matrix.data().as_flattened().iter().all(|value| value.is_finite());
        self.perceptron.layers.iter().all(|layer| finite(&layer.weight) && finite(&layer.bias))
    }

    /// The weights by name: `mlp.0.weight` (outputs, inputs), `mlp.0.bias` (outputs), `mlp.1.weight`, ...
    pub fn tensors(&self) -> Vec<(String, Tensor)> {
        let mut tensors = Vec::new();
        for (l, layer) in self.perceptron.layers.iter().enumerate() {
            let (inputs, outputs) = (layer.inputs(), layer.outputs());
            let weights =
                (0..outputs).flat_map(|k| (0..inputs).map(move |unit| layer.weight.row(unit)[k] as f32));
            let weight = Tensor { shape: vec![outputs, inputs], data: weights.collect() };
            let biases = layer.bias.row(0).iter().map(|&bias| bias as f32).collect();
            tensors.push((format!("mlp.{l}.weight"), weight));
            tensors.push((format!("mlp.{l}.bias"), Tensor { shape: vec![outputs], data: biases }));
        }
        tensors
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many features a node must have.
    pub fn input_width(&self) -> usize {
        self.perceptron.layers[0].inputs()
    }

    /// How many classes it tells apart.
    pub fn classes(&self) -> usize {
        self.perceptron.layers.last().map_or(0, Layer::outputs)
    }

    /// The class scores of every node of a graph.
    ///
    /// # Errors
    /// Features of another width or number of nodes, or scores that are not finite, with layer and node.
    pub fn forward(&self, graph: &Graph, features: &Features, threads: usize) -> Result<Forward> {
        let initial = self.initial_scores(graph, features, threads)?;
        let propagation = Propagation::new(Links::of_graph(graph), &self.settings, threads);
        let (scores, stuck_nodes) = propagation.forward(&initial)?;
        Ok(Forward { columns: scores.columns(), features: scores.into_values(), stuck_nodes })
    }

    /// The perceptron's scores, once it is clear that graph, features and model fit together.
    pub(crate) fn initial_scores(
        &self,
        graph: &Graph,
        features: &Features,
        threads: usize,
    ) -> Result<Matrix> {
        check_rows(graph, features)?;
        if features.columns() != self.input_width() {
            return Err(Error::value("the model was made for features of another width")
                .found(format!("{} features a node", features.columns()))
                .allowed(format!("{}, the width of mlp.0.weight", self.input_width())));
        }
        Ok(self.perceptron.forward(features, threads))
    }
}

/// One row of features per node.
pub(crate) fn check_rows(graph: &Graph, features: &Features) -> Result<()> {
    if graph.nodes() == features.rows() {
        return Ok(());
    }
    Err(Error::value("graph and features have different numbers of nodes")
        .found(format!("{} rows of features", features.rows()))
        .allowed(format!("{}, the nodes of the graph", graph.nodes())))
}

fn layer(weight: (&str, &Tensor), bias: (&str, &Tensor), inputs: Option<usize>) -> Result<Layer> {
    let shape =
        |shape: &[usize]| format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
    let wrong = |(name, tensor): (&str, &Tensor), allowed: String| {
        Err(Error::value("tensor of another shape").at(name).found(shape(&tensor.shape)).allowed(allowed))
    };
    let (outputs, width) = match *weight.1.shape.as_slice() {
        [outputs, width] if outputs > 0 && inputs.is_none_or(|inputs| inputs == width) => (outputs, width),
        _ => {
            let width = inputs.map_or("inputs".to_owned(), |inputs| inputs.to_string());
            return wrong(weight, format!("(outputs, {width})"));
        }
    };
    if bias.1.shape != [outputs] {
        return wrong(bias, format!("({outputs}), the outputs of {}", weight.0));
    }
    for (name, tensor) in [weight, bias] {
        let size = tensor.shape.iter().product::<usize>();
        if tensor.data.len() != size {
            return wrong((name, tensor), format!("{size} values, found {}", tensor.data.len()));
        }
        if let Some(place) = tensor.data.iter().position(|value| !value.is_finite()) {
            return Err(Error::value("weight is not a finite number")
                .at(format!("{name}, value {place}"))
                .found(tensor.data[place]));
        }
    }
    let mut layer = Layer::zeros(width, outputs);
    for unit in 0..width {
        let row = layer.weight.row_mut(unit).iter_mut().enumerate();
        row.for_each(|(k, value)| *value = f64::from(weight.1.data[k * width + unit]));
    }
    let biases = layer.bias.row_mut(0).iter_mut().zip(&bias.1.data);
    biases.for_each(|(value, &bias)| *value = f64::from(bias));
    Ok(layer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::penalty::{Kind, Penalty, SCAD_A, ScadScale, Weights};

    fn settings(kind: Kind, gamma: Option<f64>) -> Settings {
        Settings::new(Penalty::new(kind, Weights::Exact, gamma, SCAD_A, ScadScale::One).unwrap())
    }

    /// Layers of these sizes, filled with small numbers.
    fn tensors(prefix: &str, sizes: &[usize]) -> Vec<(String, Tensor)> {
        let fill = |count: usize| (0..count).map(|k| (k * 7 % 11) as f32 / 8.0 - 0.5).collect();
        let layer = |(l, pair): (usize, &[usize])| {
            let weight = Tensor { shape: vec![pair[1], pair[0]], data: fill(pair[0] * pair[1]) };
            let bias = Tensor { shape: vec![pair[1]], data: fill(pair[1]) };
            [(format!("{prefix}{l}.weight"), weight), (format!("{prefix}{l}.bias"), bias)]
        };
        sizes.windows(2).enumerate().flat_map(layer).collect()
    }

    #[test]
    fn tensors_come_back_as_they_were_given_under_either_name() {
        let given = tensors("mlp.", &[5, 4, 3, 2]);
        let model = Rung::from_tensors(given.clone(), settings(Kind::L1, None)).unwrap();
        assert_eq!((model.input_width(), model.classes(), model.settings().layers), (5, 2, 10));
        assert_eq!(model.tensors(), given);
        let other =
            Rung::from_tensors(tensors("mlp.linears.", &[5, 4, 3, 2]), settings(Kind::L1, None)).unwrap();
        assert_eq!(other, model);
    }

    #[test]
    fn bad_tensors_are_named_with_their_shapes() {
        type Named = Vec<(String, Tensor)>;
        let text = |change: &dyn Fn(&mut Named)| {
            let mut given = tensors("mlp.", &[5, 4, 2]);
            change(&mut given);
            Rung::from_tensors(given, settings(Kind::L2, None)).unwrap_err().to_string()
        };
        assert!(text(&|all| drop(all.remove(1))).contains("at: mlp.0.bias"));
        assert!(text(&|all| all.clear()).contains("mlp.0.weight"));
        assert!(text(&|all| all.push(("head.weight".to_owned(), all[0].1.clone()))).contains("mlp.2.weight"));
        let wide = text(&|all| all[2].1.shape = vec![4, 2]);
        assert!(
            wide.contains("mlp.1.weight") && wide.contains("(4, 2)") && wide.contains("(outputs, 4)"),
            "{wide}"
        );
        assert!(text(&|all| all[3].1.shape = vec![2, 1]).contains("mlp.1.bias"));
        assert!(text(&|all| all[3].1.data.push(1.0)).contains("found 3"));
        let nan = text(&|all| all[2].1.data[5] = f32::NAN);
        assert!(nan.contains("mlp.1.weight, value 5"), "{nan}");
    }

    #[test]
    fn features_must_fit_the_model_and_the_graph() {
        let model = Rung::from_tensors(tensors("mlp.", &[5, 4, 2]), settings(Kind::L2, None)).unwrap();
        let graph = Graph::new(3, &[(0, 1)]).unwrap();
        let text = |features: Features| model.forward(&graph, &features, 1).unwrap_err().to_string();
        assert!(text(Features::identity(4)).contains("4 rows of features"));
        let width = text(Features::identity(3));
        assert!(width.contains("3 features a node") && width.contains("5, the width"), "{width}");
    }

    #[test]
    fn a_node_whose_edges_are_all_pruned_stays_when_nothing_pulls_it_back() {
        let weight = Tensor { shape: vec![2, 3], data: vec![0.0, 173.2, 141.6, 0.0, 173.2, 141.6] };
        let tensors = vec![
            ("mlp.0.weight".to_owned(), weight),
            ("mlp.0.bias".to_owned(), Tensor { shape: vec![2], data: vec![0.0; 2] }),
        ];
        let settings = Settings { lambda_hat: 1.0, ..settings(Kind::Mcp, Some(3.0)) };
        let model = Rung::from_tensors(tensors, settings).unwrap();
        let graph = Graph::new(3, &[(0, 1), (1, 2)]).unwrap();
        let out = model.forward(&graph, &Features::identity(3), 1).unwrap();
        assert_eq!(out.stuck_nodes, 1);
        assert_eq!(out.features[..2], [0.0, 0.0]);
        assert!(out.features.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn no_layers_give_the_scores_of_the_perceptron() {
        let settings = Settings { layers: 0, ..settings(Kind::L1, None) };
        let given = tensors("mlp.", &[3, 2]);
        let model = Rung::from_tensors(given.clone(), settings).unwrap();
        let out = model.forward(&Graph::new(3, &[(0, 1)]).unwrap(), &Features::identity(3), 1).unwrap();
        let (weight, bias) = (&given[0].1.data, &given[1].1.data);
        let expected: Vec<f64> = (0..3)
            .flat_map(|node| (0..2).map(move |k| (node, k)))
            .map(|(node, k)| f64::from(weight[k * 3 + node]) + f64::from(bias[k]))
            .collect();
        assert_eq!(out.features, expected);
    }

    #[test]
    fn scores_beyond_all_numbers_are_named_by_layer_and_node() {
        let tensors = vec![
            ("mlp.0.weight".to_owned(), Tensor { shape: vec![1, 1], data: vec![f32::MAX] }),
            ("mlp.0.bias".to_owned(), Tensor { shape: vec![1], data: vec![0.0] }),
        ];
        let model = Rung::from_tensors(tensors, settings(Kind::L2, None)).unwrap();
        let features = Features::dense(2, 1, vec![1.0, f64::MAX]).unwrap();
        let error = model.forward(&Graph::new(2, &[(0, 1)]).unwrap(), &features, 1).unwrap_err().to_string();
        assert!(error.contains("layer 0, node 1"), "{error}");
    }
}
