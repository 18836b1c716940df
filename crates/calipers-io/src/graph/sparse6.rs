//! sparse6: one sparse graph per line, each edge as a step to its larger node and its smaller one.

use calipers_core::Result;

use super::StoredGraph;
use super::six_bit::{OTHER_FORMAT, SixBit};
use crate::text::shown;

/// Reads one graph; `number` is its line, from 1.
///
/// The bits after the number of nodes are groups of one bit b and k bits x. A group moves the
/// current node v by b; then x above v becomes the current node, any other x is an edge (x, v).
pub fn parse_line(line: &[u8], number: u64) -> Result<StoredGraph> {
    let graph = SixBit::new(line, number);
    match graph.text.first() {
        Some(b':') => {}
        Some(b';') => {
            let error = graph.error("incremental sparse6 lines are not read", 0).found("`;`");
            return Err(error.allowed("`:`").advice("write every graph by itself"));
        }
        _ => {
            let error = graph.error("not a sparse6 line", 0).found(shown(graph.text));
            let error = error.allowed("`:` before the graph");
            return Err(error.advice("without the colon it is --graph-format graph6"));
        }
    }
    graph.check_characters(1)?;
    let (nodes, start) = graph.nodes(1)?;
    let width = (u64::BITS - nodes.saturating_sub(1).leading_zeros()).max(1);
    let body = &graph.text[start..];
    let mut entries = Vec::with_capacity(6 * body.len() / (width as usize + 1));
    let mut current = 0;
    let mut bits = 0_u64;
    let mut held = 0;
    for (index, byte) in body.iter().enumerate() {
        bits = bits << 6 | u64::from(byte - 63);
        held += 6;
        while held > width {
            let rest = held - width - 1;
            let x = bits >> rest & ((1 << width) - 1);
            let step = bits >> (held - 1) & 1;
            if current + step >= nodes || x >= nodes {
                // Only the filling of the last character may look like a node that is not there.
                if index + 1 < body.len() || held >= 6 || !is_filling(bits, held) {
                    let error = graph.error("an edge to a node that is not there", start + index);
                    let error = error.found(x.max(current + step)).allowed(format_args!("below {nodes}"));
                    return Err(error.advice(OTHER_FORMAT));
                }
                held = 0;
                break;
            }
            current += step;
            if x > current {
                current = x;
            } else {
                entries.push((x as u32, current as u32));
            }
            held = rest;
            bits &= (1 << held) - 1;
        }
    }
    if held >= 6 || !is_filling(bits, held) {
        let error = graph.error("the line is cut within an edge, or too long", graph.text.len());
        let error = error.allowed("fewer than 6 bits of filling, all 1 but the first");
        return Err(error.advice(OTHER_FORMAT));
    }
    Ok(StoredGraph { nodes: Some(nodes), entries, ..StoredGraph::default() })
}

/// Whether the last `held` bits are 1, or a 0 and then 1: the filling of the last character.
fn is_filling(bits: u64, held: u32) -> bool {
    let ones = (1 << held) - 1;
    bits & ones == ones || bits & ones == ones >> 1
}

#[cfg(test)]
mod tests {
    use super::super::graph6::tests::{packed, written_nodes};
    use super::*;
    use proptest::prelude::*;

    /// Writes sorted edges (x, v), x <= v.
    fn write(nodes: u32, edges: &[(u32, u32)]) -> Vec<u8> {
        let width = (1..32).find(|width| 1_u64 << width >= u64::from(nodes)).unwrap();
        let number = |value: u32| (0..width).rev().map(move |i| value >> i & 1 == 1);
        let (mut bits, mut current) = (Vec::new(), 0);
        for (x, v) in edges.iter().copied() {
            if v > current + 1 {
                bits.push(true);
                bits.extend(number(v));
                bits.push(false);
            } else {
                bits.push(v == current + 1);
            }
            bits.extend(number(x));
            current = v;
        }
        let missing = bits.len().next_multiple_of(6) - bits.len();
        if nodes == 1 << width && missing > width && current + 2 == nodes {
            bits.push(false);
        }
        [b":".to_vec(), written_nodes(nodes.into()), packed(bits, true)].concat()
    }

    /// The groups of bits as text, one after the other.
    fn read_slowly(line: &[u8], nodes: u32, start: usize) -> Vec<(u32, u32)> {
        let bits: String = line[start..].iter().map(|c| format!("{:06b}", c - 63)).collect();
        let width = (1..32).find(|width| 1_u64 << width >= u64::from(nodes)).unwrap();
        let (mut at, mut current, mut edges) = (0, 0, Vec::new());
        while at + 1 + width <= bits.len() {
            current += u32::from(&bits[at..=at] == "1");
            let x = u32::from_str_radix(&bits[at + 1..at + 1 + width], 2).unwrap();
            at += 1 + width;
            if current >= nodes || x >= nodes {
                break;
            }
            if x > current {
                current = x;
            } else {
                edges.push((x, current));
            }
        }
        edges
    }

    #[test]
    fn a_known_graph_is_read() {
        let graph = parse_line(b":Fa@x^\n", 1).unwrap();
        assert_eq!((graph.nodes, &graph.entries[..]), (Some(7), &[(0, 1), (0, 2), (1, 2), (5, 6)][..]));
        assert_eq!(parse_line(b":?", 1).unwrap().nodes, Some(0));
        assert_eq!(parse_line(b":@", 1).unwrap().nodes, Some(1));
    }

    #[test]
    fn the_filling_never_becomes_an_edge() {
        for nodes in [2_u32, 4, 8, 16] {
            let edges: Vec<_> = (1..nodes - 1).map(|v| (0, v)).collect();
            for count in 0..edges.len() {
                let line = write(nodes, &edges[count..]);
                assert_eq!(parse_line(&line, 1).unwrap().entries, edges[count..], "{nodes} {count}");
            }
        }
    }

    #[test]
    fn damaged_lines_name_line_and_byte() {
        for (line, place, word) in [
            (&b"Fa@x^"[..], "line 2, byte 1", "graph6"),
            (b";Fa@x^", "line 2, byte 1", "incremental"),
            (b":Fa x^", "line 2, byte 4", "byte 32"),
            (b":", "line 2, byte 2", "number of nodes"),
            (b":~~~~~~~~", "line 2", "too many nodes"),
            (b":Fa~x^", "line 2, byte 4", "below 7"),
            (b":~?Qx_", "line 2, byte 7", "cut"),
        ] {
            let error = parse_line(line, 2).unwrap_err();
            assert_eq!(error.place(), Some(place), "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    proptest! {
        #[test]
        fn written_graphs_read_back(nodes in 1_u32..300, seeds in prop::collection::vec((0_u32..300, 0_u32..300), 0..60)) {
            let mut edges: Vec<_> = seeds.iter().filter(|(x, v)| x <= v && *v < nodes).copied().collect();
            edges.sort_unstable_by_key(|(x, v)| (*v, *x));
            let line = write(nodes, &edges);
            let graph = parse_line(&line, 1).unwrap();
            prop_assert_eq!(graph.nodes, Some(nodes.into()));
            prop_assert_eq!(&graph.entries, &edges);
            prop_assert_eq!(&graph.entries, &read_slowly(&line, nodes, if nodes < 63 { 2 } else { 5 }));
        }
    }
}
