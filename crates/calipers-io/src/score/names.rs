//! Unit names: one per line, and the register that refuses a name that comes twice.

use std::collections::HashMap;

use calipers_core::{Error, ErrorKind, Result};

use crate::limits;
use crate::text::{Lines, shown};

/// Reads one name per line; blank lines are allowed at the end only.
pub fn parse(bytes: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut register = Register::default();
    let mut blank = None;
    for line in Lines::new(bytes) {
        let line = line?;
        let place = format_args!("line {}", line.number).to_string();
        if line.text.trim_ascii().is_empty() {
            blank = blank.or(Some(place));
            continue;
        }
        if let Some(blank) = blank {
            return Err(Error::format("a blank line between names")
                .at(blank)
                .allowed("one name per line")
                .advice("take the blank line away"));
        }
        let name = text(line.text).map_err(|error| error.at(place))?;
        register.add(name, line.number)?;
        names.push(name.to_owned());
    }
    Ok(names)
}

/// A name's bytes as text.
pub(super) fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| {
        let error = Error::format("a name is not UTF-8 text").found(shown(bytes));
        error.allowed("UTF-8 text").advice("write the file in UTF-8")
    })
}

/// Refuses a name that is empty or too long.
pub(super) fn check(name: &str) -> Result<()> {
    if name.is_empty() {
        let error = Error::format("an empty unit name").found("no characters");
        return Err(error.allowed("a name of one character or more").advice("give every unit a name"));
    }
    if name.len() > limits::NAME {
        let error = Error::format("a unit name is too long").found(shown(name.as_bytes()));
        let error = error.allowed(format_args!("at most {} bytes", limits::NAME));
        return Err(error.advice("give it a shorter name"));
    }
    Ok(())
}

/// The names seen so far, with their lines.
#[derive(Default)]
pub(super) struct Register(HashMap<String, u64>);

impl Register {
    /// Notes a name; one that is empty, too long or was seen before is an error.
    pub(super) fn add(&mut self, name: &str, line: u64) -> Result<()> {
        check(name).map_err(|error| error.at(format_args!("line {line}")))?;
        match self.0.insert(name.to_owned(), line) {
            None => Ok(()),
            Some(first) => {
                let error = Error::new(ErrorKind::Duplicate, "a unit name occurs twice");
                let error = error.at(format_args!("lines {first} and {line}")).found(name);
                Err(error.allowed("every name once").advice("give every unit a name of its own"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_lines_and_occur_once() {
        assert_eq!(parse("a b\r\ngröße\n\n".as_bytes()).unwrap(), ["a b", "größe"]);
        let error = parse(b"x\ny\nx\n").unwrap_err();
        assert_eq!((error.kind(), error.place()), (ErrorKind::Duplicate, Some("lines 1 and 3")));
        assert_eq!(parse(b"x\n\ny\n").unwrap_err().place(), Some("line 2"));
        assert_eq!(parse(b"x\n\xff\n").unwrap_err().place(), Some("line 2"));
        assert!(parse(&vec![b'a'; limits::NAME + 1]).is_err());
    }
}
