//! Random curves for the laws.

use calipers::core::{Accumulator, SplitMix64};
use calipers::metrics::training::protocol::{Nan, Preset, Training};
use calipers::metrics::training::unit::{Curve, Sample};

use crate::Sample as Law;

pub(crate) fn samples() -> Vec<Law<Training>> {
    let strict =
        Training { nan: Nan::Fail, sweep: vec![0.95, 0.5], bootstrap: 20, ..Training::new(Preset::Strict) };
    let table = Training { sweep: vec![0.8], ..Training::new(Preset::Table20240425) };
    let other = Training { threshold: 0.8, ..strict.clone() };
    vec![Law { protocol: strict.clone(), other, add }, Law { protocol: table, other: strict, add }]
}

/// A noisy curve of one of three configurations; some have NaN, repeated x or only failures.
fn add(accumulator: &mut Accumulator<Training>, name: &str, unit: usize) {
    let mut random = SplitMix64::new(unit as u64);
    let rows = 1 + random.below(12) as u32;
    let level = if unit % 4 == 3 { 0.3 } else { 0.7 };
    let samples: Vec<Sample> = (0..rows)
        .map(|row| {
            let x = if unit % 5 == 4 { row / 2 } else { row };
            let value = if random.below(9) == 0 { f64::NAN } else { level + 0.3 * random.unit() };
            Sample { row, x: x.into(), value }
        })
        .chain([Sample { row: rows, x: rows.into(), value: 0.5 }])
        .collect();
    let curve = Curve {
        group: ["a", "b", "a b"][unit % 3],
        fold: &unit.to_string(),
        folds: unit.is_multiple_of(3).then_some(9),
        x_key: "epoch",
        samples: &samples,
        marks_missing: unit.is_multiple_of(2),
        place: &|row| format!("row {row}"),
    };
    accumulator.update(name, curve).unwrap();
}
