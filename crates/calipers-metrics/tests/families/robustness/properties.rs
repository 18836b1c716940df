//! What holds for any pair: ranges, scales, and parts that add up.

use calipers_core::{Metric, Protocol, Report, Value};
use calipers_metrics::robustness::Robustness;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::run;

const NODES: usize = 6;
const CLASSES: usize = 3;

#[derive(Clone, Debug)]
struct Run {
    clean: Vec<i32>,
    attacked: Vec<i32>,
    labels: Vec<usize>,
    edges: Vec<bool>,
    flips: Vec<bool>,
}

fn one_run() -> impl Strategy<Value = Run> {
    let numbers = || prop::collection::vec(-9i32..9, NODES * CLASSES);
    let pairs = || prop::collection::vec(any::<bool>(), NODES * (NODES - 1) / 2);
    let labels = prop::collection::vec(0..CLASSES, NODES);
    (numbers(), numbers(), labels, pairs(), pairs()).prop_map(|(clean, attacked, labels, edges, flips)| Run {
        clean,
        attacked,
        labels,
        edges,
        flips,
    })
}

impl Run {
    fn file(&self, name: &str, budget: &str, scale: f64) -> Json {
        let matrix = |values: &[i32]| -> Vec<Vec<f64>> {
            values.chunks(CLASSES).map(|row| row.iter().map(|&x| f64::from(x) * scale).collect()).collect()
        };
        let pairs = |chosen: &[bool]| -> Vec<[usize; 2]> {
            let all = (0..NODES).flat_map(|i| (i + 1..NODES).map(move |j| [i, j]));
            all.zip(chosen).filter(|(_, chosen)| **chosen).map(|(pair, _)| pair).collect()
        };
        let mut arrays = json!({
            "clean": matrix(&self.clean),
            "labels": self.labels,
            "test_idx": [0, 2, 3, 5],
            "edges": pairs(&self.edges),
        });
        arrays[format!("attacked_{budget}")] = json!(matrix(&self.attacked));
        arrays[format!("flips_{budget}")] = json!(pairs(&self.flips));
        json!({"name": name, "dtype": "f64", "arrays": arrays})
    }
}

fn report(params: Json, files: Vec<Json>) -> Report {
    run(&json!({"params": params, "files": files})).unwrap().finish()
}

fn number(report: &Report, id: &str) -> Option<f64> {
    report.get(&format!("robustness.{id}")).unwrap().as_f64()
}

fn in_range(metric: &Metric<Robustness>, value: &Value) -> bool {
    match value {
        Value::Undefined(reason) => !reason.is_empty(),
        Value::Series(points) => points.iter().all(|point| in_range(metric, point)),
        Value::PerLabel(entries) => entries.iter().all(|(_, value)| in_range(metric, value)),
        value => value.as_f64().is_some_and(|x| metric.range.low <= x && x <= metric.range.high),
    }
}

proptest! {
    #[test]
    fn every_value_lies_in_its_range(runs in prop::collection::vec(one_run(), 1..4), cutoff in 0.0..4.0f64) {
        let budgets = ["0.1", "0.25", "0.7"];
        for shared in [true, false] {
            let files = runs.iter().enumerate().map(|(k, run)| {
                run.file(&format!("run{k}"), budgets[if shared { 0 } else { k }], 1.0)
            });
            let report = report(json!({"bins": 3, "cutoff": cutoff}), files.collect());
            for (metric, (id, value)) in Robustness::METRICS.iter().zip(&report.metrics) {
                prop_assert!(in_range(metric, value), "{}: {:?}", id, value);
            }
        }
    }

    #[test]
    fn a_power_of_two_scales_the_bias_and_nothing_relative(one in one_run(), power in -40i32..40) {
        let scale = 2f64.powi(power);
        let [plain, scaled] = [1.0, scale].map(|scale| report(json!({}), vec![one.file("a", "0.1", scale)]));
        let total = number(&plain, "bias_total").unwrap() * scale * scale;
        prop_assert_eq!(number(&scaled, "bias_total").unwrap().to_bits(), total.to_bits());
        for id in ["bias_relative", "bias_touched_share", "diff_ratio", "robust_accuracy", "budget_used"] {
            prop_assert_eq!(number(&plain, id), number(&scaled, id), "{}", id);
        }
    }

    #[test]
    fn the_parts_add_up(one in one_run()) {
        let report = report(json!({"bins": 4}), vec![one.file("a", "0.1", 1.0)]);
        let Some(Value::Series(nodes)) = report.get("robustness.bias_per_node") else { panic!("one unit") };
        let sum: f64 = nodes.iter().filter_map(Value::as_f64).sum();
        prop_assert_eq!(number(&report, "bias_total").map(f64::to_bits), Some(sum.to_bits()));
        if let Some(Value::Series(densities)) = report.get("robustness.hist_values") {
            let Some(Value::Series(edges)) = report.get("robustness.bin_edges") else { panic!("edges beside densities") };
            let edges: Vec<f64> = edges.iter().filter_map(Value::as_f64).collect();
            let widths = edges.windows(2).map(|pair| pair[1] - pair[0]);
            let area: f64 = densities.iter().filter_map(Value::as_f64).zip(widths).map(|(d, w)| d * w).sum();
            prop_assert!((area - 1.0).abs() < 1e-9);
        }
        let (clean, robust) = (number(&report, "clean_accuracy").unwrap(), number(&report, "robust_accuracy").unwrap());
        prop_assert_eq!(number(&report, "accuracy_drop").map(f64::to_bits), Some((clean - robust).to_bits()));
    }

    #[test]
    fn a_repeated_run_has_its_own_mean_and_no_deviation(one in one_run()) {
        let alone = report(json!({}), vec![one.file("a", "0.1", 1.0)]);
        let twice = report(json!({}), vec![one.file("a", "0.1", 1.0), one.file("b", "0.1", 1.0)]);
        for id in ["bias_total", "bias_mean", "bias_relative", "mean_diff", "diff_ratio", "robust_accuracy"] {
            prop_assert_eq!(number(&alone, id), number(&twice, id), "{}", id);
        }
        let Some(Value::PerLabel(conditions)) = twice.get("robustness.curve_std") else { panic!("two repetitions") };
        let Value::PerLabel(scalars) = &conditions[0].1 else { panic!("scalars by name") };
        prop_assert!(scalars.iter().filter_map(|(_, value)| value.as_f64()).all(|x| x.to_bits() == 0));
    }
}
