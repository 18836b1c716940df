//! Every golden case written to files, measured by the binary and compared number by number.

use serde_json::Value as Json;

use crate::support::{Bench, codes, f64s, golden, golden_cases, i64s, npz, pinned};

fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// One unit as an npz file, the way a user would store it.
fn unit_file(unit: &Json) -> Vec<u8> {
    let nodes = unit["n"].as_u64().unwrap() as usize;
    let ends: Vec<i64> =
        (0..2).flat_map(|row| numbers(&unit["edge_index"][row])).map(|node| node as i64).collect();
    let mut members =
        vec![("edge_index", i64s(&[2, ends.len() / 2], &ends)), ("num_nodes", i64s(&[], &[nodes as i64]))];
    let key = match (unit["kind"].as_str(), unit["axis"].as_str()) {
        (None, _) => None,
        (Some("logits"), None) => Some("logits"),
        (Some("logits"), Some("steps")) => Some("logits_steps"),
        (Some("logits"), Some(_)) => Some("logits_samples"),
        (Some("probs"), _) => Some("probs"),
        (Some(_), _) => Some("set"),
    };
    if let Some(key) = key {
        let (shape, values) = if unit["axis"].is_null() {
            (vec![nodes], numbers(&unit["scores"]))
        } else {
            let rows = unit["scores"].as_array().unwrap();
            (vec![rows.len(), nodes], rows.iter().flat_map(numbers).collect())
        };
        members.push((key, f64s(&shape, &values)));
    }
    if !unit["labels"].is_null() {
        let labels = numbers(&unit["labels"]);
        members.push(("labels", f64s(&[nodes], &labels)));
    }
    if let Some(optimum) = unit["optimum"].as_i64() {
        members.push(("optimum", i64s(&[1], &[optimum])));
    }
    npz(&members)
}

fn options(case: &Json) -> String {
    let params = &case["params"];
    let strict = params["preset"] == "strict";
    let mut line = format!("--preset {}", params["preset"].as_str().unwrap());
    let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let flags = ["pos_weight", "feasibility_weight", "baseline", "certificate", "seed"];
    for key in flags {
        line.push_str(&format!(" --{} {}", key.replace('_', "-"), word(&params[key])));
    }
    if strict {
        line.push_str(&format!(" --reference {}", word(&params["reference"])));
        if !params["reference_mean"].is_null() {
            line.push_str(&format!(" --reference-mean {}", params["reference_mean"]));
        }
        for decoder in params["decoders"].as_array().unwrap() {
            line.push_str(&format!(" --decoders {}", word(decoder)));
        }
    }
    if case["units"].as_array().unwrap().iter().any(|unit| unit["kind"].is_null()) {
        line.push_str(" --no-scores");
    }
    line
}

fn assert_equal(found: &Json, expected: &Json, tolerance: f64, place: &str) {
    match (found, expected) {
        (Json::Array(a), Json::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).for_each(|(x, y)| assert_equal(x, y, tolerance, place));
        }
        (Json::Null, Json::Null) => {}
        _ => {
            let (x, y) = (found.as_f64(), expected.as_f64());
            let (Some(x), Some(y)) = (x, y) else { panic!("{place}: {found} is not {expected}") };
            assert!((x - y).abs() <= tolerance * y.abs(), "{place}: {x} is not {y}");
        }
    }
}

#[test]
fn the_binary_reproduces_every_golden_case_from_files() {
    let file = std::fs::read_to_string(golden("independent_set/cases.json")).unwrap();
    let file: Json = serde_json::from_str(&file).unwrap();
    let inexact: Vec<&str> =
        file["exact_unless_listed"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    for case in &golden_cases("independent_set/cases.json") {
        let (name, expect) = (case["name"].as_str().unwrap(), &case["expect"]);
        let bench = Bench::new();
        for unit in case["units"].as_array().unwrap() {
            bench.write(&format!("units/{}.npz", unit["unit"].as_str().unwrap()), unit_file(unit));
        }
        let line = format!("independent-set units {} --per-unit units.jsonl", options(case));
        let report = pinned(&bench.report(&line), &case["pins"]);
        let expected = expect["metrics"].as_object().unwrap();
        assert_eq!(report["metrics"].as_object().unwrap().len(), expected.len(), "{name}");
        for (id, value) in expected {
            let tolerance = if inexact.contains(&id.as_str()) { 1e-12 } else { 0.0 };
            assert_equal(&report["metrics"][id], value, tolerance, &format!("{name}: {id}"));
        }
        for (id, reason) in expect["undefined"].as_object().unwrap() {
            assert_eq!(&report["undefined"][id], reason, "{name}: {id}");
        }
        let mut found = codes(&report);
        found.sort_unstable();
        let mut wanted: Vec<&str> =
            expect["warnings"].as_object().unwrap().keys().map(String::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{name}");
        for warning in report["warnings"].as_array().unwrap() {
            assert_eq!(
                warning["units"],
                expect["warnings"][warning["code"].as_str().unwrap()],
                "{name}: {warning}"
            );
        }
        for line in bench.read("units.jsonl").lines() {
            let row: Json = serde_json::from_str(line).unwrap();
            let unit = row["unit"].as_str().unwrap();
            for (id, value) in expect["per_unit"][unit].as_object().unwrap() {
                let tolerance = if inexact.contains(&id.as_str()) { 1e-12 } else { 0.0 };
                assert_equal(&row[id], value, tolerance, &format!("{name}: {unit}: {id}"));
            }
        }
    }
}
