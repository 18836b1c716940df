//! Packs: files that hold one graph per line.

use std::ops::Range;

use calipers_core::{Error, Result};

use super::{GraphFormat, StoredGraph, graph6, ml4co, sparse6};
use crate::text::{Lines, shown};

/// The lines of a pack that hold graphs: line number from 1 and place in the file, in bytes.
///
/// Blank lines and the optional head (`>>graph6<<`) are left out.
pub fn pack_lines(format: GraphFormat, bytes: &[u8]) -> Result<Vec<(u64, Range<usize>)>> {
    let head = match format {
        GraphFormat::Graph6 => Some(">>graph6<<"),
        GraphFormat::Sparse6 => Some(">>sparse6<<"),
        GraphFormat::Ml4co => None,
        _ => return Err(not_a_pack(format)),
    };
    let mut first = true;
    let mut graphs = Vec::new();
    for line in Lines::new(bytes) {
        let line = line?;
        let end = line.start + line.text.trim_ascii_end().len();
        let mut text = line.text.trim_ascii();
        if std::mem::take(&mut first)
            && let Some(head) = head
            && text.starts_with(b">>")
        {
            text = text.strip_prefix(head.as_bytes()).ok_or_else(|| {
                let error =
                    Error::format("the head names another format").at(format_args!("line {}", line.number));
                error.found(shown(text)).allowed(format_args!("`{head}` or none"))
            })?;
        }
        if !text.is_empty() {
            graphs.push((line.number, end - text.len()..end));
        }
    }
    Ok(graphs)
}

/// Reads one line of a pack; `number` is its line, from 1.
pub fn parse_line(format: GraphFormat, line: &[u8], number: u64) -> Result<StoredGraph> {
    match format {
        GraphFormat::Graph6 => graph6::parse_line(line, number),
        GraphFormat::Sparse6 => sparse6::parse_line(line, number),
        GraphFormat::Ml4co => ml4co::parse_line(line, number),
        _ => Err(not_a_pack(format)),
    }
}

fn not_a_pack(format: GraphFormat) -> Error {
    Error::usage(format!("{format} files hold one graph, not one per line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graphs(format: GraphFormat, text: &str) -> Vec<(u64, &str)> {
        let lines = pack_lines(format, text.as_bytes()).unwrap();
        lines.into_iter().map(|(number, range)| (number, &text[range])).collect()
    }

    #[test]
    fn heads_and_blank_lines_hold_no_graph() {
        assert_eq!(
            graphs(GraphFormat::Graph6, ">>graph6<<A_\r\n\n ? \nDQc"),
            [(1, "A_"), (3, "?"), (4, "DQc")]
        );
        assert_eq!(graphs(GraphFormat::Sparse6, ">>sparse6<<\n:A_\n"), [(2, ":A_")]);
        assert_eq!(graphs(GraphFormat::Ml4co, "label 0\n"), [(1, "label 0")]);
        assert_eq!(graphs(GraphFormat::Graph6, ""), []);
    }

    #[test]
    fn a_head_of_another_format_is_refused() {
        let error = pack_lines(GraphFormat::Graph6, b">>sparse6<<:A_\n").unwrap_err();
        assert!(error.to_string().contains(">>graph6<<"), "{error}");
        assert!(pack_lines(GraphFormat::Dimacs, b"").is_err());
        assert!(parse_line(GraphFormat::Metis, b"", 1).is_err());
    }
}
