//! TU data sets: the edges of all graphs in one file, and the graph of each node in another.

use calipers_core::{Error, Result};

use super::{MAX_NODES, Storage, StoredGraph};
use crate::text::{Lines, leading_whole, not_whole, shown};

/// How the name of the file of edges ends, and those of the files that belong to it: the graph of each
/// node, and its label.
pub(super) const ENDINGS: &[&str] = &["_A.txt"];
/// The file with the graph of each node.
pub const INDICATOR: &str = "_graph_indicator.txt";
/// The file with the label of each node.
pub const LABELS: &str = "_node_labels.txt";

/// The files of a data set.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// Two nodes per line, from 1 over all graphs.
    pub edges: &'a [u8],
    /// Line i is the graph of node i, from 1.
    pub indicator: &'a [u8],
    /// Line i is the label of node i.
    pub labels: Option<&'a [u8]>,
}

/// Reads all graphs. Nodes of a graph are numbered from 0 in the order of the file.
pub fn parse(files: &Files<'_>) -> Result<Vec<StoredGraph>> {
    let (of_node, starts) = indicator(files.indicator).map_err(|error| error.at("the graph indicator"))?;
    let labels = files.labels.map(|bytes| labels(bytes, of_node.len())).transpose();
    let labels = labels.map_err(|error| error.at("the node labels"))?;
    let node = |number: u64, line: u64| {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        place.filter(|place| *place < of_node.len()).ok_or_else(|| {
            Error::value("TU data set: node number out of range")
                .at(format!("line {line}"))
                .found(number)
                .allowed(format!("1 to {}, the lines of the graph indicator", of_node.len()))
                .advice("nodes are numbered from 1 over all graphs")
        })
    };
    let mut graphs: Vec<StoredGraph> = starts
        .windows(2)
        .map(|ends| StoredGraph {
            nodes: Some((ends[1] - ends[0]) as u64),
            storage: Storage::Both,
            labels: labels.as_ref().and_then(|labels| Some(labels.as_ref().ok()?[ends[0]..ends[1]].to_vec())),
            no_labels: labels.as_ref().and_then(|labels| labels.as_ref().err().cloned()),
            ..StoredGraph::default()
        })
        .collect();
    for line in Lines::new(files.edges) {
        let line = line?;
        let Some([u, v]) = numbers::<2>(line.text, line.number)? else { continue };
        let (u, v) = (node(u, line.number)?, node(v, line.number)?);
        let [one, other] = [u, v].map(|node| of_node[node] as usize);
        if one != other {
            return Err(Error::value("TU data set: an edge between two graphs")
                .at(format!("line {}", line.number))
                .found(format!("node {} of graph {}, node {} of graph {}", u + 1, one + 1, v + 1, other + 1))
                .allowed("two nodes of one graph")
                .advice("the files are of different data sets, or one is cut"));
        }
        graphs[one].entries.push(((u - starts[one]) as u32, (v - starts[one]) as u32));
    }
    Ok(graphs)
}

/// The graph of each node, from 0, and where the nodes of each graph begin.
fn indicator(bytes: &[u8]) -> Result<(Vec<u32>, Vec<usize>)> {
    let (mut of_node, mut starts) = (Vec::new(), vec![0]);
    for line in Lines::new(bytes) {
        let line = line?;
        let Some([graph]) = numbers::<1>(line.text, line.number)? else { continue };
        let current = starts.len() as u64;
        let begins = graph == current + 1 && !of_node.is_empty();
        if graph != current && !begins {
            let what = match graph {
                0 => "graphs are numbered from 1",
                graph if graph < current => "the graph numbers decrease",
                _ => "a graph without nodes",
            };
            return Err(Error::value(format!("TU data set: {what}"))
                .at(format!("line {}", line.number))
                .found(graph)
                .allowed(if of_node.is_empty() {
                    "1".into()
                } else {
                    format!("{current} or {}", current + 1)
                })
                .advice("line i is the graph of node i"));
        }
        if begins {
            starts.push(of_node.len());
        }
        if of_node.len() as u64 == MAX_NODES {
            return Err(Error::value("too many nodes").allowed(format!("at most {MAX_NODES}")));
        }
        of_node.push((starts.len() - 1) as u32);
    }
    if of_node.is_empty() {
        return Err(Error::format("TU data set: no graph").found("no line"));
    }
    starts.push(of_node.len());
    Ok((of_node, starts))
}

/// The labels of all nodes, where all are 0 or 1; else the first that is not.
fn labels(bytes: &[u8], nodes: usize) -> Result<std::result::Result<Vec<bool>, String>> {
    let (mut labels, mut other) = (Vec::new(), None);
    for line in Lines::new(bytes) {
        let line = line?;
        match line.text.trim_ascii() {
            b"" => continue,
            b"0" => labels.push(false),
            b"1" => labels.push(true),
            word => {
                other.get_or_insert_with(|| format!("{} in line {}", shown(word), line.number));
                labels.push(false);
            }
        }
    }
    if labels.len() != nodes {
        return Err(Error::value("TU data set: one label per node is expected")
            .found(format!("{} labels", labels.len()))
            .allowed(format!("{nodes}, the lines of the graph indicator")));
    }
    Ok(other.map_or(Ok(labels), Err))
}

/// Whole numbers between commas and blanks; nothing for an empty line.
fn numbers<const N: usize>(text: &[u8], line: u64) -> Result<Option<[u64; N]>> {
    let mut rest = text.trim_ascii();
    if rest.is_empty() {
        return Ok(None);
    }
    let mut found = [0; N];
    for (place, slot) in found.iter_mut().enumerate() {
        if place > 0 {
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
        }
        let (number, length) = leading_whole(rest).ok_or_else(|| not_whole(rest, line))?;
        (*slot, rest) = (number, rest[length..].trim_ascii_start());
    }
    if rest.is_empty() { Ok(Some(found)) } else { Err(not_whole(rest, line)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(edges: &str, indicator: &str, labels: Option<&str>) -> Result<Vec<StoredGraph>> {
        parse(&Files {
            edges: edges.as_bytes(),
            indicator: indicator.as_bytes(),
            labels: labels.map(str::as_bytes),
        })
    }

    #[test]
    fn nodes_of_each_graph_are_numbered_from_0() {
        let graphs =
            read("1, 2\r\n2,1\n 4 ,  3\n\n", "1\n1\n2\n2\n2\n3\n", Some("0\n1\n1\n0\n0\n1\n")).unwrap();
        let sizes: Vec<Option<u64>> = graphs.iter().map(|graph| graph.nodes).collect();
        assert_eq!(sizes, [Some(2), Some(3), Some(1)]);
        assert_eq!((&graphs[0].entries[..], &graphs[1].entries[..]), (&[(0, 1), (1, 0)][..], &[(1, 0)][..]));
        assert_eq!(graphs[1].labels, Some(vec![true, false, false]));
        let other = &read("", "1\n1\n", Some("0\n7\n")).unwrap()[0];
        assert_eq!((&other.labels, other.no_labels.as_deref()), (&None, Some("`7` in line 2")));
    }

    #[test]
    fn files_that_do_not_fit_together_are_refused_with_their_line() {
        for (edges, indicator, labels, words) in [
            ("1, 3\n", "1\n1\n2\n", None, "node 3 of graph 2"),
            ("1, 2\n0, 1\n", "1\n1\n", None, "line 2"),
            ("1, 9\n", "1\n1\n", None, "1 to 2"),
            ("1, 2, 3\n", "1\n1\n", None, "whole number"),
            ("", "0\n1\n", None, "from 1"),
            ("", "1\n2\n1\n", None, "decrease"),
            ("", "1\n3\n", None, "a graph without nodes"),
            ("", "2\n", None, "a graph without nodes"),
            ("", "", None, "no graph"),
            ("", "1\nx\n", None, "line 2"),
            ("", "1\n1\n", Some("0\n"), "1 labels"),
        ] {
            let error = read(edges, indicator, labels).unwrap_err().to_string();
            assert!(error.contains(words), "{edges:?} {indicator:?}: {error}");
        }
    }
}
