//! What golden cases of independent sets say beside their reports.

use calipers_core::Protocol;
use calipers_metrics::independent_set::search::greedy;
use calipers_metrics::independent_set::{IndependentSet, Preset};
use serde_json::Value as Json;

use super::{FAMILY, flat, graph, run, tolerance};
use crate::agreement::{Tolerance, agrees};
use crate::case::{golden_file, reported_cases};

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

#[test]
fn the_golden_file_names_the_inexact_ids() {
    let golden = golden_file("independent_set", "cases.json");
    let listed: Vec<&str> =
        golden["exact_unless_listed"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    for metric in IndependentSet::METRICS {
        assert_eq!(tolerance(metric.id) != Tolerance::Exact, listed.contains(&metric.id), "{}", metric.id);
    }
}

#[test]
fn every_cell_of_the_per_unit_table_is_the_golden_one() {
    for case in reported_cases(&FAMILY) {
        let name = &case["name"];
        let table = run(&case).per_unit();
        for (unit, cells) in &table.rows {
            let expected = case["expect"]["per_unit"][unit].as_object().unwrap();
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
    let columns = run(&reported_cases(&FAMILY).next().unwrap()).per_unit().columns;
    let first = "unit nodes edges self_loops duplicate_edges one_directional_edges isolated_nodes tp fp fn tn loss_bce";
    assert_eq!(columns[..12].join(" "), first);
    assert_eq!(columns.last().map(String::as_str), Some("solved_rate"));
}

#[test]
fn warnings_come_in_order_and_say_something() {
    for case in reported_cases(&FAMILY) {
        let name = &case["name"];
        let report = run(&case).finish();
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
fn decoded_sets_are_the_golden_ones() {
    for case in reported_cases(&FAMILY) {
        let name = &case["name"];
        let state = run(&case);
        for unit in case["units"].as_array().unwrap() {
            let id = unit["unit"].as_str().unwrap();
            let row = state.rows().named().find(|row| row.0 == id).unwrap().1;
            let Some(scores) = &row.scores else { continue };
            let expected: Vec<u64> =
                case["expect"]["decoded"][id].as_array().unwrap().iter().filter_map(Json::as_u64).collect();
            assert_eq!(scores.decoded, expected.len() as u64, "{name} {id}");
            if state.protocol().preset == Preset::Strict && state.protocol().axis.is_none() {
                let set = greedy(&graph(unit), &flat(&unit["scores"]));
                let chosen: Vec<u64> = (0..).zip(set).filter(|node| node.1).map(|node| node.0).collect();
                assert_eq!(chosen, expected, "{name} {id}");
            }
        }
    }
}
