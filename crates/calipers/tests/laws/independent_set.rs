//! Random graphs for the laws.

use calipers::core::{Accumulator, SplitMix64};
use calipers::metrics::independent_set::graph::{Graph, Storage};
use calipers::metrics::independent_set::unit::{Scores, Unit};
use calipers::metrics::independent_set::{Axis, Decoder, IndependentSet, Kind, PosWeight, Preset, Reference};

use crate::Sample;

pub(crate) fn samples() -> Vec<Sample<IndependentSet>> {
    let strict = IndependentSet {
        scores: Some(Kind::Logits),
        axis: Some(Axis::Steps),
        decoders: vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils],
        ils_iterations: 20,
        pos_weight: PosWeight::Pooled,
        ..IndependentSet::default()
    };
    let document = IndependentSet {
        preset: Preset::Document,
        reference: Reference::Labels,
        decoders: Vec::new(),
        ..strict.clone()
    };
    let other = IndependentSet { seed: 1, ..strict.clone() };
    let each_graph = IndependentSet { pos_weight: PosWeight::Graph, ..strict.clone() };
    let two_losses = IndependentSet { feasibility_weight: 0.5, ..each_graph.clone() };
    let published = IndependentSet { reference_mean: Some(4.5), ..two_losses.clone() };
    vec![
        Sample { protocol: published, other: two_losses.clone(), add },
        Sample { protocol: strict.clone(), other, add },
        Sample { protocol: document, other: strict, add },
        Sample { protocol: each_graph.clone(), other: two_losses.clone(), add },
        Sample { protocol: two_losses, other: each_graph, add },
    ]
}

/// A random graph with labels, optima and two steps of logits; some are empty or lack labels.
fn add(accumulator: &mut Accumulator<IndependentSet>, name: &str, unit: usize) {
    let mut random = SplitMix64::new(unit as u64);
    let nodes = random.below(14) + u64::from(unit < 2);
    let entries: Vec<(u32, u32)> = (0..if nodes == 0 { 0 } else { 2 * nodes })
        .map(|_| (random.below(nodes) as u32, random.below(nodes) as u32))
        .collect();
    let graph = Graph::build(nodes, Storage::Both, &entries.as_slice()).unwrap();
    let logits: Vec<f64> = (0..2 * nodes).map(|_| 6.0 * random.unit() - 3.0).collect();
    let scores = Scores::new(Kind::Logits, Some(Axis::Steps), &logits, nodes as usize).unwrap();
    let labels: Vec<bool> = (0..nodes).map(|_| random.below(3) == 0).collect();
    let labels = (unit % 5 != 4).then_some(labels.as_slice());
    let optimum = unit.is_multiple_of(3).then_some(nodes / 2);
    accumulator.update(name, Unit::new(&graph, Some(scores), labels, optimum).unwrap()).unwrap();
}
