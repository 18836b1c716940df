//! The small worked cases of `oracles/robustness/model.json`: exact arithmetic and sixty-digit differences.

use std::sync::Mutex;

use serde_json::Value;

use crate::model::loss::margin_gradient;
use crate::model::matrix::{Matrix, dot, squared_distance};
use crate::model::penalty::{Kind, Penalty, SCAD_A, ScadScale};
use crate::model::propagation::Propagation;
use crate::model::propagation::backward::Through;
use crate::model::propagation::links::Links;
use crate::model::random::{Draws, Stream, mix};
use crate::model::watch::{Status, Unwatched, Watch};
use crate::model::{Attack, Features, Graph, Rung, Settings, Tensor, Training, attack, stratified, train};

pub(crate) fn cases() -> Value {
    serde_json::from_str(include_str!("../../../../oracles/robustness/model.json")).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|number| number.as_f64().unwrap()).collect()
}

fn whole(value: &Value) -> Vec<usize> {
    list(value).iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

fn labels(value: &Value) -> Vec<i64> {
    list(value).iter().map(|number| number.as_i64().unwrap()).collect()
}

fn matrix(value: &Value) -> Matrix {
    Matrix::from_rows(&list(value).iter().map(numbers).collect::<Vec<_>>())
}

fn pairs(value: &Value) -> Vec<(u32, u32)> {
    list(value)
        .iter()
        .map(|pair| (pair[0].as_u64().unwrap() as u32, pair[1].as_u64().unwrap() as u32))
        .collect()
}

fn penalty(case: &Value) -> Penalty {
    let kind: Kind = case["penalty"].as_str().unwrap().parse().unwrap();
    let gamma = kind.takes_gamma().then(|| case["gamma"].as_f64().unwrap());
    let scale = case["scad_scale"].as_str().map_or(ScadScale::One, |text| text.parse().unwrap());
    Penalty::new(kind, case["weights"].as_str().unwrap().parse().unwrap(), gamma, SCAD_A, scale).unwrap()
}

fn settings(case: &Value) -> Settings {
    let mut settings = Settings::new(penalty(case));
    settings.lambda_hat = case["lambda_hat"].as_f64().unwrap_or(settings.lambda_hat);
    settings.layers = case["k"].as_u64().map_or(settings.layers, |layers| layers as u32);
    settings
}

fn tiny(cases: &Value) -> (Graph, Matrix) {
    let tiny = &cases["tiny"];
    (Graph::new(5, &pairs(&tiny["edges"])).unwrap(), matrix(&tiny["F0"]))
}

#[track_caller]
fn assert_close(found: &Matrix, expected: &Matrix, tolerance: f64, what: &Value) {
    let largest = expected.data().as_flattened().iter().fold(0f64, |largest, value| largest.max(value.abs()));
    for node in 0..expected.rows() {
        for (found, expected) in found.row(node).iter().zip(expected.row(node)) {
            assert!((found - expected).abs() <= tolerance * largest, "{what}: {found} {expected}");
        }
    }
}

#[test]
fn weights_are_those_of_the_formulas() {
    for case in list(&cases()["weight_function"]) {
        let y = case["y"].as_f64().unwrap();
        let expected = case["W"].as_f64().unwrap();
        let found = penalty(case).weight(y * y, case["h"].as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-15 * expected.max(1.0), "{case}: {found}");
    }
}

#[test]
fn scores_agree_with_sixty_digits() {
    let cases = cases();
    let (clean, initial) = tiny(&cases);
    let attacked = clean.flipped(&pairs(&cases["tiny"]["flips"])).unwrap();
    for case in list(&cases["forward"]) {
        let run = |graph: &Graph, settings: &Settings| {
            Propagation::new(Links::of_graph(graph), settings, 1).forward(&initial).unwrap().0
        };
        let settings = settings(case);
        assert_close(&run(&clean, &settings), &matrix(&case["clean"]), 1e-12, case);
        if case["attacked"].is_array() {
            assert_close(&run(&attacked, &settings), &matrix(&case["attacked"]), 1e-12, case);
            let first = Settings { layers: 1, ..settings };
            assert_close(&run(&clean, &first), &matrix(&case["layer1_clean"]), 1e-12, case);
        }
    }
}

/// The derivative by the flip of every pair i < j, from the formulas in double precision.
fn flip_gradient(
    propagation: &Propagation<'_>,
    graph: &Graph,
    initial: &Matrix,
    labels: &[usize],
    through: Through,
) -> (f64, Matrix, Vec<f64>) {
    let nodes = graph.nodes();
    let tape = propagation.record(initial, None).unwrap();
    let loss = margin_gradient(&tape.scores, labels, &(0..nodes).collect::<Vec<_>>());
    let mut by_pair = vec![vec![0.0; nodes]; nodes];
    let derivatives = propagation.backward(&tape, initial, loss.gradient, through, |influence| {
        let scaled = &influence.step.scaled;
        for i in 0..nodes {
            for j in (0..nodes).filter(|&j| j != i) {
                let h = propagation.edges(influence.step).disagreement(i, j);
                let weight =
                    propagation.penalty.weight(squared_distance(scaled.padded(i), scaled.padded(j)), h);
                let demand = dot(influence.pulls.padded(i), scaled.padded(j)) + influence.tolls[i];
                by_pair[i.min(j)][i.max(j)] += weight * demand;
            }
        }
    });
    let mut gradient = Vec::new();
    for (i, row) in by_pair.iter().enumerate() {
        for (j, by_pair) in row.iter().enumerate().skip(i + 1) {
            let sign = if graph.joins(i as u32, j as u32) { -1.0 } else { 1.0 };
            gradient.push(sign * (by_pair + derivatives.degrees[i] + derivatives.degrees[j]));
        }
    }
    (loss.value, derivatives.initial, gradient)
}

#[test]
fn gradients_agree_with_sixty_digit_differences() {
    let cases = cases();
    let (graph, initial) = tiny(&cases);
    let labels = whole(&cases["tiny"]["labels"]);
    for case in list(&cases["gradients"]) {
        let settings = settings(case);
        let propagation = Propagation::new(Links::of_graph(&graph), &settings, 1);
        for (through, key) in [(Through::Scores, "detached"), (Through::ScoresAndWeights, "full")] {
            let (loss, by_initial, found) = flip_gradient(&propagation, &graph, &initial, &labels, through);
            assert!((loss - case["loss"].as_f64().unwrap()).abs() < 1e-13);
            for (found, expected) in found.iter().zip(numbers(&case[key])) {
                assert!(
                    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-2),
                    "{key} {case}: {found} {expected}"
                );
            }
            if through == Through::Scores {
                assert_close(&by_initial, &matrix(&case["dF0_detached"]), 1e-12, case);
            }
        }
    }
}

#[test]
fn random_numbers_are_counted_as_agreed() {
    let cases = cases();
    for pair in list(&cases["rng"]["mix"]) {
        let [from, to] = [0, 1].map(|k| pair[k].as_str().unwrap().parse::<u64>().unwrap());
        assert_eq!(mix(from), to);
    }
    let streams = [Stream::Splits, Stream::Initial, Stream::Dropout, Stream::Samples, Stream::Insertions];
    for case in list(&cases["rng"]["draw"]) {
        let draws = Draws::new(case[0].as_u64().unwrap(), streams[case[1].as_u64().unwrap() as usize]);
        let k = case[2].as_u64().unwrap();
        assert_eq!(draws.draw(k).to_string(), case[3].as_str().unwrap());
        assert_eq!(draws.uniform(k).to_bits(), case[4].as_f64().unwrap().to_bits());
    }
}

#[test]
fn splits_are_those_of_the_exact_shares() {
    for case in list(&cases()["splits"]) {
        let share = |key: &str| case[key].as_str().map_or(0.1, |text| text.parse().unwrap());
        let split = stratified(
            &labels(&case["labels"]),
            case["seed"].as_u64().unwrap(),
            (share("train_share"), share("val_share")),
        );
        assert_eq!(
            [split.train, split.val, split.test],
            ["train", "val", "test"].map(|key| whole(&case[key]))
        );
    }
}

struct Net {
    graph: Graph,
    features: Features,
    labels: Vec<i64>,
    classes: usize,
}

fn net(cases: &Value) -> Net {
    let net = &cases["net"];
    let rows: Vec<Vec<f64>> = list(&net["X"]).iter().map(numbers).collect();
    Net {
        graph: Graph::new(rows.len(), &pairs(&net["edges"])).unwrap(),
        features: Features::dense(rows.len(), rows[0].len(), rows.concat()).unwrap(),
        labels: labels(&net["labels"]),
        classes: net["classes"].as_u64().unwrap() as usize,
    }
}

fn tensors(values: &Value) -> Vec<(String, Tensor)> {
    let name = |k: usize| format!("mlp.{}.{}", k / 2, ["weight", "bias"][k % 2]);
    let tensor = |value: &Value| {
        let rows = list(value);
        let single = |numbers: Vec<f64>| numbers.into_iter().map(|number| number as f32).collect::<Vec<_>>();
        match rows[0].as_array() {
            None => Tensor { shape: vec![rows.len()], data: single(numbers(value)) },
            Some(first) => Tensor {
                shape: vec![rows.len(), first.len()],
                data: single(rows.iter().flat_map(numbers).collect()),
            },
        }
    };
    list(values).iter().enumerate().map(|(k, value)| (name(k), tensor(value))).collect()
}

#[derive(Default)]
struct Losses(Mutex<Vec<f64>>);

impl Watch for Losses {
    fn step(&self, _done: u64, _total: u64, status: Status<'_>) -> bool {
        if let Status::Epoch { loss, .. } = status {
            self.0.lock().unwrap().push(loss);
        }
        true
    }
}

fn training(case: &Value, epochs: u32) -> Training {
    Training {
        hidden: vec![case["hidden"].as_u64().unwrap() as usize],
        epochs,
        seed: case["seed"].as_u64().unwrap(),
        ..Training::new(penalty(case))
    }
}

fn assert_weights(model: &Rung, expected: &Value, tolerance: f64) {
    for ((name, found), (expected_name, expected)) in model.tensors().iter().zip(tensors(expected)) {
        assert_eq!((name, &found.shape), (&expected_name, &expected.shape));
        for (found, expected) in found.data.iter().zip(&expected.data) {
            assert!(f64::from((found - expected).abs()) <= tolerance, "{name}: {found} {expected}");
        }
    }
}

#[test]
fn five_epochs_of_training_agree_with_the_reference() {
    let cases = cases();
    let net = net(&cases);
    for case in list(&cases["training"]) {
        let nodes = whole(&case["train"]);
        let watch = Losses::default();
        let run = |epochs, watch: &dyn Watch| {
            let Net { graph, features, labels, classes } = &net;
            train(graph, features, labels, *classes, &nodes, &[], &training(case, epochs), 1, watch).unwrap()
        };
        assert_weights(&run(0, &Unwatched), &cases["net"]["initial"], 1e-7);
        let model = run(5, &watch);
        for (found, expected) in watch.0.into_inner().unwrap().iter().zip(numbers(&case["losses"])) {
            assert!((found - expected).abs() <= 1e-9 * expected, "{found} {expected}");
        }
        assert_weights(&model, &case["weights_after"], 1e-7);
    }
}

#[test]
fn attacks_flip_the_same_edges_as_the_reference() {
    let cases = cases();
    let Net { graph, features, labels, .. } = net(&cases);
    for case in list(&cases["attacks"]) {
        let model =
            Rung::from_tensors(tensors(&cases["training"][1]["weights_after"]), settings(case)).unwrap();
        let number = |key: &str| case[key].as_u64().unwrap();
        let how = Attack {
            seed: number("seed"),
            steps: number("steps") as u32,
            samples: number("samples") as u32,
            ..Attack::default()
        };
        let (targets, allowed) = (whole(&case["targets"]), number("budget") as usize);
        let found =
            attack(&model, &graph, &features, &labels, &targets, allowed, &how, 1, &Unwatched).unwrap();
        assert_eq!(found.flips, pairs(&case["flips"]), "{case}");
        assert!(!found.no_valid_sample);
    }
}
