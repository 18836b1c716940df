//! Every golden case: values, reasons, and the words of errors.

use std::collections::BTreeMap;

use calipers_core::{Protocol, Report, Value};
use calipers_metrics::segmentation::Segmentation;
use serde_json::Value as Json;

use crate::run::{Width, agrees, run, short, tolerance};

const GROUPS: [(&str, usize, &str); 5] = [
    ("overlap", 45, include_str!("../fixtures/segmentation/overlap.json")),
    ("boundary", 46, include_str!("../fixtures/segmentation/boundary.json")),
    ("calibration", 27, include_str!("../fixtures/segmentation/calibration.json")),
    ("fusion", 32, include_str!("../fixtures/segmentation/fusion.json")),
    ("errors", 23, include_str!("../fixtures/segmentation/errors.json")),
];

fn cases(group: &str) -> Vec<Json> {
    let (_, count, text) = GROUPS.iter().find(|(name, ..)| *name == group).unwrap();
    let golden: Json = serde_json::from_str(text).expect("the fixture is JSON");
    let cases = golden["cases"].as_array().unwrap().clone();
    assert_eq!(cases.len(), *count, "{group}");
    cases
}

/// Every reason by the path of its value. Empty bins need none.
fn reasons(report: &Report) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (id, value) in &report.metrics {
        let below: Vec<(String, &Value)> = match value {
            Value::PerLabel(entries) => {
                entries.iter().map(|(name, value)| (format!("{id}.{name}"), value)).collect()
            }
            value => vec![(id.clone(), value)],
        };
        for (path, value) in below {
            found.extend(value.reason().map(|reason| (path, reason.to_string())));
        }
    }
    found
}

fn check(group: &str) {
    for case in cases(group).iter().filter(|case| case["error"].is_null()) {
        let name = case["name"].as_str().unwrap();
        let report = run(case, Width::One).unwrap_or_else(|error| panic!("{name}: {error}")).finish();
        let expected = case["expected"]["metrics"].as_object().unwrap();
        assert_eq!(report.metrics.len(), expected.len(), "{name}");
        for (id, value) in &report.metrics {
            let expected = expected.get(id).unwrap_or_else(|| panic!("{id} is not expected"));
            let close = agrees(value, expected, tolerance(short(id), case));
            assert!(close, "{name} {id}: {value:?}, {expected}");
        }
        let expected: BTreeMap<String, String> =
            serde_json::from_value(case["expected"]["undefined"].clone()).unwrap();
        assert_eq!(reasons(&report), expected, "{name}");
    }
}

#[test]
fn overlap_values_and_reasons_are_the_golden_ones() {
    check("overlap");
}

#[test]
fn boundary_values_and_reasons_are_the_golden_ones() {
    check("boundary");
}

#[test]
fn calibration_values_and_reasons_are_the_golden_ones() {
    check("calibration");
}

#[test]
fn fusion_values_and_reasons_are_the_golden_ones() {
    check("fusion");
}

#[test]
fn every_bad_case_is_refused_in_the_expected_words() {
    for case in ["errors", "fusion"].into_iter().flat_map(cases).filter(|case| !case["error"].is_null()) {
        let name = case["name"].as_str().unwrap();
        // Counts are unsigned once a file is read: its reader refuses this one.
        if name == "confusion-negative" {
            continue;
        }
        let error = run(&case, Width::One).map(|_| ()).expect_err(name).to_string();
        for word in case["error"].as_array().unwrap().iter().filter_map(Json::as_str) {
            assert!(error.contains(word), "{name}: '{word}' is not in: {error}");
        }
    }
}

#[test]
fn the_integer_type_of_label_maps_changes_nothing() {
    for case in
        ["overlap", "boundary", "fusion"].into_iter().flat_map(cases).filter(|case| case["error"].is_null())
    {
        let narrow = run(&case, Width::One).unwrap();
        for width in [Width::Two, Width::Eight] {
            assert!(narrow == run(&case, width).unwrap(), "{} {width:?}", case["name"]);
        }
    }
}

#[test]
fn every_reason_is_written_in_the_definition_of_its_metric() {
    for case in ["overlap", "boundary", "calibration", "fusion"].into_iter().flat_map(cases) {
        for (path, reason) in case["expected"]["undefined"].as_object().into_iter().flatten() {
            let id = short(path).split('.').next().unwrap();
            let metric = Segmentation::METRICS.iter().find(|metric| metric.id == id).unwrap();
            let reason = reason.as_str().unwrap().replace("at 1 pixel", "at K pixel");
            assert!(metric.doc.undefined.contains(&format!("\"{reason}\"")), "{path}: {reason}");
        }
    }
}

#[test]
fn the_per_unit_table_has_the_size_the_pixel_counts_and_every_single_number() {
    let case = cases("overlap").into_iter().find(|case| case["name"] == "unpredicted-wrong").unwrap();
    let state = run(&case, Width::One).unwrap();
    let (table, report) = (state.per_unit(), state.finish());
    let first = "unit height width scored_pixels ignored_pixels unpredicted_pixels miou pixel_accuracy";
    assert_eq!(table.columns[..8].join(" "), first);
    let single = |value: &Value| matches!(value, Value::Number(_) | Value::Count(_));
    let numbers = report.metrics.iter().filter(|(_, value)| single(value)).map(|(id, _)| short(id));
    for id in numbers {
        assert!(table.columns.iter().any(|column| column == id), "{id}");
    }
    let total = |column: usize| -> i128 {
        let cells = table.rows.iter().map(|(_, cells)| match cells[column - 1] {
            Value::Count(count) => count,
            _ => panic!("a count"),
        });
        cells.sum()
    };
    for (column, id) in [(3, "scored_pixels"), (4, "ignored_pixels"), (5, "unpredicted_pixels")] {
        assert_eq!(report.get(&format!("segmentation.{id}")), Some(&Value::Count(total(column))), "{id}");
    }
}

#[test]
fn a_confusion_matrix_has_no_size_in_the_per_unit_table() {
    let case = cases("overlap").into_iter().find(|case| case["name"] == "confusion-strict").unwrap();
    let table = run(&case, Width::One).unwrap().per_unit();
    assert!(table.rows.iter().all(|(_, cells)| cells[..2].iter().all(|cell| cell.reason().is_some())));
}
