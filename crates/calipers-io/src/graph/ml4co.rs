//! ml4co text: per line `u v u v ... label y0 y1 ... [weights ...]`, both directions, from 0.

use calipers_core::{Error, Result};

use super::{Storage, StoredGraph, check_nodes};
use crate::text::{leading_whole, not_whole, shown};

const FORM: &str = "u v u v ... label y0 y1 ...";
const OTHER: &str = "correct the line, or name another --graph-format";

/// Reads one graph with its labels; `number` is its line, from 1. Weights are ignored.
pub fn parse_line(line: &[u8], number: u64) -> Result<StoredGraph> {
    let place = format!("line {number}");
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut numbers = Vec::new();
    loop {
        match words.next() {
            Some(b"label") => break,
            Some(word) => numbers.push(node(word, number)?),
            None => {
                return Err(Error::format("no word `label` on the line")
                    .at(place)
                    .allowed(FORM)
                    .advice(OTHER));
            }
        }
    }
    let (pairs, single) = numbers.as_chunks::<2>();
    if !single.is_empty() {
        let error = Error::format("an edge with one node before `label`").at(place);
        let error = error.found(format_args!("{} numbers", numbers.len())).allowed("pairs of node numbers");
        return Err(error.advice(OTHER));
    }
    let mut labels = Vec::new();
    for word in words.take_while(|word| *word != b"weights") {
        labels.push(match word {
            b"0" => false,
            b"1" => true,
            _ => {
                let error = Error::value("not a label").at(format_args!("{place}, node {}", labels.len()));
                return Err(error
                    .found(shown(word))
                    .allowed("0 or 1")
                    .advice("soft labels are not supported"));
            }
        });
    }
    let nodes = check_nodes(labels.len() as u64)?;
    if let Some(index) = numbers.iter().position(|node| u64::from(*node) >= nodes) {
        let error = Error::value("node number out of range").at(format_args!("{place}, entry {}", index / 2));
        let error = error.found(numbers[index]);
        return Err(error.allowed(format_args!("below {nodes}, the number of labels")).advice(OTHER));
    }
    Ok(StoredGraph {
        nodes: Some(nodes),
        entries: pairs.iter().map(|[u, v]| (*u, *v)).collect(),
        storage: Storage::Both,
        labels: Some(labels),
        ..StoredGraph::default()
    })
}

fn node(word: &[u8], line: u64) -> Result<u32> {
    let whole = leading_whole(word).filter(|(_, length)| *length == word.len());
    let (value, _) = whole.ok_or_else(|| not_whole(word, line))?;
    u32::try_from(value).map_err(|_| {
        let error = Error::value("node number out of range").at(format_args!("line {line}"));
        error.found(value).allowed("below the number of labels").advice(OTHER)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_labels_and_ignored_weights_are_told_apart() {
        for line in ["0 1 1 0 label 0 1 0", " 0 1  1 0\tlabel 0 1 0 weights 0.5 x 2\r"] {
            let graph = parse_line(line.as_bytes(), 1).unwrap();
            assert_eq!((graph.nodes, &graph.entries[..]), (Some(3), &[(0, 1), (1, 0)][..]));
            assert_eq!((graph.labels, graph.storage), (Some(vec![false, true, false]), Storage::Both));
        }
        assert_eq!(parse_line(b"label", 1).unwrap().nodes, Some(0));
        assert_eq!(parse_line(b"label 1", 1).unwrap().labels, Some(vec![true]));
    }

    #[test]
    fn bad_lines_name_the_line_and_what_is_wrong() {
        for (line, word) in [
            ("0 1 1 0", "`label`"),
            ("0 1 1 label 0 0", "3 numbers"),
            ("0 1 2 0 label 0 0", "entry 1"),
            ("0 4294967296 label 0", "4294967296"),
            ("0 x label 0 0", "`x`"),
            ("0 1 label 0 2", "node 1"),
            ("0 1 label 0 0.5", "`0.5`"),
        ] {
            let error = parse_line(line.as_bytes(), 5).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("line 5"), "{line}: {error}");
        }
    }
}
