//! Every golden case, bit for bit: reports, per-unit tables, reasons, warnings and decoded sets.

use calipers_core::{Protocol, Report};
use calipers_metrics::independent_set::search::greedy;
use calipers_metrics::independent_set::{IndependentSet, Preset};
use serde_json::{Map, Value as Json};

use crate::run::{agrees, flat, graph, run, short, tolerance};

/// Warning codes in report order.
const CODES: [&str; 19] = [
    "self-loops",
    "duplicate-edges",
    "one-directional-edges",
    "edge-count-differs",
    "label-not-independent",
    "label-not-maximal",
    "label-beaten",
    "optimum-beaten",
    "optimum-above-bound",
    "optimum-differs-from-label",
    "feasibility-hides-conflicts",
    "nothing-predicted",
    "double-sigmoid",
    "logits-look-like-probabilities",
    "tied-scores",
    "below-baseline",
    "labels-missing",
    "mixed-reference",
    "mean-over-subset",
];

fn golden() -> Json {
    serde_json::from_str(include_str!("../fixtures/independent_set/cases.json")).expect("the fixture is JSON")
}

fn cases(golden: &Json) -> impl Iterator<Item = (&str, &Json)> {
    golden["cases"].as_array().into_iter().flatten().map(|case| (case["name"].as_str().unwrap_or("?"), case))
}

pub(crate) fn warnings(report: &Report) -> Json {
    let found = report.warnings.iter().map(|warning| (warning.code.clone(), warning.units.clone().into()));
    Json::Object(found.collect::<Map<_, _>>())
}

#[test]
fn the_golden_file_holds_all_cases_and_names_the_inexact_ids() {
    let golden = golden();
    assert_eq!(cases(&golden).count(), 89);
    let listed: Vec<&str> =
        golden["exact_unless_listed"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    for metric in IndependentSet::METRICS {
        assert_eq!(tolerance(metric.id).is_some(), listed.contains(&metric.id), "{}", metric.id);
    }
}

#[test]
fn every_reported_value_is_the_golden_one() {
    for (name, case) in cases(&golden()) {
        let report = run(case).finish();
        let expected = case["metrics"].as_object().unwrap();
        let ids = report.metrics.iter().map(|(id, _)| short(id));
        assert!(ids.clone().all(|id| expected.contains_key(id)), "{name}");
        assert_eq!(ids.count(), expected.len(), "{name}");
        for (id, value) in &report.metrics {
            let id = short(id);
            assert!(agrees(value, &expected[id], tolerance(id)), "{name} {id}: {value:?}, {}", expected[id]);
            assert_eq!(value.reason(), case["undefined"][id].as_str(), "{name} {id}");
        }
    }
}

#[test]
fn every_cell_of_the_per_unit_table_is_the_golden_one() {
    for (name, case) in cases(&golden()) {
        let table = run(case).per_unit();
        for (unit, cells) in &table.rows {
            let expected = case["per_unit"][unit].as_object().unwrap();
            let mut compared = 0;
            for (column, value) in table.columns[1..].iter().zip(cells) {
                let Some(expected) = expected.get(column) else { continue };
                compared += 1;
                let same = agrees(value, expected, tolerance(column));
                assert!(same, "{name} {unit} {column}: {value:?}, {expected}");
            }
            assert_eq!(compared, expected.len(), "{name} {unit}: a column is missing");
        }
    }
}

#[test]
fn the_per_unit_table_starts_with_the_counts_of_graph_and_agreement() {
    let columns = run(cases(&golden()).next().unwrap().1).per_unit().columns;
    let first = "unit nodes edges self_loops duplicate_edges one_directional_edges isolated_nodes tp fp fn tn loss_bce";
    assert_eq!(columns[..12].join(" "), first);
    assert_eq!(columns.last().map(String::as_str), Some("solved_rate"));
}

#[test]
fn every_warning_is_the_golden_one_and_comes_in_order() {
    for (name, case) in cases(&golden()) {
        let report = run(case).finish();
        assert_eq!(warnings(&report), case["warnings"], "{name}");
        let places: Vec<_> = report
            .warnings
            .iter()
            .map(|warning| CODES.iter().position(|code| *code == warning.code))
            .collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{name}");
        assert!(report.warnings.iter().all(|warning| !warning.message.is_empty()), "{name}");
    }
}

#[test]
fn every_reason_is_written_in_the_definition_of_its_metric() {
    for (name, case) in cases(&golden()) {
        for (id, reason) in case["undefined"].as_object().unwrap() {
            let metric = IndependentSet::METRICS.iter().find(|metric| metric.id == id).unwrap();
            assert!(metric.doc.undefined.contains(&reason.to_string()), "{name} {id}: {reason}");
        }
    }
}

#[test]
fn decoded_sets_are_the_golden_ones() {
    for (name, case) in cases(&golden()) {
        let state = run(case);
        for unit in case["units"].as_array().unwrap() {
            let id = unit["unit"].as_str().unwrap();
            let row = state.rows().named().find(|row| row.0 == id).unwrap().1;
            let Some(scores) = &row.scores else { continue };
            let expected: Vec<u64> =
                case["decoded"][id].as_array().unwrap().iter().filter_map(Json::as_u64).collect();
            assert_eq!(scores.decoded, expected.len() as u64, "{name} {id}");
            if state.protocol().preset == Preset::Strict && state.protocol().axis.is_none() {
                let set = greedy(&graph(unit), &flat(&unit["scores"]));
                let chosen: Vec<u64> = (0..).zip(set).filter(|node| node.1).map(|node| node.0).collect();
                assert_eq!(chosen, expected, "{name} {id}");
            }
        }
    }
}
