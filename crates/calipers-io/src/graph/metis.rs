//! METIS graphs: `n m [fmt [ncon]]`, then one line of neighbours per node, from 1.

use calipers_core::{Error, Result};

use super::{Storage, StoredGraph, check_nodes};
use crate::memory;
use crate::text::{Line, Lines, node_from_1, shown};

/// Reads a METIS graph; weights are skipped, an empty line is an isolated node.
///
/// Every edge must be listed at both its nodes and their number must be the head's m. A self loop
/// may be listed once or twice.
pub fn parse(bytes: &[u8]) -> Result<StoredGraph> {
    let mut lines = Lines::new(bytes).filter(|line| !line.as_ref().is_ok_and(is_comment));
    let head = loop {
        let line = lines.next().ok_or_else(no_head)??;
        if !line.text.trim_ascii().is_empty() {
            break head(line)?;
        }
    };
    let most = head.edges.saturating_mul(2).min(bytes.len() as u64 / 2);
    let mut entries = Vec::with_capacity(most as usize);
    let mut last_absent = false;
    for node in 0..head.nodes {
        match lines.next().transpose()? {
            Some(line) => neighbours(line, node as u32, &head, &mut entries)?,
            // The last node's empty line may lack its own line end.
            None if node + 1 == head.nodes && bytes.ends_with(b"\n") && head.skipped == 0 => {
                last_absent = true;
            }
            None => return Err(too_few(node, head.nodes)),
        }
    }
    for line in lines {
        let line = line?;
        line.fields().end(&format!("{} lines of neighbours", head.nodes))?;
    }
    check_edges(&entries, &head)
        .map_err(|error| if last_absent { too_few(head.nodes - 1, head.nodes) } else { error })?;
    Ok(StoredGraph { nodes: Some(head.nodes), entries, storage: Storage::Both, ..StoredGraph::default() })
}

struct Head {
    /// The number of the line it stands on.
    line: u64,
    nodes: u64,
    edges: u64,
    /// Words at the start of each line that are sizes and weights of the node.
    skipped: u64,
    /// Whether each neighbour is followed by the weight of its edge.
    edge_weights: bool,
}

fn is_comment(line: &Line<'_>) -> bool {
    line.text.trim_ascii_start().first() == Some(&b'%')
}

fn head(line: Line<'_>) -> Result<Head> {
    let place = format!("line {}", line.number);
    let mut fields = line.fields();
    let nodes =
        check_nodes(fields.expect_whole("the number of nodes (n m)")?).map_err(|error| error.at(&place))?;
    let edges = fields.expect_whole("the number of edges (n m)")?;
    let format = fields.word().unwrap_or(b"0");
    if format.len() > 3 || format.iter().any(|digit| !matches!(digit, b'0' | b'1')) {
        let error = Error::format("unknown weight format in the head").at(place).found(shown(format));
        let error = error.allowed("up to three digits 0 or 1");
        return Err(error.advice("correct fmt, or leave it out of a graph without weights"));
    }
    let flag = |from_end: usize| format.len() > from_end && format[format.len() - 1 - from_end] == b'1';
    let (edge_weights, node_weights, node_sizes) = (flag(0), flag(1), flag(2));
    let constraints = fields.whole()?;
    fields.end("n m [fmt [ncon]]")?;
    let weights = match (node_weights, constraints) {
        (true, None) => 1,
        (true, Some(weights @ 1..)) => weights,
        (false, None | Some(0)) => 0,
        (_, Some(found)) => {
            let allowed = if node_weights { "1 or more" } else { "0: fmt says that nodes have no weights" };
            return Err(Error::format("the number of node weights contradicts fmt")
                .at(place)
                .found(found)
                .allowed(allowed)
                .advice("correct fmt or ncon in the head"));
        }
    };
    Ok(Head {
        line: line.number,
        nodes,
        edges,
        skipped: weights.saturating_add(node_sizes.into()),
        edge_weights,
    })
}

fn neighbours(line: Line<'_>, node: u32, head: &Head, entries: &mut Vec<(u32, u32)>) -> Result<()> {
    let cut = |what: &str| {
        let error =
            Error::format(format!("the line ends before {what}")).at(format_args!("line {}", line.number));
        Err(error.advice("check fmt and ncon in the head"))
    };
    let mut fields = line.fields();
    for _ in 0..head.skipped {
        if fields.word().is_none() {
            return cut("the weights of its node");
        }
    }
    while let Some(neighbour) = fields.whole()? {
        let entry = (node, node_from_1(neighbour, head.nodes, line.number)? as u32);
        let at_line = |error: Error| error.at(format_args!("line {}", line.number));
        memory::push("the edges", entries, entry).map_err(at_line)?;
        if head.edge_weights && fields.word().is_none() {
            return cut("the weight of an edge");
        }
    }
    Ok(())
}

fn no_head() -> Error {
    Error::format("no head line")
        .at("end of file")
        .allowed("n m [fmt [ncon]]")
        .advice("begin the file with the numbers of nodes and edges")
}

fn too_few(found: u64, nodes: u64) -> Error {
    let error =
        Error::format("too few lines of neighbours").at("end of file").found(format_args!("{found} lines"));
    error
        .allowed(format_args!("{nodes}, one per node"))
        .advice("a node without neighbours needs an empty line")
}

fn check_edges(entries: &[(u32, u32)], head: &Head) -> Result<()> {
    let edges = head.edges;
    let loops = entries.iter().filter(|(u, v)| u == v).count() as u128;
    let listed = entries.len() as u128;
    let expected = 2 * u128::from(edges);
    if expected == listed || expected == listed + loops {
        return Ok(());
    }
    let error = Error::format("the number of edges differs from the head").at(format!("line {}", head.line));
    let error = error
        .found(format_args!("{listed} neighbours, where m = {edges} means {expected}"))
        .allowed("twice as many neighbours as edges");
    Err(error.advice("list every edge at both its nodes, or correct m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<StoredGraph> {
        parse(text.as_bytes())
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    const PATH: [(u32, u32); 4] = [(0, 1), (1, 0), (1, 2), (2, 1)];

    #[test]
    fn every_weight_form_gives_the_same_path() {
        for text in [
            "3 2\n2\n1 3\n2\n",
            "% a\n\n3 2 0\n% b\n2 \r\n1\t3\r\n  % c\n2",
            "3 2 1\n2 9\n1 9 3 9\n2 9\n",
            "3 2 001\n2 9\n1 9 3 9\n2 9\n",
            "3 2 10\n7 2\n7 1 3\n7 2\n",
            "3 2 011\n7 2 9\n7 1 9 3 9\n7 2 9\n",
            "3 2 10 2\n7 8 2\n7 8 1 3\n7 8 2\n",
            "3 2 100\n5 2\n5 1 3\n5 2\n\n \n",
            "3 2 111 2\n5 7 8 2 9\n5 7 8 1 9 3 9\n5 7 8 2 9\n",
            "3 2 0 0\n2\n1 3\n2\n",
        ] {
            let graph = read(text).unwrap();
            assert_eq!((graph.nodes, &graph.entries[..], graph.storage), (Some(3), &PATH[..], Storage::Both));
        }
    }

    #[test]
    fn an_empty_line_is_an_isolated_node_even_as_the_unfinished_last_one() {
        for text in ["4 1\n\n3\n2\n\n", "4 1\n\n3\n2\n"] {
            assert_eq!(read(text).unwrap().entries, [(1, 2), (2, 1)]);
        }
        assert!(refusal("4 1\n2\n1\n").contains("2 lines"));
        assert!(refusal("3 2\n2\n1 3\n").contains("2 lines"));
        assert!(refusal("2 0 10\n7\n").contains("1 lines"));
        assert_eq!(read("0 0\n").unwrap().nodes, Some(0));
    }

    #[test]
    fn self_loops_count_as_one_edge_listed_once_or_twice() {
        assert_eq!(read("2 2\n1 2\n1\n").unwrap().entries.len(), 3);
        assert_eq!(read("2 2\n1 1 2\n1\n").unwrap().entries.len(), 4);
        assert!(refusal("2 1\n1 2\n1\n").contains("3 neighbours"));
    }

    #[test]
    fn wrong_counts_and_neighbours_name_line_or_counts() {
        let error = refusal("3 3\n2\n1 3\n2\n");
        assert!(
            ["4 neighbours", "m = 3 means 6", "line 1"].iter().all(|word| error.contains(word)),
            "{error}"
        );
        for (text, word) in [
            ("3 2\n2\n1 4\n2\n", "line 3"),
            ("3 2\n2\n0 3\n2\n", "from 1"),
            ("3 2\n2\n1 3\n2\n2\n", "line 5"),
            ("3 2\n2\nx 3\n2\n", "`x`"),
            ("3 2 1\n2\n1 9 3 9\n2 9\n", "line 2"),
            ("3 2 10 2\n7\n", "line 2"),
            ("3 2 12\n", "`12`"),
            ("3 2 10 0\n", "1 or more"),
            ("3 2 1 4\n", "no weights"),
            ("3\n", "number of edges"),
            ("4294967296 0\n", "too many nodes"),
            ("% only\n\n", "no head"),
            ("3 18446744073709551615\n2\n1 3\n2\n", "4 neighbours"),
        ] {
            let error = refusal(text);
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }
}
