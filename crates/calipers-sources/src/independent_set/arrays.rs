//! Array containers: one graph with its scores and labels, or a packed batch of them.

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays, Matrix};
use calipers_metrics::independent_set::graph::EdgeSource;
use calipers_metrics::independent_set::{Axis, Kind};

use super::node_values::{self, ScoreValues};
use super::options::Options;
use crate::array_file::shape_text;

/// How many entries are handed on at a time.
const BLOCK: usize = 1 << 16;

/// The keys of scores, with the kind and axis each names.
const SCORE_KEYS: [(&str, Kind, Option<Axis>); 9] = [
    ("logits", Kind::Logits, None),
    ("logits_samples", Kind::Logits, Some(Axis::Samples)),
    ("logits_steps", Kind::Logits, Some(Axis::Steps)),
    ("probs", Kind::Probs, None),
    ("probs_samples", Kind::Probs, Some(Axis::Samples)),
    ("probs_steps", Kind::Probs, Some(Axis::Steps)),
    ("set", Kind::Set, None),
    ("set_samples", Kind::Set, Some(Axis::Samples)),
    ("set_steps", Kind::Set, Some(Axis::Steps)),
];

/// The keys of scores whose kind is said by an option.
const BARE_KEYS: [(&str, Option<Axis>); 3] =
    [("scores", None), ("scores_samples", Some(Axis::Samples)), ("scores_steps", Some(Axis::Steps))];

/// The key of the stored edges.
pub const EDGE_INDEX: &str = "edge_index";

/// The keys of one graph that are neither edges nor scores.
const OTHER_KEYS: [&str; 5] = ["labels", "y", "optimum", "opt_value", "num_nodes"];

/// Whether a column of this name is a key of a graph that rows hold.
pub fn is_key(name: &str) -> bool {
    let mut scores = SCORE_KEYS.iter().map(|(key, ..)| key).chain(BARE_KEYS.iter().map(|(key, _)| key));
    name == EDGE_INDEX || OTHER_KEYS.contains(&name) || scores.any(|key| *key == name)
}

/// An `edge_index` array, read in blocks.
pub struct MatrixEdges<'a>(&'a dyn Matrix);

impl<'a> MatrixEdges<'a> {
    /// Checks that the matrix is a `[2,M]` array of integers.
    pub fn new(matrix: &'a dyn Matrix) -> Result<Self> {
        let (dtype, shape) = (matrix.dtype(), matrix.shape());
        let at = "key edge_index";
        if !dtype.is_integer() {
            return Err(Error::value("'edge_index' must hold integers")
                .at(at)
                .found(dtype.name())
                .allowed("integers of any type, shape [2,M]")
                .advice("convert it to int64"));
        }
        if !matches!(shape, [2, _]) {
            let error = Error::value("'edge_index' has the wrong shape")
                .at(at)
                .found(shape_text(shape))
                .allowed("[2,M]");
            return Err(error.advice(if matches!(shape, [_, 2]) {
                "transpose it"
            } else {
                "one row of tails and one of heads, a column for each stored entry"
            }));
        }
        Ok(Self(matrix))
    }
}

impl EdgeSource for MatrixEdges<'_> {
    fn entries(&self) -> u64 {
        self.0.shape()[1]
    }

    fn blocks(&self, each: &mut dyn FnMut(&[i64], &[i64]) -> Result<()>) -> Result<()> {
        let total = self.entries();
        let length = BLOCK.min(total as usize);
        let (mut us, mut vs) = (vec![0; length], vec![0; length]);
        let mut at = 0;
        while at < total {
            let count = length.min((total - at) as usize);
            self.0.read_row(0, at, &mut us[..count])?;
            self.0.read_row(1, at, &mut vs[..count])?;
            each(&us[..count], &vs[..count])?;
            at += count as u64;
        }
        Ok(())
    }
}

/// What a container says about scores: which key, and what it means. `None` when there are none
/// and none were wanted.
pub fn score_key(keys: &[String], options: &Options) -> Result<Option<(String, Kind, Option<Axis>)>> {
    if options.no_scores {
        return Ok(None);
    }
    let has = |key: &str| keys.iter().any(|k| k == key);
    let mut present: Vec<(String, Option<Kind>, Option<Axis>)> = SCORE_KEYS
        .iter()
        .filter(|(key, ..)| has(key))
        .map(|(key, kind, axis)| ((*key).to_owned(), Some(*kind), *axis))
        .collect();
    for (key, axis) in BARE_KEYS {
        if has(key) {
            present.push((key.to_owned(), options.scores_are, axis));
        }
    }
    match present.as_slice() {
        [] => Err(Error::value("there are no scores")
            .found(format!("keys {}", keys.join(", ")))
            .allowed("one of logits, probs, set, scores, or these with _samples or _steps")
            .advice("add the scores, or say --no-scores")),
        [(key, None, _)] => Err(Error::usage(format!("nothing says what '{key}' holds"))
            .advice("--scores-are logits, probs or set")),
        [(key, Some(kind), axis)] => {
            agrees(key, "--axis", axis.map(super::word), options.axis.map(super::word))?;
            agrees(key, "--scores-are", Some(super::word(kind)), options.scores_are.map(super::word))?;
            Ok(Some((key.clone(), *kind, axis.or(options.axis))))
        }
        several => Err(Error::value("there are several kinds of scores")
            .found(format!(
                "keys {}",
                several.iter().map(|(key, ..)| key.as_str()).collect::<Vec<_>>().join(" and ")
            ))
            .allowed("exactly one")
            .advice("keep the one to be measured")),
    }
}

/// Refuses an option that contradicts what the name of a key says.
pub fn agrees(key: &str, flag: &str, named: Option<String>, said: Option<String>) -> Result<()> {
    match (named, said) {
        (Some(named), Some(said)) if named != said => {
            Err(Error::value(format!("{flag} contradicts the name of a key"))
                .at(format!("key {key}"))
                .found(format!("{flag} {said}, but '{key}' names {named}"))
                .allowed(format!("{flag} {named}"))
                .advice(format!("leave out {flag}, or rename the key")))
        }
        _ => Ok(()),
    }
}

/// The scores of a container, all graphs of a pack together.
pub fn scores(arrays: &Arrays, options: &Options) -> Result<Option<ScoreValues>> {
    let Some((key, kind, axis)) = score_key(&arrays.keys(), options)? else { return Ok(None) };
    let Some(array) = arrays.get(&key)? else { return Ok(None) };
    node_values::scores(&array, &key, kind, axis).map(Some)
}

/// The labels of a container, under `labels` or `y`.
pub fn labels(arrays: &Arrays) -> Result<Option<Vec<bool>>> {
    either(arrays, "labels", "y")?.map(|(key, array)| node_values::labels_of(&array, key)).transpose()
}

/// The optimum of a container, under `optimum` or `opt_value`: one number, or one for each of the
/// graphs of a pack, where -1 and NaN stand for an unknown one.
pub fn optima(arrays: &Arrays, pack: Option<usize>) -> Result<Option<Vec<Option<u64>>>> {
    let Some((key, array)) = either(arrays, "optimum", "opt_value")? else { return Ok(None) };
    let expected = pack.unwrap_or(1);
    if array.len() != expected {
        return Err(Error::value(format!("'{key}' must have one number a graph"))
            .at(format!("key {key}"))
            .found(shape_text(array.shape()))
            .allowed(expected)
            .advice("-1 or NaN stands for an unknown optimum of a pack"));
    }
    let one = |(graph, value): (usize, &f64)| {
        if pack.is_some() && (value.is_nan() || value.total_cmp(&-1.0).is_eq()) {
            return Ok(None);
        }
        node_values::whole(*value, "an optimum").map(Some).map_err(|error| match pack {
            Some(_) => error.at(format!("key {key}, graph {graph}")),
            None => error.at(format!("key {key}")),
        })
    };
    let values = array.to_f64s().map_err(|error| error.at(format!("key {key}")))?;
    values.iter().enumerate().map(one).collect::<Result<_>>().map(Some)
}

/// A whole number under a key that holds one.
pub fn number(arrays: &Arrays, key: &str) -> Result<Option<u64>> {
    let Some(array) = arrays.get(key)? else { return Ok(None) };
    let bad = |found: String| {
        Err(Error::value(format!("'{key}' must be one whole number, 0 or more"))
            .at(format!("key {key}"))
            .found(found)
            .allowed("an integer, 0 or more")
            .advice("store it as an integer, or leave the key out"))
    };
    if array.len() != 1 || !array.dtype().is_integer() {
        return bad(format!("{} {}", array.dtype().name(), shape_text(array.shape())));
    }
    let value = array.to_i64s()?.first().copied().unwrap_or_default();
    u64::try_from(value).map_or_else(|_| bad(value.to_string()), |number| Ok(Some(number)))
}

/// The text or texts under a key.
pub fn texts(arrays: &Arrays, key: &str) -> Result<Option<Vec<String>>> {
    let Some(array) = arrays.get(key)? else { return Ok(None) };
    match array.texts() {
        Some(texts) => Ok(Some(texts.to_vec())),
        None => Err(Error::value(format!("'{key}' must hold text"))
            .at(format!("key {key}"))
            .found(array.dtype().name())
            .allowed("text")
            .advice("store it as an array of strings")),
    }
}

/// The `edge_index` of a container.
pub fn edge_index(arrays: &Arrays) -> Result<Array> {
    arrays.get(EDGE_INDEX)?.ok_or_else(|| {
        Error::value("there is no 'edge_index'")
            .found(format!("keys {}", arrays.keys().join(", ")))
            .allowed("an integer array of shape [2,M]")
            .advice("store the edges under 'edge_index', both directions of each")
    })
}

fn either(
    arrays: &Arrays,
    first: &'static str,
    second: &'static str,
) -> Result<Option<(&'static str, Array)>> {
    match (arrays.get(first)?, arrays.get(second)?) {
        (Some(_), Some(_)) => Err(Error::value(format!("'{first}' and '{second}' are both present"))
            .found(format!("keys {first} and {second}"))
            .allowed("one of the two")
            .advice("keep the one to be measured")),
        (Some(array), None) => Ok(Some((first, array))),
        (None, Some(array)) => Ok(Some((second, array))),
        (None, None) => Ok(None),
    }
}
