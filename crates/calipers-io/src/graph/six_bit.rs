//! What graph6 and sparse6 share: printable characters of six bits and the number of nodes.

use calipers_core::{Error, Result};

use super::check_nodes;

/// The characters of one graph: its text and where it is in the file.
pub(super) struct SixBit<'a> {
    pub(super) text: &'a [u8],
    line: u64,
}

/// What to do about a line that is no graph of these formats.
pub(super) const OTHER_FORMAT: &str = "the file is damaged or of another format: see --graph-format";

impl<'a> SixBit<'a> {
    /// A line without blanks at its ends.
    pub(super) fn new(text: &'a [u8], line: u64) -> Self {
        Self { text: text.trim_ascii(), line }
    }

    /// An error at the given character, counted from 0.
    pub(super) fn error(&self, what: &str, index: usize) -> Error {
        Error::format(what).at(format_args!("line {}, byte {}", self.line, index + 1))
    }

    /// Refuses every character that does not stand for six bits, from `start` on.
    pub(super) fn check_characters(&self, start: usize) -> Result<()> {
        let Some(index) = self.text[start..].iter().position(|byte| !(63..=126).contains(byte)) else {
            return Ok(());
        };
        let byte = self.text[start + index];
        let error = self.error("a character outside the format", start + index);
        Err(error.found(format_args!("byte {byte}")).allowed("63 to 126").advice(OTHER_FORMAT))
    }

    /// The number of nodes that is written at `start`, and where the edges begin.
    pub(super) fn nodes(&self, start: usize) -> Result<(u64, usize)> {
        let (first, length) = match self.text[start..] {
            [126, 126, ..] => (start + 2, 6),
            [126, ..] => (start + 1, 3),
            _ => (start, 1),
        };
        let Some(digits) = self.text.get(first..first + length) else {
            return Err(self
                .error("the line ends within the number of nodes", self.text.len())
                .found(format_args!("{} characters", self.text.len().saturating_sub(first)))
                .allowed(length)
                .advice("the file is cut: copy or write it again"));
        };
        let nodes = digits.iter().fold(0, |nodes, digit| nodes << 6 | u64::from(digit - 63));
        let nodes = check_nodes(nodes).map_err(|error| error.at(format_args!("line {}", self.line)))?;
        Ok((nodes, first + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_lengths_of_the_number_of_nodes_are_read() {
        let read = |text: &[u8]| SixBit::new(text, 1).nodes(0);
        assert_eq!(read(b"?").unwrap(), (0, 1));
        assert_eq!(read(b"}").unwrap(), (62, 1));
        assert_eq!(read(b"~?@?").unwrap(), (64, 4));
        assert_eq!(read(b"~}~~").unwrap(), (258_047, 4));
        assert_eq!(read(b"~~???~??").unwrap(), (63 << 12, 8));
        assert!(read(b"~~~~~~~~").unwrap_err().to_string().contains("68719476735"));
        for cut in [&b""[..], b"~", b"~??", b"~~", b"~~?????"] {
            assert!(read(cut).is_err());
        }
    }
}
