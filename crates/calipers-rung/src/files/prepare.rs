//! `--prepare`: what happens to a graph before the model sees it.

use calipers_core::{Error, Result};
use calipers_metrics::robustness::Prepare;

use super::stored::{Listed, Stored};
use crate::model::Graph;

/// A graph that is ready, and the nodes of the file that are left in it; all of them without.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) graph: Graph,
    pub(super) kept: Option<Vec<u32>>,
}

/// Prepares the graph of a file.
pub(super) fn prepare(stored: &Stored, how: Prepare) -> Result<Prepared> {
    if stored.nodes == 0 {
        return Err(Error::value("no nodes"));
    }
    match how {
        Prepare::None => {
            let edges = stored.simple_edges().map_err(|error| {
                error.advice(
                    "mend the graph, or give --prepare rung, which drops loops, makes it \
                              symmetric, clips weights to 1 and keeps the largest component",
                )
            })?;
            Ok(Prepared { graph: Graph::new(stored.nodes, &edges)?, kept: None })
        }
        Prepare::Rung => largest_component(stored.nodes, &clipped(stored)?),
    }
}

/// The graph of an attack, which is never mended.
pub(super) fn attacked(stored: &Stored, nodes: usize) -> Result<Graph> {
    if stored.nodes != nodes {
        return Err(Error::value("the attacked graph has another number of nodes")
            .found(format!("{} nodes", stored.nodes))
            .allowed(format!("{nodes}, the nodes of the prepared clean graph")));
    }
    let edges = stored
        .simple_edges()
        .map_err(|error| error.advice("attacked graphs are never repaired: write it again"))?;
    Graph::new(nodes, &edges)
}

/// The edges of A + A^T without its diagonal, clipped to 1.
fn clipped(stored: &Stored) -> Result<Vec<(u32, u32)>> {
    let both = if stored.listed == Listed::Once { 2.0 } else { 1.0 };
    let mut entries: Vec<(u32, u32, f64)> = stored
        .entries()
        .filter(|(i, j, _)| i != j)
        .map(|(i, j, value)| (i.min(j), i.max(j), both * value))
        .collect();
    entries.sort_by_key(|(i, j, _)| (*i, *j));
    let mut edges = Vec::new();
    for same in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (i, j, _) = same[0];
        let sum: f64 = same.iter().map(|(_, _, value)| value).sum();
        let weight = if sum > 1.0 { 1.0 } else { sum };
        if weight.total_cmp(&1.0).is_eq() {
            edges.push((i, j));
        } else if weight.abs() > 0.0 || weight.is_nan() {
            return Err(Error::value("an edge has a weight that clipping to 1 leaves as it is")
                .at(format!("entry [{i}, {j}] of A + A^T"))
                .found(weight)
                .allowed("0, or 1 and more"));
        }
    }
    Ok(edges)
}

/// The largest component, of two equal ones that with the smallest node; nodes keep their order.
fn largest_component(nodes: usize, edges: &[(u32, u32)]) -> Result<Prepared> {
    let whole = Graph::new(nodes, edges)?;
    let mut component = vec![usize::MAX; nodes];
    let mut sizes = Vec::new();
    let mut waiting = Vec::new();
    for start in 0..nodes {
        if component[start] != usize::MAX {
            continue;
        }
        let (number, mut size) = (sizes.len(), 0);
        component[start] = number;
        waiting.push(start);
        while let Some(node) = waiting.pop() {
            size += 1;
            for &next in whole.neighbours(node) {
                if component[next as usize] == usize::MAX {
                    component[next as usize] = number;
                    waiting.push(next as usize);
                }
            }
        }
        sizes.push(size);
    }
    let size = sizes.iter().copied().max().unwrap_or(0);
    if size == nodes {
        return Ok(Prepared { graph: whole, kept: None });
    }
    let chosen = sizes.iter().position(|other| *other == size);
    let kept: Vec<u32> = (0..nodes as u32).filter(|node| Some(component[*node as usize]) == chosen).collect();
    let mut number = vec![u32::MAX; nodes];
    kept.iter().enumerate().for_each(|(new, old)| number[*old as usize] = new as u32);
    let inside = edges.iter().filter(|(i, _)| Some(component[*i as usize]) == chosen);
    let inside: Vec<(u32, u32)> = inside.map(|(i, j)| (number[*i as usize], number[*j as usize])).collect();
    Ok(Prepared { graph: Graph::new(size, &inside)?, kept: Some(kept) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(nodes: usize, entries: &[(u32, u32, f64)]) -> Stored {
        Stored {
            nodes,
            entries: entries.iter().map(|(i, j, _)| (*i, *j)).collect(),
            values: Some(entries.iter().map(|(_, _, value)| *value).collect()),
            listed: Listed::BothWays,
        }
    }

    fn edges(prepared: &Prepared) -> Vec<(u32, u32)> {
        prepared.graph.pairs().collect()
    }

    #[test]
    fn directions_loops_and_weights_are_mended_and_the_largest_component_stays() {
        let entries = [(0, 1, 1.0), (2, 2, 1.0), (3, 2, 3.0), (2, 3, 1.0), (4, 3, 1.0), (5, 5, 7.0)];
        let prepared = prepare(&stored(6, &entries), Prepare::Rung).unwrap();
        assert_eq!(prepared.kept.as_deref(), Some(&[2, 3, 4][..]));
        assert_eq!(edges(&prepared), [(0, 1), (1, 2)]);
    }

    #[test]
    fn of_two_largest_components_that_with_the_smallest_node_stays() {
        let prepared = prepare(&stored(5, &[(1, 4, 1.0), (0, 3, 1.0)]), Prepare::Rung).unwrap();
        assert_eq!(prepared.kept.as_deref(), Some(&[0, 3][..]));
    }

    #[test]
    fn halves_on_both_sides_make_a_whole_and_a_half_on_one_side_is_refused() {
        let whole = prepare(&stored(2, &[(0, 1, 0.5), (1, 0, 0.5)]), Prepare::Rung).unwrap();
        assert_eq!(edges(&whole), [(0, 1)]);
        let text = prepare(&stored(2, &[(0, 1, 0.5)]), Prepare::Rung).unwrap_err().to_string();
        assert!(text.contains("entry [0, 1]") && text.contains("found: 0.5"), "{text}");
        let gone = stored(2, &[(0, 1, 1.0), (1, 0, -1.0)]);
        assert_eq!(prepare(&gone, Prepare::Rung).unwrap().kept.as_deref(), Some(&[0][..]));
    }

    #[test]
    fn without_preparing_the_way_out_is_named() {
        let text = prepare(&stored(2, &[(0, 1, 1.0)]), Prepare::None).unwrap_err().to_string();
        assert!(text.contains("--prepare rung"), "{text}");
        assert!(prepare(&stored(0, &[]), Prepare::Rung).unwrap_err().to_string().contains("no nodes"));
    }

    #[test]
    fn an_attacked_graph_must_fit_and_is_not_mended() {
        let graph = stored(3, &[(0, 1, 1.0), (1, 0, 1.0)]);
        assert_eq!(attacked(&graph, 3).unwrap().edges(), 1);
        let text = attacked(&graph, 4).unwrap_err().to_string();
        assert!(text.contains("3 nodes") && text.contains("4, the nodes"), "{text}");
        assert!(attacked(&stored(2, &[(0, 1, 1.0)]), 2).unwrap_err().to_string().contains("never repaired"));
    }
}
