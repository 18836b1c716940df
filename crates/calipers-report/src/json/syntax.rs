//! JSON as its standard writes it and nothing more: no repeated key, no `NaN`, bounded depth, whole
//! numbers kept whole.

use std::collections::BTreeSet;

use calipers_core::{Error, Result};

/// How deep arrays and objects may nest.
const DEEPEST: usize = 128;

/// A JSON text as a tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Flag(bool),
    Whole(i128),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// Parses a whole text; an error names line and column.
pub(super) fn parse(bytes: &[u8]) -> Result<Node> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::format("not UTF-8 text").at(format!("byte {}", error.valid_up_to())).allowed("JSON")
    })?;
    let mut cursor = Cursor { text, at: 0 };
    let node = cursor.value(0)?;
    cursor.skip_blanks();
    if cursor.at < text.len() { Err(cursor.unexpected("the end of the text")) } else { Ok(node) }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn value(&mut self, depth: usize) -> Result<Node> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.object(self.deeper(depth)?),
            Some(b'[') => self.list(self.deeper(depth)?),
            Some(b'"') => Ok(Node::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'a'..=b'z') => self.word(),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize> {
        if depth < DEEPEST {
            return Ok(depth + 1);
        }
        Err(Error::format("arrays and objects nest too deeply")
            .at(self.place(self.at))
            .allowed(format!("{DEEPEST} levels")))
    }

    fn object(&mut self, depth: usize) -> Result<Node> {
        let (mut entries, mut seen) = (Vec::new(), BTreeSet::new());
        self.items(b'}', "',' or '}'", |cursor| {
            let start = cursor.at;
            if cursor.peek() != Some(b'"') {
                return Err(cursor.unexpected("a key in quotes"));
            }
            let key = cursor.string()?;
            if !seen.insert(key.clone()) {
                return Err(Error::format("a key occurs twice in one object")
                    .at(cursor.place(start))
                    .found(key)
                    .advice("keep one of the two"));
            }
            cursor.skip_blanks();
            if cursor.peek() != Some(b':') {
                return Err(cursor.unexpected("':'"));
            }
            cursor.at += 1;
            entries.push((key, cursor.value(depth)?));
            Ok(())
        })?;
        Ok(Node::Object(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Node> {
        let mut values = Vec::new();
        self.items(b']', "',' or ']'", |cursor| {
            values.push(cursor.value(depth)?);
            Ok(())
        })?;
        Ok(Node::List(values))
    }

    /// Items between commas, from an opening bracket to `close`.
    fn items(&mut self, close: u8, next: &str, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        self.skip_blanks();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_blanks();
            item(self)?;
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.unexpected(next)),
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.unexpected("'\"' at the end of the text in quotes")),
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(quoted).map_err(|_| {
            Error::format("text in quotes that JSON does not allow")
                .at(self.place(start))
                .found(quoted.chars().take(60).collect::<String>())
                .advice("control characters are written \\uXXXX and surrogates come in pairs")
        })
    }

    fn number(&mut self) -> Result<Node> {
        let start = self.at;
        self.at += self.text.as_bytes()[start..]
            .iter()
            .take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
            .count();
        let token = &self.text[start..self.at];
        let refused = |what: &str| {
            Error::format(what).at(self.place(start)).found(token.chars().take(60).collect::<String>())
        };
        // serde_json knows the grammar (no leading zeros, no bare point) and rounds correctly.
        let number: f64 =
            serde_json::from_str(token).map_err(|_| refused("not a number that JSON allows"))?;
        if token.contains(['.', 'e', 'E']) {
            return Ok(Node::Number(number));
        }
        token.parse().map(Node::Whole).map_err(|_| refused("a whole number beyond 128 bits"))
    }

    fn word(&mut self) -> Result<Node> {
        let words = [("null", Node::Null), ("true", Node::Flag(true)), ("false", Node::Flag(false))];
        for (word, node) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(node);
            }
        }
        Err(self.unexpected("null, true or false"))
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self, allowed: &str) -> Error {
        let rest = self.text.get(self.at.min(self.text.len())..).unwrap_or_default();
        let found: String = rest.chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        let found = if found.is_empty() { "the end of the text".into() } else { found };
        Error::format("not strict JSON").at(self.place(self.at)).found(found).allowed(allowed)
    }

    /// Line and column from 1, the column in characters.
    fn place(&self, at: usize) -> String {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        format!("line {line}, column {column}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value as Json;

    fn place_of(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().place().unwrap().to_string()
    }

    #[test]
    fn what_is_not_strict_is_refused_where_it_stands() {
        assert_eq!(place_of("{\"a\": 1,\n \"a\": 2}"), "line 2, column 2");
        assert_eq!(place_of("[1, NaN]"), "line 1, column 5");
        assert_eq!(place_of("[1, -Infinity]"), "line 1, column 5");
        assert_eq!(place_of("[\"ä\", 01]"), "line 1, column 7");
        assert_eq!(place_of("[1,]"), "line 1, column 4");
        assert_eq!(place_of("{\"a\" 1}"), "line 1, column 6");
        assert_eq!(place_of("{a: 1}"), "line 1, column 2");
        assert_eq!(place_of("[1] 2"), "line 1, column 5");
        assert_eq!(place_of("[1e400]"), "line 1, column 2");
        assert_eq!(place_of("[\"\\ud800\"]"), "line 1, column 2");
        assert_eq!(place_of("[\"a"), "line 1, column 4");
        assert_eq!(place_of("[\"a\\"), "line 1, column 5");
        assert_eq!(place_of(""), "line 1, column 1");
        assert_eq!(parse(b"[\xff]").unwrap_err().place(), Some("byte 1"));
    }

    #[test]
    fn nesting_is_bounded_and_whole_numbers_stay_whole() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(128).as_bytes()).is_ok());
        assert!(parse(nested(129).as_bytes()).is_err());
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
        assert_eq!(parse(i128::MIN.to_string().as_bytes()).unwrap(), Node::Whole(i128::MIN));
        assert!(parse(format!("1{}", "0".repeat(39)).as_bytes()).is_err());
    }

    fn agrees(node: &Node, json: &Json) -> bool {
        match (node, json) {
            (Node::Null, Json::Null) => true,
            (Node::Flag(a), Json::Bool(b)) => a == b,
            (Node::Whole(a), Json::Number(b)) => b.as_i128().map_or_else(
                || b.as_f64().map(f64::to_bits) == Some((*a as f64).to_bits()) || *a == 0,
                |b| *a == b,
            ),
            (Node::Number(a), Json::Number(b)) => b.as_f64().map(f64::to_bits) == Some(a.to_bits()),
            (Node::Text(a), Json::String(b)) => a == b,
            (Node::List(a), Json::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b))
            }
            (Node::Object(a), Json::Object(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && agrees(a, b))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn damaged_texts_are_taken_or_refused_as_serde_json_does(
            text in "[\\[\\]{},:\"\\\\ \na0-9eE.+ntruf-]{0,12}|(\\[|\\{\"k\":)(-?[0-9]{1,22}(\\.[0-9]+)?(e-?[0-9]{1,3})?|null|true|\"[ä\\\\u0-9d\"n/]{0,8}\")(,|:|\\]|\\}){0,2}"
        ) {
            let reference = serde_json::from_str::<Json>(&text);
            match parse(text.as_bytes()) {
                Ok(node) => prop_assert!(agrees(&node, &reference.unwrap())),
                Err(error) => prop_assert!(reference.is_err() || error.what().contains("twice")),
            }
        }
    }
}
