//! A pull scanner: one token at a time, nothing built, every byte checked.

use std::borrow::Cow;

use calipers_core::{Error, Result};

use super::digits::leading_digits;
use super::string;
use super::value::{Kind, Value};
use crate::limits;
use crate::text::{shown, without_mark};

/// A place in JSON text and how deep it is nested. Every step first passes over blanks.
#[derive(Clone)]
pub(in crate::history::json) struct Scanner<'a> {
    text: &'a str,
    /// The bytes up to the end of what is being read: of the text, or of one of its lines.
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// Where the text starts in its file.
    start: Start,
}

/// What of a file comes before a text.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::history::json) struct Start {
    /// How many line feeds.
    lines: usize,
    /// How many characters since the last of them.
    characters: usize,
}

impl Start {
    /// Moves behind a text.
    pub(in crate::history::json) fn pass(&mut self, text: &str) {
        let line = match memchr::memrchr(b'\n', text.as_bytes()) {
            Some(end) => {
                *self = Self { lines: self.lines + feeds(&text.as_bytes()[..=end]), characters: 0 };
                &text[end + 1..]
            }
            None => text,
        };
        self.characters += line.chars().count();
    }
}

fn feeds(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// The error for a file that is no text.
pub(in crate::history::json) fn not_text() -> Error {
    Error::format("the file is not UTF-8 text")
}

/// The error for a file that holds nothing.
pub(in crate::history::json) fn empty() -> Error {
    Error::format("the file is empty")
}

impl<'a> Scanner<'a> {
    /// The start of a document; bytes that are no text or hold nothing are an error.
    pub(in crate::history::json) fn new(bytes: &'a [u8]) -> Result<Self> {
        let text = str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            not_text()
                .at(format_args!("byte {at}"))
                .found(format_args!("0x{:02x}", bytes[at]))
                .advice("save the file as UTF-8")
        })?;
        if without_mark(bytes).trim_ascii().is_empty() {
            return Err(empty());
        }
        Ok(Self::over(text))
    }

    /// The start of a text that is known to be text.
    pub(in crate::history::json) fn over(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let at = bytes.len() - without_mark(bytes).len();
        Self { text, bytes, at, depth: 0, start: Start::default() }
    }

    /// A chunk of a document, inside so many lists and objects.
    pub(in crate::history::json) fn within(text: &'a str, start: Start, depth: usize) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, depth, start }
    }

    /// Narrows what is read to the line that starts at a place; gives its end.
    pub(in crate::history::json) fn line(&mut self, start: usize) -> Result<usize> {
        let whole = self.text.as_bytes();
        let length = memchr::memchr(b'\n', &whole[start..]).unwrap_or(whole.len() - start);
        if length > limits::LINE {
            return Err(Error::format("a line is too long")
                .at(self.place(start))
                .found(format_args!("{length} bytes"))
                .allowed(format_args!("at most {} bytes", limits::LINE)));
        }
        self.at = start;
        self.bytes = &whole[..start + length];
        Ok(start + length)
    }

    /// The next byte that is no blank.
    #[inline]
    pub(in crate::history::json) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Goes into the list or object that starts here; says whether it holds anything.
    #[inline]
    pub(in crate::history::json) fn open(&mut self, close: u8) -> Result<bool> {
        self.depth += 1;
        if self.depth > limits::DEPTH {
            let allowed = format!("at most {} levels", limits::DEPTH);
            return Err(Error::format("the JSON is nested too deep")
                .at(self.place(self.at))
                .allowed(allowed));
        }
        self.at += 1;
        if self.peek() == Some(close) {
            self.leave();
            return Ok(false);
        }
        Ok(true)
    }

    /// After an item or a member: whether another one follows.
    #[inline]
    pub(in crate::history::json) fn more(&mut self, close: u8) -> Result<bool> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.leave();
                Ok(false)
            }
            _ => Err(self.no_more(close)),
        }
    }

    #[cold]
    fn no_more(&self, close: u8) -> Error {
        self.wrong(&format!("`,` or `{}`", char::from(close)))
    }

    fn leave(&mut self) {
        self.at += 1;
        self.depth -= 1;
    }

    /// Passes over the key of a member and the colon behind it where they are the key given with
    /// its quotes, which holds nothing to escape, and no blank before the colon; says whether.
    #[inline]
    pub(in crate::history::json) fn is_key(&mut self, quoted: &str) -> bool {
        self.peek();
        let rest = self.bytes.get(self.at..).and_then(|rest| rest.strip_prefix(quoted.as_bytes()));
        let found = rest.and_then(<[u8]>::first) == Some(&b':');
        if found {
            self.at += quoted.len() + 1;
        }
        found
    }

    /// The key of a member and the colon behind it.
    #[inline]
    pub(in crate::history::json) fn key(&mut self) -> Result<Cow<'a, str>> {
        let (start, escaped) = self.key_token()?;
        let raw = &self.text[start..self.at];
        if self.peek() != Some(b':') {
            return Err(self.wrong("`:`"));
        }
        self.at += 1;
        Ok(if escaped { Cow::Owned(string::decode(raw)) } else { Cow::Borrowed(&raw[1..raw.len() - 1]) })
    }

    #[inline]
    fn key_token(&mut self) -> Result<(usize, bool)> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a key in double quotes"));
        }
        let start = self.at;
        Ok((start, self.string()?))
    }

    /// The value that starts here; what is inside a list or an object is checked and forgotten.
    #[inline]
    pub(in crate::history::json) fn value(&mut self) -> Result<Value<'a>> {
        self.peek();
        let start = self.at;
        let kind = self.skip()?;
        Ok(Value { kind, raw: &self.text[start..self.at] })
    }

    /// Passes over the value that starts here.
    #[inline]
    pub(in crate::history::json) fn skip(&mut self) -> Result<Kind> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(first) => self.skip_other(first),
            None => Err(self.no_value()),
        }
    }

    fn skip_other(&mut self, first: u8) -> Result<Kind> {
        match first {
            b'"' => self.string().map(|_| Kind::Text),
            b'{' => {
                let mut more = self.open(b'}')?;
                while more {
                    self.key_token()?;
                    if self.peek() != Some(b':') {
                        return Err(self.wrong("`:`"));
                    }
                    self.at += 1;
                    self.skip()?;
                    more = self.more(b'}')?;
                }
                Ok(Kind::Object)
            }
            b'[' => {
                let mut more = self.open(b']')?;
                while more {
                    self.skip()?;
                    more = self.more(b']')?;
                }
                Ok(Kind::List)
            }
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Kind> {
        let words = [
            (&b"null"[..], Kind::Null),
            (b"true", Kind::Bool),
            (b"false", Kind::Bool),
            (b"NaN", Kind::Number),
            (b"Infinity", Kind::Number),
            (b"-Infinity", Kind::Number),
        ];
        let rest = &self.bytes[self.at..];
        let Some((word, kind)) = words.into_iter().find(|(word, _)| rest.starts_with(word)) else {
            return Err(self.wrong("a value: a number, a text, a list, an object, true, false, null or NaN"));
        };
        self.at += word.len();
        Ok(kind)
    }

    #[inline]
    fn number(&mut self) -> Result<Kind> {
        let start = self.at;
        if self.bytes[start] == b'-' {
            self.at += 1;
            if self.bytes.get(self.at) == Some(&b'I') {
                self.at = start;
                return self.word();
            }
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Kind::Number)
    }

    #[inline]
    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let count = match rest.first_chunk() {
                Some(eight) => leading_digits(u64::from_le_bytes(*eight)),
                None => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            };
            self.at += count;
            if count < 8 {
                break;
            }
        }
        if self.at == start { Err(self.wrong("a digit")) } else { Ok(()) }
    }

    /// Passes over the string that starts here; says whether it holds escapes.
    #[inline]
    fn string(&mut self) -> Result<bool> {
        match string::end(self.bytes, self.at + 1) {
            Ok((end, escaped)) => {
                self.at = end;
                Ok(escaped)
            }
            Err(stop) => {
                self.at = stop.at;
                Err(self.wrong(stop.allowed))
            }
        }
    }

    /// Fails unless nothing but blanks follows.
    pub(in crate::history::json) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong(&format!("the end of the {}", self.extent()))),
        }
    }

    /// The error for a value that is not there.
    #[cold]
    pub(in crate::history::json) fn no_value(&self) -> Error {
        self.wrong("a value")
    }

    /// The value that starts here is of another kind than the layout asks for.
    pub(in crate::history::json) fn unexpected(&mut self, what: &str, allowed: &str) -> Error {
        self.peek();
        let place = self.place(self.at);
        match self.value() {
            Ok(value) => Error::format(what).at(place).found(shown(value.raw.as_bytes())).allowed(allowed),
            Err(error) => error,
        }
    }

    /// The text from a place on to where the scanner is.
    pub(in crate::history::json) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Where the scanner is, in bytes from the start of the file.
    pub(in crate::history::json) fn at(&self) -> usize {
        self.at
    }

    /// The number of bytes of the whole text.
    pub(in crate::history::json) fn length(&self) -> usize {
        self.text.len()
    }

    fn extent(&self) -> &'static str {
        if self.bytes.len() < self.text.len() { "line" } else { "file" }
    }

    #[cold]
    fn wrong(&self, allowed: &str) -> Error {
        let place = self.place(self.at);
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        if rest.is_empty() {
            return Error::format("the JSON stops before it is complete")
                .at(place)
                .found(format_args!("the end of the {}", self.extent()))
                .allowed(allowed)
                .advice("the file may have been cut off while it was written");
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte);
        let word = rest.iter().position(ends).unwrap_or(rest.len());
        let shown = match word {
            0 => shown(&rest[..1]),
            _ => shown(&rest[..word]),
        };
        Error::format("not valid JSON").at(place).found(shown).allowed(allowed)
    }

    /// The line and the character in it, both from 1.
    pub(in crate::history::json) fn place(&self, at: usize) -> String {
        // Every chunk that ends inside a row asks for this, so a long line must be counted fast.
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line = 1 + self.start.lines + feeds(before.as_bytes());
        let (start, passed) =
            memchr::memrchr(b'\n', before.as_bytes()).map_or((0, self.start.characters), |end| (end + 1, 0));
        let characters =
            before[start..].chars().count() - usize::from(before[start..].starts_with('\u{feff}'));
        format!("line {line}, column {}", 1 + passed + characters)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::json::check;

    fn refusal(bytes: &[u8]) -> String {
        check(bytes).unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        for text in [
            "null",
            " true ",
            "false",
            "0",
            "-0",
            "-12.5e+3",
            "1E5",
            "NaN",
            "-Infinity",
            "Infinity",
            "\"x\"",
            "[]",
            "{}",
            "[1, [2, {\"a\": [3]}]]",
            "\u{feff}{\"a\":\t{\"b\" : \r\n[ ]}}\n",
            "123456789012345678901234567890",
        ] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn wrong_json_is_refused_with_line_column_and_what_is_allowed() {
        for (text, place, words) in [
            ("[1,\n 2 3]", "line 2, column 4", "`,` or `]`"),
            ("[1,]", "line 1, column 4", "a value"),
            ("[01]", "line 1, column 3", "`,` or `]`"),
            ("[1.]", "line 1, column 4", "a digit"),
            ("[.5]", "line 1, column 2", "`.5`"),
            ("[+1]", "line 1, column 2", "`+1`"),
            ("[-]", "line 1, column 3", "a digit"),
            ("[1e]", "line 1, column 4", "a digit"),
            ("[nan]", "line 1, column 2", "`nan`"),
            ("[-Inf]", "line 1, column 2", "`-Inf`"),
            ("{\"é\": 1, a: 2}", "line 1, column 10", "a key in double quotes"),
            ("{\"a\" 1}", "line 1, column 6", "`:`"),
            ("{\"a\": 1]", "line 1, column 8", "`,` or `}`"),
            ("[\"a\tb\"]", "line 1, column 4", "control"),
            ("[1] 2", "line 1, column 5", "the end of the file"),
            ("\n\n[{\"a\":", "line 3, column 7", "the end of the file"),
            ("[\"ab", "line 1, column 5", "cut off"),
        ] {
            let error = refusal(text.as_bytes());
            assert!(error.contains(place) && error.contains(words), "{text}: {error}");
        }
        assert!(refusal(b"[\"a\", \"\xff\"]").contains("byte 7"));
        assert!(refusal(b"").contains("empty") && refusal(b"\xef\xbb\xbf \n").contains("empty"));
    }

    #[test]
    fn nesting_is_limited_whatever_the_brackets() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check(nested(limits::DEPTH).as_bytes()), Ok(()));
        for text in [nested(limits::DEPTH + 1), "[".repeat(1_000_000), "{\"a\":".repeat(100_000)] {
            assert!(refusal(text.as_bytes()).contains("at most 128 levels"));
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused() {
        let mut bytes = b"{}\n".to_vec();
        bytes.resize(bytes.len() + limits::LINE + 1, b' ');
        let mut scan = Scanner::new(&bytes).unwrap();
        assert_eq!(scan.line(0), Ok(2));
        assert_eq!(scan.line(3).unwrap_err().place(), Some("line 2, column 1"));
    }

    proptest! {
        #[test]
        fn a_key_that_is_expected_is_the_key_that_is_read(
            text in prop_oneof![r#" ?"[abé]{0,2}"? ?:? ?[1"]?"#, r#"["\\abé: ]{0,6}"#],
            key in "[abé]{0,2}",
        ) {
            let (mut fast, mut slow) = (Scanner::over(&text), Scanner::over(&text));
            if fast.is_key(&format!("\"{key}\"")) {
                prop_assert_eq!(slow.key().unwrap(), key);
            } else {
                prop_assert_eq!(fast.key(), slow.key());
            }
            prop_assert_eq!(fast.at(), slow.at());
        }
    }
}
