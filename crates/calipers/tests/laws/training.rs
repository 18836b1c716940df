//! Random curves for the laws.

use calipers::core::{Accumulator, SplitMix64};
use calipers::metrics::training::{Curve, Nan, Preset, Sample, Training};

use crate::Sample as Law;

pub(crate) fn samples() -> Vec<Law<Training>> {
    let strict =
        Training { nan: Nan::Fail, sweep: vec![0.95, 0.5], bootstrap: 20, ..Training::new(Preset::Strict) };
    let table = Training { sweep: vec![0.8], ..Training::new(Preset::Table20240425) };
    let other = Training { threshold: 0.8, ..strict.clone() };
    let presets = [Preset::Document, Preset::Revised, Preset::Table20240424, Preset::Script2025];
    let of_preset = |preset| Law { protocol: Training::new(preset), other: strict.clone(), add };
    let steady = Training { folds: Some(8), ..strict.clone() };
    let mut samples: Vec<_> = presets.into_iter().map(of_preset).collect();
    samples.push(Law { protocol: strict.clone(), other: other.clone(), add: add_unlike });
    samples.push(Law { protocol: steady, other: other.clone(), add: add_saturating });
    samples.push(Law { protocol: strict.clone(), other, add });
    samples.push(Law { protocol: table, other: strict, add });
    samples
}

/// Curves whose files list different numbers of folds for one configuration.
fn add_unlike(accumulator: &mut Accumulator<Training>, name: &str, unit: usize) {
    add_curve(accumulator, name, unit, (unit % 4 > 1).then_some(6 + unit as u32 % 2), 0.7);
}

/// Curves that saturate sooner or later.
fn add_saturating(accumulator: &mut Accumulator<Training>, name: &str, unit: usize) {
    add_curve(accumulator, name, unit, None, 0.85);
}

/// A noisy curve of one of three configurations; some have NaN, repeated x or only failures.
fn add(accumulator: &mut Accumulator<Training>, name: &str, unit: usize) {
    let level = if unit % 4 == 3 { 0.3 } else { 0.7 };
    add_curve(accumulator, name, unit, unit.is_multiple_of(3).then_some(9), level);
}

fn add_curve(
    accumulator: &mut Accumulator<Training>,
    name: &str,
    unit: usize,
    folds: Option<u32>,
    level: f64,
) {
    let mut random = SplitMix64::new(unit as u64);
    let rows = 1 + random.below(12) as u32;
    let samples: Vec<Sample> = (0..rows)
        .map(|row| {
            let x = if unit % 5 == 4 { row / 2 } else { row };
            let value = if random.below(9) == 0 { f64::NAN } else { level + 0.3 * random.unit() };
            Sample { row, x: x.into(), value, session: 0 }
        })
        .chain([Sample { row: rows, x: rows.into(), value: 0.5, session: 0 }])
        .collect();
    let fold = unit.to_string();
    let curve = Curve {
        folds,
        marks_missing: unit.is_multiple_of(2),
        ..Curve::new(["a", "b", "a b"][unit % 3], &fold, &samples)
    };
    accumulator.update(name, curve).unwrap();
}
