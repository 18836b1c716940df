//! Runs written as JSON: parameters and curves in, a state out; and values compared with JSON.

use calipers_core::{Accumulator, Result, Value};
use calipers_metrics::training::{Curve, Preset, Sample, Training};
use serde_json::Value as Json;

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
        .filter_map(|(row, value)| Some(Sample { row, x: x(row), value: logged(value)? }))
        .collect();
    let place = |row: u32| format!("row {}", row + 1);
    let folds = run["folds"].as_u64().map(|folds| folds as u32);
    let marks_missing = run["marks_missing"].as_bool().unwrap_or(false);
    let curve = Curve { group, fold, folds, x_key, samples: &samples, marks_missing, place: &place };
    state.update(format!("{group}/{fold}"), curve)
}

/// Whether a value is the expected one, bit for bit, or within a relative distance.
pub(crate) fn agrees(value: &Value, expected: &Json, within: f64) -> bool {
    match (value, expected) {
        (Value::Undefined(_), expected) => expected.is_null(),
        (Value::Text(text), expected) => expected.as_str() == Some(text),
        (Value::Count(count), expected) => expected.as_i64().map(i128::from) == Some(*count),
        (Value::Number(x), Json::Number(y)) => {
            let y = y.as_f64().expect("a double");
            x.to_bits() == y.to_bits() || (x - y).abs() <= within * y.abs()
        }
        (Value::Series(points), Json::Array(expected)) => {
            points.len() == expected.len()
                && points.iter().zip(expected).all(|(point, expected)| agrees(point, expected, within))
        }
        (Value::PerLabel(entries), Json::Object(expected)) => {
            let mut both = entries.iter().zip(expected);
            entries.len() == expected.len()
                && both.all(|((name, value), (key, expected))| name == key && agrees(value, expected, within))
        }
        _ => false,
    }
}

/// The id without the family's prefix.
pub(crate) fn short(id: &str) -> &str {
    id.strip_prefix("training.").expect("the prefix of the family")
}
