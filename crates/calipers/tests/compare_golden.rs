//! Comparisons against the golden cases of intervals: differences, their intervals, tests and ranks.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::Path;

use calipers::compare::{Model, Options, compare};
use calipers::core::resample::{Bootstrap, Method};
use calipers::core::{
    Accumulator, Better, Column, Ledger, Metric, Number, Protocol, Provenance, Result, Rows, Value, Warning,
};
use calipers::metrics::robustness::{Budget, Matrix, NumberSlice, Pair, Robustness, unit_name};
use calipers::metrics::training::{Curve, Sample, Training};
use calipers::report::comparison::{self, Forms};
use calipers::sources::clusters::ClusterRule;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Rows of one number and one fraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Columns;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    x: Option<f64>,
    num: i64,
    den: i64,
}

type Line = Metric<Columns>;

impl Protocol for Columns {
    const NAME: &'static str = "columns";
    const METRICS: &'static [Metric<Self>] = &[
        Line {
            id: "mean",
            better: |_| Better::Higher,
            number: Number::Mean {
                of: |_, row| row.x.map_or(Value::undefined("no x"), Value::Number),
                none: Some("no x"),
            },
            ..Line::DEFAULTS
        },
        Line {
            id: "ratio",
            better: |_| Better::Lower,
            number: Number::Pooled {
                terms: |_, row, terms| {
                    terms.whole(0, row.num);
                    terms.whole(1, row.den);
                },
                read: |_, sums| match sums.whole(1) {
                    0 => Value::undefined("nothing"),
                    all => Value::Number(sums.whole(0) as f64 / all as f64),
                },
            },
            ..Line::DEFAULTS
        },
    ];
    const COLUMNS: &'static [Column<Self>] = &[];
    const READING_IN_ROWS: &'static [&'static str] = &[];
    type Unit<'a> = Row;
    type Row = Row;

    fn measure(&self, _: &str, unit: Row) -> Result<Row> {
        Ok(unit)
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn check_row(&self, _: &Row) -> Result<()> {
        Ok(())
    }

    fn warnings(&self, _: &Rows<'_, Row>, _: &Provenance) -> Vec<Warning> {
        Vec::new()
    }
}

fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json[key].as_str().unwrap()
}

/// The rows of one model.
fn ledger(case: &Json, model: &str) -> Box<dyn Ledger> {
    let units = case["units"].as_array().unwrap();
    match text(case, "kind") {
        "columns" => {
            let mut rows = Accumulator::new(Columns);
            for unit in units {
                let row = serde_json::from_value(unit["rows"][model].clone()).unwrap();
                rows.update(text(unit, "name"), row).unwrap();
            }
            Box::new(rows)
        }
        "training" => {
            let mut rows = Accumulator::new(Training::default());
            for unit in units {
                let (group, fold) = text(unit, "name").split_once('/').unwrap();
                let values: Vec<f64> = serde_json::from_value(unit["rows"][model].clone()).unwrap();
                let samples = Sample::series(&values);
                rows.update(text(unit, "name"), Curve::new(group, fold, &samples)).unwrap();
            }
            Box::new(rows)
        }
        "robustness" => {
            let mut rows = Accumulator::new(Robustness::default());
            for unit in units {
                let (run, _) = text(unit, "name").split_once('/').unwrap();
                attacked(&mut rows, run, &unit["rows"][model]);
            }
            Box::new(rows)
        }
        other => panic!("{other}"),
    }
}

fn matrix(nodes: usize, scores: &[f64]) -> Matrix<'_> {
    Matrix::new(nodes, 2, NumberSlice::F64(scores)).unwrap()
}

/// A pair of so many test nodes of class 0, of which so many are right on the clean and the attacked graph.
fn attacked(rows: &mut Accumulator<Robustness>, run: &str, row: &Json) {
    let tested = row["tested"].as_u64().unwrap() as usize;
    let scores = |right: &Json| -> Vec<f64> {
        let right = right.as_u64().unwrap() as usize;
        (0..tested).flat_map(|node| if node < right { [1.0, 0.0] } else { [0.0, 1.0] }).collect()
    };
    let (clean, after) = (scores(&row["clean"]), scores(&row["attacked"]));
    let (labels, test): (Vec<i64>, Vec<u32>) = (vec![0; tested], (0..tested as u32).collect());
    let budget = Budget::parse(text(row, "condition")).unwrap();
    let name = unit_name(run, None, &budget);
    let pair = Pair {
        labels: Some(&labels),
        test: Some(&test),
        ..Pair::new(run, budget, matrix(tested, &clean), matrix(tested, &after))
    };
    rows.update(name.as_str(), pair).unwrap();
}

fn clusters(case: &Json) -> Option<ClusterRule> {
    if text(case, "kind") == "robustness" {
        // Runs are sampling units without a rule.
        return None;
    }
    let units = case["units"].as_array().unwrap();
    let named = units.iter().map(|unit| Some((text(unit, "name").into(), unit["cluster"].as_str()?.into())));
    named.collect::<Option<_>>().map(ClusterRule::Mapping)
}

/// Leaves of an expected object must be in the found one, and be the same number.
fn assert_holds(found: &Json, expected: &Json, place: &str) {
    match expected {
        Json::Object(entries) => {
            for (key, expected) in entries {
                assert_holds(&found[key], expected, &format!("{place}.{key}"));
            }
        }
        Json::Array(entries) => {
            assert_eq!(found.as_array().map(Vec::len), Some(entries.len()), "{place}: {found}");
            for (at, expected) in entries.iter().enumerate() {
                assert_holds(&found[at], expected, &format!("{place}[{at}]"));
            }
        }
        Json::Number(number) => {
            let (found, expected) = (found.as_f64().unwrap(), number.as_f64().unwrap());
            // The oracle rounds the mean of each condition before it takes their mean; the family rounds once.
            let apart = if place.starts_with("robustness") { 1e-15 } else { 0.0 };
            assert!((found - expected).abs() <= apart, "{place}: {found:?} is not {expected:?}");
        }
        other => assert_eq!(found, other, "{place}"),
    }
}

#[test]
fn comparisons_are_those_of_the_oracle() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/intervals/cases.json");
    let golden: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = golden["cases"].as_array().unwrap().iter().filter(|case| case["type"] == "compare");
    let mut seen = 0;
    for case in cases {
        seen += 1;
        let name = text(case, "name");
        let models: Vec<Model> = case["models"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model.as_str().unwrap())
            .map(|model| Model::from_ledgers(model, model, vec![ledger(case, model)]))
            .collect();
        let method = [Method::Expanded, Method::Percentile, Method::Bca];
        let method = method.into_iter().find(|method| method.name() == text(case, "method")).unwrap();
        let expected = &case["expected"];
        let family = if text(case, "kind") == "columns" { "columns." } else { "" };
        let paths: Vec<String> =
            expected["metrics"].as_object().unwrap().keys().map(|path| format!("{family}{path}")).collect();
        for threads in [1, 3] {
            let options = Options {
                metrics: paths.clone(),
                cluster_by: clusters(case),
                bootstrap: Bootstrap {
                    resamples: case["resamples"].as_u64().unwrap() as u32,
                    confidence: case["confidence"].as_f64().unwrap(),
                    seed: case["seed"].as_u64().unwrap(),
                    method,
                },
                threads,
                ..Options::default()
            };
            let found = compare(&models, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            let json: Json = serde_json::from_str(&comparison::json(&found)).unwrap();
            assert_eq!((&json["tests"], &json["correction"]), (&expected["tests"], &expected["correction"]));
            for (path, line) in expected["metrics"].as_object().unwrap() {
                let found = &json["metrics"][format!("{family}{path}")];
                assert_holds(found, line, &format!("{name}: {path}"));
                let ranked = found.get("ranks").is_some_and(|ranks| *ranks != Json::Null);
                assert_eq!(ranked, line["ranks"] != Json::Null, "{name}: {path}");
            }
        }
    }
    assert_eq!(seen, 9);
}

/// Two accumulators of the toy protocol: x of the second is larger by these steps.
fn two(steps: &[f64]) -> [Model; 2] {
    [("a", 0.0), ("b", 1.0)].map(|(name, times)| {
        let mut rows = Accumulator::new(Columns);
        for (unit, step) in steps.iter().enumerate() {
            rows.update(format!("u{unit:02}"), Row { x: Some(times * step), num: 0, den: 0 }).unwrap();
        }
        Model::from_ledgers(name, name, vec![Box::new(rows)])
    })
}

#[test]
fn tests_that_could_not_have_decided_are_warned_of() {
    let codes = |steps: &[f64]| {
        let options = Options { metrics: vec!["mean".into()], ..Options::default() };
        let found = compare(&two(steps), &options).unwrap();
        let few = found[0].warnings.iter().find(|warning| warning.code == "few-pairs").cloned();
        few.map(|warning| warning.message)
    };
    let message = codes(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.0, 0.0]).unwrap();
    assert!(message.contains("5 units differ at most") && message.contains("0.0625"), "{message}");
    assert_eq!(codes(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), None);
}

#[test]
fn without_a_test_nothing_is_corrected_for() {
    // No unit has the ratio, so that no unit has it alone.
    let found = compare(&two(&[0.1, 0.2]), &Options { metrics: vec!["ratio".into()], ..Options::default() });
    let found = found.unwrap();
    let json: Json = serde_json::from_str(&comparison::json(&found)).unwrap();
    assert_eq!((&json["tests"], &json["correction"]), (&json!(0), &Json::Null));
    for text in [comparison::markdown(&found, Forms::default()), comparison::latex(&found, Forms::default())]
    {
        assert!(!text.contains("Holm") && !text.contains("p adj"), "{text}");
    }
}
