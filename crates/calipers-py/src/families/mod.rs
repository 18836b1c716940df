//! One file a family: what its evaluator and functions take.

pub(crate) mod explanation;
pub(crate) mod independent_set;
pub(crate) mod published_explanation;
pub(crate) mod robustness;
pub(crate) mod segmentation;
pub(crate) mod training;

use calipers::Result;
use calipers::sources::config_file::worded;
use serde_json::{Map, Value as Json};

/// settings that the package passes as JSON; a complaint names the nearest valid word.
fn settings<T: serde::de::DeserializeOwned>(json: Json) -> Result<T> {
    serde_json::from_value(json).map_err(|error| worded(&error.to_string()).as_usage())
}

/// A JSON object from its text.
fn object(text: &str) -> Result<Map<String, Json>> {
    serde_json::from_str(text).map_err(|error| worded(&error.to_string()).as_usage())
}
