//! A whole JSON document as a tree, for documents that are small and looked up by key.

use std::collections::BTreeMap;

use calipers_core::Result;

use super::syntax::scan::Scanner;
use super::syntax::value::Kind;

/// One value and everything in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Loose {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, `NaN`, `Infinity` or `-Infinity`.
    Number {
        /// Its value.
        value: f64,
        /// How the document writes it.
        text: String,
    },
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Loose>),
    /// An object: each key once with its last value, in the order of first appearance.
    Object(Vec<(String, Loose)>),
}

impl Loose {
    /// The value of a key, where this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The number, where this is one or one of the texts "NaN", "Infinity" and "-Infinity".
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number { value, .. } => Some(*value),
            Self::Text(text) => match text.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text, where this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a whole document.
///
/// ```
/// use calipers_io::history::json::loose;
/// let runs = loose::parse(br#"{"demo": {"carbon": NaN, "path": "last.ckpt"}}"#)?;
/// let demo = runs.get("demo");
/// assert_eq!(demo.and_then(|demo| demo.get("path")?.as_str()), Some("last.ckpt"));
/// assert!(demo.and_then(|demo| demo.get("carbon")?.as_f64()).is_some_and(f64::is_nan));
/// # Ok::<(), calipers_core::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<Loose> {
    let mut scan = Scanner::new(bytes)?;
    let tree = tree(&mut scan)?;
    scan.end()?;
    Ok(tree)
}

fn tree(scan: &mut Scanner<'_>) -> Result<Loose> {
    match scan.peek() {
        Some(b'{') => object(scan),
        Some(b'[') => {
            let mut items = Vec::new();
            let mut more = scan.open(b']')?;
            while more {
                items.push(tree(scan)?);
                more = scan.more(b']')?;
            }
            Ok(Loose::List(items))
        }
        _ => leaf(scan),
    }
}

fn object(scan: &mut Scanner<'_>) -> Result<Loose> {
    let mut members: Vec<(String, Loose)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut more = scan.open(b'}')?;
    while more {
        let key = scan.key()?.into_owned();
        let value = tree(scan)?;
        match places.get(&key) {
            Some(place) => members[*place].1 = value,
            None => {
                places.insert(key.clone(), members.len());
                members.push((key, value));
            }
        }
        more = scan.more(b'}')?;
    }
    Ok(Loose::Object(members))
}

fn leaf(scan: &mut Scanner<'_>) -> Result<Loose> {
    let value = scan.value()?;
    Ok(match (value.kind, value.number()) {
        (Kind::Null, _) => Loose::Null,
        (Kind::Bool, _) => Loose::Bool(value.raw == "true"),
        (Kind::Number, Some(number)) => Loose::Number { value: number, text: value.raw.to_owned() },
        _ => Loose::Text(value.name().into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_keeps_key_order_the_last_value_and_the_text_of_numbers() {
        let tree = parse(br#"{"b": [true, null, "x\ty"], "a": 1.50, "b": {"c": -Infinity}}"#).unwrap();
        let Loose::Object(members) = &tree else { panic!("an object") };
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(tree.get("a"), Some(&Loose::Number { value: 1.5, text: "1.50".into() }));
        let inner = tree.get("b").and_then(|b| b.get("c"));
        assert_eq!(inner.and_then(Loose::as_f64), Some(f64::NEG_INFINITY));
        assert_eq!(inner.and_then(Loose::as_str), None);
        let list = parse(br#"[true, null, "x\ty", "NaN", {}]"#).unwrap();
        let Loose::List(items) = list else { panic!("a list") };
        assert_eq!(items[..2], [Loose::Bool(true), Loose::Null]);
        assert_eq!(items[2].as_str(), Some("x\ty"));
        assert_eq!(items[2].as_f64(), None);
        assert!(items[3].as_f64().is_some_and(f64::is_nan));
        assert_eq!((items[4].get("a"), items[4].as_f64()), (None, None));
    }

    #[test]
    fn a_cut_or_continued_document_is_refused() {
        for text in ["{\"a\": 1", "{\"a\": 1} {}", "", "[1, 2", "{\"a\": tru}"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
