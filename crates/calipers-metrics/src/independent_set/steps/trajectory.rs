//! Several predictions of one graph: independent samples, or the steps of a recursion.

use crate::independent_set::graph::Graph;
use crate::independent_set::protocol::{Kind, Preset};
use crate::independent_set::row::StepRow;
use crate::independent_set::search::{Ranking, greedy_in_order, rank};
use crate::independent_set::solution::{predicted, ranking_keys, size, violations};
use crate::independent_set::unit::Unit;

/// What a preset predicts and decodes from one row of scores.
#[derive(Clone, Debug)]
pub(crate) struct Predicted {
    pub(crate) predicted: Vec<bool>,
    pub(crate) decoded: Vec<bool>,
    pub(crate) tied: u64,
}

/// Predicts and decodes one row of scores.
pub(crate) fn predict(graph: &Graph, kind: Kind, preset: Preset, scores: &[f64]) -> Predicted {
    let keys = ranking_keys(kind, preset, scores);
    let predicted = predicted(kind, preset, &keys);
    let Ranking { order, tied } = rank(&keys);
    let decoded = if preset == Preset::TrmMisHead {
        greedy_in_order(graph, order.into_iter().filter(|&v| predicted[v as usize]))
    } else {
        greedy_in_order(graph, order)
    };
    Predicted { predicted, decoded, tied }
}

/// The decode size of each sample; `main` is that of the prediction.
pub(crate) fn samples(unit: &Unit<'_>, preset: Preset, main: &Predicted) -> Vec<u64> {
    each(unit, preset, main, |read| size(&read.decoded))
}

/// Each recursion step; `main` is that of the prediction.
pub(crate) fn steps(unit: &Unit<'_>, preset: Preset, main: &Predicted) -> Vec<StepRow> {
    each(unit, preset, main, |read| StepRow {
        correct: unit.labels.map(|labels| {
            read.predicted.iter().zip(labels).map(|(guess, label)| u64::from(guess == label)).sum()
        }),
        violations: violations(unit.graph, &read.predicted),
        decoded: size(&read.decoded),
    })
}

fn each<T>(unit: &Unit<'_>, preset: Preset, main: &Predicted, keep: impl Fn(&Predicted) -> T) -> Vec<T> {
    let Some(scores) = unit.scores else { return Vec::new() };
    scores
        .rows()
        .enumerate()
        .map(|(row, values)| {
            if row == scores.predicting_row() {
                keep(main)
            } else {
                keep(&predict(unit.graph, scores.kind(), preset, values))
            }
        })
        .collect()
}
