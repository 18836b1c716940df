//! Warnings that no golden case gives, and their order and words.

use std::collections::BTreeSet;

use calipers_core::{Fact, Report};
use serde_json::{Value as Json, json};

use super::{FAMILY, run};
use crate::case::{golden_case, reported_cases, warnings};

const CODES: &str = "over_budget under_budget no_effect budget_zero_differs budget_looks_percent split_leak \
    argmax_ties constant_prediction below_majority looks_like_probabilities isolated_nodes mixed_graphs \
    repetitions_differ same_attacked_graph unknown_keys penalty_replaced stuck_nodes";

fn message(report: &Report, code: &str) -> String {
    report.warnings.iter().find(|warning| warning.code == code).unwrap().message.clone()
}

#[test]
fn warnings_come_in_the_order_of_the_family_and_say_something() {
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
    let missing: Vec<_> = CODES.split_whitespace().filter(|code| !seen.contains(*code)).collect();
    assert_eq!(missing, ["budget_zero_differs", "unknown_keys", "penalty_replaced", "stuck_nodes"]);
}

#[test]
fn a_budget_of_nothing_that_moves_features_is_told() {
    let files = json!([{"name": "a", "arrays": {"clean": [[1.0, 0.0]], "attacked_0": [[1.0, 0.5]]}}]);
    let report = run(&json!({"params": {}, "files": files})).unwrap().finish();
    assert_eq!(Json::Object(warnings(&report)), json!({"budget_zero_differs": ["a/0"]}));
}

#[test]
fn what_files_and_models_noticed_is_told_once() {
    let files = json!([{"name": "a", "arrays": {"clean": [[1.0, 0.0]], "attacked_0.1": [[1.0, 0.5]]}}]);
    let mut state = run(&json!({"params": {}, "files": files})).unwrap();
    for (code, unit, detail) in [
        ("unknown_keys", "b/0.1", "notes"),
        ("unknown_keys", "a/0.1", "notes"),
        ("unknown_keys", "a/0.1", "lr"),
        ("penalty_replaced", "a/0.1", "gamma 3 for 6"),
    ] {
        let fact = Fact { code: code.into(), unit: unit.into(), detail: detail.into() };
        state.provenance.facts.insert(fact);
    }
    let report = state.finish();
    assert_eq!(
        Json::Object(warnings(&report)),
        json!({"unknown_keys": ["a/0.1", "b/0.1"], "penalty_replaced": ["a/0.1"]})
    );
    assert_eq!(message(&report, "unknown_keys"), "in 2 units: arrays that nobody reads: lr, notes");
}

#[test]
fn counts_of_nodes_are_in_the_message() {
    let case = golden_case(&FAMILY, "no_effect");
    let report = run(&case).unwrap().finish();
    assert_eq!(message(&report, "split_leak"), "in 1 unit: test nodes that are training nodes too: 1");
}

#[test]
fn every_run_says_how_many_nodes_leak_and_very_many_runs_say_from_least_to_most() {
    let file = |run: usize| {
        let leaks = run % 3;
        let arrays = json!({
            "clean": [[1.0], [2.0], [3.0]], "attacked_0.1": [[1.0], [2.5], [3.0]], "attacked_0.2": [[1.0], [2.0], [3.5]],
            "test_idx": [0, 1, 2], "train_idx": (0..leaks).collect::<Vec<_>>(),
        });
        json!({"name": format!("split{run:02}"), "arrays": arrays})
    };
    let said = |runs: usize| {
        let files: Vec<_> = (0..runs).map(file).collect();
        message(&run(&json!({"params": {}, "files": files})).unwrap().finish(), "split_leak")
    };
    let words = "test nodes that are training nodes too";
    assert_eq!(
        said(6),
        format!("in 8 units: {words}: 1 in split01, 2 in split02, 1 in split04, 2 in split05")
    );
    assert!(said(33).ends_with(", 1 in split28, 2 in split29, 1 to 2 in 2 other runs"), "{}", said(33));
    assert!(said(32).ends_with(", 2 in split29, 1 in 1 other run"), "{}", said(32));
}

#[test]
fn a_leak_is_told_without_labels_too() {
    let arrays = json!({"clean": [[1.0], [2.0]], "attacked_0.1": [[1.0], [2.5]], "test_idx": [0, 1], "train_idx": [1]});
    let report = run(&json!({"params": {}, "files": [{"name": "a", "arrays": arrays}]})).unwrap().finish();
    assert_eq!(Json::Object(warnings(&report)), json!({"split_leak": ["a/0.1"]}));
}
