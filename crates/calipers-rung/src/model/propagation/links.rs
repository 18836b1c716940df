//! A graph as propagation sees it: neighbours, how strongly they are joined, and degrees.

use crate::model::graph::Graph;
use crate::model::propagation::pair_table::PairTable;

/// Who is joined to whom, and how strongly.
pub(crate) struct Links<'a> {
    starts: &'a [usize],
    neighbours: &'a [u32],
    /// Strengths in [0, 1]; 1 everywhere when absent.
    strengths: Option<&'a [f64]>,
    /// All pairs, where almost all are joined; no neighbours are listed then.
    pub(crate) table: Option<&'a PairTable<'a>>,
    /// One more than the sum of a node's strengths: the self loop.
    pub(crate) degrees: Vec<f64>,
    /// The roots of the degrees.
    pub(crate) roots: Vec<f64>,
}

impl<'a> Links<'a> {
    pub(crate) fn of_graph(graph: &'a Graph) -> Self {
        Self::new(graph.starts(), graph.all_neighbours(), None)
    }

    pub(crate) fn of_soft(graph: &'a SoftGraph) -> Self {
        Self::new(&graph.starts, &graph.neighbours, Some(&graph.strengths))
    }

    pub(crate) fn of_table(table: &'a PairTable<'a>, threads: usize) -> Self {
        let degrees = table.degrees(threads);
        let roots = degrees.iter().map(|degree| degree.sqrt()).collect();
        Self { starts: &[], neighbours: &[], strengths: None, table: Some(table), degrees, roots }
    }

    fn new(starts: &'a [usize], neighbours: &'a [u32], strengths: Option<&'a [f64]>) -> Self {
        let degree = |range: &[usize]| match strengths {
            None => 1.0 + (range[1] - range[0]) as f64,
            Some(strengths) => 1.0 + strengths[range[0]..range[1]].iter().sum::<f64>(),
        };
        let degrees: Vec<f64> = starts.windows(2).map(degree).collect();
        let roots = degrees.iter().map(|degree| degree.sqrt()).collect();
        Self { starts, neighbours, strengths, table: None, degrees, roots }
    }

    /// The number of ordered pairs that are joined.
    pub(crate) fn entries(&self) -> usize {
        self.neighbours.len()
    }

    /// The neighbours of a node, ascending, and their strengths, 1 each when absent.
    #[inline(always)]
    pub(crate) fn of(&self, node: usize) -> (&[u32], Option<&[f64]>) {
        let range = self.starts[node]..self.starts[node + 1];
        (&self.neighbours[range.clone()], self.strengths.map(|strengths| &strengths[range]))
    }
}

/// A graph whose edges have strengths in (0, 1].
pub(crate) struct SoftGraph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    strengths: Vec<f64>,
}

impl SoftGraph {
    /// From pairs i < j in ascending order, visited twice.
    pub(crate) fn from_sorted<I: Iterator<Item = (u32, u32, f64)>>(
        nodes: usize,
        pairs: impl Fn() -> I,
    ) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (i, j, _) in pairs() {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let (mut neighbours, mut strengths) = (vec![0; starts[nodes]], vec![0.0; starts[nodes]]);
        for (i, j, strength) in pairs() {
            for (from, to) in [(i, j), (j, i)] {
                let place = next[from as usize];
                (neighbours[place], strengths[place]) = (to, strength);
                next[from as usize] += 1;
            }
        }
        Self { starts, neighbours, strengths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_add_to_degrees_and_neighbours_come_ascending() {
        let pairs = [(0, 2, 0.5), (0, 3, 1.0), (1, 2, 0.25), (2, 3, 0.75)];
        let soft = SoftGraph::from_sorted(4, || pairs.into_iter());
        let links = Links::of_soft(&soft);
        assert_eq!(links.degrees, [2.5, 1.25, 2.5, 2.75]);
        assert_eq!(links.of(2), (&[0, 1, 3][..], Some(&[0.5, 0.25, 0.75][..])));
        let hard = Graph::new(4, &[(0, 2), (0, 3), (1, 2), (2, 3)]).unwrap();
        let links = Links::of_graph(&hard);
        assert_eq!(links.degrees, [3.0, 2.0, 4.0, 3.0]);
        assert_eq!(links.entries(), 8);
    }
}
