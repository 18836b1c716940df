//! Warnings that follow from files, folds that a file of runs lists, and refused groups.

use calipers_core::exact::exact_sum;
use calipers_core::{Accumulator, Fact, Value};
use calipers_metrics::training::protocol::{Preset, Training};
use serde_json::{Value as Json, json};

use crate::run::run;

fn with_facts(protocol: Training, facts: &[(&str, &str, &str)]) -> Vec<(String, String)> {
    let mut state = Accumulator::new(protocol);
    for &(code, unit, detail) in facts {
        let fact = Fact { code: code.into(), unit: unit.into(), detail: detail.into() };
        state.provenance.facts.insert(fact);
    }
    state.finish().warnings.into_iter().map(|warning| (warning.code, warning.message)).collect()
}

fn group(report: &calipers_core::Report, id: &str) -> Value {
    match report.get(&format!("training.{id}")) {
        Some(Value::PerLabel(groups)) => groups[0].1.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_noticed_in_files_is_said_in_the_order_of_the_documentation() {
    let facts = [
        ("metric-missing", "a/3", "c.csv has no val_F1"),
        ("missing-history", "a/2", "fold 2 of a"),
        ("cumulative-carbon", "a", "0.1, 0.2, 0.3"),
        ("aggregated-panel", "a/1", "run a_1"),
        ("truncated-file", "a/0", "run.wandb at byte 77"),
        ("sampled-history", "a/0", "500 rows over 2000 steps"),
        ("another-fact", "a/0", "which is no warning"),
    ];
    let warnings = with_facts(Training::default(), &facts);
    let codes: Vec<&str> = warnings.iter().map(|(code, _)| code.as_str()).collect();
    let expected =
        "sampled-history truncated-file aggregated-panel cumulative-carbon missing-history metric-missing";
    assert_eq!(codes.join(" "), expected);
    for (code, message) in &warnings {
        let (.., detail) = facts.iter().find(|(known, ..)| known == code).unwrap();
        assert!(message.contains(detail), "{code}: {message}");
    }
    assert!(warnings[0].1.contains("scan_history()"));
}

#[test]
fn ignored_groups_are_a_warning_only_when_there_are_several() {
    let two = [("wandb-group", "all/0", "big"), ("wandb-group", "all/1", "small")];
    let warnings = with_facts(Training::default(), &two);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].0 == "groups-ignored" && warnings[0].1.contains("big; small"), "{warnings:?}");
    assert_eq!(with_facts(Training::default(), &two[..1]), []);
    let by_wandb = Training { group_by: "wandb".into(), ..Training::default() };
    assert_eq!(with_facts(by_wandb, &two), []);
}

#[test]
fn a_logged_nan_is_a_warning_where_missing_values_are_marked_otherwise() {
    let curve = |marks: bool| {
        let run =
            json!({"group": "c", "fold": "0", "values": [0.5, "NaN", 0.95, 0.96], "marks_missing": marks});
        json!({"runs": [run]})
    };
    let codes = |input: &Json| -> Vec<String> {
        run(input).unwrap().finish().warnings.into_iter().map(|warning| warning.code).collect()
    };
    assert_eq!(codes(&curve(true)), ["missing-epochs", "nan-values"]);
    assert_eq!(codes(&curve(false)), ["missing-epochs"]);
}

#[test]
fn the_folds_that_a_file_of_runs_lists_are_those_of_the_group() {
    let run_of = |fold: &str, folds: Option<u32>| json!({"group": "c", "fold": fold, "values": [0.5, 0.95, 0.96], "folds": folds});
    let input = |protocol: Json, folds| json!({"protocol": protocol, "runs": [run_of("0", folds), run_of("1", folds)]});
    let listed = run(&input(json!({}), Some(4))).unwrap().finish();
    assert_eq!(group(&listed, "velocity_naive"), Value::Number(1.0));
    assert_eq!(group(&listed, "velocity_strict").reason(), Some("2 of 4 folds present"));
    assert_eq!(group(&listed, "divergence_strict").reason(), Some("2 of 4 folds present"));
    assert!(listed.warnings.is_empty(), "the missing histories are named one by one");
    let declared = run(&input(json!({"folds": 2}), Some(4))).unwrap().finish();
    assert_eq!(group(&declared, "velocity_strict"), Value::Number(2.0));
    let table = run(&input(json!({"preset": "table-2024-04-25"}), Some(2))).unwrap().finish();
    assert_eq!(group(&table, "velocity_naive"), Value::Number(2.0 / 5.0));
}

#[test]
fn a_group_with_more_runs_than_declared_folds_is_refused_by_name() {
    let runs: Vec<Json> =
        ["0", "1", "2"].iter().map(|fold| json!({"group": "big", "fold": fold, "values": [0.5]})).collect();
    let state = run(&json!({"protocol": {"folds": 2}, "runs": runs})).unwrap();
    let error = state.protocol().check_folds(&state.rows()).unwrap_err().to_string();
    assert!(
        error.contains("group big") && error.contains("3 runs") && error.contains("at most 2"),
        "{error}"
    );
    let state = run(&json!({"protocol": {"folds": 3}, "runs": runs})).unwrap();
    state.protocol().check_folds(&state.rows()).unwrap();
}

#[test]
fn the_published_tables_divide_by_five_however_many_runs_there_are() {
    let curves = [[0.5, 0.95, 0.91], [0.92, 0.97, 0.8], [0.95, 0.91, 0.93]];
    let runs = |count: usize| -> Vec<Json> {
        let run = |fold: usize| json!({"group": "c", "fold": fold.to_string(), "values": curves[fold % 3]});
        (0..count).map(run).collect()
    };
    let read = |preset: &str, count| {
        run(&json!({"protocol": {"preset": preset}, "runs": runs(count)})).unwrap().finish()
    };
    // V from 0 is 1, 0, 0, 1, 0, 0, 1; three of seven points break once, one twice, in every round.
    let broken = [1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0].map(|broken| broken / 3.0);
    let kept = [2.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0].map(|kept| kept / 3.0);
    for (preset, stabilities) in [("table-2024-04-24", broken), ("table-2024-04-25", kept)] {
        let seven = read(preset, 7);
        for id in ["velocity_strict", "velocity_naive"] {
            assert_eq!(group(&seven, id), Value::Number(3.0 / 5.0), "{preset} {id}");
        }
        let stability = exact_sum(stabilities) / 5.0;
        for id in ["stability_strict", "stability_naive"] {
            assert_eq!(group(&seven, id), Value::Number(stability), "{preset} {id}");
        }
        assert_eq!(group(&seven, "velocity_wise"), Value::Number(3.0 / 7.0));
        assert_eq!(group(&seven, "divergence_strict").reason(), Some("7 of 5 folds present"));
        assert_eq!(group(&seven, "divergence_wise"), Value::Count(7));
        assert!(!seven.warnings.iter().any(|warning| warning.code == "missing-folds"));
        let four = read(preset, 4);
        assert_eq!(group(&four, "velocity_strict").reason(), Some("4 of 5 folds present"));
        assert_eq!(group(&four, "velocity_naive"), Value::Number(2.0 / 5.0));
    }
}

#[test]
fn metrics_of_sweeps_and_resamples_are_there_only_when_asked_for() {
    let ids = |protocol: Training| Accumulator::new(protocol).finish().metrics.len();
    let plain = ids(Training::default());
    assert_eq!(ids(Training { sweep: vec![0.5], ..Training::default() }), plain + 4);
    assert_eq!(ids(Training { bootstrap: 10, ..Training::new(Preset::Revised) }), plain + 4);
}

#[test]
fn messages_name_what_has_to_be_known() {
    let runs: Vec<Json> = (0..6)
        .map(|fold: i32| json!({"group": "c", "fold": fold.to_string(), "values": [f64::from(fold) + 50.0, 95.0, 91.5]}))
        .collect();
    let report = run(&json!({"runs": runs})).unwrap().finish();
    let messages: Vec<(&str, &str)> =
        report.warnings.iter().map(|warning| (warning.code.as_str(), warning.message.as_str())).collect();
    let [("percent-scale", percent), ("fold-trend", trend)] = messages[..] else { panic!("{messages:?}") };
    assert!(percent.contains("95") && percent.contains("--scale 100") && percent.contains("--threshold 90"));
    assert!(trend.contains("carried over"));
}
