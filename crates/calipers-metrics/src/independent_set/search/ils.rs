//! Iterated local search: force a node in, repair by swaps, keep what is not worse.

use calipers_core::SplitMix64;
use calipers_core::stop::Turns;

use super::swap::{LocalSearch, swap_search};
use crate::independent_set::graph::Graph;

/// Iterated local search from the swap result of `start`, a maximal independent set. The outcome
/// depends on the graph, the start, `iterations`, `seed` and `name` alone; it is independent,
/// maximal and never smaller than the swap result, which it equals for 0 iterations.
pub fn ils(graph: &Graph, start: &[bool], iterations: u64, seed: u64, name: &str) -> Vec<bool> {
    from_swapped(graph, swap_search(graph, start), iterations, seed, name)
}

/// The same, from a set that has no swap left.
pub(crate) fn from_swapped(
    graph: &Graph,
    set: Vec<bool>,
    iterations: u64,
    seed: u64,
    name: &str,
) -> Vec<bool> {
    let mut perturb = Perturbation::new(graph, seed ^ fnv1a(name));
    if perturb.attached.is_empty() {
        return set;
    }
    let mut search = LocalSearch::new(graph, &set);
    search.improve();
    let mut best = search.size;
    let mut turns = Turns::every(256);
    for now in 1..=iterations {
        if turns.asked() {
            break;
        }
        search.forget_detours();
        iterate(graph, &mut search, &mut perturb, &mut best, now);
    }
    search.undo(0);
    search.chosen
}

/// Perturbs, repairs, and keeps or undoes what came of it. Changes are counted from the best set.
fn iterate(
    graph: &Graph,
    search: &mut LocalSearch<'_>,
    perturb: &mut Perturbation,
    best: &mut usize,
    now: u64,
) {
    let (before, changes) = (search.size, search.changes());
    perturb.force(graph, search, now);
    search.improve();
    if search.size > *best {
        *best = search.size;
        search.keep();
    } else if search.size < before {
        // The further below the present and the best set, the rarer a worse one is kept.
        let loss = (before - search.size) * (*best - search.size);
        if perturb.random.below(1 + loss as u64) != 0 {
            search.undo(changes);
        }
    }
}

/// How many outside nodes are looked at before one is forced in.
const DRAWS: usize = 4;

struct Perturbation {
    random: SplitMix64,
    /// Nodes with a neighbour.
    attached: Vec<u32>,
    /// The iteration in which a node was last forced out.
    left: Vec<u64>,
    removed: Vec<u32>,
}

impl Perturbation {
    fn new(graph: &Graph, seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed),
            attached: (0..graph.nodes() as u32).filter(|&v| graph.degree(v) > 0).collect(),
            left: vec![0; graph.nodes()],
            removed: Vec::new(),
        }
    }

    /// Forces in one node, rarely more, and fills the places of the neighbours that had to go.
    fn force(&mut self, graph: &Graph, search: &mut LocalSearch<'_>, now: u64) {
        let mut count = 1;
        if self.random.below(2 * search.size as u64) == 0 {
            count += 1 + self.random.next_u64().trailing_zeros();
        }
        for _ in 0..count {
            let node = self.longest_outside(graph, search);
            // A node with a chosen neighbour can only come in when that neighbour goes.
            self.removed.clear();
            self.removed.extend(graph.neighbours(node).iter().filter(|&&w| search.chosen[w as usize]));
            for &w in &self.removed {
                search.remove(w);
                self.left[w as usize] = now;
            }
            search.add(node);
            for &w in &self.removed {
                search.fill(graph.neighbours(w).iter().copied());
            }
        }
    }

    /// Of a few random outside nodes the one with the fewest chosen neighbours, then the one that
    /// was forced out the longest ago.
    fn longest_outside(&mut self, graph: &Graph, search: &LocalSearch<'_>) -> u32 {
        let mut pick = self.outside(graph, search);
        for _ in 1..DRAWS {
            let other = self.outside(graph, search);
            let age = |v: u32| (search.tight[v as usize], self.left[v as usize]);
            if age(other) < age(pick) {
                pick = other;
            }
        }
        pick
    }

    /// A random outside node; every neighbour of a chosen node is one.
    fn outside(&mut self, graph: &Graph, search: &LocalSearch<'_>) -> u32 {
        let mut node = 0;
        for _ in 0..DRAWS {
            node = self.attached[self.random.below(self.attached.len() as u64) as usize];
            if !search.chosen[node as usize] {
                return node;
            }
        }
        // All draws were chosen nodes: the last one has neighbours, and none of them is chosen.
        let near = graph.neighbours(node);
        near[self.random.below(near.len() as u64) as usize]
    }
}

/// A hash of the name that any language can repeat.
fn fnv1a(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;
    use crate::independent_set::search::greedy;

    #[test]
    fn the_journal_stays_short_and_nothing_else_changes() {
        let mut random = SplitMix64::new(11);
        for nodes in [2, 9, 60] {
            let mut end = || random.below(nodes) as u32;
            let pairs: Vec<(u32, u32)> = (0..3 * nodes).map(|_| (end(), end())).collect();
            let graph = Graph::build(nodes, Storage::Once, &&pairs[..]).unwrap();
            let start = swap_search(&graph, &greedy(&graph, &vec![0.0; nodes as usize]));
            let found = from_swapped(&graph, start.clone(), 3_000, 5, "unit");
            // The best set copied and every change remembered, beside one that forgets.
            let mut searches = [LocalSearch::new(&graph, &start), LocalSearch::new(&graph, &start)];
            let mut perturbations = [(); 2].map(|()| Perturbation::new(&graph, 5 ^ fnv1a("unit")));
            searches.iter_mut().for_each(LocalSearch::improve);
            let (mut bests, mut best_set) = ([searches[0].size; 2], searches[0].chosen.clone());
            for now in 1..=3_000 {
                searches[1].forget_detours();
                assert!(searches[1].changes() <= 2 * nodes as usize);
                for i in 0..2 {
                    iterate(&graph, &mut searches[i], &mut perturbations[i], &mut bests[i], now);
                }
                assert_eq!(searches[0].chosen, searches[1].chosen);
                if searches[0].changes() == 0 {
                    best_set.clone_from(&searches[0].chosen);
                }
            }
            assert!(nodes < 60 || searches[0].changes() > 4 * nodes as usize);
            assert_eq!(found, best_set);
        }
    }
}
