//! What holds for any image: ranges, class permutations, void, perfect predictions, runs without
//! evidence.

use calipers_core::{Accumulator, Metric, Protocol, Report, Value};
use calipers_metrics::segmentation::{Measure, Preset, Segmentation};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{FAMILY, Width, protocol, run};

const CLASSES: usize = 4;
const VOID: usize = 255;

/// A truth with void, and either a label map or logits.
#[derive(Clone, Debug)]
struct Image {
    width: usize,
    truth: Vec<usize>,
    pred: Vec<usize>,
    logits: Vec<i8>,
}

fn image() -> impl Strategy<Value = Image> {
    (1usize..7, 1usize..7).prop_flat_map(|(height, width)| {
        let pixels = height * width;
        (
            prop::collection::vec(prop_oneof![6 => 0..CLASSES, 1 => Just(VOID)], pixels),
            prop::collection::vec(0..CLASSES, pixels),
            prop::collection::vec(-40i8..40, pixels * CLASSES),
        )
            .prop_map(move |(truth, pred, logits)| Image { width, truth, pred, logits })
    })
}

fn map(ids: &[usize], width: usize) -> Json {
    ids.chunks(width).map(Vec::from).collect::<Vec<_>>().into()
}

impl Image {
    fn logits(&self) -> Json {
        let planes = self.logits.chunks(self.truth.len());
        let values = |plane: &[i8]| -> Vec<Vec<f64>> {
            plane.chunks(self.width).map(|row| row.iter().map(|z| f64::from(*z) / 4.0).collect()).collect()
        };
        planes.map(values).collect::<Vec<_>>().into()
    }
}

fn input(images: &[Image], preset: &str, scores: bool) -> Json {
    let units = images.iter().enumerate().map(|(i, image)| {
        let pred = if scores { image.logits() } else { map(&image.pred, image.width) };
        json!({"id": i.to_string(), "truth": map(&image.truth, image.width), "pred": {"flat": pred}})
    });
    json!({
        "dtype": "f64",
        "config": {
            "preset": preset,
            "labels": {"original": ["a", "b", "c", "d"], "ignore": [VOID], "background": 0},
            "kind": if scores { "logits" } else { "labels" },
            "measure": every_part(),
            "surface": {"tolerance": 1, "percentile": 90},
        },
        "units": units.collect::<Vec<_>>(),
    })
}

/// What `all` stands for, and what is asked for by name.
fn every_part() -> Vec<Measure> {
    Measure::ALL.into_iter().chain(Measure::BY_NAME).collect()
}

fn report(input: &Json) -> Report {
    run(input, Width::One).expect("a good input").finish()
}

fn in_range(metric: &Metric<Segmentation>, value: &Value) -> bool {
    match value {
        Value::Undefined(reason) if reason.is_empty() => true,
        Value::Undefined(reason) => {
            let general = match reason.split_once("at ") {
                Some((before, rest)) if before.starts_with("infinite") => {
                    format!(
                        "{before}at K {}",
                        rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start()
                    )
                }
                _ => super::general(reason),
            };
            metric.undefined.contains(&format!("\"{general}\""))
        }
        Value::Series(points) => points.iter().all(|point| in_range(metric, point)),
        Value::PerLabel(entries) => entries.iter().all(|(_, value)| in_range(metric, value)),
        // -ln(p + 1e-8) of preset coral-mtl goes below 0 by its floor.
        value => value
            .as_f64()
            .is_some_and(|x| x.is_finite() && metric.range.low - 1e-8 <= x && x <= metric.range.high),
    }
}

/// The report with classes renamed: what belongs to a class moves with it.
fn values_by_class(report: &Report, names: &[&str]) -> Vec<(String, Vec<Value>)> {
    let one = |value: &Value| match value {
        Value::PerLabel(entries) => {
            let find =
                |name: &&str| entries.iter().find(|(entry, _)| entry == name).map(|(_, value)| value.clone());
            names.iter().filter_map(find).collect()
        }
        value => vec![value.clone()],
    };
    report.metrics.iter().map(|(id, value)| (id.clone(), one(value))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_lies_in_its_range_or_has_a_reason_that_its_definition_names(
        images in prop::collection::vec(image(), 0..3),
        preset in prop::sample::select(&["strict", "document", "coral-mtl", "cityscapes", "mmseg", "torchmetrics-jaccard"][..]),
        scores: bool,
    ) {
        let state = run(&input(&images, preset, scores), Width::One).unwrap();
        let rows = state.rows();
        for metric in Segmentation::METRICS {
            let value = metric.read(state.protocol(), &rows);
            prop_assert!(in_range(metric, &value), "{}: {:?}", metric.id, value);
            for i in 0..rows.len() {
                let value = metric.read(state.protocol(), &rows.single(i));
                prop_assert!(in_range(metric, &value), "{}: {:?}", metric.id, value);
            }
        }
    }

    #[test]
    fn the_order_of_the_foreground_classes_changes_no_number(images in prop::collection::vec(image(), 1..3)) {
        // a -> a, b -> c, c -> d, d -> b, names and ids alike.
        let moved = |id: usize| match id { 1 => 2, 2 => 3, 3 => 1, other => other };
        let renamed: Vec<Image> = images.iter().map(|image| Image {
            truth: image.truth.iter().map(|&id| moved(id)).collect(),
            pred: image.pred.iter().map(|&id| moved(id)).collect(),
            ..image.clone()
        }).collect();
        let before = report(&input(&images, "strict", false));
        let after = report(&input(&renamed, "strict", false));
        let all = values_by_class(&before, &["a", "b", "c", "d"]).into_iter();
        for ((id, old), (_, new)) in all.zip(values_by_class(&after, &["a", "c", "d", "b"])) {
            if FAMILY.short(&id) != "confusion" {
                prop_assert_eq!(old, new, "{}", id);
            }
        }
    }

    #[test]
    fn what_is_predicted_at_void_moves_nothing(image in image(), other in prop::collection::vec(0..CLASSES, 36)) {
        let mut changed = image.clone();
        for (x, truth) in image.truth.iter().enumerate().filter(|(_, truth)| **truth == VOID) {
            changed.pred[x] = other[x];
            let pixels = image.truth.len();
            (0..CLASSES).for_each(|class| changed.logits[class * pixels + x] = other[x] as i8);
            prop_assert_eq!(*truth, VOID);
        }
        for scores in [false, true] {
            let before = report(&input(std::slice::from_ref(&image), "strict", scores));
            let after = report(&input(std::slice::from_ref(&changed), "strict", scores));
            prop_assert_eq!(before.metrics, after.metrics);
        }
    }

    #[test]
    fn a_perfect_prediction_gets_the_best_value_of_every_score(mut image in image()) {
        image.truth[0] = 1;
        image.pred = image.truth.iter().map(|&id| if id == VOID { 0 } else { id }).collect();
        let report = report(&input(&[image], "strict", false));
        for metric in Segmentation::METRICS {
            let best = match (metric.better)(&Segmentation::default()) {
                calipers_core::Better::Higher => metric.range.high,
                calipers_core::Better::Lower => 0.0,
                calipers_core::Better::Neither => continue,
            };
            let value = report.get(&format!("segmentation.{}", metric.id)).unwrap();
            let values = match value {
                Value::PerLabel(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
                value => vec![value.clone()],
            };
            for value in values.iter().filter_map(Value::as_f64) {
                prop_assert!(value.total_cmp(&best).is_eq(), "{}: {}", metric.id, value);
            }
        }
    }

    #[test]
    fn the_three_mistakes_add_up_to_the_wrong_pixels(images in prop::collection::vec(image(), 1..3)) {
        let report = report(&input(&images, "strict", false));
        let value = |id: &str| report.get(&format!("segmentation.{id}")).and_then(Value::as_f64);
        if let Some(accuracy) = value("pixel_accuracy") {
            let mistakes: f64 =
                ["classification_error", "background_error", "missed_error"].into_iter().filter_map(value).sum();
            prop_assert!((mistakes + accuracy - 1.0).abs() < 1e-12);
        }
        if let (Some(biou), Some(f1)) = (value("biou"), value("boundary_f1")) {
            prop_assert!((2.0 * biou / (1.0 + biou) - f1).abs() < 1e-12, "boundary_f1 is a function of biou");
        }
    }
}

#[test]
fn a_run_without_units_reports_every_id_and_no_number_but_counts() {
    for preset in Preset::ALL {
        let config = json!({"preset": preset, "labels": {"original": ["a", "b"]}, "measure": every_part(),
            "surface": {"tolerance": 1, "percentile": 90}});
        let report = Accumulator::new(protocol(&config).unwrap()).finish();
        assert_eq!(report.metrics.len(), Segmentation::METRICS.len());
        if preset == Preset::Strict {
            let number = |value: &Value| matches!(value, Value::Number(_));
            assert!(!report.metrics.iter().any(|(_, value)| number(value)));
        }
        assert!(report.warnings.is_empty());
    }
}
