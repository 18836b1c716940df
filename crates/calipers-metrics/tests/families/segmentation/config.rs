//! Configurations of the segmentation family: label spaces, presets, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::ErrorKind;
use calipers_metrics::segmentation::{
    Closed, Config, Kind, Layout, Measure, MissingHeads, Preset, Segmentation, Space, Unpredicted,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{FAMILY, protocol};
use crate::case::golden_cases;

/// Golden cases whose configuration alone is the mistake.
const WRONG_CONFIGURATIONS: [&str; 21] = [
    "group-unknown",
    "group-not-listed",
    "global-empty",
    "unclaimed",
    "claimed-twice",
    "head-unclaimed",
    "channel-unknown",
    "labels-of-two-heads",
    "coarse-argmax",
    "bad-convention",
    "bad-percentile-0",
    "bad-percentile-101",
    "bad-tolerance",
    "bad-tolerance-class",
    "bad-tolerance-background",
    "bad-missing",
    "bad-absent",
    "bad-spacing-zero",
    "bad-spacing-negative",
    "bad-worst",
    "bad-key",
];

fn config(json: Json) -> Config {
    serde_json::from_value(json).unwrap()
}

fn resolve(json: Json) -> Segmentation {
    config(json).resolve().unwrap()
}

fn refused(json: Json, words: &[&str]) {
    let message = config(json.clone()).resolve().expect_err(&json.to_string()).to_string();
    for word in words {
        assert!(message.contains(word), "{word} is missing in: {message}");
    }
}

/// The pets of the documentation, with further keys in `[labels]` and at the top.
fn pets(labels: Json, top: Json) -> Json {
    let original = ["unlabeled", "dog alive", "dog dead", "cat alive", "cat dead"];
    let mut config = json!({ "labels": { "original": original } });
    for (key, value) in labels.as_object().unwrap() {
        config["labels"][key] = value.clone();
    }
    for (key, value) in top.as_object().unwrap() {
        config[key] = value.clone();
    }
    config
}

fn values(map: &BTreeMap<i64, usize>) -> Vec<usize> {
    map.values().copied().collect()
}

#[test]
fn every_golden_configuration_resolves_or_is_refused_in_the_expected_words() {
    let mut refusals = 0;
    for case in golden_cases(&FAMILY) {
        let name = case["name"].as_str().unwrap();
        let resolved = protocol(&case["config"]);
        if !WRONG_CONFIGURATIONS.contains(&name) {
            let protocol = resolved.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(ious) = case["expect"]["metrics"]["iou"].as_object() {
                let expected: BTreeSet<&String> = ious.keys().collect();
                assert_eq!(protocol.labels.global.iter().collect::<BTreeSet<_>>(), expected, "{name}");
            }
            continue;
        }
        let message = resolved.expect_err(name).to_string();
        for word in case["refused"].as_array().unwrap() {
            assert!(message.contains(word.as_str().unwrap()), "{name}: {word} is missing in: {message}");
        }
        refusals += 1;
    }
    assert_eq!(refusals, WRONG_CONFIGURATIONS.len());
}

#[test]
fn the_pets_of_the_documentation_have_three_global_classes() {
    let labels = json!({ "global": ["background", "dog", "cat"], "groups": { "dog": ["dog alive", 2], "cat": [3, 4] },
        "rest": "background", "ignore": [255], "background": "background" });
    let heads = json!([{ "name": "species", "channels": ["none", "dog", "cat"],
        "groups": { "dog": [1, 2], "cat": [3, 4] }, "rest": "none" }]);
    let protocol = resolve(pets(labels, json!({ "heads": heads })));
    assert_eq!(protocol.labels.global, ["background", "dog", "cat"]);
    assert_eq!(values(&protocol.labels.to_global), [0, 1, 1, 2, 2]);
    assert_eq!(protocol.foreground().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(protocol.means().collect::<Vec<_>>(), [0, 1, 2]);
    let head = &protocol.heads[0];
    assert_eq!((values(&head.to_channel), head.rest), (vec![0, 1, 1, 2, 2], Some(0)));
    assert!(head.unused.is_empty() && head.absent.is_empty());
}

#[test]
fn what_is_left_out_has_its_default() {
    let protocol = resolve(json!({ "labels": { "original": 3 } }));
    assert_eq!(protocol.measure, Measure::DEFAULT);
    assert!(protocol.measures(Measure::Boundary) && !protocol.measures(Measure::Contour));
    assert_eq!((protocol.preset, protocol.truth_space), (Preset::Strict, Space::Original));
    assert_eq!((protocol.boundary.thickness, protocol.boundary.tolerance_px), (2, None));
    assert_eq!((protocol.bins.count, protocol.bins.closed), (10, Closed::Right));
    let [head] = &protocol.heads[..] else { panic!("one head is implied") };
    assert_eq!((head.name.as_str(), head.kind, head.layout), ("flat", Kind::Labels, Layout::Chw));
    assert_eq!((head.channels.join(" "), values(&head.to_channel)), ("0 1 2".into(), vec![0, 1, 2]));
    assert_eq!(Segmentation::default().classes(), 2);
}

#[test]
fn a_written_head_holds_logits_and_the_top_level_speaks_for_silent_heads() {
    let heads = json!([{ "name": "a" }, { "name": "b", "kind": "probs", "layout": "CHW" }]);
    let kinds =
        |config: Json| resolve(config).heads.iter().map(|head| (head.kind, head.layout)).collect::<Vec<_>>();
    let silent = kinds(pets(json!({}), json!({ "heads": heads })));
    assert_eq!(silent, [(Kind::Logits, Layout::Chw), (Kind::Probs, Layout::Chw)]);
    let spoken = kinds(pets(json!({}), json!({ "heads": heads, "kind": "log-probs", "layout": "HWC" })));
    assert_eq!(spoken, [(Kind::LogProbs, Layout::Hwc), (Kind::Probs, Layout::Chw)]);
}

#[test]
fn ignored_originals_are_no_classes_and_leave_their_channels_unused() {
    let heads = json!([{ "name": "all" },
        { "name": "state", "channels": ["unlabeled", "-", "alive", "dead", "-"],
          "groups": { "alive": [1, "cat alive"], "dead": [2, 4] } }]);
    let protocol = resolve(pets(json!({ "ignore": [255, "unlabeled"] }), json!({ "heads": heads })));
    assert_eq!(protocol.labels.global, ["dog alive", "dog dead", "cat alive", "cat dead"]);
    assert_eq!(protocol.labels.ignore, BTreeSet::from([0, 255]));
    assert_eq!(protocol.labels.original.len(), 5, "confusion matrices still list the ignored class");
    let [all, state] = &protocol.heads[..] else { panic!("two heads") };
    assert_eq!((all.channels.len(), &all.unused), (5, &BTreeSet::from([0])));
    assert_eq!(state.unused, BTreeSet::from([0, 1, 4]));
    assert_eq!(values(&state.to_channel), [2, 3, 2, 3]);
}

#[test]
fn a_rest_that_nothing_is_left_for_is_an_unused_channel_but_no_global_class() {
    let head = json!([{ "name": "h", "channels": ["none", 1, 2, 3, 4], "rest": "none" }]);
    let protocol = resolve(pets(json!({ "ignore": [0] }), json!({ "heads": head })));
    assert_eq!((protocol.heads[0].rest, &protocol.heads[0].unused), (Some(0), &BTreeSet::from([0])));
    let labels = json!({ "global": ["other", 1, 2, 3, 4], "rest": "other", "ignore": [0] });
    refused(pets(labels, json!({})), &["[labels] global", "other"]);
}

#[test]
fn sparse_and_negative_ids_keep_their_order() {
    let original = json!({ "33": "bicycle", "7": "road", "-1": "plate" });
    let protocol = resolve(json!({ "labels": { "original": original, "background": 1 } }));
    assert_eq!(protocol.labels.global, ["plate", "road", "bicycle"]);
    assert_eq!(protocol.labels.to_global, BTreeMap::from([(-1, 0), (7, 1), (33, 2)]));
    assert_eq!(protocol.labels.background, Some(1), "a number is a global id");
}

#[test]
fn explicit_keys_win_over_the_preset() {
    let plain = resolve(json!({ "preset": "coral-mtl", "labels": { "original": 3 } })).labels;
    assert_eq!((plain.background, plain.missing_heads), (Some(0), MissingHeads::Marginalise));
    let written =
        json!({ "original": 3, "background": "none", "missing_heads": "error", "unpredicted": "wrong" });
    let written = resolve(json!({ "preset": "coral-mtl", "labels": written })).labels;
    assert_eq!((written.background, written.missing_heads), (None, MissingHeads::Error));
    assert_eq!(written.unpredicted, Unpredicted::Wrong);
    let strict_again = json!({ "original": 3, "unpredicted": "error" });
    let labels = resolve(json!({ "preset": "mmseg", "labels": strict_again })).labels;
    assert_eq!(labels.unpredicted, Unpredicted::Error);
}

#[test]
fn measures_come_once_each_and_in_order() {
    let measure = |list: Json| resolve(json!({ "measure": list, "labels": { "original": 2 } })).measure;
    assert_eq!(measure(json!("all")), Measure::ALL);
    assert_eq!(measure(json!(["contour", "overlap", "contour"])), [Measure::Overlap, Measure::Contour]);
}

#[test]
fn temperatures_are_eighths_of_octaves_around_1() {
    let found = Segmentation::default().temperatures;
    assert_eq!(found.len(), 33);
    for (k, theta) in (-16_i32..).zip(found) {
        let exact = (f64::from(k) / 8.0).exp2();
        assert!((theta / exact - 1.0).abs() < 4e-16, "{k}: {theta}");
    }
}

#[test]
fn a_background_can_be_left_out_of_the_means() {
    let labels = json!({ "original": 3, "background": 1, "include_background": false });
    let protocol = resolve(json!({ "labels": labels }));
    assert_eq!(protocol.means().collect::<Vec<_>>(), [0, 2]);
    let labels = json!({ "original": 3, "include_background": false });
    assert_eq!(
        resolve(json!({ "labels": labels })).means().count(),
        3,
        "without a background nothing is left out"
    );
}

#[test]
fn contradicting_label_spaces_are_refused_by_table_and_class() {
    let labels = |labels: Json, words: &[&str]| refused(pets(labels, json!({})), words);
    labels(json!({ "groups": { "dog": [1] } }), &["[labels] groups", "dog"]);
    labels(
        json!({ "global": ["unlabeled", "cats"], "groups": { "cats": ["cat alife"] } }),
        &["cat alife", "mean \"cat alive\"?"],
    );
    labels(json!({ "global": ["a"], "groups": { "a": [9] } }), &["[labels] groups, class \"a\"", "9"]);
    labels(
        json!({ "global": ["a"], "groups": { "a": [1, 1] }, "rest": "a" }),
        &["claimed twice", "dog alive"],
    );
    labels(json!({ "global": ["a"], "groups": { "a": [1] } }), &["claimed by nobody", "unlabeled", "rest"]);
    labels(
        json!({ "global": ["a", "b"], "groups": { "a": [], "b": [] }, "rest": "b" }),
        &["without original", "\"a\""],
    );
    labels(json!({ "global": ["a", "a"], "rest": "a" }), &["twice", "\"a\""]);
    labels(json!({ "global": ["a"], "rest": "b" }), &["[labels] rest", "\"b\""]);
    labels(json!({ "background": "dog" }), &["[labels] background", "\"dog\""]);
    labels(json!({ "background": 5 }), &["[labels] background", "5", "0 to 4"]);
    labels(json!({ "background": -1 }), &["[labels] background", "-1"]);
    labels(json!({ "ignore": ["void"] }), &["[labels] ignore", "void"]);
    labels(json!({ "ignore": [0, 1, 2, 3, 4] }), &["no class is left"]);
    labels(json!({ "original": ["a", "b", "a"] }), &["twice", "\"a\"", "0 and 2"]);
    labels(json!({ "original": ["a", " "] }), &["not a class name", "id 1"]);
    labels(json!({ "original": [] }), &["the number of classes", "0"]);
    let many: Vec<String> = (0..65_535).map(|id| id.to_string()).collect();
    labels(json!({ "original": many }), &["65535", "1 to 65534"]);
}

#[test]
fn contradicting_heads_are_refused_by_head_and_key() {
    let heads = |heads: Json, words: &[&str]| refused(pets(json!({}), json!({ "heads": heads })), words);
    let two = |key: &str, first: Json, second: Json| json!([{ "name": "p", key: first }, { "name": "q", key: second }]);
    heads(two("tau", json!(1.0), json!(0.0)), &["[[heads]] \"q\" tau", "0", "above 0"]);
    heads(two("tau", json!(-2), json!(1)), &["[[heads]] \"p\" tau", "-2"]);
    heads(two("alpha", json!(1), json!(-0.5)), &["[[heads]] \"q\" alpha", "-0.5", "0 or more"]);
    heads(two("alpha", json!(0), json!(0.0)), &["alpha", "every head has the weight 0"]);
    heads(two("kind", json!("logits"), json!("labels")), &["fuse", "\"q\"", "kind"]);
    heads(json!([{ "name": "p" }, { "name": "p" }]), &["name", "\"p\""]);
    heads(json!([{ "name": "" }]), &["name", "\"\""]);
    heads(json!([{ "name": "p", "channels": [0, 1, 2, 3, 4, 9] }]), &["\"p\" channels", "9"]);
    heads(json!([{ "name": "p", "channels": [0, 1, 1, 2, 3, 4] }]), &["twice", "dog alive"]);
    heads(json!([{ "name": "p", "absent": [2] }]), &["claimed twice", "dog dead", "absent"]);
    heads(
        json!([{ "name": "p", "channels": ["-", "-"], "absent": [0, 1, 2, 3, 4] }]),
        &["without any class"],
    );
    heads(json!([{ "name": "p", "channels": ["-"], "rest": "-" }]), &["\"p\" rest"]);
}

#[test]
fn a_coarse_channel_is_refused_where_the_decision_is_made_in_channels() {
    let coarse = |kind: &str, preset: &str| {
        let head = json!([{ "name": "h", "kind": kind, "space": "channel", "channels": ["dogs", 3, 4, 0], "groups": { "dogs": [1, 2] } }]);
        pets(json!({}), json!({ "preset": preset, "heads": head }))
    };
    for (kind, preset) in [("logits", "document"), ("probs", "coral-mtl"), ("labels", "strict")] {
        refused(coarse(kind, preset), &["\"h\"", "\"dogs\"", "dog alive", "dog dead"]);
    }
    resolve(coarse("logits", "strict"));
}

#[test]
fn numbers_out_of_range_are_refused_by_key_and_value() {
    let top = |key: &str, value: Json, words: &[&str]| refused(pets(json!({}), json!({ key: value })), words);
    top("bins", json!({ "count": 0 }), &["[bins] count", "0", "1 to 1000"]);
    top("bins", json!({ "count": 1001 }), &["[bins] count", "1001"]);
    top("boundary", json!({ "thickness": 0 }), &["[boundary] thickness", "0", "1 or more"]);
    top("boundary", json!({ "thickness": -4 }), &["[boundary] thickness", "-4"]);
    top("boundary", json!({ "cheng": -0.1 }), &["[boundary] cheng", "-0.1"]);
    top("boundary", json!({ "tolerance": -1 }), &["[boundary] tolerance", "-1"]);
    top("boundary", json!({ "tolerance_px": -1 }), &["[boundary] tolerance_px", "-1"]);
    top("data", json!({ "truth_space": "channel" }), &["[data] truth_space", "original or global"]);
    top("measure", json!([]), &["measure"]);
}

#[test]
fn missing_classes_are_wrong_usage() {
    let error = Config::default().resolve().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("--classes"), "{error}");
}

#[test]
fn colours_stand_for_originals_and_one_of_them_for_nothing() {
    let colors = json!({ "#000000": "ignore", "#ffffff": "cat", "#FFFF00": 1 });
    let config = config(json!({ "labels": { "original": ["background", "cat"], "colors": colors } }));
    let labels = config.resolve().unwrap().labels;
    assert_eq!(labels.ignore, BTreeSet::from([255]), "an ignored colour needs an ignored value");
    let found = config.colors(&labels).unwrap();
    assert_eq!(found, BTreeMap::from([([0, 0, 0], 255), ([255, 255, 255], 1), ([255, 255, 0], 1)]));
}

#[test]
fn bad_colours_are_refused_as_written() {
    for (colors, word) in [
        (json!({ "#80408": "cat" }), "#80408"),
        (json!({ "804080": "cat" }), "804080"),
        (json!({ "#+04080": "cat" }), "#+04080"),
        (json!({ "#804080": "cow" }), "cow"),
        (json!({ "#aabbcc": "cat", "#AABBCC": "cat" }), "twice"),
    ] {
        let config = config(json!({ "labels": { "original": ["background", "cat"], "colors": colors } }));
        let message = config.colors(&config.resolve().unwrap().labels).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn a_protocol_survives_its_own_json() {
    for preset in Preset::ALL {
        let config =
            json!({ "preset": preset, "labels": { "original": { "-1": "a", "7": "b" }, "ignore": [255] } });
        let protocol = resolve(config);
        let text = serde_json::to_string(&protocol).unwrap();
        assert_eq!(serde_json::from_str::<Segmentation>(&text).unwrap(), protocol);
    }
}

proptest! {
    /// Whatever originals are dealt to channels, left over or declared absent, each lands where it was put.
    #[test]
    fn every_original_lands_in_the_channel_that_claims_it(places in prop::collection::vec(0_usize..6, 1..40)) {
        // Places 0 to 3 are channels, 4 is left to the rest, 5 is absent.
        let members = |place: usize| -> Vec<usize> {
            (0..places.len()).filter(|id| places[*id] == place).collect()
        };
        let groups: BTreeMap<String, Vec<usize>> = (0..4).map(|place| (format!("group {place}"), members(place))).collect();
        let channels: Vec<String> = groups.keys().cloned().chain(["left over".into()]).collect();
        let head = json!({ "name": "h", "channels": channels, "groups": groups, "rest": "left over", "absent": members(5) });
        let resolved = config(json!({ "labels": { "original": places.len() }, "heads": [head] })).resolve();
        let all_absent = places.iter().all(|place| *place == 5);
        prop_assert_eq!(resolved.is_err(), all_absent);
        let Ok(protocol) = resolved else { return Ok(()) };
        let head = &protocol.heads[0];
        for (id, place) in (0_i64..).zip(&places) {
            prop_assert_eq!(head.to_channel.get(&id), Some(place).filter(|place| **place < 5));
            prop_assert_eq!(head.absent.contains(&id), *place == 5);
        }
        for channel in 0..5 {
            prop_assert_eq!(head.unused.contains(&channel), members(channel).is_empty());
        }
    }
}
