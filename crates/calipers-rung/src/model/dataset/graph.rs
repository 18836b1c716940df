//! An undirected graph without loops, weights or repeats, neighbours in ascending order.

use calipers_core::{Error, Result};

/// An undirected graph on the nodes 0, 1, ..., each edge stored in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// A graph from its edges, each given once and in any orientation.
    ///
    /// # Errors
    /// A node number out of range, a loop or a repeated edge, with its place in the list.
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Result<Self> {
        let sorted = sorted_pairs(nodes, edges, "edge")?;
        Ok(Self::from_sorted(nodes, &sorted))
    }

    /// From pairs i < j in ascending order.
    fn from_sorted(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; nodes + 1];
        for &(i, j) in pairs {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0; 2 * pairs.len()];
        // A node meets its smaller neighbours before its greater ones, both ascending.
        for &(i, j) in pairs {
            for (from, to) in [(i, j), (j, i)] {
                neighbours[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        Self { starts, neighbours }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of undirected edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The neighbours of a node, ascending.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.starts[node]..self.starts[node + 1]]
    }

    /// Whether two nodes are joined.
    pub fn joins(&self, i: u32, j: u32) -> bool {
        self.neighbours(i as usize).binary_search(&j).is_ok()
    }

    /// Every edge once as i < j, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.nodes() as u32).flat_map(move |i| self.later_neighbours(i).iter().map(move |&j| (i, j)))
    }

    /// The neighbours of a node that have greater numbers.
    pub(crate) fn later_neighbours(&self, i: u32) -> &[u32] {
        let all = self.neighbours(i as usize);
        &all[all.partition_point(|&j| j < i)..]
    }

    /// Where each node's neighbours begin in [`Self::all_neighbours`].
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    pub(crate) fn all_neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// The graph in which each of these pairs is joined if it was not, and not if it was.
    ///
    /// # Errors
    /// A node number out of range, a pair of equal nodes or a repeated pair, with its place in the list.
    pub fn flipped(&self, flips: &[(u32, u32)]) -> Result<Self> {
        let flips = sorted_pairs(self.nodes(), flips, "flip")?;
        let mut flips = flips.into_iter().peekable();
        let mut pairs = Vec::with_capacity(self.edges() + flips.len());
        for pair in self.pairs() {
            while let Some(added) = flips.next_if(|&flip| flip < pair) {
                pairs.push(added);
            }
            if flips.next_if_eq(&pair).is_none() {
                pairs.push(pair);
            }
        }
        pairs.extend(flips);
        Ok(Self::from_sorted(self.nodes(), &pairs))
    }
}

/// The pairs as i < j, ascending, once it is clear that they are pairs of different nodes and all different.
fn sorted_pairs(nodes: usize, pairs: &[(u32, u32)], what: &str) -> Result<Vec<(u32, u32)>> {
    if nodes > u32::MAX as usize {
        return Err(Error::value("too many nodes").found(nodes).allowed(format!("up to {}", u32::MAX)));
    }
    for (place, &(i, j)) in pairs.iter().enumerate() {
        let at = format!("{what} {place}");
        if let Some(node) = [i, j].into_iter().find(|&node| node as usize >= nodes) {
            let allowed = format!("0 to {}", nodes.saturating_sub(1));
            return Err(Error::value("node number out of range").at(at).found(node).allowed(allowed));
        }
        if i == j {
            return Err(Error::value("self loop")
                .at(at)
                .found(format!("[{i}, {j}]"))
                .advice("drop the diagonal"));
        }
    }
    let mut sorted: Vec<(u32, u32)> = pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect();
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]) {
        let mut places =
            pairs.iter().enumerate().filter(|(_, p)| (p.0.min(p.1), p.0.max(p.1)) == pair).map(|(k, _)| k);
        let (first, second) = (places.next().unwrap_or(0), places.next().unwrap_or(0));
        return Err(Error::value(format!("repeated {what}"))
            .at(format!("{what} {second}"))
            .found(format!("[{}, {}], as {what} {first}", pair.0, pair.1))
            .advice(format!("list each {what} once")));
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_ascending_whatever_the_order_and_orientation() {
        let graph = Graph::new(4, &[(3, 1), (0, 1), (2, 1), (3, 2)]).unwrap();
        assert_eq!((graph.nodes(), graph.edges()), (4, 4));
        assert_eq!(graph.neighbours(1), [0, 2, 3]);
        assert_eq!(graph.later_neighbours(1), [2, 3]);
        assert_eq!(graph.pairs().collect::<Vec<_>>(), [(0, 1), (1, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn flips_toggle_edges_and_flipping_twice_changes_nothing() {
        let graph = Graph::new(5, &[(0, 1), (1, 2), (3, 4)]).unwrap();
        let flips = [(4, 0), (1, 0), (2, 3)];
        let flipped = graph.flipped(&flips).unwrap();
        assert_eq!(flipped.pairs().collect::<Vec<_>>(), [(0, 4), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(flipped.flipped(&flips).unwrap(), graph);
    }

    #[test]
    fn bad_edges_are_named_with_their_place() {
        let text = |edges: &[(u32, u32)]| Graph::new(3, edges).unwrap_err().to_string();
        let far = text(&[(0, 1), (1, 3)]);
        assert!(far.contains("edge 1") && far.contains("found: 3") && far.contains("0 to 2"), "{far}");
        assert!(text(&[(2, 2)]).contains("self loop"));
        let twice = text(&[(0, 1), (1, 2), (1, 0)]);
        assert!(
            twice.contains("repeated edge") && twice.contains("at: edge 2") && twice.contains("as edge 0"),
            "{twice}"
        );
        let graph = Graph::new(3, &[]).unwrap();
        assert!(graph.flipped(&[(0, 1), (1, 0)]).unwrap_err().to_string().contains("repeated flip"));
    }
}
