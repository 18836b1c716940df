//! The table of graph formats.

use calipers_core::Result;

use super::named::{graphml, node_link};
use super::sparse::matrix_market;
use super::{GraphOptions, StoredGraph, dimacs, edgelist, gpickle, graph6, metis, ml4co, sparse6, tu};
use crate::array;
use crate::format::{Formats, line};
use crate::text::first_line;

/// A line of the table of graph formats.
pub type Format = crate::format::Format<Reader>;

/// What a graph file holds, and how it is read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// One graph.
    One {
        /// Reads the file.
        read: fn(&[u8], &GraphOptions) -> Result<StoredGraph>,
        /// Whether it may hold labels too.
        labels: bool,
    },
    /// One graph per line.
    Lines {
        /// What may stand before the first graph.
        header: Option<&'static str>,
        /// Reads the line of this number, from 1.
        read: fn(&[u8], u64) -> Result<StoredGraph>,
        /// Whether a line may hold labels too.
        labels: bool,
    },
    /// Any number of graphs, which only reading all of the file tells apart.
    Several {
        /// Reads the file.
        read: fn(&[u8]) -> Result<Vec<StoredGraph>>,
        /// Whether it may hold labels too.
        labels: bool,
    },
    /// The graphs of a TU data set, of whose files this one holds the edges.
    DataSet(fn(&tu::Files<'_>) -> Result<Vec<StoredGraph>>),
    /// Edges among arrays: the table of array formats says how they are read.
    Arrays,
}

/// Every format of graphs. An ending means the first format that has it; ml4co must be asked for. The last two
/// narrow what arrays may be.
pub static FORMATS: Formats<Reader> = Formats(&[
    line("dimacs", &[".gph", ".col", ".clq", ".mis", ".dimacs", ".gr"], Some(is_dimacs), one(dimacs::parse)),
    line("metis", &[".graph", ".metis"], None, one(|bytes, _| metis::parse(bytes))),
    line("edgelist", &[".edges", ".edgelist", ".el", ".txt", ".csv", ".tsv"], None, one(edgelist::parse)),
    line(
        "graph6",
        &[".g6"],
        Some(is_graph6),
        Reader::Lines { header: Some(GRAPH6), read: graph6::parse_line, labels: false },
    ),
    line(
        "sparse6",
        &[".s6"],
        Some(|bytes| bytes.starts_with(SPARSE6.as_bytes()) || bytes.starts_with(b":")),
        Reader::Lines { header: Some(SPARSE6), read: sparse6::parse_line, labels: false },
    ),
    line(
        "gpickle",
        &[".gpickle", ".pickle", ".pkl"],
        Some(|bytes| matches!(bytes, [0x80, 2..=5, ..])),
        Reader::Several { read: gpickle::parse_all, labels: true },
    ),
    line("mtx", &[".mtx"], Some(matrix_market::begins), one(|bytes, _| matrix_market::parse(bytes))),
    line("graphml", &[".graphml"], Some(is_graphml), Reader::Several { read: graphml::parse, labels: true }),
    line(
        "node-link",
        &[".json", ".jsonl", ".ndjson"],
        None,
        Reader::Several { read: node_link::parse, labels: true },
    ),
    line("tu", tu::ENDINGS, None, Reader::DataSet(tu::parse)),
    line("ml4co", &[".txt"], None, Reader::Lines { header: None, read: ml4co::parse_line, labels: true }),
    line("arrays", &array::ENDINGS, Some(|bytes| array::FORMATS.by_content(bytes).is_some()), Reader::Arrays),
    line("pyg", &[".pt", ".pth"], None, Reader::Arrays),
    line("scipy", &[".npz"], None, Reader::Arrays),
]);

const fn one(read: fn(&[u8], &GraphOptions) -> Result<StoredGraph>) -> Reader {
    Reader::One { read, labels: false }
}

const GRAPH6: &str = ">>graph6<<";
const SPARSE6: &str = ">>sparse6<<";

impl Reader {
    /// Whether files may say which nodes are labelled.
    pub fn holds_labels(&self) -> bool {
        match self {
            Self::One { labels, .. } | Self::Lines { labels, .. } | Self::Several { labels, .. } => *labels,
            Self::DataSet(_) | Self::Arrays => true,
        }
    }
}

/// A first line that is a comment or the problem line.
fn is_dimacs(bytes: &[u8]) -> bool {
    let word = text_line(bytes).and_then(|line| line.split(u8::is_ascii_whitespace).next());
    matches!(word, Some(b"c" | b"p"))
}

/// A first line with the header, or of nothing but the characters of the format.
fn is_graph6(bytes: &[u8]) -> bool {
    let printable = |line: &[u8]| line.iter().all(|byte| (63..=126).contains(byte));
    bytes.starts_with(GRAPH6.as_bytes()) || text_line(bytes).is_some_and(printable)
}

/// An element of the name among the first, whatever stands before it.
fn is_graphml(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 10)];
    head.trim_ascii_start().starts_with(b"<") && memchr::memmem::find(head, b"graphml").is_some()
}

/// The first line of a text that is not empty. A safetensors file begins with the length of its
/// header, whose lowest byte may be a letter; its highest is zero.
fn text_line(bytes: &[u8]) -> Option<&[u8]> {
    first_line(bytes).filter(|_| !bytes.iter().take(8).any(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_content(bytes: &[u8]) -> Option<&'static str> {
        FORMATS.by_content(bytes).map(|format| format.name)
    }

    #[test]
    fn what_cannot_be_mistaken_is_recognised() {
        let graphs: &[(&[u8], &str)] = &[
            (b"c made by hand\np edge 3 2\ne 1 2\n", "dimacs"),
            (b"\np edge 3 2\r\n", "dimacs"),
            (b"c\np edge 3 2\r\n", "dimacs"),
            (b":Fa@x^\n", "sparse6"),
            (b">>graph6<<DQc\n", "graph6"),
            (b"DQc\nDQc", "graph6"),
            (b"\x80\x04\x95", "gpickle"),
            (b"\x93NUMPY\x01\x00", "arrays"),
            (b"\x02\0\0\0\0\0\0\0{}", "arrays"),
        ];
        for (bytes, name) in graphs {
            assert_eq!(by_content(bytes), Some(*name), "{bytes:?}");
        }
        for length in [*b"c ", *b"c\n", *b"p\n"] {
            let length = u16::from_le_bytes(length);
            let mut bytes = u64::from(length).to_le_bytes().to_vec();
            bytes.resize(8 + usize::from(length), b'{');
            assert_eq!(by_content(&bytes), Some("arrays"));
        }
    }

    #[test]
    fn what_can_be_two_things_is_not_guessed() {
        for bytes in
            [&b""[..], b"\n\n", b"0 1\n1 2\n", b"3 2\n2\n1 3\n2\n", b"\xff\xff\xff\xff\xff\xff\xff\xff{"]
        {
            assert_eq!(by_content(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_last_ending_decides() {
        let by_name = |name| FORMATS.by_name(name).map(|format| format.name);
        assert_eq!(by_name("soc-sign-bitcoinalpha.csv.gr"), Some("dimacs"));
        assert_eq!(by_name("x.pth"), Some("arrays"));
        assert_eq!((by_name("notes.md"), by_name("gr")), (None, None));
    }
}
