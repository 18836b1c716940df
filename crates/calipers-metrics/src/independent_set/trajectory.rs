//! Several predictions of one graph: independent samples, or the steps of a recursion.

use super::decode::greedy_in_order;
use super::graph::Graph;
use super::protocol::{Kind, Preset};
use super::ranking::{Ranking, rank};
use super::row::StepRow;
use super::solution::{predicted, ranking_keys, size, violations};
use super::unit::Unit;

/// One row of scores read by a preset: what is predicted and what is decoded.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) predicted: Vec<bool>,
    pub(super) decoded: Vec<bool>,
    pub(super) tied: u64,
}

/// Predicts and decodes one row of scores.
pub(super) fn read(graph: &Graph, kind: Kind, preset: Preset, scores: &[f64]) -> Reading {
    let keys = ranking_keys(kind, preset, scores);
    let predicted = predicted(kind, preset, &keys);
    let Ranking { order, tied } = rank(&keys);
    let decoded = if preset == Preset::TrmMisHead {
        greedy_in_order(graph, order.into_iter().filter(|&v| predicted[v as usize]))
    } else {
        greedy_in_order(graph, order)
    };
    Reading { predicted, decoded, tied }
}

/// The decode size of each sample; `main` is the reading of the prediction.
pub(super) fn samples(unit: &Unit<'_>, preset: Preset, main: &Reading) -> Vec<u64> {
    each(unit, preset, main, |reading| size(&reading.decoded))
}

/// Each recursion step; `main` is the reading of the prediction.
pub(super) fn steps(unit: &Unit<'_>, preset: Preset, main: &Reading) -> Vec<StepRow> {
    each(unit, preset, main, |reading| StepRow {
        correct: unit.labels.map(|labels| {
            reading.predicted.iter().zip(labels).map(|(guess, label)| u64::from(guess == label)).sum()
        }),
        violations: violations(unit.graph, &reading.predicted),
        decoded: size(&reading.decoded),
    })
}

fn each<T>(unit: &Unit<'_>, preset: Preset, main: &Reading, keep: impl Fn(&Reading) -> T) -> Vec<T> {
    let Some(scores) = unit.scores else { return Vec::new() };
    scores
        .rows()
        .enumerate()
        .map(|(row, values)| {
            if row == scores.predicting_row() {
                keep(main)
            } else {
                keep(&read(unit.graph, scores.kind(), preset, values))
            }
        })
        .collect()
}
