//! What the table of nodes says about each node of a pair.

use super::measure::{chosen, lengths, moved, printed};
use super::squares::Distances;
use crate::robustness::accuracy::decisions::decision;
use crate::robustness::difference::change::touched;
use crate::robustness::protocol::Robustness;
use crate::robustness::unit::Pair;

/// Columns with a cell for each node that sums run over; none where the evidence is not given.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeLines {
    /// The nodes, in ascending order.
    pub nodes: Vec<u32>,
    /// How far each moved: the squared distance between its attacked and its clean features.
    pub bias: Vec<f64>,
    /// The squared length of the clean features.
    pub clean_norm2: Vec<f64>,
    /// Whether the node is an end of a flip.
    pub touched: Option<Vec<bool>>,
    /// Whether it is a test node.
    pub test: Option<Vec<bool>>,
    /// The class of the largest score on the clean graph.
    pub clean_pred: Option<Vec<u32>>,
    /// The class of the largest score on the attacked graph.
    pub attacked_pred: Option<Vec<u32>>,
}

impl NodeLines {
    /// The lines of a pair that the protocol has checked.
    pub fn of(pair: &Pair<'_>, protocol: &Robustness) -> Self {
        let nodes = chosen(protocol, pair);
        let squares = |distances: Distances<'_>| {
            let mut squares = Vec::with_capacity(nodes.len());
            distances.each(&nodes, |_, distance| squares.push(printed(protocol, distance)));
            squares
        };
        let of_chosen = |marks: Vec<bool>| nodes.iter().map(|&node| marks[node as usize]).collect();
        // As in rows: the published module makes no graph audit.
        let graphs = pair.clean_edges.zip(pair.attacked_edges).filter(|_| !protocol.is_fork());
        let preds = pair.scores(protocol).map(|sides| {
            sides.map(|scores| {
                let class = |&node: &u32| decision(&scores, node as usize, protocol.is_fork()).class as u32;
                nodes.iter().map(class).collect()
            })
        });
        let [clean_pred, attacked_pred] = preds.map_or([None, None], |preds| preds.map(Some));
        Self {
            bias: squares(moved(protocol, pair)),
            clean_norm2: squares(lengths(protocol, pair)),
            touched: graphs.map(|(clean, attacked)| of_chosen(touched(clean, attacked, pair.clean.rows))),
            test: pair.test.map(|test| {
                let mut marks = vec![false; pair.clean.rows];
                test.iter().for_each(|&node| marks[node as usize] = true);
                of_chosen(marks)
            }),
            clean_pred,
            attacked_pred,
            nodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use calipers_core::Protocol;

    use super::*;
    use crate::robustness::protocol::{Nodes, Preset};
    use crate::robustness::{Budget, Matrix};
    use calipers_core::NumberSlice;

    const CLEAN: [f64; 6] = [3.0, 0.0, 0.1, 4.0, 1.0, 1.0];
    const ATTACKED: [f64; 6] = [3.0, 0.0, 0.2, 2.0, 1.0, 3.0];

    fn pair() -> Pair<'static> {
        let matrix = |data| Matrix::new(3, 2, NumberSlice::F64(data)).unwrap();
        let pair = Pair::new("a", Budget::parse("0.5").unwrap(), matrix(&CLEAN), matrix(&ATTACKED));
        Pair { test: Some(&[2, 1]), ..pair }
    }

    #[test]
    fn the_bias_of_the_table_is_that_of_the_row() {
        for preset in [Preset::Strict, Preset::RungFork] {
            for nodes in [Nodes::All, Nodes::Test] {
                let protocol = Robustness { preset, nodes, ..Robustness::default() };
                let lines = NodeLines::of(&pair(), &protocol);
                let row = protocol.measure("", pair()).unwrap();
                assert_eq!(lines.bias, row.bias.per_node);
            }
        }
    }

    #[test]
    fn cells_are_those_of_the_chosen_nodes() {
        let edges = Pair { clean_edges: Some(&[(0, 1)]), attacked_edges: Some(&[(0, 1), (1, 2)]), ..pair() };
        let protocol = Robustness { nodes: Nodes::Test, ..Robustness::default() };
        let lines = NodeLines::of(&edges, &protocol);
        assert_eq!(lines.nodes, [1, 2]);
        assert_eq!(lines.clean_norm2[1].to_bits(), 2f64.to_bits());
        assert_eq!(lines.touched, Some(vec![true, true]));
        assert_eq!(lines.clean_pred, Some(vec![1, 0]));
        let all = NodeLines::of(&edges, &Robustness::default());
        assert_eq!(all.touched, Some(vec![false, true, true]));
        assert_eq!(all.test, Some(vec![false, true, true]));
        assert_eq!(NodeLines::of(&pair(), &protocol).touched, None);
        let fork = Robustness { preset: Preset::RungFork, ..Robustness::default() };
        assert_eq!(NodeLines::of(&edges, &fork).touched, None);
    }
}
