//! A bound no independent set can exceed: the number of cliques that cover the graph.

use calipers_core::stop::Turns;

use crate::independent_set::graph::Graph;
use crate::independent_set::search::{by_degree, elimination_order};

/// The smallest of three greedy clique covers. An independent set has at most one node in each
/// clique, so none is larger.
///
/// ```
/// use calipers_metrics::independent_set::{Graph, Storage, certificate::upper_bound};
/// let triangle: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 0)];
/// assert_eq!(upper_bound(&Graph::build(3, Storage::Once, &triangle)?), 1);
/// # Ok::<(), calipers_core::Error>(())
/// ```
pub fn upper_bound(graph: &Graph) -> u64 {
    let by_number: Vec<u32> = (0..graph.nodes() as u32).collect();
    let mut best = clique_cover(graph, &by_number, u64::MAX);
    drop(by_number);
    best = clique_cover(graph, &by_degree(graph), best);
    clique_cover(graph, &elimination_order(graph), best)
}

/// A clique of the cover while it grows.
#[derive(Clone, Copy, Debug)]
struct Clique {
    size: u32,
    /// Members adjacent to the node that is being placed.
    near: u32,
}

const UNPLACED: u32 = u32::MAX;
/// How many nodes are touched together, and in how large graphs that is worth it.
const AHEAD: usize = 32;
const OUTSIDE_CACHE: usize = 1 << 18;

/// Puts each node into the largest clique wholly adjacent to it, the first made among equals, else
/// into a new one. Returns the number of cliques, or `enough` as soon as that many are made.
fn clique_cover(graph: &Graph, order: &[u32], enough: u64) -> u64 {
    let mut placed = vec![UNPLACED; graph.nodes()];
    let mut cliques: Vec<Clique> = Vec::new();
    let mut near = Vec::new();
    let mut turns = Turns::every(1024);
    for (at, &v) in order.iter().enumerate() {
        if turns.asked() {
            break;
        }
        if at % AHEAD == 0 && graph.nodes() >= OUTSIDE_CACHE {
            touch(graph, &order[at..order.len().min(at + AHEAD)], &placed, &cliques);
        }
        // Every slot is written and only the count depends on what was read: a branch here would
        // be mispredicted half of the time, and wait for memory each time.
        let neighbours = graph.neighbours(v);
        near.resize(neighbours.len(), UNPLACED);
        let mut count = 0;
        for &w in neighbours {
            let clique = placed[w as usize];
            near[count] = clique;
            count += usize::from(clique != UNPLACED);
        }
        near.truncate(count);
        for &c in &near {
            cliques[c as usize].near += 1;
        }
        let mut best: Option<(u32, u32)> = None;
        for &c in &near {
            let clique = &mut cliques[c as usize];
            let larger =
                best.is_none_or(|(size, first)| clique.size > size || clique.size == size && c < first);
            if clique.near == clique.size && larger {
                best = Some((clique.size, c));
            }
            clique.near = 0;
        }
        placed[v as usize] = match best {
            Some((_, c)) => {
                cliques[c as usize].size += 1;
                c
            }
            None if cliques.len() as u64 + 1 >= enough => return enough,
            None => {
                cliques.push(Clique { size: 1, near: 0 });
                cliques.len() as u32 - 1
            }
        };
    }
    cliques.len() as u64
}

/// Reads what the next nodes will need, one kind of memory after the other: waits for memory then
/// overlap, instead of each node waiting three times in a row. Changes nothing.
fn touch(graph: &Graph, nodes: &[u32], placed: &[u32], cliques: &[Clique]) {
    let mut lists: [&[u32]; AHEAD] = [&[]; AHEAD];
    for (list, &v) in lists.iter_mut().zip(nodes) {
        *list = graph.neighbours(v);
    }
    let mut seen = 0;
    for list in lists {
        seen ^= list.first().copied().unwrap_or_default();
    }
    for &w in lists.into_iter().flatten() {
        seen ^= placed[w as usize];
    }
    if let Some(last) = cliques.len().checked_sub(1) {
        for &w in lists.into_iter().flatten() {
            seen ^= cliques[last.min(placed[w as usize] as usize)].size;
        }
    }
    std::hint::black_box(seen);
}
