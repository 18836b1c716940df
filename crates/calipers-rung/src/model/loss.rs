//! What training and attack minimise, with derivatives by the class scores.

use calipers_core::{Error, Result, functions};

use crate::model::matrix::Matrix;

/// A loss and its derivative by the scores.
pub(crate) struct Loss {
    pub(crate) value: f64,
    pub(crate) gradient: Matrix,
}

/// The mean cross-entropy of some nodes, with the natural logarithm.
pub(crate) fn cross_entropy(scores: &Matrix, labels: &[usize], nodes: &[usize]) -> Loss {
    let mut gradient = Matrix::zeros(scores.rows(), scores.columns());
    let share = 1.0 / nodes.len() as f64;
    let mut sum = 0.0;
    for (&node, &label) in nodes.iter().zip(labels) {
        let row = scores.row(node);
        let largest = row.iter().fold(f64::NEG_INFINITY, |largest, &score| largest.max(score));
        let out = gradient.row_mut(node);
        let powers: Vec<f64> = row.iter().map(|score| functions::exp(score - largest)).collect();
        let total: f64 = powers.iter().sum();
        sum += functions::ln(total) - (row[label] - largest);
        out.iter_mut().zip(powers).for_each(|(out, power)| *out += share * (power / total));
        out[label] -= share;
    }
    Loss { value: sum * share, gradient }
}

/// The mean over some nodes of tanh(score of the label - largest other score).
pub(crate) fn margin_loss(scores: &Matrix, labels: &[usize], nodes: &[usize]) -> f64 {
    let margins =
        nodes.iter().zip(labels).map(|(&node, &label)| functions::tanh(margin(scores.row(node), label).0));
    margins.sum::<f64>() / nodes.len() as f64
}

/// The same with its derivative.
pub(crate) fn margin_gradient(scores: &Matrix, labels: &[usize], nodes: &[usize]) -> Loss {
    let mut gradient = Matrix::zeros(scores.rows(), scores.columns());
    let mut sum = 0.0;
    for (&node, &label) in nodes.iter().zip(labels) {
        let (margin, rival) = margin(scores.row(node), label);
        let tanh = functions::tanh(margin);
        sum += tanh;
        let slope = (1.0 - tanh * tanh) / nodes.len() as f64;
        gradient.row_mut(node)[label] += slope;
        gradient.row_mut(node)[rival] -= slope;
    }
    Loss { value: sum / nodes.len() as f64, gradient }
}

/// By how much the label's score exceeds the largest other, and whose that is, the first of equals.
fn margin(scores: &[f64], label: usize) -> (f64, usize) {
    let mut rival = usize::from(label == 0);
    for class in (0..scores.len()).filter(|&class| class != label) {
        if scores[class] > scores[rival] {
            rival = class;
        }
    }
    (scores[label] - scores[rival], rival)
}

/// The share of some nodes whose largest score, the first of equals, is that of their label.
pub(crate) fn accuracy(scores: &Matrix, labels: &[usize], nodes: &[usize]) -> f64 {
    let right = |&(&node, &label): &(&usize, &usize)| {
        let row = scores.row(node);
        let mut best = 0;
        (1..row.len()).for_each(|class| best = if row[class] > row[best] { class } else { best });
        best == label
    };
    nodes.iter().zip(labels).filter(right).count() as f64 / nodes.len() as f64
}

/// The labels of some nodes, once it is clear that the nodes exist and their labels are classes.
pub(crate) fn labels_of(what: &str, nodes: &[usize], labels: &[i64], classes: usize) -> Result<Vec<usize>> {
    let label = |(entry, &node): (usize, &usize)| {
        let at = || format!("{what} entry {entry}, node {node}");
        let Some(&label) = labels.get(node) else {
            let allowed = format!("0 to {}", labels.len().saturating_sub(1));
            return Err(Error::value("node number out of range").at(at()).found(node).allowed(allowed));
        };
        usize::try_from(label).ok().filter(|&label| label < classes).ok_or_else(|| {
            let allowed = format!("0 to {}", classes.saturating_sub(1));
            Error::value("label is not a class of the model").at(at()).found(label).allowed(allowed)
        })
    };
    nodes.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LABELS: [usize; 3] = [1, 0, 2];
    const NODES: [usize; 3] = [0, 2, 3];

    fn check(loss: impl Fn(&Matrix) -> f64, gradient: &Matrix, rows: &[Vec<f64>]) {
        for node in 0..rows.len() {
            for class in 0..rows[0].len() {
                let moved = |by: f64| {
                    let mut rows = rows.to_vec();
                    rows[node][class] += by;
                    loss(&Matrix::from_rows(&rows))
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient.row(node)[class] - difference).abs() < 1e-8, "{node} {class}");
            }
        }
    }

    proptest! {
        #[test]
        fn derivatives_are_the_limits_of_differences(scores in prop::collection::vec(-3.0f64..3.0, 12)) {
            let rows: Vec<Vec<f64>> = scores.chunks(3).map(<[f64]>::to_vec).collect();
            // Not across a change of rivals.
            prop_assume!(rows.iter().all(|row| {
                (row[0] - row[1]).abs() > 1e-4 && (row[0] - row[2]).abs() > 1e-4 && (row[1] - row[2]).abs() > 1e-4
            }));
            let matrix = Matrix::from_rows(&rows);
            let entropy = cross_entropy(&matrix, &LABELS, &NODES);
            check(|scores| cross_entropy(scores, &LABELS, &NODES).value, &entropy.gradient, &rows);
            let margins = margin_gradient(&matrix, &LABELS, &NODES);
            check(|scores| margin_loss(scores, &LABELS, &NODES), &margins.gradient, &rows);
            prop_assert_eq!(margins.value.to_bits(), margin_loss(&matrix, &LABELS, &NODES).to_bits());
        }
    }

    #[test]
    fn the_first_of_equal_scores_wins() {
        assert_eq!(margin(&[1.0, 3.0, 3.0], 0), (-2.0, 1));
        assert_eq!(margin(&[1.0, 1.0, 0.0], 1), (0.0, 0));
        let scores = Matrix::from_rows(&[vec![2.0, 2.0], vec![-0.0, 0.0]]);
        assert_eq!(accuracy(&scores, &[0, 0], &[0, 1]).to_bits(), 1f64.to_bits());
    }

    #[test]
    fn bad_nodes_and_labels_are_named() {
        let text =
            |nodes: &[usize], labels: &[i64]| labels_of("test", nodes, labels, 2).unwrap_err().to_string();
        assert!(text(&[0, 3], &[0, 1]).contains("test entry 1, node 3"));
        assert!(text(&[1], &[0, -1]).contains("found: -1"));
        assert!(text(&[1], &[0, 2]).contains("allowed: 0 to 1"));
    }
}
