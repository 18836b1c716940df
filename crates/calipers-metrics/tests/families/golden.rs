//! The laws of golden files: a report is the pinned one wherever a case decides over it, and every id is pinned.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::case::{assert_value, golden_cases, id, reasons, reported_cases, warnings};
use crate::examples::examples;
use crate::family::{FAMILIES, Family};

/// The families whose oracles write their numbers in an order of their own.
const IN_ANY_ORDER: [&str; 2] = ["independent_set", "segmentation"];

fn name(case: &Json) -> &str {
    case["name"].as_str().expect("a case has a name")
}

/// The ids that a case decides over: whether they are in the report, and their values.
fn pins(case: &Json) -> BTreeSet<&str> {
    case["pins"].as_array().expect("pins").iter().filter_map(Json::as_str).collect()
}

fn check(family: &Family, case: &Json) {
    let place = format!("{} {}", family.name, name(case));
    let expect = &case["expect"];
    let state = (family.run)(case).unwrap_or_else(|error| panic!("{place}: {error}"));
    let (report, pins) = (state.report(), pins(case));
    // Ids that nothing pins may be added; those that are pinned are there, in their order, or not.
    let found = report.metrics.iter().map(|(id, _)| family.short(id)).filter(|id| pins.contains(id));
    let expected = expect["metrics"].as_object().expect("metrics");
    let (mut found, mut named) = (found.collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    if IN_ANY_ORDER.contains(&family.name) {
        found.sort_unstable();
        named.sort_unstable();
    }
    assert_eq!(found, named, "{place}");
    for (id, expected) in expected {
        assert_value(family, &report, id, expected, case, &place);
    }
    let found: Map<_, _> =
        reasons(family, &report).into_iter().filter(|(path, _)| pins.contains(id(path))).collect();
    assert_eq!(found, *expect["undefined"].as_object().expect("reasons"), "{place}");
    match expect.get("warnings") {
        Some(Json::Array(codes)) => {
            let mut found: Vec<_> = report.warnings.iter().map(|warning| warning.code.as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, codes.iter().filter_map(Json::as_str).collect::<Vec<_>>(), "{place}");
        }
        Some(units) => assert_eq!(Json::Object(warnings(&report)), *units, "{place}"),
        None => {}
    }
    if let Some(units) = expect.get("units") {
        assert_eq!(Some(report.units), units.as_u64(), "{place}");
    }
}

#[test]
fn every_report_is_the_golden_one() {
    for family in FAMILIES {
        reported_cases(family).for_each(|case| check(family, &case));
    }
}

#[test]
fn every_bad_case_is_refused_in_the_expected_words() {
    for family in FAMILIES {
        for case in golden_cases(family).iter().filter(|case| case.get("refused").is_some()) {
            // A reader of files refuses these before there is a unit.
            if ["bad_no_units", "confusion-negative"].contains(&name(case)) {
                continue;
            }
            let error = (family.run)(case).map(|_| ()).expect_err(name(case)).to_string();
            for word in case["refused"].as_array().expect("words").iter().filter_map(Json::as_str) {
                assert!(error.contains(word), "{}: '{word}' is not in: {error}", name(case));
            }
        }
    }
}

#[test]
fn every_reason_is_written_in_the_definition_of_its_metric() {
    for family in FAMILIES {
        let metrics = (family.metrics)();
        for case in reported_cases(family) {
            for (path, reason) in case["expect"]["undefined"].as_object().expect("reasons") {
                let metric = metrics.iter().find(|metric| metric.id == id(path)).expect("a known id");
                let reason = (family.general)(reason.as_str().expect("a reason"));
                assert!(metric.undefined.contains(&format!("\"{reason}\"")), "{path}: {reason}");
            }
        }
    }
}

/// Whether there is a number in it.
pub(crate) fn has_number(value: &Json) -> bool {
    match value {
        Json::Number(_) => true,
        Json::Array(points) => points.iter().any(has_number),
        Json::Object(entries) => entries.values().any(has_number),
        _ => false,
    }
}

#[test]
fn every_id_is_pinned_with_a_number_by_a_golden_case_or_a_worked_example() {
    for family in FAMILIES {
        let mut pinned = BTreeSet::new();
        let golden = reported_cases(family).map(|case| case["expect"].clone());
        for expect in golden.chain(examples(family).into_values().map(|example| example.expect)) {
            let metrics = expect["metrics"].as_object().expect("metrics").iter();
            pinned
                .extend(metrics.filter(|(_, value)| has_number(value)).map(|(path, _)| id(path).to_owned()));
        }
        let unpinned =
            (family.metrics)().into_iter().map(|metric| metric.id).filter(|id| !pinned.contains(*id));
        assert_eq!(unpinned.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", family.name);
    }
}
