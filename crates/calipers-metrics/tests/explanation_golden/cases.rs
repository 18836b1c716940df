//! Every golden case: reports, reasons, warnings and refusals.

use std::collections::BTreeSet;

use calipers_core::{ErrorKind, Protocol, Report, Value};
use calipers_metrics::explanation::Explanation;
use calipers_metrics::explanation::missing_keys;
use serde_json::{Map, Value as Json};

use crate::run::{agrees, run, short, tolerance};

fn cases() -> Vec<Json> {
    let golden: Json = serde_json::from_str(include_str!("../fixtures/explanation/cases.json")).unwrap();
    golden["cases"].as_array().unwrap().clone()
}

/// The reasons of a report by path.
pub(crate) fn undefined(report: &Report) -> Json {
    fn walk(path: &str, value: &Value, out: &mut Map<String, Json>) {
        match value {
            Value::Undefined(reason) => {
                out.insert(path.into(), reason.as_ref().into());
            }
            Value::Series(points) => {
                points.iter().enumerate().for_each(|(k, point)| walk(&format!("{path}.{k}"), point, out));
            }
            Value::PerLabel(entries) => {
                entries.iter().for_each(|(name, value)| walk(&format!("{path}.{name}"), value, out));
            }
            _ => {}
        }
    }
    let mut out = Map::new();
    report.metrics.iter().for_each(|(id, value)| walk(id, value, &mut out));
    Json::Object(out)
}

/// The units of every warning by code.
pub(crate) fn warnings(report: &Report) -> Json {
    let found = report.warnings.iter();
    Json::Object(found.map(|warning| (warning.code.clone(), warning.units.clone().into())).collect())
}

fn good() -> impl Iterator<Item = Json> {
    cases().into_iter().filter(|case| case.get("expect").is_some())
}

#[test]
fn every_report_is_the_golden_one() {
    let mut ids = BTreeSet::new();
    for case in good() {
        let name = &case["name"];
        let state = run(&case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let report = state.finish();
        let expected = case["expect"]["metrics"].as_object().unwrap();
        let printed: Vec<&String> = report.metrics.iter().map(|(id, _)| id).collect();
        assert_eq!(printed, expected.keys().collect::<Vec<_>>(), "{name}");
        for (id, value) in &report.metrics {
            let tolerance = tolerance(short(id), &case);
            assert!(agrees(value, &expected[id], tolerance), "{name} {id}: {value:?}, {}", expected[id]);
            ids.insert(id.clone());
        }
        assert_eq!(undefined(&report), case["expect"]["undefined"], "{name}");
        assert_eq!(warnings(&report), case["expect"]["warnings"], "{name}");
    }
    assert_eq!(ids.len(), Explanation::METRICS.len(), "every id occurs in some case");
}

#[test]
fn warnings_come_in_the_order_of_the_family_and_say_something() {
    const CODES: &str = "value_at_threshold soft_truth constant_mask binary_mask_ranking empty_explanation \
        full_explanation threshold_extreme undefined_in_units partial_evidence argmax_tie looks_like_probs \
        not_normalised infinite_kl mask_without_effect single_point_curve unknown_key sigmoid_applied \
        one_class_truth published_nan";
    let mut seen = BTreeSet::new();
    for case in good() {
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
fn bad_input_is_refused_in_the_words_of_the_golden_file() {
    let mut refused = 0;
    for case in cases().iter().filter(|case| case.get("expect_error").is_some()) {
        let name = case["name"].as_str().unwrap();
        if name == "bad_no_units" {
            continue;
        }
        let text = case["expect_error"].as_str().unwrap();
        let words = text.strip_prefix("unit u: ").unwrap_or(text);
        let words = words.split_once(" (any finite").map_or(words, |(words, _)| words);
        let error = run(case).map(|_| ()).expect_err(name);
        assert!(error.to_string().contains(words), "{name}: {error}");
        let usage = name == "bad_threshold" || name.starts_with("bad_weights");
        assert_eq!(error.kind(), if usage { ErrorKind::Usage } else { ErrorKind::Value }, "{name}");
        assert_eq!(error.place().is_some_and(|place| place.starts_with("unit u")), !usage, "{name}");
        refused += 1;
    }
    assert_eq!(refused, 44);
}

#[test]
fn the_per_unit_table_has_every_single_number_of_the_report() {
    for case in good() {
        let state = run(&case).unwrap();
        let (table, report) = (state.per_unit(), state.finish());
        let nested = |value: &Value| matches!(value, Value::Series(_) | Value::PerLabel(_));
        let single: Vec<&str> =
            report.metrics.iter().filter(|(_, value)| !nested(value)).map(|(id, _)| short(id)).collect();
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
fn every_reason_is_written_in_the_definition_of_its_metric() {
    for case in good() {
        for (path, reason) in case["expect"]["undefined"].as_object().unwrap() {
            let id = short(path).split('.').next().unwrap();
            let metric = Explanation::METRICS.iter().find(|metric| metric.id == id).unwrap();
            let reason = reason.as_str().unwrap();
            let general = reason.split_whitespace().enumerate().map(|(place, word)| {
                let number = word.trim_end_matches(':').parse::<u64>().is_ok();
                match (number && place > 2, word.ends_with(':')) {
                    (true, true) => "K:",
                    (true, false) => "M",
                    _ => word,
                }
            });
            let general = general.collect::<Vec<_>>().join(" ").replace("0/0: weight M", "0/0: weight 0");
            let general = general.replace("term of M", "term of 0").replace("y_sub is M", "y_sub is 0");
            let general = general.replace("range is M", "range is 0").replace("y_hat is M", "y_hat is 0");
            assert!(metric.doc.undefined.contains(&format!("\"{general}\"")), "{path}: {reason}");
        }
    }
}

#[test]
fn a_number_that_is_not_printed_says_which_key_is_missing() {
    let case = good().find(|case| case["name"] == "fidelity_plus_only").unwrap();
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
