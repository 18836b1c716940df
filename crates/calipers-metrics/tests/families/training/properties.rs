//! What holds for any curves: ranges, a slow version of the measurement, mirroring, and runs without
//! evidence.

use calipers_core::{Accumulator, Metric, Protocol, Value};
use calipers_metrics::training::{Curve, Direction, Nan, Preset, Sample, Training};
use proptest::prelude::*;

use super::general;

/// A value in steps of 1/8, so that ties with a threshold of 3/4 occur; some failed.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![9 => (-4i32..12).prop_map(|eighths| f64::from(eighths) / 8.0), 1 => Just(f64::NAN)]
}

fn curves() -> impl Strategy<Value = Vec<(u8, Vec<f64>)>> {
    let values = prop::collection::vec(value(), 0..12);
    // The last value is finite, so that no run is without one.
    let curve = (values, 0i32..8).prop_map(|(values, last)| [values, vec![f64::from(last) / 8.0]].concat());
    prop::collection::vec((0..3u8, curve), 1..9)
}

fn protocol() -> impl Strategy<Value = Training> {
    (0..6usize, any::<bool>(), any::<bool>(), any::<bool>(), 1..4u32, prop::option::of(1..12u64)).prop_map(
        |(preset, min, inclusive, fail, sustain, horizon)| {
            let preset = Preset::ALL[preset];
            Training {
                threshold: 0.75,
                direction: if min && !preset.is_published() { Direction::Min } else { Direction::Max },
                nan: if fail && !preset.is_published() { Nan::Fail } else { Nan::Missing },
                inclusive,
                sustain,
                horizon,
                sweep: vec![0.5, 1.0],
                bootstrap: 10,
                ..Training::new(preset)
            }
        },
    )
}

fn state(protocol: &Training, curves: &[(u8, Vec<f64>)]) -> Accumulator<Training> {
    let mut state = Accumulator::new(protocol.clone());
    for (fold, (group, values)) in curves.iter().enumerate() {
        let samples: Vec<Sample> =
            (0..).zip(values).map(|(row, &value)| Sample { row, x: row.into(), value, session: 0 }).collect();
        let (group, fold) = (group.to_string(), fold.to_string());
        let curve = Curve { marks_missing: true, ..Curve::new(&group, &fold, &samples) };
        state.update(curve.name(), curve).expect("a good run");
    }
    state
}

fn in_range(metric: &Metric<Training>, value: &Value) -> bool {
    match value {
        Value::Undefined(reason) => {
            reason.is_empty() || metric.undefined.contains(&format!("\"{}\"", general(reason)))
        }
        Value::Series(values) => values.iter().all(|value| in_range(metric, value)),
        Value::PerLabel(groups) => groups.iter().all(|(_, value)| in_range(metric, value)),
        value => {
            value.as_f64().is_some_and(|x| x.is_finite() && metric.range.low <= x && x <= metric.range.high)
        }
    }
}

/// Velocity, broken points, divergence, sustained saturation and depth of one run by their
/// definitions, in the order of the per-unit table.
fn slow(protocol: &Training, values: &[f64]) -> [Option<f64>; 5] {
    let kept: Vec<f64> =
        values.iter().copied().filter(|value| protocol.nan == Nan::Fail || !value.is_nan()).collect();
    let sign = if protocol.direction == Direction::Max { 1.0 } else { -1.0 };
    let t = protocol.threshold;
    let saturated = |value: &f64| {
        let beyond = sign * (value - t);
        if protocol.inclusive { beyond >= 0.0 } else { beyond > 0.0 }
    };
    let sustain = protocol.sustain as usize;
    let sustained = (0..kept.len())
        .find(|&i| kept.get(i..i + sustain).is_some_and(|points| points.iter().all(saturated)))
        .map(|i| (i + 1) as f64);
    let Some(first) = kept.iter().position(saturated) else {
        return [None, None, Some(0.0), sustained, None];
    };
    let broken: Vec<f64> = kept[first + 1..]
        .iter()
        .copied()
        .filter(|value| value.is_nan() || sign * (value - t) < 0.0)
        .collect();
    let last = kept[kept.len() - 1];
    let diverged = last.is_nan() || sign * (last - kept[first]) < 0.0;
    let depth =
        broken.iter().filter(|value| !value.is_nan()).map(|value| sign * (t - value)).fold(0.0, f64::max);
    [
        Some((first + 1) as f64),
        Some(broken.len() as f64),
        Some(f64::from(u8::from(diverged))),
        sustained,
        Some(depth),
    ]
}

proptest! {
    #[test]
    fn every_value_lies_in_its_range_or_has_a_reason_that_its_definition_names(
        protocol in protocol(),
        curves in curves(),
    ) {
        let state = state(&protocol, &curves);
        let rows = state.rows();
        for metric in Training::METRICS {
            let value = metric.read(&protocol, &rows);
            prop_assert!(in_range(metric, &value), "{}: {:?}", metric.id, value);
            let value = metric.read(&protocol, &rows.single(0));
            prop_assert!(in_range(metric, &value), "{}: {:?}", metric.id, value);
        }
    }

    #[test]
    fn a_run_is_measured_as_its_definitions_say(protocol in protocol(), curve in curves()) {
        let protocol = Training { preset: Preset::Strict, ..protocol };
        for (group, values) in &curve {
            let table = state(&protocol, &[(*group, values.clone())]).per_unit();
            let cell = |name: &str| {
                let column = table.columns.iter().position(|column| column == name).expect("a column");
                table.rows[0].1[column - 1].as_f64()
            };
            let found = ["velocity", "broken", "divergence", "sustained", "drop_depth"].map(cell);
            prop_assert_eq!(found, slow(&protocol, values), "{:?}", values);
        }
    }

    #[test]
    fn a_mirrored_curve_has_the_same_times(protocol in protocol(), curves in curves()) {
        let max = Training { preset: Preset::Strict, direction: Direction::Max, ..protocol };
        let min = Training {
            direction: Direction::Min,
            threshold: -max.threshold,
            sweep: max.sweep.iter().rev().map(|threshold| -threshold).collect(),
            ..max.clone()
        };
        let mirrored: Vec<(u8, Vec<f64>)> =
            curves.iter().map(|(group, values)| (*group, values.iter().map(|value| -value).collect())).collect();
        let (up, down) = (state(&max, &curves).finish(), state(&min, &mirrored).finish());
        let signed = ["best_mean", "last_mean"];
        for ((id, a), (_, b)) in up.metrics.iter().zip(&down.metrics) {
            let id = id.trim_start_matches("training.");
            if !signed.contains(&id) && !id.starts_with("sweep_") {
                prop_assert_eq!(a, b, "{}", id);
            }
        }
    }

    #[test]
    fn a_higher_threshold_is_never_reached_sooner(curves in curves()) {
        let protocol = Training { sweep: vec![0.25, 0.5, 0.75, 1.0], ..Training::default() };
        for row in state(&protocol, &curves).rows().iter() {
            let epochs: Vec<u64> =
                row.sweep.iter().map(|at| at.map_or(u64::MAX, |saturation| saturation.number)).collect();
            prop_assert!(epochs.is_sorted());
        }
    }

    #[test]
    fn wise_and_naive_are_strict_where_every_fold_saturates(protocol in protocol(), curves in curves()) {
        let protocol = Training { preset: Preset::Revised, ..protocol };
        let report = state(&protocol, &curves).finish();
        for id in ["velocity", "velocity_normalised", "stability", "divergence"] {
            let read = |aggregation: &str| match report.get(&format!("training.{id}_{aggregation}")) {
                Some(Value::PerLabel(groups)) => groups.clone(),
                other => panic!("{other:?}"),
            };
            for ((strict, wise), naive) in read("strict").iter().zip(read("wise")).zip(read("naive")) {
                prop_assert!(strict.1.reason().is_some() || (*strict == wise && *strict == naive), "{}", id);
            }
        }
    }
}

#[test]
fn a_run_without_units_has_no_groups_and_no_warnings() {
    for preset in Preset::ALL {
        let report = Accumulator::new(Training::new(preset)).finish();
        assert!(report.metrics.iter().all(|(_, value)| *value == Value::PerLabel(Vec::new())));
        assert!(report.warnings.is_empty());
    }
}
