//! A set of nodes against the graph and the labels: whole numbers only.

use std::borrow::Cow;

use calipers_core::functions;

use super::edge_walk::walk;
use super::graph::Graph;
use super::protocol::{Kind, Preset};
use super::row::Counts;

/// Whether no edge has both ends in the set.
pub fn is_independent(graph: &Graph, set: &[bool]) -> bool {
    violations(graph, set) == 0
}

/// Whether the set is independent and no node can be added to it.
pub fn is_maximal(graph: &Graph, set: &[bool]) -> bool {
    walk(graph, Some(set), None, None).prediction.maximal
}

/// Edges with both ends in the set.
pub(super) fn violations(graph: &Graph, set: &[bool]) -> u64 {
    let inside =
        |v: u32| graph.smaller_neighbours(v).iter().map(|&w| u64::from(set[w as usize])).sum::<u64>();
    (0..graph.nodes() as u32).filter(|&v| set[v as usize]).map(inside).sum()
}

/// Stored entries with both ends in the set, of whose edges `violations` are in the set.
pub(super) fn stored_violations(graph: &Graph, set: &[bool], violations: u64) -> u64 {
    let copies = graph.copies();
    let (mut unusual, mut entries) = (0, 0);
    for &(u, v, count) in &copies.unusual {
        if set[u as usize] && set[v as usize] {
            unusual += 1;
            entries += count;
        }
    }
    let loops = graph.loops().iter().filter(|&&v| set[v as usize]).count() as u64;
    copies.usual * (violations - unusual) + entries + loops
}

/// How many nodes a set has.
pub(super) fn size(set: &[bool]) -> u64 {
    set.chunks(BYTES).map(|part| sum(part.iter().map(|&chosen| u8::from(chosen)))).sum()
}

/// So many ones can be summed in a byte, sixteen bytes at a time.
const BYTES: usize = 128;

fn sum(ones: impl Iterator<Item = u8>) -> u64 {
    u64::from(ones.sum::<u8>())
}

/// Agreement of prediction and labels.
pub(super) fn counts(predicted: &[bool], labels: &[bool]) -> Counts {
    let parts = predicted.chunks(BYTES).zip(labels.chunks(BYTES));
    let tp = parts.map(|(guess, truth)| sum(guess.iter().zip(truth).map(|(&a, &y)| u8::from(a & y)))).sum();
    let (ones, chosen) = (size(labels), size(predicted));
    Counts { tp, fp: chosen - tp, fn_: ones - tp, tn: labels.len() as u64 + tp - chosen - ones }
}

/// What nodes are ranked by: the scores as given, or in the published presets single-precision
/// probabilities.
pub(super) fn ranking_keys<'a>(kind: Kind, preset: Preset, scores: &'a [f64]) -> Cow<'a, [f64]> {
    if preset == Preset::Strict || kind == Kind::Set {
        return Cow::Borrowed(scores);
    }
    pinned_probabilities(kind, scores).iter().map(|&p| f64::from(p as f32)).collect()
}

/// Correctly rounded probabilities, for whoever compares them: in the last bits of the faster ones
/// equal nodes could differ, and so a tie be lost.
pub(super) fn pinned_probabilities(kind: Kind, scores: &[f64]) -> Cow<'_, [f64]> {
    match kind {
        Kind::Logits => scores.iter().map(|&z| functions::sigmoid(z)).collect(),
        Kind::Probs | Kind::Set => Cow::Borrowed(scores),
    }
}

/// The predicted nodes, from their ranking keys: p > 0.5, which for logits is z > 0.
pub(super) fn predicted(kind: Kind, preset: Preset, keys: &[f64]) -> Vec<bool> {
    let threshold = if preset == Preset::Strict && kind == Kind::Logits { 0.0 } else { 0.5 };
    keys.iter().map(|&key| key > threshold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;

    #[test]
    fn loops_and_repeats_count_among_stored_violations_only() {
        let pairs: &[(u32, u32)] = &[(0, 1), (1, 0), (1, 0), (1, 2), (2, 1), (3, 2), (3, 3), (0, 0)];
        let graph = Graph::build(4, Storage::Both, &pairs).unwrap();
        for bits in 0..16 {
            let set: Vec<bool> = (0..4).map(|v| bits >> v & 1 == 1).collect();
            let violations = violations(&graph, &set);
            let slow = pairs.iter().filter(|(u, v)| set[*u as usize] && set[*v as usize]).count() as u64;
            assert_eq!(stored_violations(&graph, &set, violations), slow);
        }
    }

    #[test]
    fn a_half_is_not_predicted_and_the_smallest_logit_is() {
        assert_eq!(predicted(Kind::Logits, Preset::Strict, &[1e-30, 0.0, -0.0]), [true, false, false]);
        assert_eq!(predicted(Kind::Probs, Preset::Strict, &[0.5, 0.5 + f64::EPSILON]), [false, true]);
        // The same logit and probability fall on 0.5 in single precision.
        let logits = ranking_keys(Kind::Logits, Preset::Document, &[1e-30, 1e-6]);
        assert_eq!(predicted(Kind::Logits, Preset::Document, &logits), [false, true]);
        let probs = ranking_keys(Kind::Probs, Preset::TrmMisHead, &[0.5 + f64::EPSILON, 0.75]);
        assert_eq!(predicted(Kind::Probs, Preset::TrmMisHead, &probs), [false, true]);
    }

    #[test]
    fn counts_add_up_to_the_nodes() {
        let counted = counts(&[true, true, false, false, false], &[true, false, true, false, false]);
        assert_eq!(counted, Counts { tp: 1, fp: 1, fn_: 1, tn: 2 });
    }
}
