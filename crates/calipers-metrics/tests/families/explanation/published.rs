//! Preset `pyg` against calls of the published functions, recorded with their results.
//!
//! Peer: torch_geometric: explanation fidelity, faithfulness, agreement, curve.

use calipers_core::functions::sigmoid;
use calipers_core::{Report, Value};
use calipers_metrics::explanation::NumberSlice;
use calipers_metrics::explanation::kernels::{mask_auroc, mask_confusion, published as kernels};
use serde_json::{Value as Json, json};

use super::run;
use crate::agreement::{Tolerance, agrees};
use crate::case::golden_file;

fn calls(function: &str) -> Vec<Json> {
    golden_file("explanation", "pyg_measured.json")[function].as_array().unwrap().clone()
}

fn singles(values: &Json) -> Vec<f32> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

fn array(shape: &[usize], values: impl IntoIterator<Item = f32>) -> Json {
    let data: Vec<f64> = values.into_iter().map(f64::from).collect();
    json!({"dtype": "float32", "shape": shape, "data": data})
}

fn curve(values: &Json) -> Json {
    let values = singles(values);
    array(&[values.len()], values)
}

fn report(protocol: Json, unit: Json) -> Report {
    run(&json!({"protocol": protocol, "units": {"u": unit}})).unwrap().finish()
}

fn check(report: &Report, id: &str, expected: &Json, tolerance: Tolerance) {
    let value = report.get(&format!("explanation.{id}")).unwrap_or_else(|| panic!("{id}"));
    assert!(agrees(value, expected, tolerance), "{id}: {value:?}, {expected}");
}

#[test]
fn characterization_scores_are_equal_in_every_bit() {
    for call in calls("characterization_score") {
        let (pos_weight, neg_weight) = (&call["pos_weight"], &call["neg_weight"]);
        let protocol = json!({"preset": "pyg", "pos_weight": pos_weight, "neg_weight": neg_weight});
        let unit = json!({"pos_fidelity": curve(&call["pos"]), "neg_fidelity": curve(&call["neg"])});
        check(&report(protocol, unit), "characterization_score", &call["out"], Tolerance::Exact);
        let (pos, neg) = (singles(&call["pos"]), singles(&call["neg"]));
        let mut out = vec![0.0; pos.len()];
        let weights = (pos_weight.as_f64().unwrap(), neg_weight.as_f64().unwrap());
        kernels::characterization_f32(&pos, &neg, weights.0, weights.1, &mut out);
        let out = Value::Series(out.into_iter().map(|value| number(value.into())).collect());
        assert!(agrees(&out, &call["out"], Tolerance::Exact));
    }
}

fn number(value: f64) -> Value {
    if value.is_nan() { Value::undefined("NaN") } else { Value::Number(value) }
}

#[test]
fn curve_areas_agree() {
    for call in calls("fidelity_curve_auc") {
        let unit = json!({
            "pos_fidelity": curve(&call["pos"]), "neg_fidelity": curve(&call["neg"]), "x": curve(&call["x"]),
        });
        let report = report(json!({"preset": "pyg"}), unit);
        check(&report, "fidelity_curve_auc", &call["out"], Tolerance::Relative(1e-6));
        let [pos, neg, x] = ["pos", "neg", "x"].map(|key| singles(&call[key]));
        let area = Value::Number(kernels::curve_area_f32(&pos, &neg, &x));
        assert!(agrees(&area, &call["out"], Tolerance::Relative(1e-6)));
    }
}

#[test]
fn masks_agree_with_their_truths_as_published() {
    for call in calls("groundtruth_metrics") {
        let unit = json!({"pred_mask": curve(&call["pred"]), "target_mask": curve(&call["target"])});
        let report = report(json!({"preset": "pyg", "threshold": call["threshold"]}), unit);
        for (id, out) in ["accuracy", "recall", "precision", "f1_score"].iter().zip(0..) {
            check(&report, id, &call["out"][out], Tolerance::Exact);
        }
        check(&report, "auroc", &call["out"][4], Tolerance::Absolute(1e-6));
        let (pred, target) = (singles(&call["pred"]), singles(&call["target"]));
        let (mut pred, target) = (NumberSlice::F32(&pred), NumberSlice::F32(&target));
        let mended;
        if kernels::takes_for_logits(pred) {
            mended = (0..pred.len()).map(|at| sigmoid(pred.get(at)) as f32).collect::<Vec<_>>();
            pred = NumberSlice::F32(&mended);
        }
        let threshold = call["threshold"].as_f64().unwrap();
        let counts = mask_confusion(pred, threshold, target, threshold);
        let accuracy = Value::Number(kernels::ratio(counts.tp + counts.tn, counts.elements()));
        assert!(agrees(&accuracy, &call["out"][0], Tolerance::Exact));
        let auroc = Value::Number(kernels::auroc(&counts, mask_auroc(pred, target, threshold)));
        assert!(agrees(&auroc, &call["out"][4], Tolerance::Absolute(1e-6)));
    }
}

/// The unit of a call whose model is the identity: the full graph predicts the features, the
/// explanation the masked ones.
fn identity_model(call: &Json) -> (Json, Json) {
    let rows = |key: &str| -> Vec<Vec<f32>> { call[key].as_array().unwrap().iter().map(singles).collect() };
    let (x, mask) = (rows("x"), rows("node_mask"));
    let shape = [x.len(), x[0].len()];
    let kept: Vec<Vec<f32>> = match call["top_k"].as_u64() {
        None => mask.clone(),
        Some(k) => {
            let column = |c: usize| mask.iter().map(|row| row[c]).sum::<f32>();
            let mut order: Vec<usize> = (0..shape[1]).collect();
            order.sort_by(|&a, &b| column(b).total_cmp(&column(a)));
            let ones = |c: usize| if order[..k as usize].contains(&c) { 1.0 } else { 0.0 };
            vec![(0..shape[1]).map(ones).collect(); shape[0]]
        }
    };
    let masked = |mask: &[Vec<f32>], part: fn(f32) -> f32| {
        let pairs = x.iter().flatten().zip(mask.iter().flatten());
        array(&shape, pairs.map(|(x, &m)| part(m) * x).collect::<Vec<_>>())
    };
    let mut unit = json!({
        "y_hat": array(&shape, x.iter().flatten().copied()),
        "y_sub": masked(&kept, |m| m),
        "y_comp": masked(&mask, |m| 1.0 - m),
    });
    if call["explanation_type"] == "phenomenon" {
        unit["y"] = call["target"].clone();
    }
    if !call["index"].is_null() {
        unit["index"] = call["index"].clone();
    }
    let scores = if call["return_type"] == "raw" { json!("logits") } else { call["return_type"].clone() };
    (json!({"preset": "pyg", "scores": scores}), unit)
}

#[test]
fn fidelities_are_equal_in_every_bit() {
    for call in calls("fidelity") {
        let (protocol, unit) = identity_model(&call);
        let report = report(protocol, unit);
        let kind = call["explanation_type"].as_str().unwrap();
        check(&report, &format!("fid_plus_{kind}"), &call["out"][0], Tolerance::Exact);
        check(&report, &format!("fid_minus_{kind}"), &call["out"][1], Tolerance::Exact);
    }
}

#[test]
fn unfaithfulness_agrees() {
    for call in calls("unfaithfulness") {
        let (protocol, unit) = identity_model(&call);
        check(&report(protocol, unit), "unfaithfulness", &call["out"], Tolerance::Absolute(2e-6));
    }
}
