//! Training runs as the laws see them: curves written as JSON, and what is particular to the family.

mod cases;
mod properties;
mod published;
mod warnings;

use calipers_core::{Accumulator, Result};
use calipers_metrics::training::{Curve, Preset, Sample, Training};
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::family::{Family, metrics};

pub(crate) const FAMILY: Family = Family {
    name: "training",
    golden: &["cases.json"],
    metrics: metrics::<Training>,
    run: |input| Ok(Box::new(run(input)?)),
    tolerance: |_, _| Tolerance::Exact,
    general,
};

/// The state after all runs of `input`, which has `protocol` and `runs`.
pub(crate) fn run(input: &Json) -> Result<Accumulator<Training>> {
    let mut state = Accumulator::new(protocol(&input["protocol"]));
    let x_key = input["protocol"]["x"].as_str().unwrap_or("epoch");
    for run in input["runs"].as_array().expect("runs") {
        add(&mut state, run, x_key)?;
    }
    Ok(state)
}

/// The defaults of the preset with the given parameters; x is only the name of the key.
pub(crate) fn protocol(given: &Json) -> Training {
    let preset = given.get("preset").map(|name| serde_json::from_value(name.clone()).expect("a preset"));
    let mut parameters =
        serde_json::to_value(Training::new(preset.unwrap_or(Preset::Strict))).expect("plain parameters");
    for (key, value) in given.as_object().into_iter().flatten().filter(|(key, _)| *key != "x") {
        parameters[key] = value.clone();
    }
    let protocol: Training = serde_json::from_value(parameters).expect("known parameters");
    protocol.checked().expect("possible parameters")
}

fn add(state: &mut Accumulator<Training>, run: &Json, x_key: &str) -> Result<()> {
    let (group, fold) = (run["group"].as_str().expect("a group"), run["fold"].as_str().expect("a fold"));
    let logged = |value: &Json| match value {
        Json::Null => None,
        Json::String(word) => Some(word.parse::<f64>().expect("NaN or an infinity")),
        number => Some(number.as_f64().expect("a number")),
    };
    let x = |row: u32| run["x"].get(row as usize).map_or(f64::from(row), |x| x.as_f64().expect("an x"));
    let samples: Vec<Sample> = (0..)
        .zip(run["values"].as_array().expect("values"))
        .filter_map(|(row, value)| Some(Sample { row, x: x(row), value: logged(value)?, session: 0 }))
        .collect();
    let place = |row: u32| format!("row {}", row + 1);
    let folds = run["folds"].as_u64().map(|folds| folds as u32);
    let marks_missing = run["marks_missing"].as_bool().unwrap_or(false);
    let curve = Curve { folds, x_key, marks_missing, place: &place, ..Curve::new(group, fold, &samples) };
    state.update(format!("{group}/{fold}"), curve)
}

/// A reason with letters in place of its numbers and names.
fn general(reason: &str) -> String {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = reason.split(' ').collect();
    match words.as_slice() {
        [p, "of", n, "folds", "present"] if digits(p) && digits(n) => "P of N folds present".into(),
        ["defined", "in", _, "of", _, "resamples"] => "defined in R of B resamples".into(),
        [known @ .., "epoch", _] if reason.starts_with("survival") => format!("{} epoch E", known.join(" ")),
        _ => match reason.rsplit_once(": fold ").or(reason.rsplit_once(" in fold ")) {
            Some((before, _)) if reason.contains(": fold ") => format!("{before}: fold F"),
            Some((before, _)) => format!("{before} in fold F"),
            None => reason.into(),
        },
    }
}
