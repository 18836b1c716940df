//! One file per family: what its evaluator and functions take.

pub(crate) mod explanation;
pub(crate) mod histories;
pub(crate) mod independent_set;
pub(crate) mod published_explanation;
pub(crate) mod robustness;
pub(crate) mod segmentation;
pub(crate) mod training;

use calipers::sources::config_file::worded;
use calipers::{Error, Result};
use serde_json::{Map, Value as Json};

/// settings that the package passes as JSON; a complaint names the nearest valid word.
fn settings<T: serde::de::DeserializeOwned>(json: Json) -> Result<T> {
    serde_json::from_value(json).map_err(|error| plain(&error.to_string()))
}

/// A JSON object from its text.
fn object(text: &str) -> Result<Map<String, Json>> {
    serde_json::from_str(text).map_err(|error| plain(&error.to_string()))
}

/// What Python calls the types that a deserializer expects.
const TYPES: [(&str, &str); 16] = [
    ("u8", "a whole number, 0 to 255"),
    ("u16", "a whole number, 0 to 65535"),
    ("u32", "a whole number, 0 to 4294967295"),
    ("u64", "a whole number, 0 or more"),
    ("usize", "a whole number, 0 or more"),
    ("i64", "a whole number"),
    ("i32", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
    ("a boolean", "True or False"),
    ("a string", "text"),
    ("string", "text"),
    ("a sequence", "a list"),
    ("a map", "a mapping"),
    ("unit", "None"),
    ("null", "None"),
];

/// The complaint of a deserializer without its words for types.
fn plain(message: &str) -> Error {
    let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
    let Some((found, expected)) =
        kinds.iter().find_map(|kind| message.strip_prefix(kind)?.split_once(", expected "))
    else {
        return worded(message).as_usage();
    };
    let known = TYPES.iter().find(|(theirs, _)| *theirs == expected).map(|(_, ours)| *ours);
    let allowed = match expected {
        _ if expected.starts_with("struct ") => "a mapping",
        _ => known.unwrap_or(expected),
    };
    let kinds = ["string ", "integer ", "floating point ", "boolean ", "character "];
    let value = kinds.iter().find_map(|kind| found.strip_prefix(kind)).map(|value| value.trim_matches('`'));
    let ours =
        || TYPES.iter().find(|(theirs, _)| found == theirs.trim_start_matches("a ")).map(|(_, ours)| *ours);
    let found = value.or_else(ours).unwrap_or(found);
    Error::usage("an argument has a value of another type").found(found).allowed(allowed)
}
