//! The tables of what files say of units: scores and labels of nodes, optima, confusion matrices, records.

use calipers_core::Result;

use super::json::confusion::{self, MatrixLine};
use super::json::units;
use super::optimum::{self, Optimum};
use super::{UnitColumns, cover, lines, node_list, table};
use crate::array;
use crate::format::{Formats, line};
use crate::text::first_line;

/// A line of the table of scores and labels.
pub type Format = crate::format::Format<Reader>;

/// What a file of scores or labels holds, and how it is read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// One number per node of one graph.
    Values(fn(&[u8]) -> Result<Vec<f64>>),
    /// Chosen nodes of one graph, whose number of nodes must be known.
    Set(fn(&[u8], u64) -> Result<Vec<bool>>),
    /// Columns of values for each unit.
    Units(fn(&[u8]) -> Result<Vec<UnitColumns>>),
    /// Arrays: the table of array formats says how they are read.
    Arrays,
}

/// Every format of scores and labels of nodes.
pub static FORMATS: Formats<Reader> = Formats(&[
    line("arrays", &array::ENDINGS, Some(|bytes| array::FORMATS.by_content(bytes).is_some()), Reader::Arrays),
    line("lines", &[".txt", ".result"], None, Reader::Values(lines::parse)),
    line("node-list", &[".opt.sol", ".bst.sol", ".sol"], None, Reader::Set(node_list::parse)),
    line("cover", &[".vc"], Some(is_cover), Reader::Set(cover::parse)),
    line(
        "csv",
        &[".csv"],
        Some(|bytes| has_nodes(bytes, b',')),
        Reader::Units(|bytes| table::parse(bytes, b',')),
    ),
    line(
        "tsv",
        &[".tsv"],
        Some(|bytes| has_nodes(bytes, b'\t')),
        Reader::Units(|bytes| table::parse(bytes, b'\t')),
    ),
    line("jsonl", &[".jsonl"], Some(has_objects), Reader::Units(units::parse)),
]);

/// Reads the known optima of units.
pub type OptimumReader = fn(&[u8]) -> Result<Vec<Optimum>>;

/// Every format of known optima.
pub static OPTIMA: Formats<OptimumReader> = Formats(&[
    line("csv", &[".csv"], None, optimum::parse_csv),
    line("json", &[".json"], None, optimum::parse_json),
    line("jsonl", &[".jsonl"], None, optimum::parse_json_lines),
]);

/// Finds the confusion matrices of units.
pub type ConfusionReader = fn(&[u8]) -> Result<Vec<MatrixLine>>;

/// Every text format of confusion matrices; arrays hold them too.
pub static CONFUSIONS: Formats<ConfusionReader> =
    Formats(&[line("jsonl", &[".jsonl"], None, confusion::index)]);

/// How the records of a JSON file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// One document: an object, or a list of them.
    Document,
    /// One object per line.
    Lines,
}

/// Every text format of records with keys of any kind; arrays hold them too.
pub static RECORDS: Formats<Records> = Formats(&[
    line("json", &[".json"], None, Records::Document),
    line("jsonl", &[".jsonl"], Some(has_objects), Records::Lines),
]);

/// A comment, or the line that says what follows.
fn is_cover(bytes: &[u8]) -> bool {
    let word = first_line(bytes).and_then(|line| line.split(u8::is_ascii_whitespace).next());
    matches!(word, Some(b"c" | b"s"))
}

fn has_nodes(bytes: &[u8], delimiter: u8) -> bool {
    let is_node = |cell: &[u8]| matches!(cell.trim_ascii(), b"node" | b"\"node\"");
    first_line(bytes).is_some_and(|line| line.split(|byte| *byte == delimiter).any(is_node))
}

fn has_objects(bytes: &[u8]) -> bool {
    first_line(bytes).is_some_and(|line| line.starts_with(b"{"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_mistaken_is_recognised() {
        let scores: &[(&[u8], &str)] = &[
            (b"{\"unit\": \"a\"}\n", "jsonl"),
            (b"unit,node,logits\n", "csv"),
            (b"node\tprobs\n", "tsv"),
            (b"c cover\ns vc 3 1\n", "cover"),
            (b"\x93NUMPY\x01\x00", "arrays"),
        ];
        for (bytes, name) in scores {
            assert_eq!(FORMATS.by_content(bytes).map(|format| format.name), Some(*name), "{bytes:?}");
        }
        for bytes in [&b""[..], b"0\n1\n1\n", b"0.5\n", b"unit,logits\n"] {
            assert_eq!(FORMATS.by_content(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_longest_ending_is_cut_off() {
        assert_eq!(FORMATS.stem("C125-9.opt.sol"), "C125-9");
        assert_eq!(FORMATS.by_name("a.json"), None);
    }
}
