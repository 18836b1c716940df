//! graph6: one dense graph per line, the upper triangle of the adjacency matrix column by column.

use calipers_core::Result;

use super::StoredGraph;
use super::six_bit::{OTHER_FORMAT, SixBit};

/// Reads one graph; `number` is its line, from 1.
pub fn parse_line(line: &[u8], number: u64) -> Result<StoredGraph> {
    let graph = SixBit::new(line, number);
    if let Some(other) = other_format(graph.text) {
        let error = graph.error("not a graph6 line", 0).found(other);
        return Err(error.allowed("characters 63 to 126").advice(OTHER_FORMAT));
    }
    graph.check_characters(0)?;
    let (nodes, start) = graph.nodes(0)?;
    let body = &graph.text[start..];
    let bits = u128::from(nodes) * u128::from(nodes.saturating_sub(1)) / 2;
    let expected = bits.div_ceil(6);
    if body.len() as u128 != expected {
        let what =
            if expected > body.len() as u128 { "the line is too short" } else { "the line is too long" };
        let index = expected.min(body.len() as u128) as usize + start;
        let found = format!("{} characters of edges", body.len());
        return Err(graph
            .error(what, index)
            .found(found)
            .allowed(format_args!("{expected} for {nodes} nodes"))
            .advice(OTHER_FORMAT));
    }
    let padding = 6 * body.len() as u128 - bits;
    if body.last().is_some_and(|last| (last - 63) & ((1 << padding) - 1) != 0) {
        return Err(graph
            .error("edges after the last node", graph.text.len() - 1)
            .allowed("filling of zeros")
            .advice(OTHER_FORMAT));
    }
    Ok(StoredGraph { nodes: Some(nodes), entries: entries(body), ..StoredGraph::default() })
}

/// The entries (row, column), row < column, in the order of the bits.
fn entries(body: &[u8]) -> Vec<(u32, u32)> {
    let edges: usize = body.iter().map(|byte| (byte - 63).count_ones() as usize).sum();
    let mut entries = Vec::with_capacity(edges);
    let (mut column, mut first) = (1, 0);
    // Ten characters fill a word; its set bits are met with one hard branch instead of ten.
    for (index, characters) in body.chunks(10).enumerate() {
        let mut bits = characters.iter().fold(0, |bits, byte| bits << 6 | u64::from(byte - 63));
        bits <<= u64::BITS as usize - 6 * characters.len();
        while bits != 0 {
            let lead = bits.leading_zeros() as usize;
            bits &= !(1 << 63 >> lead);
            let at = 60 * index + lead;
            while at >= first + column {
                first += column;
                column += 1;
            }
            entries.push(((at - first) as u32, column as u32));
        }
    }
    entries
}

fn other_format(text: &[u8]) -> Option<&'static str> {
    match text.first() {
        Some(b':') => Some("a sparse6 line: --graph-format sparse6?"),
        Some(b';') => Some("an incremental sparse6 line, which is not read"),
        Some(b'&') => Some("a digraph6 line: directed graphs are not read"),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The characters of the number of nodes.
    pub(crate) fn written_nodes(nodes: u64) -> Vec<u8> {
        let digits = |count: u32| (0..count).rev().map(move |i| 63 + (nodes >> (6 * i) & 63) as u8);
        match nodes {
            0..=62 => digits(1).collect(),
            63..=258_047 => std::iter::once(126).chain(digits(3)).collect(),
            _ => [126, 126].into_iter().chain(digits(6)).collect(),
        }
    }

    /// Bits packed into characters, filled up with `fill`.
    pub(crate) fn packed(mut bits: Vec<bool>, fill: bool) -> Vec<u8> {
        bits.resize(bits.len().next_multiple_of(6), fill);
        bits.chunks(6).map(|six| 63 + six.iter().fold(0, |value, bit| value << 1 | u8::from(*bit))).collect()
    }

    fn write(nodes: u64, edges: &[(u32, u32)]) -> Vec<u8> {
        let bits =
            (1..nodes as u32).flat_map(|j| (0..j).map(move |i| (i, j))).map(|pair| edges.contains(&pair));
        [written_nodes(nodes), packed(bits.collect(), false)].concat()
    }

    /// One bit after the other.
    fn read_slowly(line: &[u8]) -> Vec<(u32, u32)> {
        let start = if line[0] == 126 { 4 } else { 1 };
        let nodes = line[..start].iter().rev().take(3).rev().fold(0_u32, |n, c| n << 6 | u32::from(c - 63));
        let nodes = if start == 1 { u32::from(line[0] - 63) } else { nodes };
        let mut bits = line[start..].iter().flat_map(|c| (0..6).rev().map(move |i| (c - 63) >> i & 1 == 1));
        let pairs = (1..nodes).flat_map(|j| (0..j).map(move |i| (i, j)));
        pairs.filter(|_| bits.next().unwrap()).collect()
    }

    #[test]
    fn a_known_graph_is_read() {
        let graph = parse_line(b"DQc\r", 1).unwrap();
        assert_eq!((graph.nodes, &graph.entries[..]), (Some(5), &[(0, 2), (1, 3), (0, 4), (3, 4)][..]));
        assert_eq!(parse_line(b"?", 1).unwrap().nodes, Some(0));
        assert_eq!(parse_line(b"@", 1).unwrap().nodes, Some(1));
    }

    #[test]
    fn damaged_lines_name_line_and_byte() {
        for (line, place, word) in [
            (&b"DQ"[..], "line 3, byte 3", "too short"),
            (b"DQcc", "line 3, byte 4", "too long"),
            (b"D c", "line 3, byte 2", "byte 32"),
            (b"DQ\x7f", "line 3, byte 3", "byte 127"),
            (b"DQd", "line 3, byte 3", "after the last node"),
            (b"~~~???", "line 3, byte 7", "number of nodes"),
            (b"~~?B????", "line 3, byte 9", "too short"),
            (b":DQ", "line 3, byte 1", "sparse6"),
            (b"&DQ", "line 3, byte 1", "digraph6"),
        ] {
            let error = parse_line(line, 3).unwrap_err();
            assert_eq!(error.place(), Some(place), "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    proptest! {
        #[test]
        fn written_graphs_read_back(nodes in 0_u32..80, seeds in prop::collection::vec((0_u32..80, 0_u32..80), 0..60)) {
            let mut edges: Vec<_> = seeds.iter().filter(|(i, j)| i < j && *j < nodes).copied().collect();
            edges.sort_unstable_by_key(|(i, j)| (*j, *i));
            edges.dedup();
            let line = write(nodes.into(), &edges);
            let graph = parse_line(&line, 1).unwrap();
            prop_assert_eq!(graph.nodes, Some(nodes.into()));
            prop_assert_eq!(&graph.entries, &edges);
            prop_assert_eq!(&graph.entries, &read_slowly(&line));
        }
    }
}
