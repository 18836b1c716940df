//! Scores of a block of instances as probabilities, and how far two of them lie apart.

use calipers_core::functions::lanes;

use super::protocol::{Scores, Task};
use super::row_kernel::{TINY, cross_terms, logarithms, ratio_terms, row_sums, saturate, softmax};

/// What scores are, once labels are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Whether the one column is the score of class 1.
    pub binary: bool,
    /// What the values are.
    pub scores: Scores,
}

impl Declared {
    /// What the protocol's scores are; logits where nothing is declared and nothing depends on it.
    pub(super) fn new(task: Task, scores: Option<Scores>) -> Self {
        Self { binary: task == Task::Binary, scores: scores.unwrap_or(Scores::Logits) }
    }

    /// The label of every row: the first largest class, or class 1 above its boundary.
    pub(super) fn labels(self, values: &[f64], columns: usize, labels: &mut Vec<i64>) {
        labels.clear();
        if self.binary {
            let boundary = if self.scores == Scores::Logits { 0.0 } else { 0.5 };
            labels.extend(values.iter().map(|&value| i64::from(value > boundary)));
        } else {
            labels.extend(values.chunks_exact(columns).map(first_largest));
        }
    }
}

fn first_largest(row: &[f64]) -> i64 {
    let mut largest = 0;
    for (class, value) in row.iter().enumerate() {
        if *value > row[largest] {
            largest = class;
        }
    }
    largest as i64
}

/// The predicted distributions of some instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Distributions {
    classes: usize,
    /// Relative to anything that is the same for all classes; empty until they are needed.
    logs: Vec<f64>,
    /// Probabilities up to the total.
    weights: Vec<f64>,
    totals: Vec<f64>,
    /// Whether some probability is too small to be divided by.
    tiny: bool,
}

impl Distributions {
    /// The distributions of rows of scores.
    pub(super) fn soften(&mut self, declared: Declared, values: &[f64], columns: usize) {
        let Self { classes, logs, weights, totals, tiny } = self;
        *classes = if declared.binary { 2 } else { columns };
        let rows = values.len() / columns;
        totals.clear();
        totals.resize(rows, 1.0);
        logs.clear();
        match (declared.scores, declared.binary) {
            (Scores::Probs, true) => {
                weights.clear();
                weights.extend(values.iter().flat_map(|&v| [if v < 1.0 { 1.0 - v } else { 0.0 }, v]));
                *tiny = weights.iter().any(|&weight| weight > 0.0 && weight < TINY);
            }
            (Scores::Probs, false) => {
                weights.clear();
                weights.extend_from_slice(values);
                *tiny = row_sums(values, columns, totals);
            }
            (Scores::Logits | Scores::LogProbs, binary) => {
                if binary {
                    logs.extend(values.iter().flat_map(|&value| [0.0, value]));
                } else {
                    logs.extend_from_slice(values);
                }
                weights.resize(logs.len(), 0.0);
                softmax(logs, *classes, weights, totals);
            }
        }
    }

    /// The probability of a class.
    pub(super) fn probability(&self, row: usize, class: i64) -> f64 {
        self.weights[row * self.classes + class as usize] / self.totals[row]
    }

    fn with_logs(&mut self) {
        if self.logs.len() != self.weights.len() {
            self.logs.resize(self.weights.len(), 0.0);
            logarithms(&self.weights, &mut self.logs);
        }
    }
}

/// The divergence of every row in both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Divergences {
    /// KL(p || q); infinite where q lacks a class that p has.
    pub(super) forward: Vec<f64>,
    /// KL(q || p).
    pub(super) reversed: Vec<f64>,
}

impl Divergences {
    /// The divergences between the rows of two blocks.
    pub(super) fn between(&mut self, p: &mut Distributions, q: &mut Distributions) {
        let rows = p.totals.len();
        self.forward.resize(rows, 0.0);
        self.reversed.resize(rows, 0.0);
        let out = [&mut self.forward[..], &mut self.reversed[..]];
        if p.logs.is_empty() && !p.tiny && !q.tiny {
            ratio_terms([&p.weights, &q.weights], p.classes, out);
        } else {
            p.with_logs();
            q.with_logs();
            cross_terms([&p.weights, &q.weights], [&p.logs, &q.logs], p.classes, out);
        }
        let sums = self.forward.iter_mut().zip(self.reversed.iter_mut());
        for ((forward, reversed), (a, b)) in sums.zip(p.totals.iter().zip(&q.totals)) {
            let between = lanes::ln(*a) - lanes::ln(*b);
            *forward = not_negative(*forward / a - between);
            *reversed = not_negative(*reversed / b + between);
        }
    }

    /// 1 - exp(-KL) in place of each divergence.
    pub(super) fn saturate(&mut self) {
        saturate(&mut self.forward);
        saturate(&mut self.reversed);
    }
}

fn not_negative(divergence: f64) -> f64 {
    if divergence > 0.0 { divergence } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use calipers_core::functions;
    use proptest::prelude::*;

    use super::*;

    const MULTICLASS: Declared = Declared { binary: false, scores: Scores::Logits };

    /// Normalised log-probabilities, straight from the definition.
    fn log_probs(row: &[f64]) -> Vec<f64> {
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = row.iter().map(|v| functions::exp(v - top)).sum();
        row.iter().map(|v| v - top - functions::ln(total)).collect()
    }

    fn slow(p: &[f64], q: &[f64]) -> f64 {
        let terms = p.iter().zip(q).filter(|(p, _)| **p > f64::NEG_INFINITY);
        terms.map(|(p, q)| if q.is_infinite() { f64::INFINITY } else { functions::exp(*p) * (p - q) }).sum()
    }

    fn both(declared: Declared, p: &[f64], q: &[f64]) -> (f64, f64) {
        let (mut a, mut b) = (Distributions::default(), Distributions::default());
        a.soften(declared, p, p.len());
        b.soften(declared, q, q.len());
        let mut all = Divergences::default();
        all.between(&mut a, &mut b);
        (all.forward[0], all.reversed[0])
    }

    fn close(a: f64, b: f64) -> bool {
        (a.is_infinite() && b.is_infinite()) || (a - b.max(0.0)).abs() <= 1e-13 * b.abs().max(1.0)
    }

    proptest! {
        #[test]
        fn divergences_are_those_of_the_definition(
            pairs in prop::collection::vec((-300i32..300, -300i32..300), 2..30),
            hole in prop::option::of(0usize..30),
        ) {
            let mut p: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.0) / 7.0).collect();
            let q: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.1) / 7.0).collect();
            if let Some(hole) = hole.filter(|hole| *hole < p.len() - 1) {
                p[hole] = f64::NEG_INFINITY;
            }
            let (lp, lq) = (log_probs(&p), log_probs(&q));
            let (forward, reversed) = both(MULTICLASS, &p, &q);
            prop_assert!(close(forward, slow(&lp, &lq)), "{forward} {}", slow(&lp, &lq));
            prop_assert!(close(reversed, slow(&lq, &lp)), "{reversed} {}", slow(&lq, &lp));
            let probs = Declared { scores: Scores::Probs, ..MULTICLASS };
            let exp = |row: &[f64]| row.iter().map(|&l| functions::exp(l)).collect::<Vec<_>>();
            let (again, _) = both(probs, &exp(&lp), &exp(&lq));
            prop_assert!(close(again, slow(&lp, &lq)), "{again}");
        }
    }

    #[test]
    fn probabilities_too_small_for_a_quotient_have_a_divergence_all_the_same() {
        let probs = Declared { scores: Scores::Probs, ..MULTICLASS };
        let (forward, _) = both(probs, &[1.0, 0.0], &[5e-324, 1.0]);
        assert!((forward + functions::ln(5e-324)).abs() < 1e-9, "{forward}");
    }

    #[test]
    fn confident_logits_against_themselves_are_at_distance_zero() {
        let row = [0.0, 200.0, 0.0];
        assert_eq!(both(MULTICLASS, &row, &row), (0.0, 0.0));
    }

    #[test]
    fn the_first_of_equal_scores_wins_and_a_binary_score_on_its_boundary_is_class_zero() {
        let mut labels = Vec::new();
        MULTICLASS.labels(&[1.0, 1.0, 0.0, 0.0, 2.0, 2.0], 3, &mut labels);
        assert_eq!(labels, [0, 1]);
        Declared { binary: true, scores: Scores::Probs }.labels(&[0.5, 0.6], 1, &mut labels);
        assert_eq!(labels, [0, 1]);
        Declared { binary: true, scores: Scores::Logits }.labels(&[0.0, -1.0, 0.1], 1, &mut labels);
        assert_eq!(labels, [0, 0, 1]);
    }

    #[test]
    fn a_binary_probability_a_hair_above_one_leaves_nothing_for_class_zero() {
        let mut one = Distributions::default();
        one.soften(Declared { binary: true, scores: Scores::Probs }, &[1.000_000_5], 1);
        assert_eq!(one.probability(0, 0).to_bits(), 0);
    }
}
