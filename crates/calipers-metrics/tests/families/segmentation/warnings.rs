//! Every warning of the family, where it arises and where it does not.

use calipers_core::{Content, Fact, Warning};
use serde_json::{Value as Json, json};

use super::{Width, run};

/// Warning codes in report order.
const CODES: [&str; 19] = [
    "shared-channels",
    "inseparable-classes",
    "missing-head",
    "missing-predictions",
    "extra-predictions",
    "argmax-before-merge",
    "global-ids-ignored",
    "unpredicted",
    "unit-not-scored",
    "class-not-in-truth",
    "class-never-predicted",
    "one-class-prediction",
    "unlabeled-scored",
    "looks-like-probabilities",
    "infinite-nll",
    "identical-files",
    "repeated-truth",
    "mixed-sizes",
    "saturated",
];

fn warnings_with(input: &Json, facts: &[(&str, &str, &str)]) -> Vec<Warning> {
    let mut state = run(input, Width::One).expect("a good input");
    for &(code, unit, detail) in facts {
        if code == "truth-content" {
            let mut truth = [0; 16];
            truth[..detail.len()].copy_from_slice(detail.as_bytes());
            state.provenance.contents.insert(Content { unit: unit.into(), truth });
        } else {
            let fact = Fact { code: code.into(), unit: unit.into(), detail: detail.into() };
            state.provenance.facts.insert(fact);
        }
    }
    let warnings = state.finish().warnings;
    let places: Vec<_> =
        warnings.iter().map(|warning| CODES.iter().position(|code| *code == warning.code)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted_by(|a, b| a < b), "{warnings:?}");
    warnings
}

fn warnings(input: &Json) -> Vec<Warning> {
    warnings_with(input, &[])
}

fn find<'w>(warnings: &'w [Warning], code: &str) -> Option<&'w Warning> {
    warnings.iter().find(|warning| warning.code == code)
}

fn labels(config: Json, truth: Json, pred: Json) -> Json {
    json!({"config": config, "units": [{"id": "u", "truth": truth, "pred": {"flat": pred}}]})
}

fn two_heads(groups: [Json; 2], preset: &str) -> Json {
    let head =
        |name: &str, groups: &Json| json!({"name": name, "channels": ["none", "some"], "groups": groups});
    json!({
        "config": {
            "preset": preset,
            "labels": {"original": ["none", "dog", "cat"]},
            "heads": [head("first", &groups[0]), head("second", &groups[1])],
        },
        "units": [{
            "id": "u",
            "truth": [[0, 1, 2]],
            "pred": {"first": [[[1.0, 0.0, 0.0]], [[0.0, 1.0, 1.0]]], "second": [[[1.0, 0.0, 0.0]], [[0.0, 1.0, 1.0]]]},
        }],
    })
}

#[test]
fn originals_that_share_all_channels_are_named_with_the_effect_of_the_preset() {
    let coarse = json!({"some": ["dog", "cat"]});
    let strict = warnings(&two_heads([coarse.clone(), coarse.clone()], "strict"));
    let shared = find(&strict, "shared-channels").unwrap();
    assert!(shared.message.contains("dog, cat") && shared.message.contains("split evenly"), "{shared:?}");
    assert!(find(&strict, "inseparable-classes").unwrap().message.contains("dog, cat"));
    let document = warnings(&two_heads([coarse.clone(), coarse.clone()], "document"));
    assert!(find(&document, "shared-channels").unwrap().message.contains("n times"));
    let separated =
        warnings(&two_heads([coarse, json!({"none": ["none", "dog"], "some": ["cat"]})], "strict"));
    assert!(
        find(&separated, "shared-channels").is_none() && find(&separated, "inseparable-classes").is_none()
    );
}

#[test]
fn units_without_a_head_are_listed_with_the_head() {
    let coarse = json!({"some": ["dog", "cat"]});
    let mut input = two_heads([coarse.clone(), coarse], "document");
    input["units"][0]["pred"].as_object_mut().unwrap().remove("second");
    let found = warnings(&input);
    let missing = find(&found, "missing-head").unwrap();
    assert!(missing.units == ["u"] && missing.message.contains("head second in 1"), "{missing:?}");
}

#[test]
fn files_give_their_warnings_from_facts() {
    let input = labels(json!({"labels": {"original": ["a", "b"]}}), json!([[0, 1]]), json!([[0, 1]]));
    let facts = [
        ("missing-predictions", "x", ""),
        ("extra-predictions", "y", ""),
        ("extra-predictions", "z", ""),
        ("identical-files", "u", ""),
        ("truth-content", "s", "1f"),
        ("truth-content", "t", "2e"),
        ("truth-content", "u", "1f"),
    ];
    let found = warnings_with(&input, &facts);
    let codes: Vec<&str> = found.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["missing-predictions", "extra-predictions", "identical-files", "repeated-truth"]);
    assert_eq!(found[1].units, ["y", "z"]);
    assert!(found[3].units == ["s", "u"] && found[3].message.contains("s = u"));
}

#[test]
fn label_maps_in_finer_classes_were_decided_too_early() {
    let merged = json!({"original": ["a", "b", "c"], "global": ["a", "bc"], "groups": {"bc": ["b", "c"]}});
    let (truth, pred) = (json!([[0, 1, 2]]), json!([[0, 1, 1]]));
    let fine = labels(json!({"labels": merged}), truth.clone(), pred.clone());
    assert!(find(&warnings(&fine), "argmax-before-merge").is_some());
    let global = labels(json!({"labels": merged, "space": "global"}), truth.clone(), pred.clone());
    assert!(find(&warnings(&global), "argmax-before-merge").is_none());
    let plain = labels(json!({"labels": {"original": ["a", "b", "c"]}}), truth, pred);
    assert!(find(&warnings(&plain), "argmax-before-merge").is_none());
}

#[test]
fn global_ids_that_are_ignored_values_too_are_named() {
    let table =
        json!({"original": {"0": "unlabeled", "7": "road", "8": "walk"}, "ignore": ["unlabeled", 255]});
    let found = |space: &str, truth: Json| {
        let config = json!({"labels": table, "data": {"truth_space": space}, "space": "global"});
        warnings(&labels(config, truth, json!([[0, 1]])))
    };
    let ignored = found("global", json!([[0, 1]]));
    let ignored = find(&ignored, "global-ids-ignored").unwrap();
    assert!(ignored.message.contains("0 (road)") && !ignored.message.contains("walk"), "{ignored:?}");
    assert!(find(&found("original", json!([[7, 8]])), "global-ids-ignored").is_none());
}

#[test]
fn pixels_without_a_prediction_are_counted_as_a_share() {
    let config = json!({"labels": {"original": ["a", "b"], "ignore": [9], "unpredicted": "wrong"}});
    let found = warnings(&labels(config, json!([[0, 0, 1]]), json!([[0, 9, 1]])));
    let unpredicted = find(&found, "unpredicted").unwrap();
    assert!(unpredicted.message.contains("1 of 3 scored pixels (33.3 %)"), "{unpredicted:?}");
}

#[test]
fn classes_missing_on_one_side_are_named() {
    let config = json!({"labels": {"original": ["a", "b", "c"], "ignore": [9]}});
    let found = warnings(&labels(config.clone(), json!([[0, 1]]), json!([[2, 2]])));
    assert!(find(&found, "class-not-in-truth").unwrap().message.ends_with(": c"));
    assert!(find(&found, "class-never-predicted").unwrap().message.ends_with(": a, b"));
    assert!(find(&found, "one-class-prediction").unwrap().message.ends_with(": c"));
    let found = warnings(&labels(config, json!([[9, 9]]), json!([[2, 2]])));
    let codes: Vec<&str> = found.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["unit-not-scored"], "without a scored pixel nothing else can be said");
}

#[test]
fn a_class_of_unannotated_pixels_is_a_warning_from_five_percent_on() {
    let row = |unlabeled: usize| -> Vec<u8> { (0..40).map(|x| u8::from(x >= unlabeled)).collect() };
    for (name, unlabeled, warned) in
        [("Unlabelled", 3, true), ("no_data", 3, true), ("void", 2, false), ("sky", 3, false)]
    {
        let config = json!({"labels": {"original": [name, "other"]}});
        let found = warnings(&labels(config, json!([row(unlabeled)]), json!([row(unlabeled)])));
        assert_eq!(find(&found, "unlabeled-scored").is_some(), warned, "{name}");
    }
}

#[test]
fn logits_that_are_probabilities_and_sure_ones_are_noticed() {
    let input = |kind: &str, scores: Json| {
        let config = json!({"labels": {"original": ["a", "b"]}, "kind": kind});
        let unit = json!({"id": "u", "truth": [[0, 1]], "pred": {"flat": scores}});
        json!({"config": config, "units": [unit], "dtype": "f32"})
    };
    let shares = json!([[[0.75, 0.25]], [[0.25, 0.75]]]);
    assert!(find(&warnings(&input("logits", shares.clone())), "looks-like-probabilities").is_some());
    assert!(find(&warnings(&input("probs", shares)), "looks-like-probabilities").is_none());
    let found = warnings(&input("logits", json!([[[90.0, 90.0]], [[0.0, "-inf"]]])));
    assert!(find(&found, "saturated").unwrap().message.contains("2 of 2 pixels (100.0 %)"));
    assert_eq!(find(&found, "infinite-nll").unwrap().units, ["u"]);
    assert!(find(&warnings(&input("logits", json!([[[2.0, 2.0]], [[0.0, 0.0]]]))), "saturated").is_none());
}

#[test]
fn images_of_very_different_size_share_no_band_width() {
    let unit = |id: &str, side: usize| {
        let map: Vec<Vec<usize>> = (0..side).map(|y| (0..side).map(|x| (x + y) % 2).collect()).collect();
        json!({"id": id, "truth": map, "pred": {"flat": map}})
    };
    let input = |sides: [usize; 2], measure: Json| {
        let config = json!({"labels": {"original": ["a", "b"]}, "measure": measure});
        json!({"config": config, "units": [unit("u", sides[0]), unit("v", sides[1])]})
    };
    let boundary = json!(["overlap", "boundary"]);
    assert!(find(&warnings(&input([2, 5], boundary.clone())), "mixed-sizes").is_some());
    assert!(find(&warnings(&input([2, 4], boundary)), "mixed-sizes").is_none(), "twice is not over twice");
    assert!(find(&warnings(&input([2, 5], json!(["overlap"]))), "mixed-sizes").is_none());
}
