//! Every golden case: values, reasons, warnings and the per-unit table.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Protocol, Report, Value};
use calipers_metrics::training::Training;
use serde_json::Value as Json;

use crate::run::{agrees, run, short};

fn cases() -> Vec<Json> {
    let text = include_str!("../fixtures/training/cases.json");
    let mut golden: Json = serde_json::from_str(text).expect("the fixture is JSON");
    let cases = golden["cases"].as_array_mut().map(std::mem::take).unwrap();
    assert_eq!(cases.len(), 74);
    cases
}

fn name(case: &Json) -> &str {
    case["name"].as_str().unwrap()
}

fn report(case: &Json) -> Report {
    run(case).unwrap_or_else(|error| panic!("{}: {error}", name(case))).finish()
}

/// Every reason by the path of its value.
fn reasons(report: &Report) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (id, value) in &report.metrics {
        let Value::PerLabel(groups) = value else { panic!("{id} is not by group") };
        for (group, value) in groups {
            found.extend(value.reason().map(|reason| (format!("{id}.{group}"), reason.to_string())));
        }
    }
    found
}

#[test]
fn values_are_the_golden_ones_bit_for_bit_and_in_their_order() {
    for case in cases() {
        let report = report(&case);
        assert_eq!(Some(report.units), case["units"].as_u64(), "{}", name(&case));
        let expected = case["metrics"].as_object().unwrap();
        let ids: Vec<&String> = report.metrics.iter().map(|(id, _)| id).collect();
        assert_eq!(ids, expected.keys().collect::<Vec<_>>(), "{}", name(&case));
        for ((id, value), expected) in report.metrics.iter().zip(expected.values()) {
            assert!(agrees(value, expected, 0.0), "{} {id}: {value:?}, {expected}", name(&case));
        }
    }
}

#[test]
fn reasons_are_the_golden_ones() {
    for case in cases() {
        let expected: BTreeMap<String, String> = serde_json::from_value(case["undefined"].clone()).unwrap();
        assert_eq!(reasons(&report(&case)), expected, "{}", name(&case));
    }
}

#[test]
fn warnings_are_the_golden_ones() {
    for case in cases() {
        let warnings = report(&case).warnings;
        let codes: BTreeSet<&str> = warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes.len(), warnings.len(), "{}", name(&case));
        let expected: BTreeSet<&str> =
            case["warnings"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        assert_eq!(codes, expected, "{}", name(&case));
    }
}

#[test]
fn per_unit_tables_are_the_golden_ones() {
    for case in cases() {
        let table = run(&case).unwrap().per_unit();
        let expected = case["per_unit"].as_array().unwrap();
        assert_eq!(table.rows.len(), expected.len(), "{}", name(&case));
        for ((unit, cells), expected) in table.rows.iter().zip(expected) {
            let expected = expected.as_object().unwrap();
            assert_eq!(table.columns, expected.keys().cloned().collect::<Vec<_>>());
            assert_eq!(Some(unit.as_str()), expected["unit"].as_str());
            for ((column, cell), expected) in
                table.columns.iter().skip(1).zip(cells).zip(expected.values().skip(1))
            {
                assert!(agrees(cell, expected, 0.0), "{} {unit} {column}: {cell:?}, {expected}", name(&case));
            }
        }
    }
}

#[test]
fn every_reason_is_written_in_the_definition_of_its_metric() {
    for case in cases() {
        for (path, reason) in case["undefined"].as_object().unwrap() {
            let id = short(path).split('.').next().unwrap();
            let metric = Training::METRICS.iter().find(|metric| metric.id == id).unwrap();
            let reason = pattern(reason.as_str().unwrap());
            assert!(metric.doc.undefined.contains(&format!("\"{reason}\"")), "{path}: {reason}");
        }
    }
}

/// A reason with letters in place of its numbers and names.
pub(crate) fn pattern(reason: &str) -> String {
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
