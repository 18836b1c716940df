//! Lines, words and whole numbers of text files, over bytes.

use calipers_core::{Error, Result};

use crate::limits;

/// The bytes without a UTF-8 byte order mark at their start.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The first line that is not empty, without blanks at its ends.
pub(crate) fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty())
}

/// One line without its end.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Where it starts, in bytes from the start of the file.
    pub(crate) start: usize,
    /// Its bytes, without `\n` or `\r\n`.
    pub(crate) text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Its words and numbers.
    pub(crate) fn fields(&self) -> Fields<'a> {
        Fields { rest: self.text, line: self.number }
    }
}

/// The lines of a file; one that is longer than the limit is an error.
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    next: usize,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: bytes.len() - without_mark(bytes).len(), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Result<Line<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.next;
        let rest = &self.bytes[start..];
        if rest.is_empty() {
            return None;
        }
        self.number += 1;
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.next = self.bytes.len().min(start + length + 1);
        if length > limits::LINE {
            let error = Error::format("a line is too long").at(format_args!("line {}", self.number));
            let allowed = format_args!("at most {} bytes", limits::LINE).to_string();
            let error = error.found(format_args!("{length} bytes")).allowed(allowed);
            return Some(Err(error.advice("is this a text file, with line ends?")));
        }
        let text = &rest[..length];
        Some(Ok(Line { number: self.number, start, text: text.strip_suffix(b"\r").unwrap_or(text) }))
    }
}

/// The words of a line, separated by blanks.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    line: u64,
}

impl<'a> Fields<'a> {
    /// The next word.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.trim_ascii_start();
        let length = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(length);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The next word, which must be a whole number; none at the end of the line.
    pub(crate) fn whole(&mut self) -> Result<Option<u64>> {
        let text = self.rest.trim_ascii_start();
        if let Some((value, length)) = leading_whole(text)
            && text.get(length).is_none_or(u8::is_ascii_whitespace)
        {
            self.rest = &text[length..];
            return Ok(Some(value));
        }
        self.word().map(|word| Err(not_whole(word, self.line))).transpose()
    }

    /// The next word, which must be there and a whole number; `what` names it.
    pub(crate) fn expect_whole(&mut self, what: &str) -> Result<u64> {
        self.whole()?.ok_or_else(|| {
            Error::format(format!("the line ends before {what}"))
                .at(format_args!("line {}", self.line))
                .advice("complete the line, or write the file again")
        })
    }

    /// Fails when the line holds more words.
    pub(crate) fn end(&mut self, allowed: &str) -> Result<()> {
        self.word().map_or(Ok(()), |word| {
            let error = Error::format("more than belongs on the line").at(format_args!("line {}", self.line));
            Err(error
                .found(shown(word))
                .allowed(allowed)
                .advice("take it away, or put it on a line of its own"))
        })
    }
}

/// The whole number at the start of the text and how many bytes it takes.
pub(crate) fn leading_whole(text: &[u8]) -> Option<(u64, usize)> {
    let digit = |byte: &u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10);
    let mut value = 0_u64;
    let mut length = 0;
    while let Some(digit) = text.get(length).and_then(digit) {
        // Nineteen digits always fit; only longer ones can pass 2^64.
        value = if length < 19 {
            value * 10 + u64::from(digit)
        } else {
            value.checked_mul(10)?.checked_add(u64::from(digit))?
        };
        length += 1;
    }
    (length > 0).then_some((value, length))
}

/// The error for a word that should be a whole number.
pub(crate) fn not_whole(word: &[u8], line: u64) -> Error {
    let error = Error::format("not a whole number").at(format_args!("line {line}"));
    error
        .found(shown(word))
        .allowed("digits only, below 2^64")
        .advice("correct the line; is the file of the format that its name or --graph-format says?")
}

/// A node number from 1 as one from 0, checked against the number of nodes.
pub(crate) fn node_from_1(number: u64, nodes: u64, line: u64) -> Result<u64> {
    if (1..=nodes).contains(&number) {
        return Ok(number - 1);
    }
    let error = Error::value("node number out of range").at(format_args!("line {line}")).found(number);
    let error = error.allowed(format_args!("1 to {nodes}"));
    Err(error.advice(if number == 0 {
        "nodes are numbered from 1 in this format"
    } else {
        "correct the number, or the number of nodes that the graph announces"
    }))
}

/// A word of a file for a message, cut when it is long.
pub(crate) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_from_1_and_lose_their_ends() {
        let lines: Vec<_> = Lines::new(b"\xef\xbb\xbfa\r\n\nb").map(|line| line.unwrap()).collect();
        let texts: Vec<_> = lines.iter().map(|line| (line.number, line.start, line.text)).collect();
        assert_eq!(texts, [(1, 3, &b"a"[..]), (2, 6, b""), (3, 7, b"b")]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_by_number() {
        let mut bytes = b"a\n".to_vec();
        bytes.resize(bytes.len() + limits::LINE + 1, b'1');
        let error = Lines::new(&bytes).nth(1).unwrap().err().unwrap();
        assert_eq!(error.place(), Some("line 2"));
    }

    #[test]
    fn whole_numbers_stop_at_64_bits() {
        let read =
            |text: &str| Fields { rest: text.as_bytes(), line: 7 }.whole().map_err(|error| error.to_string());
        assert_eq!(read(" 18446744073709551615 "), Ok(Some(u64::MAX)));
        assert_eq!(read("00000000000000000000012"), Ok(Some(12)));
        assert_eq!(read(" \t"), Ok(None));
        for word in ["18446744073709551616", "99999999999999999999999", "1a", "-1", "1.0", "+1", "1_0"] {
            let error = read(word).unwrap_err();
            assert!(error.contains("line 7") && error.contains(word), "{error}");
        }
    }
}
