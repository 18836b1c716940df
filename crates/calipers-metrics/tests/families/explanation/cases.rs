//! What golden cases of explanations say beside their reports.

use std::collections::BTreeSet;

use calipers_core::{ErrorKind, Protocol, Value};
use calipers_metrics::explanation::{Explanation, missing_keys};
use serde_json::Value as Json;

use super::{FAMILY, run};
use crate::case::{golden_case, golden_cases, id, reasons, reported_cases};
use crate::examples::examples;

#[test]
fn warnings_come_in_the_order_of_the_family_and_say_something() {
    const CODES: &str = "value_at_threshold soft_truth constant_mask binary_mask_ranking empty_explanation \
        full_explanation threshold_extreme undefined_in_units partial_evidence argmax_tie looks_like_probs \
        not_normalised infinite_kl mask_without_effect single_point_curve unknown_key sigmoid_applied \
        one_class_truth published_nan";
    let mut seen = BTreeSet::new();
    for case in reported_cases(&FAMILY) {
        let report = run(&case).unwrap().finish();
        let codes = || report.warnings.iter().map(|warning| warning.code.as_str());
        let places: Vec<_> =
            codes().map(|code| CODES.split_whitespace().position(|known| known == code)).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{}", case["name"]);
        assert!(report.warnings.iter().all(|warning| warning.message.contains(" unit")));
        seen.extend(codes().map(String::from));
    }
    assert_eq!(seen.len(), CODES.split_whitespace().count(), "every code occurs in some case");
}

#[test]
fn a_refusal_names_the_unit_unless_an_option_is_at_fault() {
    let refused = |case: &Json| case.get("refused").is_some() && case["name"] != "bad_no_units";
    for case in golden_cases(&FAMILY).into_iter().filter(refused) {
        let name = case["name"].as_str().unwrap();
        let error = run(&case).map(|_| ()).expect_err(name);
        let usage = name == "bad_threshold" || name.starts_with("bad_weights");
        assert_eq!(error.kind(), if usage { ErrorKind::Usage } else { ErrorKind::Value }, "{name}");
        assert_eq!(error.place().is_some_and(|place| place.starts_with("unit u")), !usage, "{name}");
    }
}

#[test]
fn worked_examples_give_every_reason() {
    let pins = golden_cases(&FAMILY).swap_remove(0)["pins"].take();
    for (name, example) in examples(&FAMILY) {
        let mut found = reasons(&FAMILY, &example.state.report());
        found.retain(|path, _| pins.as_array().unwrap().iter().any(|pin| pin == id(path)));
        assert_eq!(Json::Object(found), example.expect["undefined"], "{name}");
    }
}

#[test]
fn the_per_unit_table_has_every_single_number_of_the_report() {
    for case in reported_cases(&FAMILY) {
        let state = run(&case).unwrap();
        let (table, report) = (state.per_unit(), state.finish());
        let nested = |value: &Value| matches!(value, Value::Series(_) | Value::PerLabel(_));
        let single: Vec<&str> = report
            .metrics
            .iter()
            .filter(|(_, value)| !nested(value))
            .map(|(id, _)| FAMILY.short(id))
            .collect();
        let columns: Vec<&str> = table.columns[1..].iter().map(String::as_str).collect();
        for id in single.iter().filter(|id| !id.ends_with("_curve") && **id != "curve_x") {
            assert!(columns.contains(id) || *id == "characterization_score", "{}: {id}", case["name"]);
        }
        if let [(_, cells)] = &table.rows[..] {
            for (column, cell) in columns.iter().zip(cells) {
                let whole = report.get(&format!("explanation.{column}"));
                assert_eq!(Some(cell), whole, "{} {column}", case["name"]);
            }
        }
    }
}

#[test]
fn a_number_that_is_not_printed_says_which_key_is_missing() {
    let case = golden_case(&FAMILY, "fidelity_plus_only");
    let state = run(&case).unwrap();
    let missing = |id: &str| missing_keys(id, &state.rows());
    assert_eq!(missing("fid_plus_phenomenon"), None);
    assert_eq!(missing("fid_minus_model").as_deref(), Some("no unit has `y_sub`"));
    assert_eq!(missing("auroc").as_deref(), Some("no unit has `pred_mask`, `target_mask`"));
    assert!(missing("fid_plus_prob_model").unwrap().contains("in the form"));
    let report = state.finish();
    for metric in Explanation::METRICS {
        let printed = report.get(&format!("explanation.{}", metric.id)).is_some();
        assert_eq!(missing(metric.id).is_none(), printed, "{}", metric.id);
    }
}
