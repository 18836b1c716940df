//! What holds for any evidence: ranges, orders, cuts, and the same model output in three forms.

use calipers_core::{Metric, Protocol, Report, Value, functions};
use calipers_metrics::explanation::protocol::Explanation;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::run::{Tolerance, agrees, run, short};

#[derive(Clone, Debug)]
struct Unit {
    y: Vec<i64>,
    hat: Vec<Vec<f64>>,
    sub: Vec<Vec<f64>>,
    comp: Vec<Vec<f64>>,
    mask: Vec<f64>,
    truth: Vec<bool>,
    sample: Vec<f64>,
}

const CLASSES: usize = 3;

fn unit() -> impl Strategy<Value = Unit> {
    let scores = || prop::collection::vec(-12i32..12, CLASSES);
    let instances = prop::collection::vec((0..CLASSES as i64, scores(), scores(), scores()), 0..6);
    let elements = prop::collection::vec((0i32..9, any::<bool>(), 0i32..9), 0..10);
    (instances, elements).prop_map(|(instances, elements)| {
        let halves = |row: &Vec<i32>| row.iter().map(|&v| f64::from(v) / 2.0).collect();
        Unit {
            y: instances.iter().map(|i| i.0).collect(),
            hat: instances.iter().map(|i| halves(&i.1)).collect(),
            sub: instances.iter().map(|i| halves(&i.2)).collect(),
            comp: instances.iter().map(|i| halves(&i.3)).collect(),
            mask: elements.iter().map(|e| f64::from(e.0) / 8.0).collect(),
            truth: elements.iter().map(|e| e.1).collect(),
            sample: elements.iter().map(|e| f64::from(e.2) / 8.0).collect(),
        }
    })
}

fn scores(rows: &[Vec<f64>]) -> Json {
    let data: Vec<f64> = rows.concat();
    json!({"dtype": "float64", "shape": [rows.len(), CLASSES], "data": data})
}

impl Unit {
    fn json(&self) -> Json {
        let ints: Vec<i64> = self.truth.iter().map(|&t| i64::from(t)).collect();
        let n = self.mask.len();
        json!({
            "y": {"dtype": "int64", "shape": [self.y.len()], "data": self.y},
            "y_hat": scores(&self.hat),
            "y_sub": scores(&self.sub),
            "y_comp": scores(&self.comp),
            "pred_mask": {"dtype": "float64", "shape": [n], "data": self.mask},
            "target_mask": {"dtype": "bool", "shape": [n], "data": ints},
            "pred_mask_samples": {"dtype": "float64", "shape": [1, n], "data": self.sample},
        })
    }
}

fn report(protocol: &Json, units: &[Json]) -> Report {
    let units: serde_json::Map<String, Json> =
        units.iter().enumerate().map(|(i, unit)| (i.to_string(), unit.clone())).collect();
    run(&json!({"protocol": protocol, "units": units})).unwrap().finish()
}

fn in_range(metric: &Metric<Explanation>, value: &Value) -> bool {
    match value {
        Value::Undefined(reason) => !reason.is_empty(),
        Value::Series(points) => points.iter().all(|point| in_range(metric, point)),
        Value::PerLabel(entries) => entries.iter().all(|(_, value)| in_range(metric, value)),
        value => value.as_f64().is_some_and(|x| metric.range.low <= x && x <= metric.range.high),
    }
}

fn same(a: &Report, b: &Report, tolerance: Tolerance) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.metrics.len(), b.metrics.len());
    for ((id, a), (_, b)) in a.metrics.iter().zip(&b.metrics) {
        let expected = b
            .as_f64()
            .map_or(Json::Null, |x| if matches!(b, Value::Count(_)) { json!(x as u64) } else { json!(x) });
        prop_assert!(agrees(a, &expected, tolerance), "{}: {:?}, {:?}", id, a, b);
    }
    Ok(())
}

fn log_softmax(row: &[f64]) -> Vec<f64> {
    let total: f64 = row.iter().map(|&v| functions::exp(v)).sum();
    row.iter().map(|v| v - functions::ln(total)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_lies_in_its_range_or_has_a_reason(
        units in prop::collection::vec(unit(), 1..4),
        preset in prop::sample::select(&["strict", "document", "pyg", "graphxai"][..]),
    ) {
        let units: Vec<Json> = units.iter().map(Unit::json).collect();
        let report = report(&json!({"preset": preset, "scores": "logits"}), &units);
        for (id, value) in &report.metrics {
            let metric = Explanation::METRICS.iter().find(|metric| metric.id == short(id)).unwrap();
            prop_assert!(in_range(metric, value), "{}: {:?}", id, value);
        }
    }

    #[test]
    fn the_order_of_instances_and_elements_changes_no_number(unit in unit()) {
        let reversed = |rows: &[Vec<f64>]| rows.iter().rev().cloned().collect::<Vec<_>>();
        let turned = Unit {
            y: unit.y.iter().rev().copied().collect(),
            hat: reversed(&unit.hat),
            sub: reversed(&unit.sub),
            comp: reversed(&unit.comp),
            mask: unit.mask.iter().rev().copied().collect(),
            truth: unit.truth.iter().rev().copied().collect(),
            sample: unit.sample.iter().rev().copied().collect(),
        };
        let protocol = json!({"scores": "logits"});
        same(&report(&protocol, &[unit.json()]), &report(&protocol, &[turned.json()]), Tolerance::Exact)?;
    }

    #[test]
    fn an_index_is_a_cut(unit in unit(), keep in prop::collection::vec(any::<bool>(), 6)) {
        let kept: Vec<usize> = (0..unit.y.len()).filter(|&i| keep[i]).collect();
        let rows = |rows: &[Vec<f64>]| kept.iter().map(|&i| rows[i].clone()).collect::<Vec<_>>();
        let cut = Unit {
            y: kept.iter().map(|&i| unit.y[i]).collect(),
            hat: rows(&unit.hat),
            sub: rows(&unit.sub),
            comp: rows(&unit.comp),
            ..unit.clone()
        };
        let mut indexed = unit.json();
        indexed["index"] = json!({"dtype": "int64", "shape": [kept.len()], "data": kept});
        let protocol = json!({"scores": "logits"});
        same(&report(&protocol, &[indexed]), &report(&protocol, &[cut.json()]), Tolerance::Exact)?;
    }

    #[test]
    fn one_model_output_in_three_forms_gives_the_same_numbers(unit in unit()) {
        let mapped = |f: &dyn Fn(&[f64]) -> Vec<f64>| {
            let rows = |rows: &[Vec<f64>]| rows.iter().map(|row| f(row)).collect::<Vec<_>>();
            Unit { hat: rows(&unit.hat), sub: rows(&unit.sub), comp: rows(&unit.comp), ..unit.clone() }
        };
        let logits = report(&json!({"scores": "logits"}), &[unit.json()]);
        let log_probs = mapped(&|row| log_softmax(row));
        let probs = mapped(&|row| log_softmax(row).iter().map(|&l| functions::exp(l)).collect());
        same(&report(&json!({"scores": "log_probs"}), &[log_probs.json()]), &logits, Tolerance::Mixed(1e-12))?;
        same(&report(&json!({"scores": "probs"}), &[probs.json()]), &logits, Tolerance::Mixed(1e-12))?;
    }

    #[test]
    fn a_mask_that_is_its_truth_is_perfect(truth in prop::collection::vec(any::<bool>(), 2..20)) {
        prop_assume!(truth.contains(&true) && truth.contains(&false));
        let mask: Vec<f64> = truth.iter().map(|&t| f64::from(u8::from(t))).collect();
        let unit = json!({"pred_mask": mask, "target_mask": truth});
        let report = report(&json!({}), &[unit]);
        for id in ["accuracy", "recall", "precision", "f1_score", "auroc", "jaccard", "average_precision", "relevance_mass", "relevance_rank"] {
            let value = report.get(&format!("explanation.{id}")).and_then(Value::as_f64).unwrap();
            prop_assert!(value.total_cmp(&1.0).is_eq(), "{}: {}", id, value);
        }
    }

    #[test]
    fn sigmoids_of_logits_and_logits_agree_where_nothing_saturates(
        elements in prop::collection::vec((-40i32..40, any::<bool>()), 1..20),
    ) {
        let logits: Vec<f64> = elements.iter().map(|e| f64::from(e.0) / 4.0 + 0.125).collect();
        let probs: Vec<f64> = logits.iter().map(|&v| functions::sigmoid(v)).collect();
        let truth: Vec<bool> = elements.iter().map(|e| e.1).collect();
        let of = |mask: &[f64], scores: &str| {
            report(&json!({"mask_scores": scores}), &[json!({"pred_mask": mask, "target_mask": truth})])
        };
        same(&of(&probs, "probs"), &of(&logits, "logits"), Tolerance::Mixed(1e-12))?;
    }
}
