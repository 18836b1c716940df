//! DIMACS graphs: `p WORD n m`, then edges as `e u v` or bare `u v`, from 1.

use calipers_core::{Error, Result};

use super::{GraphOptions, StoredGraph, check_nodes};
use crate::memory;
use crate::text::{Fields, Line, Lines, node_from_1, shown};

/// Reads a DIMACS graph. Without a `p` line the number of nodes must be in `options`; with one,
/// the file's own number counts.
///
/// `c` lines and `n v w` lines (node weights) are skipped.
pub fn parse(bytes: &[u8], options: &GraphOptions) -> Result<StoredGraph> {
    let mut graph =
        StoredGraph { nodes: options.nodes.map(check_nodes).transpose()?, ..StoredGraph::default() };
    let mut problem: Option<u64> = None;
    for line in Lines::new(bytes) {
        let line = line?;
        let mut fields = line.fields();
        match line.text.trim_ascii_start().first() {
            None | Some(b'c') => continue,
            Some(b'0'..=b'9') => {}
            Some(_) => match fields.word().unwrap_or_default() {
                b"n" => continue,
                b"e" => {}
                b"p" => {
                    if let Some(first) = problem {
                        return Err(twice(first, line));
                    }
                    if !graph.entries.is_empty() {
                        return Err(Error::format("the p line comes after edges")
                            .at(place(line))
                            .advice("put the p line first"));
                    }
                    let (nodes, edges) = problem_line(fields, line)?;
                    problem = Some(line.number);
                    graph.nodes = Some(nodes);
                    graph.declared_edges = Some(edges);
                    // An edge takes at least four bytes, whatever the p line says.
                    let edges = edges.min(bytes.len() as u64 / 4);
                    memory::ask("the edges", 8 * edges).map_err(|error| error.at(place(line)))?;
                    graph.entries.reserve(edges as usize);
                    continue;
                }
                word => return Err(unknown(word, line)),
            },
        }
        let nodes = graph.nodes.ok_or_else(|| no_problem_line().at(place(line)))?;
        let entry = edge(fields, nodes, line)?;
        memory::push("the edges", &mut graph.entries, entry).map_err(|error| error.at(place(line)))?;
    }
    if graph.nodes.is_none() {
        return Err(no_problem_line());
    }
    Ok(graph)
}

fn edge(mut fields: Fields<'_>, nodes: u64, line: Line<'_>) -> Result<(u32, u32)> {
    let u = fields.expect_whole("the first node of the edge")?;
    let v = fields.expect_whole("the second node of the edge")?;
    fields.end("two node numbers")?;
    Ok((node_from_1(u, nodes, line.number)? as u32, node_from_1(v, nodes, line.number)? as u32))
}

fn problem_line(mut fields: Fields<'_>, line: Line<'_>) -> Result<(u64, u64)> {
    fields.word();
    let nodes = fields.expect_whole("the number of nodes (p WORD n m)")?;
    let edges = fields.expect_whole("the number of edges (p WORD n m)")?;
    fields.end("p WORD n m")?;
    Ok((check_nodes(nodes).map_err(|error| error.at(place(line)))?, edges))
}

fn place(line: Line<'_>) -> String {
    format!("line {}", line.number)
}

fn no_problem_line() -> Error {
    Error::format("no p line before the edges")
        .found("edges, or the end of the file")
        .allowed("p WORD n m")
        .advice("add the line, or give the number of nodes with --num-nodes")
}

fn twice(first: u64, line: Line<'_>) -> Error {
    let error = Error::format("a second p line").at(place(line));
    error
        .found(format_args!("the first one is line {first}"))
        .allowed("one p line")
        .advice("give every graph a file of its own")
}

fn unknown(word: &[u8], line: Line<'_>) -> Error {
    let error = Error::format("a word instead of a number").at(place(line)).found(shown(word));
    error
        .allowed("lines `c ...`, `p WORD n m`, `n v w`, `e u v` or `u v`")
        .advice("correct the line, or name another --graph-format")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Storage;

    fn read(text: &str) -> Result<StoredGraph> {
        parse(text.as_bytes(), &GraphOptions::default())
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn both_edge_forms_trailing_blanks_and_carriage_returns_are_read() {
        let graph =
            read("c a graph\r\np edge 4 5   \r\nn 1 30\r\ne 1 2\r\n2 3  \r\n\r\ne 4 4\r\n2 1").unwrap();
        assert_eq!(graph.entries, [(0, 1), (1, 2), (3, 3), (1, 0)]);
        assert_eq!((graph.nodes, graph.declared_edges), (Some(4), Some(5)));
        assert_eq!(graph.storage, Storage::Once);
    }

    #[test]
    fn without_a_p_line_the_number_of_nodes_must_be_given() {
        assert!(refusal("c x\n1 2\n").contains("line 2"));
        assert!(refusal("").contains("--num-nodes"));
        let options = GraphOptions { nodes: Some(3), ..GraphOptions::default() };
        let graph = parse(b"1 2\n3 2\n", &options).unwrap();
        assert_eq!((graph.nodes, graph.declared_edges, graph.entries.len()), (Some(3), None, 2));
        assert!(parse(b"1 4\n", &options).unwrap_err().to_string().contains("1 to 3"));
    }

    #[test]
    fn nodes_outside_the_graph_are_refused_with_their_line() {
        let error = refusal("p edge 2 2\ne 1 2\ne 0 1\n");
        assert!(error.contains("line 3") && error.contains("1 to 2") && error.contains("from 1"), "{error}");
        assert!(refusal("p edge 2 1\n1 3\n").contains("line 2"));
        assert!(refusal("p edge 4294967296 1\n").contains("4294967295"));
    }

    #[test]
    fn words_and_lines_that_are_too_short_or_too_long_are_refused() {
        for (text, word) in [
            ("p edge 3 1\ne 1 x\n", "`x`"),
            ("p edge 3 1\ne 1\n", "second node"),
            ("p edge 3 1\na 1 2\n", "`a`"),
            ("p edge 3 1\n1 2 3\n", "`3`"),
            ("p edge 3\n", "number of edges"),
            ("p 3 1\n", "number of edges"),
            ("p edge 3 1 9\n", "`9`"),
            ("p edge 3 1\np edge 3 1\n", "line 1"),
        ] {
            let error = refusal(text);
            assert!(error.contains(word) && error.contains("at: line"), "{text:?}: {error}");
        }
        let late = parse(b"1 2\np edge 3 1\n", &GraphOptions { nodes: Some(3), ..GraphOptions::default() })
            .unwrap_err();
        assert_eq!(late.place(), Some("line 2"));
    }
}
