//! The training loss and its gradient against values of exact arithmetic.

use std::fs;
use std::path::Path;

use calipers_metrics::independent_set::graph::{Graph, Storage};
use calipers_metrics::independent_set::losses::loss_and_grad;
use calipers_metrics::independent_set::{PosWeight, Preset};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn nodes(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect()
}

struct Part {
    graph: Graph,
    logits: Vec<f64>,
    labels: Vec<bool>,
}

fn part(case: &Value) -> Part {
    let (tails, heads) = (nodes(&case["edge_index"][0]), nodes(&case["edge_index"][1]));
    let graph = Graph::build(case["n"].as_u64().unwrap(), Storage::Both, &(&tails[..], &heads[..])).unwrap();
    let labels = nodes(&case["labels"]).iter().map(|&y| y == 1).collect();
    Part { graph, logits: numbers(&case["logits"]), labels }
}

#[test]
fn losses_and_gradients_agree_with_exact_arithmetic() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/independent_set/gradients.json");
    let golden: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-300 + 1e-12 * b.abs();
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() > 50);
    for case in cases {
        let preset: Preset = serde_json::from_value(case["preset"].clone()).unwrap();
        let weight: PosWeight = serde_json::from_value(case["pos_weight"].clone()).unwrap();
        let parts: Vec<Part> = case["graphs"].as_array().unwrap().iter().map(part).collect();
        let batch: Vec<_> =
            parts.iter().map(|part| (&part.graph, &part.logits[..], &part.labels[..])).collect();
        let lambda = case["feasibility_weight"].as_f64().unwrap();
        let found = loss_and_grad(&batch, weight, lambda, preset).unwrap();
        let expect = &case["expect"];
        for (name, value) in [
            ("loss_bce", found.loss_bce),
            ("loss_feasibility", found.loss_feasibility),
            ("loss_total", found.loss_total),
        ] {
            let wanted = expect[name].as_f64().unwrap();
            assert!(near(value, wanted), "{} {name}: {value} {wanted}", case["name"]);
        }
        let wanted: Vec<f64> = expect["grad"].as_array().unwrap().iter().flat_map(numbers).collect();
        assert_eq!(found.grad.len(), wanted.len());
        for (at, (&value, &wanted)) in found.grad.iter().zip(&wanted).enumerate() {
            assert!(near(value, wanted), "{} node {at}: {value} {wanted}", case["name"]);
        }
    }
}

#[test]
fn a_batch_that_does_not_fit_its_graph_is_refused() {
    let pairs: &[(u32, u32)] = &[(0, 1)];
    let graph = Graph::build(2, Storage::Once, &pairs).unwrap();
    let loss = |logits: &[f64], labels: &[bool]| {
        loss_and_grad(&[(&graph, logits, labels)], PosWeight::Graph, 0.0, Preset::Strict)
    };
    assert!(loss(&[0.0], &[true, false]).unwrap_err().to_string().contains("1 logits"));
    assert!(loss(&[0.0, 1.0], &[true]).unwrap_err().to_string().contains("1 labels"));
    assert!(loss(&[0.0, f64::NAN], &[true, false]).unwrap_err().to_string().contains("graph 0, node 1"));
}
