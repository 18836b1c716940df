//! Every golden case: reports, reasons, warnings and the tables beside them.

use std::collections::BTreeSet;

use calipers_core::{Better, Protocol, Report, Value};
use calipers_metrics::robustness::{Preset, Robustness};
use serde_json::{Map, Value as Json};

use crate::run::{agrees, run, short, ulps};

pub(crate) fn cases() -> Vec<Json> {
    let golden: Json = serde_json::from_str(include_str!("../fixtures/robustness/cases.json")).unwrap();
    golden["cases"].as_array().unwrap().clone()
}

/// The reasons of a report by path.
fn undefined(report: &Report) -> Map<String, Json> {
    fn walk(path: &str, value: &Value, out: &mut Map<String, Json>) {
        match value {
            Value::Undefined(reason) => {
                out.insert(path.into(), reason.as_ref().into());
            }
            Value::PerLabel(entries) => {
                entries.iter().for_each(|(name, value)| walk(&format!("{path}.{name}"), value, out));
            }
            _ => {}
        }
    }
    let mut out = Map::new();
    report.metrics.iter().for_each(|(id, value)| walk(id, value, &mut out));
    out
}

/// The units of every warning by code.
pub(crate) fn warnings(report: &Report) -> Json {
    let found = report.warnings.iter();
    Json::Object(found.map(|warning| (warning.code.clone(), warning.units.clone().into())).collect())
}

#[test]
fn every_report_is_the_golden_one() {
    let mut ids = BTreeSet::new();
    for case in cases() {
        let name = &case["name"];
        let state = run(&case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let report = state.finish();
        let expected = case["metrics"].as_object().unwrap();
        let printed: Vec<&String> = report.metrics.iter().map(|(id, _)| id).collect();
        assert_eq!(printed, expected.keys().collect::<Vec<_>>(), "{name}");
        for (id, value) in &report.metrics {
            assert!(
                agrees(value, &expected[id], ulps(short(id))),
                "{name} {id}: {value:?}, {}",
                expected[id]
            );
            ids.insert(id.clone());
        }
        let reasons = case["undefined"].as_object().unwrap();
        assert_eq!(&undefined(&report), reasons, "{name}");
        assert_eq!(warnings(&report), case["warnings"], "{name}");
    }
    assert_eq!(ids.len(), Robustness::METRICS.len(), "every id occurs in some case");
}

#[test]
fn every_reason_is_written_in_the_definition_of_its_metric() {
    for case in cases() {
        for (path, reason) in case["undefined"].as_object().unwrap() {
            let id = short(path).split('.').next().unwrap();
            let metric = Robustness::METRICS.iter().find(|metric| metric.id == id).unwrap();
            let reason = reason.as_str().unwrap().split(' ').map(|word| match word.parse::<u64>() {
                Ok(number) if number > 0 => "K",
                _ => word,
            });
            let reason = reason.collect::<Vec<_>>().join(" ");
            assert!(metric.doc.undefined.contains(&format!("\"{reason}\"")), "{path}: {reason}");
        }
    }
}

#[test]
fn the_per_unit_table_holds_every_number_of_a_unit() {
    let case = cases().into_iter().find(|case| case["name"] == "by_hand").unwrap();
    let state = run(&case).unwrap();
    let (table, report) = (state.per_unit(), state.finish());
    assert_eq!(table.columns[..5], ["unit", "run", "attack", "budget", "n"]);
    let [(name, cells)] = &table.rows[..] else { panic!("one unit") };
    assert_eq!((name.as_str(), &cells[0]), ("a/0.5", &Value::Text("a".into())));
    assert!(matches!(cells[1], Value::Undefined(_)));
    assert_eq!(cells[2..4], [Value::Text("0.5".into()), Value::Count(4)]);
    for (column, cell) in table.columns[5..].iter().zip(&cells[4..]) {
        assert_eq!(Some(cell), report.get(&format!("robustness.{column}")), "{column}");
    }
    assert_eq!(table.columns.len(), 5 + 20);
}

#[test]
fn a_unit_measured_at_one_budget_of_many_has_its_own_numbers() {
    let case = cases().into_iter().find(|case| case["name"] == "curve").unwrap();
    let table = run(&case).unwrap().per_unit();
    let column = table.columns.iter().position(|column| column == "bias_total").unwrap();
    for (name, cells) in &table.rows {
        let budget = name.rsplit('/').next().unwrap();
        let expected = &case["metrics"]["robustness.curve"][budget]["bias_total"];
        assert!(agrees(&cells[column - 1], expected, 0), "{name}");
    }
}

#[test]
fn presets_report_what_they_promise() {
    let count = |preset| {
        let protocol = Robustness { preset, ..Robustness::default() };
        Robustness::METRICS.iter().filter(|metric| protocol.reports(metric)).count()
    };
    assert_eq!([Preset::Strict, Preset::Document, Preset::RungFork].map(count), [37, 10, 10]);
    let better = |id: &str| {
        let metric = Robustness::METRICS.iter().find(|metric| metric.id == id).unwrap();
        (metric.better)(&Robustness::default())
    };
    assert_eq!(better("bias_total"), Better::Lower);
    assert_eq!(better("pruned_added"), Better::Higher);
    assert_eq!(better("pruned_kept"), Better::Neither);
}
