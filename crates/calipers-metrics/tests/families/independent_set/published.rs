//! Thirteen batches with the outputs of the published code itself, computed in single precision.
//!
//! Peer: published training code: independent_set losses, feasibility, classification, set size, decode, confidence.

use calipers_core::{Accumulator, Value};
use calipers_metrics::independent_set::graph::{Graph, Storage};
use calipers_metrics::independent_set::unit::{Scores, Unit};
use calipers_metrics::independent_set::{IndependentSet, Kind, PosWeight, Preset};
use serde_json::Value as Json;

use super::flat;
use crate::agreement::{Tolerance, agrees};
use crate::case::golden_file;

/// What single precision in the published code leaves of the digits.
const SINGLE: Tolerance = Tolerance::Relative(2e-6);

fn batches() -> Vec<Json> {
    let mut file = golden_file("independent_set", "published.json");
    file["cases"].as_array_mut().map(std::mem::take).expect("cases")
}

/// Stored entries over the whole batch; large graphs are written as the distances to the
/// neighbours ahead of each node.
fn entries(batch: &Json) -> Vec<(u32, u32)> {
    let numbers = |list: &Json| -> Vec<u32> {
        list.as_array().into_iter().flatten().filter_map(Json::as_u64).map(|n| n as u32).collect()
    };
    let ahead = batch["ahead"].as_array().into_iter().flatten().map(numbers);
    let ahead = (0..).zip(ahead).flat_map(|(u, steps): (u32, _)| {
        steps.into_iter().flat_map(move |step| [(u, u + step), (u + step, u)])
    });
    let index = &batch["edge_index"];
    numbers(&index[0]).into_iter().zip(numbers(&index[1])).chain(ahead).collect()
}

/// The batch under a preset, one unit for each of its graphs.
fn measured(batch: &Json, preset: Preset, weight: PosWeight) -> Accumulator<IndependentSet> {
    let protocol = IndependentSet {
        scores: Some(Kind::Logits),
        pos_weight: weight,
        feasibility_weight: batch["feasibility_weight"].as_f64().expect("a weight"),
        ..IndependentSet::new(preset)
    };
    let entries = entries(batch);
    let logits: Vec<f64> = flat(&batch["logits"]).into_iter().map(|z| f64::from(z as f32)).collect();
    let labels: Vec<bool> = batch["labels"].as_str().expect("labels").bytes().map(|y| y == b'1').collect();
    let starts = flat(&batch["ptr"]);
    let mut state = Accumulator::new(protocol);
    for (i, ends) in starts.windows(2).enumerate() {
        let (first, end) = (ends[0] as u32, ends[1] as u32);
        let own: Vec<(u32, u32)> = entries
            .iter()
            .filter(|entry| (first..end).contains(&entry.0))
            .map(|entry| (entry.0 - first, entry.1 - first))
            .collect();
        let graph =
            Graph::build(u64::from(end - first), Storage::Both, &&own[..]).expect("no edge leaves its graph");
        let span = first as usize..end as usize;
        let scores =
            Scores::new(Kind::Logits, None, &logits[span.clone()], span.len()).expect("finite logits");
        let name = format!("{i:02}");
        let unit = Unit::new(&graph, Some(scores), Some(&labels[span]), None).expect("a good unit");
        state.update(name.clone(), unit).expect("a new name");
    }
    state
}

fn compare(
    batch: &Json,
    state: &Accumulator<IndependentSet>,
    part: &str,
    ids: &[(&str, &str)],
    within: Tolerance,
) {
    let report = state.finish();
    for (id, key) in ids {
        let value = report.get(&format!("independent_set.{id}")).expect("a published id");
        let expected = &batch[part][key];
        // The published code keeps its counts as floats.
        let number = value.as_f64().map_or(Value::undefined("no number"), Value::Number);
        assert!(agrees(&number, expected, within), "{} {part} {id}: {value:?}, {expected}", batch["name"]);
    }
}

fn decoded(state: &Accumulator<IndependentSet>) -> u64 {
    state.rows().iter().filter_map(|row| row.scores.as_ref()).map(|scores| scores.decoded).sum()
}

#[test]
fn preset_document_agrees_with_the_code_it_describes() {
    let forward = [
        ("loss_bce", "bce"),
        ("loss_feasibility", "loss_feasibility_raw"),
        ("loss_total", "loss_total"),
        ("q_hat", "q_hat"),
        ("precision", "precision"),
        ("recall", "recall"),
        ("f1", "f1"),
        ("feasibility", "feasibility"),
        ("num_violations", "num_violations"),
        ("set_size_ratio", "set_size_ratio"),
        ("approx_ratio_raw", "set_size_ratio"),
        ("accuracy", "accuracy"),
        ("num_pred_1s", "num_pred"),
        ("num_true_1s", "num_true"),
    ];
    let post = [("gap", "gap"), ("gap_ratio", "gap_ratio"), ("approx_ratio_postprocessed", "approx_ratio")];
    let batches = batches();
    assert_eq!(batches.len(), 13);
    for batch in &batches {
        let pooled = measured(batch, Preset::Document, PosWeight::Pooled);
        compare(batch, &pooled, "forward_auto_pos_weight", &forward, SINGLE);
        compare(batch, &pooled, "post_batched", &post, SINGLE);
        assert_eq!(Some(decoded(&pooled)), batch["greedy_all_nodes"].as_u64(), "{}", batch["name"]);
        let fixed = measured(batch, Preset::Document, PosWeight::Fixed(1.0));
        compare(batch, &fixed, "forward_pos_weight_1", &forward, SINGLE);
    }
}

#[test]
fn preset_trm_mis_head_gives_the_later_code_bit_for_bit() {
    let raw = [
        ("precision", "precision"),
        ("recall", "recall"),
        ("f1", "f1"),
        ("feasibility", "feasibility"),
        ("approx_ratio_raw", "approx_ratio"),
    ];
    let post = [
        ("postprocessed_size", "pp_pred_size"),
        ("gap", "pp_gap"),
        ("approx_ratio_postprocessed", "pp_approx_ratio"),
    ];
    for batch in &batches() {
        let state = measured(batch, Preset::TrmMisHead, PosWeight::Pooled);
        compare(batch, &state, "head_raw_batched", &raw, Tolerance::Exact);
        compare(batch, &state, "head_pp_batched", &post, Tolerance::Exact);
        assert_eq!(Some(decoded(&state)), batch["greedy_above_half"].as_u64(), "{}", batch["name"]);
    }
}
