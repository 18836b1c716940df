//! The perceptron in front of the propagation: linear layers with rectified units between them.

use multiversion::multiversion;

use crate::model::features::Features;
use crate::model::matrix::{Matrix, Vector, WIDTH, add_scaled};
use crate::model::parallel;
use crate::model::random::{Draws, Stream};

/// One linear layer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layer {
    /// One row per input.
    pub(crate) weight: Matrix,
    /// One row.
    pub(crate) bias: Matrix,
}

impl Layer {
    pub(crate) fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { weight: Matrix::zeros(inputs, outputs), bias: Matrix::zeros(1, outputs) }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.weight.rows()
    }

    pub(crate) fn outputs(&self) -> usize {
        self.weight.columns()
    }
}

/// Whose outputs a layer is fed.
#[derive(Clone, Copy)]
enum Inputs<'a> {
    Features(&'a Features),
    Units(&'a Matrix),
}

/// The outputs of a layer for the nodes from `first` on.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn apply(layer: &Layer, inputs: Inputs<'_>, first: usize, out: &mut [Vector]) {
    for (k, out) in out.chunks_exact_mut(layer.weight.vectors()).enumerate() {
        out.copy_from_slice(layer.bias.padded(0));
        match inputs {
            Inputs::Features(features) => features
                .row(first + k)
                .for_each(|(input, value)| add_scaled(out, value, layer.weight.padded(input))),
            Inputs::Units(units) => {
                let values = units.row(first + k).iter().enumerate();
                values.for_each(|(input, &value)| add_scaled(out, value, layer.weight.padded(input)));
            }
        }
    }
}

/// `sums_u += sum over nodes of units_u * rows`, for the units from `first` on.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_products(units: &Matrix, rows: &Matrix, first: usize, sums: &mut [Vector]) {
    for node in 0..rows.rows() {
        let values = &units.row(node)[first..];
        for (sum, &value) in sums.chunks_exact_mut(rows.vectors()).zip(values) {
            add_scaled(sum, value, rows.padded(node));
        }
    }
}

/// `sums_c = sum over nodes of features_c * rows`, for the features from `first` on; `transposed` has one row
/// per feature.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_feature_products(transposed: &Features, rows: &Matrix, first: usize, sums: &mut [Vector]) {
    for (k, sum) in sums.chunks_exact_mut(rows.vectors()).enumerate() {
        transposed.row(first + k).for_each(|(node, value)| add_scaled(sum, value, rows.padded(node)));
    }
}

/// Derivatives of a loss.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Gradients {
    /// By the weights and biases.
    pub(crate) layers: Vec<Layer>,
    /// By the sums below the hidden units, the last layer's first.
    by_sums: Vec<Matrix>,
}

/// Which hidden units are left out in an epoch of training.
#[derive(Clone, Copy)]
pub(crate) struct Dropout {
    pub(crate) share: f64,
    pub(crate) seed: u64,
    pub(crate) epoch: u32,
}

/// Layers from features to class scores.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Perceptron {
    pub(crate) layers: Vec<Layer>,
}

impl Perceptron {
    /// The scores of every node; the hidden units of a block of nodes are all that is held besides.
    pub(crate) fn forward(&self, features: &Features, threads: usize) -> Matrix {
        let outputs = self.layers.last().map_or(0, Layer::outputs);
        let mut scores = Matrix::zeros(features.rows(), outputs);
        let size = parallel::block(threads, features.rows()).min(64);
        let columns = scores.vectors();
        let blocks = scores.data_mut().chunks_mut(size * columns).enumerate();
        parallel::each(threads, self.work(features), blocks, |(block, scores)| {
            let (nodes, mut below) = (scores.len() / columns, None);
            for (l, layer) in self.layers.iter().enumerate() {
                let (inputs, first) = match &below {
                    None => (Inputs::Features(features), block * size),
                    Some(units) => (Inputs::Units(units), 0),
                };
                if l + 1 == self.layers.len() {
                    return apply(layer, inputs, first, scores);
                }
                let mut units = Matrix::zeros(nodes, layer.outputs());
                apply(layer, inputs, first, units.data_mut());
                units.data_mut().as_flattened_mut().iter_mut().for_each(|unit| *unit = unit.max(0.0));
                below = Some(units);
            }
        });
        scores
    }

    fn work(&self, features: &Features) -> usize {
        let deeper: usize = self.layers[1..].iter().map(|layer| layer.inputs() * layer.outputs()).sum();
        (features.entries() * self.layers[0].outputs() + features.rows() * deeper) / WIDTH
    }

    /// The outputs of every layer, rectified and thinned out but for the last, in the memory of those that are no
    /// longer needed.
    pub(crate) fn record(
        &self,
        features: &Features,
        dropout: Dropout,
        threads: usize,
        used: Vec<Matrix>,
    ) -> Vec<Matrix> {
        let mut used = used.into_iter();
        let mut outputs: Vec<Matrix> = Vec::with_capacity(self.layers.len());
        for (l, layer) in self.layers.iter().enumerate() {
            let mut out = Matrix::over(used.next(), features.rows(), layer.outputs());
            let (size, width) = (parallel::block(threads, features.rows()), out.vectors());
            let hidden = l + 1 < self.layers.len();
            let inputs = outputs.last().map_or(Inputs::Features(features), Inputs::Units);
            let blocks = out.data_mut().chunks_mut(size * width).enumerate();
            parallel::each(threads, self.work(features), blocks, |(block, out)| {
                apply(layer, inputs, block * size, out);
                for (k, units) in out.chunks_exact_mut(width).enumerate().filter(|_| hidden) {
                    let units = &mut units.as_flattened_mut()[..layer.outputs()];
                    dropout.thin_out(l, block * size + k, features.rows(), units);
                }
            });
            outputs.push(out);
        }
        outputs
    }

    /// From the derivative of a loss by the scores to those by weights and biases, in the memory of derivatives
    /// that are no longer needed. `transposed` are the features with rows for columns.
    pub(crate) fn backward(
        &self,
        transposed: &Features,
        outputs: &[Matrix],
        by_scores: &Matrix,
        dropout: Dropout,
        threads: usize,
        used: Gradients,
    ) -> Gradients {
        let Gradients { mut layers, by_sums: spare } = used;
        let (mut spare, mut by_sums) = (spare.into_iter(), Vec::<Matrix>::new());
        layers.resize_with(self.layers.len(), || Layer::zeros(0, 0));
        for (l, layer) in self.layers.iter().enumerate().rev() {
            let delta = by_sums.last().unwrap_or(by_scores);
            let gradient = &mut layers[l];
            gradient.clear(layer);
            for node in 0..delta.rows() {
                add_scaled(gradient.bias.data_mut(), 1.0, delta.padded(node));
            }
            let weight = &mut gradient.weight;
            let width = weight.vectors();
            let size = layer.inputs().div_ceil(threads.max(1)).max(1);
            let blocks = weight.data_mut().chunks_mut(size * width).enumerate();
            let Some(below) = l.checked_sub(1).map(|l| &outputs[l]) else {
                parallel::each(threads, transposed.entries() * width, blocks, |(block, sums)| {
                    add_feature_products(transposed, delta, block * size, sums);
                });
                break;
            };
            parallel::each(threads, width * delta.rows() * layer.inputs(), blocks, |(block, sums)| {
                add_products(below, delta, block * size, sums);
            });
            by_sums.push(layer.pull_back(delta, below, dropout.factor(), threads, spare.next()));
        }
        Gradients { layers, by_sums }
    }
}

impl Layer {
    /// Makes this one of the size of another, and all zeros.
    fn clear(&mut self, like: &Self) {
        let empty = |used: &mut Matrix, like: &Matrix| {
            *used = Matrix::over(Some(std::mem::take(used)), like.rows(), like.columns());
            used.data_mut().fill([0.0; WIDTH]);
        };
        empty(&mut self.weight, &like.weight);
        empty(&mut self.bias, &like.bias);
    }

    /// The derivative by the sums below the rectified units this layer was fed.
    fn pull_back(
        &self,
        delta: &Matrix,
        below: &Matrix,
        factor: f64,
        threads: usize,
        used: Option<Matrix>,
    ) -> Matrix {
        let mut transposed = Self::zeros(self.outputs(), self.inputs());
        for unit in 0..self.inputs() {
            (0..self.outputs()).for_each(|k| transposed.weight.row_mut(k)[unit] = self.weight.row(unit)[k]);
        }
        let mut out = Matrix::over(used, below.rows(), below.columns());
        let (size, width) = (parallel::block(threads, below.rows()), out.vectors());
        let work = self.outputs() * width * below.rows();
        let blocks = out.data_mut().chunks_mut(size * width).enumerate();
        parallel::each(threads, work, blocks, |(block, out)| {
            apply(&transposed, Inputs::Units(delta), block * size, out);
            let units = below.data()[block * size * width..].as_flattened();
            for (out, &unit) in out.as_flattened_mut().iter_mut().zip(units) {
                *out = if unit > 0.0 { *out * factor } else { 0.0 };
            }
        });
        out
    }
}

impl Dropout {
    fn factor(self) -> f64 {
        1.0 / (1.0 - self.share)
    }

    /// Rectifies the units of a node and leaves some out; the others make up for them.
    fn thin_out(self, layer: usize, node: usize, nodes: usize, units: &mut [f64]) {
        let draws = Draws::new(self.seed.wrapping_add(layer as u64), Stream::Dropout);
        let first = (u64::from(self.epoch) * nodes as u64 + node as u64).wrapping_mul(units.len() as u64);
        for (k, unit) in units.iter_mut().enumerate() {
            let kept = draws.uniform(first.wrapping_add(k as u64)) >= self.share;
            // Without a branch: which units stay is hard to predict.
            *unit = unit.max(0.0) * if kept { self.factor() } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some numbers between -1 and 1.
    fn noise(seed: u64, k: usize) -> f64 {
        2.0 * Draws::new(seed, Stream::Initial).uniform(k as u64) - 1.0
    }

    fn perceptron(sizes: &[usize]) -> Perceptron {
        let mut layers = Vec::new();
        for (l, pair) in sizes.windows(2).enumerate() {
            let mut layer = Layer::zeros(pair[0], pair[1]);
            for unit in 0..pair[0] {
                let row = layer.weight.row_mut(unit).iter_mut().enumerate();
                row.for_each(|(k, weight)| *weight = noise(l as u64, unit * pair[1] + k));
            }
            layer.bias.row_mut(0).iter_mut().enumerate().for_each(|(k, bias)| *bias = noise(9 + l as u64, k));
            layers.push(layer);
        }
        Perceptron { layers }
    }

    fn features(rows: usize, columns: usize) -> Features {
        let values = (0..rows * columns).map(|k| noise(7, k).max(0.0)).collect();
        Features::dense(rows, columns, values).unwrap()
    }

    /// The sum over nodes of scores weighted by fixed numbers.
    fn loss(perceptron: &Perceptron, features: &Features, dropout: Dropout) -> f64 {
        let scores = perceptron.record(features, dropout, 1, Vec::new()).pop().unwrap();
        scores.into_values().iter().enumerate().map(|(k, score)| score * noise(5, k)).sum()
    }

    #[test]
    fn gradients_are_the_limits_of_differences_through_three_layers() {
        let (mut net, x) = (perceptron(&[6, 5, 7, 3]), features(11, 6));
        let dropout = Dropout { share: 0.3, seed: 2, epoch: 4 };
        let outputs = net.record(&x, dropout, 1, Vec::new());
        let mut by_scores = Matrix::zeros(11, 3);
        for node in 0..11 {
            by_scores.row_mut(node).iter_mut().enumerate().for_each(|(k, by)| *by = noise(5, node * 3 + k));
        }
        let gradients = net.backward(&x.transposed(), &outputs, &by_scores, dropout, 1, Gradients::default());
        let step = 1e-6;
        for (l, gradient) in gradients.layers.iter().enumerate() {
            for (unit, k) in [(0, 0), (1, 2), (4, 1)] {
                let mut differ = |sign: f64| {
                    net.layers[l].weight.row_mut(unit)[k] += sign * step;
                    loss(&net, &x, dropout)
                };
                let difference = (differ(1.0) - differ(-2.0)) / (2.0 * step);
                differ(1.0);
                let found = gradient.weight.row(unit)[k];
                assert!((found - difference).abs() < 1e-7, "layer {l}: {found} {difference}");
            }
            net.layers[l].bias.row_mut(0)[1] += step;
            let above = loss(&net, &x, dropout);
            net.layers[l].bias.row_mut(0)[1] -= 2.0 * step;
            let difference = (above - loss(&net, &x, dropout)) / (2.0 * step);
            net.layers[l].bias.row_mut(0)[1] += step;
            assert!((gradient.bias.row(0)[1] - difference).abs() < 1e-7, "layer {l}");
        }
    }

    #[test]
    fn threads_do_not_change_a_bit_and_no_dropout_is_the_plain_pass() {
        let (net, x) = (perceptron(&[40, 33, 5]), features(700, 40));
        let dropout = Dropout { share: 0.5, seed: 1, epoch: 0 };
        let run = |threads| {
            let outputs = net.record(&x, dropout, threads, Vec::new());
            let gradients =
                net.backward(&x.transposed(), &outputs, &outputs[1], dropout, threads, Gradients::default());
            (net.forward(&x, threads), outputs, gradients)
        };
        assert_eq!(run(1), run(3));
        let whole = net.record(&x, Dropout { share: 0.0, ..dropout }, 1, Vec::new());
        assert_eq!(whole[1], net.forward(&x, 1));
    }

    #[test]
    fn memory_of_an_earlier_epoch_leaves_no_trace() {
        let (net, x) = (perceptron(&[6, 5, 7, 3]), features(11, 6));
        let run = |epoch, outputs, gradients| {
            let dropout = Dropout { share: 0.3, seed: 2, epoch };
            let outputs = net.record(&x, dropout, 1, outputs);
            let gradients = net.backward(&x.transposed(), &outputs, &outputs[2], dropout, 1, gradients);
            (outputs, gradients)
        };
        let (outputs, gradients) = run(0, Vec::new(), Gradients::default());
        assert_eq!(run(1, outputs, gradients), run(1, Vec::new(), Gradients::default()));
    }

    #[test]
    fn about_the_share_of_units_is_left_out() {
        let mut units = [1.0; 1000];
        Dropout { share: 0.25, seed: 3, epoch: 1 }.thin_out(0, 5, 10, &mut units);
        let kept = units.iter().filter(|unit| **unit > 0.0).count();
        assert!((650..850).contains(&kept), "{kept}");
        assert!(units.iter().all(|&unit| unit < 1e-9 || (unit - 4.0 / 3.0).abs() < 1e-12));
    }
}
