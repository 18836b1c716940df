//! Decoders that look again after every choice: residual degrees fall as nodes are removed.

use calipers_core::stop::Turns;

use super::degree_queue::DegreeQueue;
use super::node_heap::NodeHeap;
use crate::independent_set::graph::Graph;

/// Takes the remaining node of smallest residual degree, then of smallest number, and removes it
/// and its neighbours, until no node is left.
pub fn min_degree(graph: &Graph) -> Vec<bool> {
    let mut queue = DegreeQueue::new(graph);
    let mut chosen = vec![false; graph.nodes()];
    let (mut removed, mut near) = (Vec::new(), Vec::new());
    let mut turns = Turns::every(1024);
    while let Some(v) = queue.pop()
        && !turns.asked()
    {
        chosen[v as usize] = true;
        queue.present(graph.neighbours(v), &mut removed);
        for &w in &removed {
            queue.remove(w);
        }
        // All of them are gone before a degree falls, so that none of them is lowered in vain.
        for &w in &removed {
            queue.present(graph.neighbours(w), &mut near);
            for &x in &near {
                queue.lower(x);
            }
        }
    }
    chosen
}

/// Takes the remaining node with the largest p / (1 + residual degree), then of smallest number,
/// and removes it and its neighbours, until no node is left. `p` is not negative, one per node.
pub fn score_degree(graph: &Graph, p: &[f64]) -> Vec<bool> {
    // Bits of numbers that are not negative order like the numbers; + 0.0 drops the sign of zero.
    let key = |v: u32, degree: u32| !(p[v as usize] / (1.0 + f64::from(degree)) + 0.0).to_bits();
    let nodes = graph.nodes() as u32;
    let mut degrees: Vec<u32> = (0..nodes).map(|v| graph.degree(v) as u32).collect();
    let mut keys: Vec<u64> = (0..nodes).map(|v| key(v, degrees[v as usize])).collect();
    let mut heap = NodeHeap::new((0..nodes).collect(), graph.nodes(), &keys);
    let mut here = vec![true; graph.nodes()];
    let mut chosen = vec![false; graph.nodes()];
    let mut removed = Vec::new();
    let mut turns = Turns::every(1024);
    while let Some(v) = heap.pop(&keys)
        && !turns.asked()
    {
        chosen[v as usize] = true;
        here[v as usize] = false;
        removed.clear();
        removed.extend(graph.neighbours(v).iter().copied().filter(|&w| here[w as usize]));
        for &w in &removed {
            here[w as usize] = false;
            heap.remove(w, &keys);
        }
        for &w in &removed {
            for &x in graph.neighbours(w) {
                if here[x as usize] {
                    degrees[x as usize] -= 1;
                    keys[x as usize] = key(x, degrees[x as usize]);
                    heap.lowered(x, &keys);
                }
            }
        }
    }
    chosen
}

/// The order in which nodes leave when the one of smallest residual degree, then of smallest
/// number, is removed alone each time.
pub(crate) fn elimination_order(graph: &Graph) -> Vec<u32> {
    let mut queue = DegreeQueue::new(graph);
    let mut order = Vec::with_capacity(graph.nodes());
    let mut near = Vec::new();
    let mut turns = Turns::every(1024);
    while let Some(v) = queue.pop()
        && !turns.asked()
    {
        order.push(v);
        queue.present(graph.neighbours(v), &mut near);
        for &w in &near {
            queue.lower(w);
        }
    }
    order
}
