//! JSON of units, and what its readers share: errors with a line, keys that occur once, values that are
//! skipped.

pub mod confusion;
pub mod results;
pub mod units;

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, Read};

use calipers_core::Error;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

/// The error of the JSON reader, placed at its line when the text began at line `first`.
pub(in crate::score) fn refused(error: &serde_json::Error, first: u64) -> Error {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = if error.classify() == Category::Data { "a value of another kind" } else { "not valid JSON" };
    let line = first + (error.line() as u64).saturating_sub(1);
    let at = format!("line {line}, byte {}", error.column());
    let error = Error::format(what).at(at).found(text.strip_suffix(&place).unwrap_or(&text));
    error
        .allowed("strict JSON, values of the kind that each key has")
        .advice("correct the text at that place")
}

/// The keys of one object.
#[derive(Default)]
pub(in crate::score) struct Keys(HashSet<String>);

impl Keys {
    /// Notes a key; one that was seen before is an error.
    pub(in crate::score) fn once<E: de::Error>(&mut self, key: &str) -> Result<(), E> {
        if self.0.insert(key.to_owned()) {
            return Ok(());
        }
        Err(E::custom(format_args!("the key `{key}` occurs twice")))
    }
}

/// Any value, read and forgotten; unlike [`IgnoredAny`] it keeps to the limit of depth.
pub(in crate::score) struct Skipped;

impl<'de> Deserialize<'de> for Skipped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Skipped {
    type Value = Self;

    crate::expecting!("any value");

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self, A::Error> {
        while values.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<IgnoredAny, Self>()?.is_some() {}
        Ok(self)
    }
}

/// Bytes that are read one after the other while the lines are counted.
pub(in crate::score) struct CountedLines<'a> {
    rest: &'a [u8],
    line: &'a Cell<u64>,
}

impl<'a> CountedLines<'a> {
    /// A reader that keeps `line` at the line of the last byte read, from 1.
    pub(in crate::score) fn new(bytes: &'a [u8], line: &'a Cell<u64>) -> Self {
        line.set(1);
        Self { rest: bytes, line }
    }
}

impl Read for CountedLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (Some((first, rest)), Some(place)) = (self.rest.split_first(), buffer.first_mut()) else {
            return Ok(0);
        };
        *place = *first;
        self.rest = rest;
        self.line.set(self.line.get() + u64::from(*first == b'\n'));
        Ok(1)
    }
}
