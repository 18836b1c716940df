//! One value and what it means as a number or a name.

use std::borrow::Cow;

use super::string;
use crate::history::few_digits::few_digits;

/// What sort of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history::json) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Object,
}

/// A checked value as it stands in the file, texts with their quotes.
#[derive(Clone, Copy, Debug)]
pub(in crate::history::json) struct Value<'a> {
    pub(in crate::history::json) kind: Kind,
    pub(in crate::history::json) raw: &'a str,
}

impl<'a> Value<'a> {
    /// The number; none where it is something else. Digits beyond the range are infinite.
    #[inline]
    pub(in crate::history::json) fn number(self) -> Option<f64> {
        let word = match self.kind {
            Kind::Number => self.raw,
            Kind::Text => &self.raw[1..self.raw.len() - 1],
            _ => return None,
        };
        if self.kind == Kind::Number
            && let Some(number) = few_digits(word.as_bytes(), b'.')
        {
            return Some(number);
        }
        match word {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            digits if self.kind == Kind::Number => digits.parse().ok(),
            _ => None,
        }
    }

    /// The name: what a text says, the JSON of anything else.
    pub(in crate::history::json) fn name(self) -> Cow<'a, str> {
        if self.kind != Kind::Text {
            Cow::Borrowed(self.raw)
        } else if self.raw.contains('\\') {
            Cow::Owned(string::decode(self.raw))
        } else {
            Cow::Borrowed(&self.raw[1..self.raw.len() - 1])
        }
    }
}
