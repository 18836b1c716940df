//! Runs of attacked models as files, and reports compared with expected ones.

use serde_json::{Map, Value as Json};

use crate::support::{f64s, golden_cases, i64s, npy, npz, pinned};

/// The golden cases.
pub fn cases() -> Vec<Json> {
    golden_cases("robustness/cases.json")
}

/// The members of a run of four nodes, in the order of their keys.
pub type Members = Vec<(&'static str, Vec<u8>)>;

/// The run that the specification works out by hand.
pub fn by_hand() -> Members {
    vec![
        ("clean", f64s(&[4, 2], &[3.0, 0.0, 0.0, 4.0, 1.0, 1.0, 2.0, 0.0])),
        ("attacked_0.5", f64s(&[4, 2], &[3.0, 0.0, 0.0, 2.0, 1.0, 3.0, 0.0, 2.0])),
        ("labels", i64s(&[4], &[0, 1, 0, 0])),
        ("test_idx", i64s(&[4], &[0, 1, 2, 3])),
        ("edges", i64s(&[4, 2], &[0, 1, 1, 2, 2, 3, 0, 2])),
        ("flips_0.5", i64s(&[2, 2], &[0, 3, 1, 2])),
    ]
}

/// The run with some members replaced or added.
pub fn with(changes: &[(&'static str, Vec<u8>)]) -> Members {
    let mut members = by_hand();
    for (key, bytes) in changes {
        match members.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => old.clone_from(bytes),
            None => members.push((key, bytes.clone())),
        }
    }
    members
}

/// The run without some members.
pub fn without(keys: &[&str]) -> Members {
    by_hand().into_iter().filter(|(key, _)| !keys.contains(key)).collect()
}

/// The members of a golden file.
pub fn members(file: &Json) -> Vec<(&str, Vec<u8>)> {
    let single = file["dtype"] == "f32";
    let arrays = file["arrays"].as_object().unwrap().iter();
    arrays.map(|(key, value)| (key.as_str(), array(key, value, single))).collect()
}

/// A golden file as npz.
pub fn run_file(file: &Json) -> Vec<u8> {
    npz(&members(file))
}

fn array(key: &str, value: &Json, single: bool) -> Vec<u8> {
    let (mut shape, mut flat) = (Vec::new(), Vec::new());
    flatten(value, 0, &mut shape, &mut flat);
    let floats = || flat.iter().map(|value| value.as_f64().unwrap());
    let whole: Vec<i64> = flat.iter().filter_map(|value| value.as_i64()).collect();
    match key {
        _ if key.starts_with("clean") || key.starts_with("attacked") => {
            if single {
                let bytes: Vec<u8> = floats().flat_map(|value| (value as f32).to_le_bytes()).collect();
                npy("<f4", &shape, &bytes)
            } else {
                f64s(&shape, &floats().collect::<Vec<_>>())
            }
        }
        "test_mask" => npy("|b1", &shape, &whole.iter().map(|&value| value as u8).collect::<Vec<_>>()),
        "edges" if flat.is_empty() => i64s(&[0, 2], &[]),
        _ if flat.is_empty() && (key.starts_with("edges_") || key.starts_with("flips")) => i64s(&[0, 2], &[]),
        _ => i64s(&shape, &whole),
    }
}

fn flatten<'a>(value: &'a Json, depth: usize, shape: &mut Vec<usize>, flat: &mut Vec<&'a Json>) {
    match value.as_array() {
        None => flat.push(value),
        Some(entries) => {
            if shape.len() == depth {
                shape.push(entries.len());
            }
            entries.iter().for_each(|entry| flatten(entry, depth + 1, shape, flat));
        }
    }
}

/// The command line of a case's parameters.
pub fn flags(case: &Json) -> String {
    let word = |value: &Json| match value {
        Json::String(word) => word.clone(),
        Json::Array(ends) => ends.iter().map(Json::to_string).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    let params = case["params"].as_object().unwrap().iter();
    params.map(|(key, value)| format!(" --{} {}", key.replace('_', "-"), word(value))).collect()
}

/// Fails unless a report has exactly the pinned metrics, reasons and warnings. Standard
/// deviations may be off by one unit in the last place.
pub fn assert_report(report: &Json, case: &Json, place: &str) {
    let (found, expect) = (pinned(report, &case["pins"]), &case["expect"]);
    assert_agrees(&found["metrics"], &expect["metrics"], false, place);
    assert_eq!(found["undefined"], expect["undefined"], "{place}");
    assert_eq!(Json::Object(warnings(report)), expect["warnings"], "{place}");
}

fn assert_agrees(found: &Json, expected: &Json, nearly: bool, place: &str) {
    match (found, expected) {
        (Json::Array(a), Json::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).for_each(|(a, b)| assert_agrees(a, b, nearly, place));
        }
        (Json::Object(a), Json::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{place}: {found} is not {expected}");
            for (key, a) in a {
                let nearly = nearly || key == "curve_std";
                assert_agrees(a, &b[key], nearly, &format!("{place}: {key}"));
            }
        }
        (Json::Number(a), Json::Number(b)) => {
            let [x, y] = [a, b].map(|number| number.as_f64().unwrap());
            let apart = x.to_bits().abs_diff(y.to_bits());
            assert!(apart <= u64::from(nearly), "{place}: {x:?} is not {y:?}");
        }
        _ => assert_eq!(found, expected, "{place}"),
    }
}

/// The units of every warning by code, in the order of the codes.
pub fn warnings(report: &Json) -> Map<String, Json> {
    let all = report["warnings"].as_array().unwrap().iter();
    let mut all: Vec<_> =
        all.map(|warning| (warning["code"].as_str().unwrap().to_owned(), warning["units"].clone())).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.into_iter().collect()
}

/// The value of a metric in a report, by its id without the family.
pub fn metric<'a>(report: &'a Json, id: &str) -> &'a Json {
    let full = format!("robustness.{id}");
    report["metrics"].get(&full).unwrap_or_else(|| panic!("no {full} in the report"))
}
