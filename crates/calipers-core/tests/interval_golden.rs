//! Draws, strata, clusters and methods, compared with the oracle of intervals bit for bit.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeMap;

use calipers_core::resample::{Asked, Bootstrap, Method, Sampled, Sampling};
use calipers_core::{
    Accumulator, Alone, Column, IntervalRule, Ledger, Metric, Number, Protocol, Provenance, Result, Rows,
    Value, Warning,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// The mean of a column, the ratio of two others, and the median of the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Columns;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    x: Option<f64>,
    num: i64,
    den: i64,
    /// The sampling unit, named after its stratum: a cluster lies inside one.
    unit: String,
    stratum: String,
}

fn mean(row: &Row) -> Value {
    row.x.map_or(Value::undefined("no x"), Value::Number)
}

fn median(rows: &Rows<'_, Row>) -> Value {
    let mut x: Vec<f64> = rows.iter().filter_map(|row| row.x).collect();
    x.sort_by(f64::total_cmp);
    match (x.len() / 2, x.len() % 2) {
        (0, 0) => Value::undefined("no x"),
        (half, 1) => Value::Number(x[half]),
        (half, _) => Value::Number((x[half - 1] + x[half]) / 2.0),
    }
}

const LINE: Metric<Columns> = Metric::DEFAULTS;

impl Protocol for Columns {
    const NAME: &'static str = "columns";
    const METRICS: &'static [Metric<Self>] = &[
        Metric { id: "mean", number: Number::Mean { of: |_, row| mean(row), none: Some("no x") }, ..LINE },
        Metric {
            id: "ratio",
            number: Number::Pooled {
                terms: |_, row, terms| {
                    terms.whole(0, row.num);
                    terms.whole(1, row.den);
                },
                read: |_, sums| Value::ratio(sums.whole(0), sums.whole(1), "nothing"),
            },
            ..LINE
        },
        Metric {
            id: "median",
            interval: IntervalRule::OrderStatistic,
            number: Number::Rows(|_, rows| median(rows)),
            ..LINE
        },
    ];
    const COLUMNS: &'static [Column<Self>] = &[];
    const READING_IN_ROWS: &'static [&'static str] = &[];
    const SAMPLING: Sampling = Sampling::UNITS;

    type Unit<'a> = Row;
    type Row = Row;

    fn measure(&self, _: &str, row: Row) -> Result<Row> {
        Ok(row)
    }

    fn sampled<'a>(&self, _: &'a str, row: &'a Row) -> Sampled<'a> {
        Sampled { unit: &row.unit, part: &row.stratum }
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

fn rows(case: &Json) -> Accumulator<Columns> {
    let mut rows = Accumulator::new(Columns);
    // The order of units means nothing.
    for unit in case["units"].as_array().unwrap().iter().rev() {
        let name = unit["name"].as_str().unwrap();
        let stratum = unit["stratum"].as_str().unwrap_or("all");
        let sampling_unit = unit["cluster"].as_str().unwrap_or(name);
        let row = Row {
            x: unit["row"]["x"].as_f64(),
            num: unit["row"]["num"].as_i64().unwrap(),
            den: unit["row"]["den"].as_i64().unwrap(),
            unit: format!("{stratum}/{sampling_unit}"),
            stratum: stratum.into(),
        };
        rows.update(name, row).unwrap();
    }
    rows
}

#[test]
fn every_case_of_columns_has_the_intervals_of_the_oracle() {
    let text = include_str!("../../../oracles/intervals/cases.json");
    let cases: Json = serde_json::from_str(text).unwrap();
    let columns = |case: &&Json| case["kind"] == "columns" && case["type"] == "report";
    let cases: Vec<&Json> = cases["cases"].as_array().unwrap().iter().filter(columns).collect();
    assert!(cases.len() > 10);
    for case in cases {
        let rows = rows(case);
        for method in [Method::Percentile, Method::Expanded, Method::Bca] {
            check(case, &rows, method);
        }
    }
}

fn check(case: &Json, rows: &Accumulator<Columns>, method: Method) {
    let place = format!("{} {}", case["name"], method.name());
    let bootstrap = Bootstrap {
        resamples: case["resamples"].as_u64().unwrap() as u32,
        confidence: case["confidence"].as_f64().unwrap(),
        seed: case["seed"].as_u64().unwrap(),
        method,
    };
    let mut report = rows.finish();
    let asked = Asked { bootstrap, clusters: None, memory: u64::MAX };
    rows.add_intervals(&mut report, &asked, &Alone).unwrap();
    let intervals = report.intervals.unwrap();
    let short = |path: &str| path.trim_start_matches("columns.").to_owned();
    let expected = &case["expected"][method.name()];
    let found: BTreeMap<String, [f64; 2]> =
        intervals.bounds.iter().map(|(id, bounds)| (short(id), bounds.single().unwrap())).collect();
    assert_eq!(json!(found), expected["intervals"], "{place}");
    let keys = |json: &Json| json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut missing: Vec<String> = intervals.missing.iter().map(|(path, _)| short(path)).collect();
    missing.sort();
    let mut none = keys(&expected["no_interval"]);
    none.sort();
    assert_eq!(missing, none, "{place}");
    let mut used: Vec<String> = intervals.drawn.percentile_used.iter().map(|(path, _)| short(path)).collect();
    used.sort();
    let mut fell_back = keys(&expected["percentile_used"]);
    fell_back.sort();
    assert_eq!(used, fell_back, "{place}");
    let strata: BTreeMap<&String, Json> = intervals
        .drawn
        .strata
        .iter()
        .map(|(name, [units, sampling])| (name, json!({"units": units, "sampling_units": sampling})))
        .collect();
    assert_eq!(json!(strata), case["expected"]["strata"], "{place}");
}
