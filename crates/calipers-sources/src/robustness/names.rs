//! What a run and its model are called: by the caller, by the names of files, by what files say.
//!
//! What a run is called must not depend on the model, or no run of one model has a partner among those
//! of another.

use std::str::FromStr;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays, Dtype};
use calipers_metrics::robustness::is_model_name;
use regex::Regex;

use crate::array_file::shape;

const MODEL: &str = "model";
const RUN: &str = "run";
const SPLIT: &str = "split";
const SEED: &str = "seed";

/// The keys that name what a file is of.
pub(super) const KEYS: [&str; 4] = [MODEL, RUN, SPLIT, SEED];

/// Finds the names of run and model in the name that a run has by its file.
#[derive(Clone, Debug)]
pub struct RunBy(Regex);

impl FromStr for RunBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::usage(what.to_owned())
                .at("--run-by")
                .found(text)
                .allowed("regex:PATTERN with a capture (?P<run>..), (?P<model>..) or both")
        };
        let pattern = text.strip_prefix("regex:").ok_or_else(|| wrong("no rule for the names of runs"))?;
        let regex = Regex::new(pattern).map_err(|error| {
            Error::usage("the pattern is no regular expression").at("--run-by").found(error)
        })?;
        match regex.capture_names().flatten().any(|name| [RUN, MODEL].contains(&name)) {
            true => Ok(Self(regex)),
            false => Err(wrong("the pattern names neither run nor model")),
        }
    }
}

impl RunBy {
    /// The rule as it was given.
    pub fn text(&self) -> String {
        format!("regex:{}", self.0)
    }

    /// What the captures called `run` and `model` hold; `None` where the pattern has no such capture.
    ///
    /// # Errors
    /// The pattern does not match, or a capture took no part or is empty.
    pub fn names(&self, name: &str) -> Result<Names> {
        let no_match = |what: String| {
            Error::value(what)
                .at("--run-by")
                .found(format!("{name:?}"))
                .allowed(format!("names that {} finds something in", self.0))
        };
        let found =
            self.0.captures(name).ok_or_else(|| no_match("the pattern does not match a run".into()))?;
        let capture = |wanted: &str| {
            if !self.0.capture_names().flatten().any(|name| name == wanted) {
                return Ok(None);
            }
            let text = found.name(wanted).map(|capture| capture.as_str()).filter(|text| !text.is_empty());
            let missing = || no_match(format!("the capture `{wanted}` finds nothing in a run"));
            text.map(|text| Some(text.to_owned())).ok_or_else(missing)
        };
        Ok(Names { run: capture(RUN)?, model: capture(MODEL)? })
    }
}

/// What a run and its model are called, where something says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The run.
    pub run: Option<String>,
    /// The model.
    pub model: Option<String>,
}

impl Names {
    /// Those that a file says itself.
    pub(super) fn of_file(arrays: &Arrays) -> Result<Self> {
        let model = text(arrays, MODEL, "one line of text", is_model_name)?;
        let is_run = |name: &str| is_model_name(name) && !name.contains('/');
        let run = match text(arrays, RUN, "one line of text without /", is_run)? {
            Some(run) => Some(run),
            None => match (number(arrays, SPLIT)?, number(arrays, SEED)?) {
                (None, None) => None,
                (Some(split), None) => Some(format!("split{split}")),
                (None, Some(seed)) => Some(format!("seed{seed}")),
                (Some(split), Some(seed)) => Some(format!("split{split}-seed{seed}")),
            },
        };
        Ok(Self { run, model })
    }

    /// These, and those below where there is none.
    pub(super) fn or(self, below: Self) -> Self {
        Self { run: self.run.or(below.run), model: self.model.or(below.model) }
    }
}

fn refused(key: &str, found: impl std::fmt::Display, allowed: &str) -> Error {
    Error::value(format!("`{key}` is no name")).at(format!("key {key}")).found(found).allowed(allowed)
}

/// The text under a key, of the file's metadata or of an array of one.
fn text(arrays: &Arrays, key: &str, allowed: &str, is_name: impl Fn(&str) -> bool) -> Result<Option<String>> {
    let text = match arrays.text(key) {
        Some(text) => text.to_owned(),
        None => match arrays.get(key)? {
            None => return Ok(None),
            Some(array) => match array.texts() {
                Some([one]) => one.clone(),
                Some(_) => return Err(refused(key, format!("texts of {}", shape(&array)), allowed)),
                None => return Err(refused(key, array.dtype().name(), allowed)),
            },
        },
    };
    match is_name(&text) {
        true => Ok(Some(text)),
        false => Err(refused(key, format!("{text:?}"), allowed)),
    }
}

/// The whole number under a key: decimal text in metadata, an array of one elsewhere.
fn number(arrays: &Arrays, key: &str) -> Result<Option<u64>> {
    const ALLOWED: &str = "one whole number from 0 on";
    if let Some(text) = arrays.text(key) {
        return text.parse().map(Some).map_err(|_| refused(key, format!("{text:?}"), ALLOWED));
    }
    let Some(array) = arrays.get(key)? else { return Ok(None) };
    match whole(&array) {
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(negative)) => Err(refused(key, negative, ALLOWED)),
        None => Err(refused(key, format!("{} of {}", array.dtype().name(), shape(&array)), ALLOWED)),
    }
}

/// The only element of an integer array, negative ones apart.
fn whole(array: &Array) -> Option<std::result::Result<u64, i64>> {
    if array.len() != 1 || !array.dtype().is_integer() {
        return None;
    }
    if array.dtype() == Dtype::U64 {
        return Some(Ok(u64::from_le_bytes(array.bytes().try_into().ok()?)));
    }
    let number = *array.to_i64s().ok()?.first()?;
    Some(u64::try_from(number).map_err(|_| number))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn integer(number: i64) -> Array {
        Array::of_elements(&[1], &[number]).unwrap()
    }

    fn said(keys: &[(&str, Array)]) -> Result<Names> {
        Names::of_file(&Arrays::of(keys.iter().map(|(key, array)| ((*key).to_owned(), array.clone()))))
    }

    #[test]
    fn a_run_is_called_by_its_key_else_by_split_and_seed() {
        let run = |keys: &[(&str, Array)]| said(keys).unwrap().run;
        assert_eq!(run(&[]), None);
        assert_eq!(run(&[("split", integer(3))]).as_deref(), Some("split3"));
        assert_eq!(run(&[("seed", integer(4))]).as_deref(), Some("seed4"));
        let large = Array::shared(Dtype::U64, vec![], Arc::new(u64::MAX.to_le_bytes())).unwrap();
        let both = [("split", integer(3)), ("seed", large)];
        assert_eq!(run(&both).as_deref(), Some("split3-seed18446744073709551615"));
        assert_eq!(run(&[("run", Array::of_text("a")), ("split", integer(3))]).as_deref(), Some("a"));
    }

    #[test]
    fn what_names_nothing_is_refused_with_its_key() {
        for (key, array, found) in [
            ("model", Array::of_text(""), "\"\""),
            ("model", integer(1), "i64"),
            ("run", Array::of_text("a/b"), "\"a/b\""),
            ("split", integer(-1), "-1"),
            ("seed", Array::of_elements(&[2], &[1i64, 2]).unwrap(), "shape (2,)"),
            ("seed", Array::of_text("3"), "text"),
        ] {
            let error = said(&[(key, array)]).unwrap_err().to_string();
            assert!(error.contains(&format!("key {key}")) && error.contains(found), "{error}");
        }
        assert_eq!(said(&[("model", Array::of_text("a/b"))]).unwrap().model.as_deref(), Some("a/b"));
    }

    #[test]
    fn a_pattern_finds_run_and_model_in_one_name() {
        let both: RunBy = "regex:^(?P<model>[a-z]+)_(?<run>s[0-9]+)$".parse().unwrap();
        let names = both.names("mcp_s3").unwrap();
        assert_eq!((names.run.as_deref(), names.model.as_deref()), (Some("s3"), Some("mcp")));
        let text = both.names("mcp-3").unwrap_err().to_string();
        assert!(text.contains("mcp-3") && text.contains("(?P<model>"), "{text}");
        let half: RunBy = "regex:(?P<run>[0-9]*)x".parse().unwrap();
        assert!(half.names("x").is_err());
        assert_eq!(half.names("7x").unwrap(), Names { run: Some("7".into()), model: None });
        for (text, said) in [("mcp", "regex:PATTERN"), ("regex:(", "unclosed group"), ("regex:a", "neither")]
        {
            let error = text.parse::<RunBy>().unwrap_err();
            assert_eq!(error.kind(), calipers_core::ErrorKind::Usage);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
