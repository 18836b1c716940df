//! What is written down about a run, in a golden file or in a worked example, and what a report says.

use std::fs;
use std::path::{Path, PathBuf};

use calipers_core::{Report, Value};
use serde_json::{Map, Value as Json};

use crate::agreement::agrees;
use crate::family::Family;

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A file that the oracle of a family wrote, or that was recorded for it.
pub(crate) fn golden_file(family: &str, file: &str) -> Json {
    let path = repository("oracles").join(family).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The golden cases of a family, each with the ids that it decides over.
pub(crate) fn golden_cases(family: &Family) -> Vec<Json> {
    let mut all = Vec::new();
    for file in family.golden {
        let mut golden = golden_file(family.name, file);
        let pins = golden["pins"].take();
        let cases = golden["cases"].as_array_mut().map(std::mem::take).expect("cases");
        assert!(!cases.is_empty(), "{file}");
        all.extend(cases.into_iter().map(|mut case| {
            if case["pins"].is_null() {
                case["pins"] = pins.clone();
            }
            case
        }));
    }
    all
}

/// The golden cases that have a report.
pub(crate) fn reported_cases(family: &Family) -> impl Iterator<Item = Json> {
    golden_cases(family).into_iter().filter(|case| case.get("expect").is_some())
}

/// The golden case of a name.
pub(crate) fn golden_case(family: &Family, name: &str) -> Json {
    golden_cases(family).into_iter().find(|case| case["name"] == name).expect("a case of that name")
}

/// The reasons of a report by path, without the prefix of the family. Empty bins have none.
pub(crate) fn reasons(family: &Family, report: &Report) -> Map<String, Json> {
    fn walk(path: &str, value: &Value, out: &mut Map<String, Json>) {
        match value {
            Value::Undefined(reason) if !reason.is_empty() => {
                out.insert(path.into(), reason.as_ref().into());
            }
            Value::Series(points) => {
                points.iter().enumerate().for_each(|(k, point)| walk(&format!("{path}.{k}"), point, out));
            }
            Value::PerLabel(entries) => {
                entries.iter().for_each(|(name, value)| walk(&format!("{path}.{name}"), value, out));
            }
            _ => {}
        }
    }
    let mut out = Map::new();
    report.metrics.iter().for_each(|(id, value)| walk(family.short(id), value, &mut out));
    out
}

/// The units of every warning by code.
pub(crate) fn warnings(report: &Report) -> Map<String, Json> {
    let found = report.warnings.iter();
    found.map(|warning| (warning.code.clone(), warning.units.clone().into())).collect()
}

/// The id at the start of a path.
pub(crate) fn id(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The value at an id without prefix, or at an id, a dot and a label.
pub(crate) fn value<'r>(family: &Family, report: &'r Report, path: &str) -> &'r Value {
    let (id, label) = path.split_once('.').map_or((path, None), |(id, label)| (id, Some(label)));
    let value = report.get(&format!("{}.{id}", family.name));
    let labelled = |entries: &'r [(String, Value)], label: &str| {
        entries.iter().find(|(name, _)| name == label).map(|(_, value)| value)
    };
    let found = match (value, label) {
        (Some(Value::PerLabel(entries)), Some(label)) => labelled(entries, label),
        (value, None) => value,
        _ => None,
    };
    found.unwrap_or_else(|| panic!("{path} is not reported"))
}

/// Fails unless the value at a path is the one that was written down about a run.
#[track_caller]
pub(crate) fn assert_value(
    family: &Family,
    report: &Report,
    path: &str,
    expected: &Json,
    input: &Json,
    place: &str,
) {
    let (value, tolerance) = (value(family, report, path), (family.tolerance)(id(path), input));
    assert!(agrees(value, expected, tolerance), "{place} {path}: {value:?}, {expected}");
}
