//! The sets that scores stand for, node by node, for pictures.

use super::sets::{predicted, ranking_keys};
use crate::independent_set::graph::Graph;
use crate::independent_set::protocol::Preset;
use crate::independent_set::search::greedy;
use crate::independent_set::unit::Scores;

/// The prediction of one graph and what is decoded from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The score of each node: the first sample, the last step.
    pub scores: Vec<f64>,
    /// The predicted nodes, violations included.
    pub predicted: Vec<bool>,
    /// The greedy decode of the preset.
    pub decoded: Vec<bool>,
}

/// The sets of a graph's scores under a preset.
pub fn chosen(preset: Preset, graph: &Graph, scores: &Scores<'_>) -> Chosen {
    let keys = ranking_keys(scores.kind(), preset, scores.prediction());
    Chosen {
        predicted: predicted(scores.kind(), preset, &keys),
        decoded: greedy(graph, &keys),
        scores: scores.prediction().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;
    use crate::independent_set::{Axis, Kind};

    #[test]
    fn the_last_step_is_drawn_with_its_violations_and_its_decode_without() {
        let path: &[(u32, u32)] = &[(0, 1), (1, 2)];
        let graph = Graph::build(3, Storage::Once, &path).unwrap();
        let values = [0.0, 0.0, 0.0, 0.9, 0.8, 0.2];
        let scores = Scores::new(Kind::Probs, Some(Axis::Steps), &values, 3).unwrap();
        let chosen = chosen(Preset::Strict, &graph, &scores);
        assert_eq!(chosen.predicted, [true, true, false]);
        assert_eq!(chosen.decoded, [true, false, true]);
    }
}
