//! Files that hold one graph per line.

use std::ops::Range;

use calipers_core::{Error, Result};

use crate::text::{Lines, shown};

/// The lines that hold graphs: line number from 1 and place in the file, in bytes. Blank lines and
/// the header that the first line may begin with are left out.
pub fn lines(header: Option<&str>, bytes: &[u8]) -> Result<Vec<(u64, Range<usize>)>> {
    let mut first = true;
    let mut graphs = Vec::new();
    for line in Lines::new(bytes) {
        let line = line?;
        let end = line.start + line.text.trim_ascii_end().len();
        let mut text = line.text.trim_ascii();
        if std::mem::take(&mut first)
            && let Some(header) = header
            && text.starts_with(b">>")
        {
            text = text.strip_prefix(header.as_bytes()).ok_or_else(|| {
                let error =
                    Error::format("the head names another format").at(format_args!("line {}", line.number));
                error.found(shown(text)).allowed(format_args!("`{header}` or none"))
            })?;
        }
        if !text.is_empty() {
            graphs.push((line.number, end - text.len()..end));
        }
    }
    Ok(graphs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graphs<'a>(header: Option<&str>, text: &'a str) -> Vec<(u64, &'a str)> {
        let lines = lines(header, text.as_bytes()).unwrap();
        lines.into_iter().map(|(number, range)| (number, &text[range])).collect()
    }

    #[test]
    fn headers_and_blank_lines_hold_no_graph() {
        assert_eq!(
            graphs(Some(">>graph6<<"), ">>graph6<<A_\r\n\n ? \nDQc"),
            [(1, "A_"), (3, "?"), (4, "DQc")]
        );
        assert_eq!(graphs(Some(">>sparse6<<"), ">>sparse6<<\n:A_\n"), [(2, ":A_")]);
        assert_eq!(graphs(None, "label 0\n"), [(1, "label 0")]);
        assert_eq!(graphs(Some(">>graph6<<"), ""), []);
    }

    #[test]
    fn a_header_of_another_format_is_refused() {
        let error = lines(Some(">>graph6<<"), b">>sparse6<<:A_\n").unwrap_err();
        assert!(error.to_string().contains(">>graph6<<"), "{error}");
    }
}
