//! The metric table: every number of the family in report order, with its definition.

mod aftermath;
mod divergence;
mod folds;
mod intervals;
mod spread;
mod stability;
mod survival;
mod sustained;
mod sweep;
mod values;
mod velocity;

use calipers_core::{Better, Column, Metric, Range, Value};

use super::protocol::{Direction, StabilityReading, Training};
use super::reading::{self, Reason};
use super::row::{Aftermath, Row};

type Line = Metric<Training>;

/// Every metric in report order.
pub(crate) const METRICS: &[Line] = &[
    folds::FOLD_COUNT,
    folds::SATURATION_COUNT,
    folds::EPOCHS_MEAN,
    velocity::VELOCITY_STRICT,
    velocity::VELOCITY_WISE,
    velocity::VELOCITY_NAIVE,
    velocity::VELOCITY_NORMALISED_STRICT,
    velocity::VELOCITY_NORMALISED_WISE,
    velocity::VELOCITY_NORMALISED_NAIVE,
    stability::STABILITY_STRICT,
    stability::STABILITY_WISE,
    stability::STABILITY_NAIVE,
    divergence::DIVERGENCE_STRICT,
    divergence::DIVERGENCE_WISE,
    divergence::DIVERGENCE_NAIVE,
    divergence::DIVERGENCE_RATE,
    aftermath::RETENTION,
    spread::VELOCITY_STD,
    spread::VELOCITY_MEDIAN,
    spread::VELOCITY_OLYMPIC,
    survival::VELOCITY_KM_MEDIAN,
    survival::VELOCITY_RMST,
    survival::RMST_HORIZON,
    survival::VELOCITY_ERT,
    survival::VELOCITY_PAR,
    sustained::SUSTAINED_COUNT,
    sustained::VELOCITY_SUSTAINED_STRICT,
    sustained::VELOCITY_SUSTAINED_WISE,
    aftermath::DROP_DEPTH_MEAN,
    aftermath::DROP_DEPTH_MAX,
    aftermath::LONGEST_BREAK_MAX,
    values::BEST_MEAN,
    values::LAST_MEAN,
    values::FINAL_DROP_MEAN,
    sweep::SWEEP_SATURATION_COUNT,
    sweep::SWEEP_VELOCITY_WISE,
    sweep::SWEEP_STABILITY_WISE,
    sweep::SWEEP_DIVERGENCE,
    intervals::VELOCITY_WISE_CI,
    intervals::VELOCITY_RMST_CI,
    intervals::STABILITY_WISE_CI,
    intervals::DIVERGENCE_RATE_CI,
];

/// Whether the metric is there only with a sweep.
pub(crate) fn is_sweep(id: &str) -> bool {
    id.starts_with("sweep_")
}

/// Whether the metric is there only with resamples.
pub(crate) fn is_interval(id: &str) -> bool {
    id.ends_with("_ci")
}

/// The columns of the per-unit table.
pub(crate) const COLUMNS: &[Column<Training>] = &[
    Column { name: "group", read: |_, row| Value::Text(row.group.clone()) },
    Column { name: "fold", read: |_, row| Value::Text(row.fold.clone()) },
    Column { name: "n", read: |_, row| Value::Count(row.epochs.into()) },
    Column {
        name: "velocity",
        read: |_, row| whole(row.by_preset.map(|saturation| saturation.number), NEVER),
    },
    Column { name: "x_at_saturation", read: |_, row| after(row, |strict| coordinate(strict.x)) },
    Column {
        name: "broken",
        read: |_, row| after(row, |strict| Value::Count(strict.saturation.broken.into())),
    },
    Column {
        name: "stability",
        read: |protocol, row| number(reading::stability(protocol.preset, row), "no stability"),
    },
    Column {
        name: "divergence",
        read: |_, row| Value::Count(row.by_preset.is_some_and(|saturation| saturation.diverged).into()),
    },
    Column { name: "value_at_saturation", read: |_, row| after(row, |strict| Value::Number(strict.value)) },
    Column { name: "last", read: |_, row| number(row.last, "not finite") },
    Column { name: "best", read: |_, row| number(row.best, "no finite value") },
    Column { name: "sustained", read: |_, row| whole(row.sustained, "no sustained saturation") },
    Column { name: "drop_depth", read: |_, row| after(row, |strict| Value::Number(strict.drop_depth)) },
];

const NEVER: &str = "never saturates";

fn after(row: &Row, read: impl Fn(&Aftermath) -> Value) -> Value {
    row.strict.as_ref().map_or(Value::undefined(NEVER), read)
}

fn whole(value: Option<u64>, reason: &'static str) -> Value {
    value.map_or(Value::undefined(reason), |value| Value::Count(value.into()))
}

fn number(value: Option<f64>, reason: &'static str) -> Value {
    value.map_or(Value::undefined(reason), Value::Number)
}

/// An x: epochs and steps are whole numbers, times need not be.
fn coordinate(x: f64) -> Value {
    const EXACT: f64 = (1u64 << 53) as f64;
    if x.fract().abs() <= 0.0 && x.abs() <= EXACT { Value::Count(x as i128) } else { Value::Number(x) }
}

fn count(reading: Result<i128, Reason>) -> Value {
    reading.map_or_else(Value::Undefined, Value::Count)
}

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("Training behaviours meta-metrics, ", $section)
    };
}
use document;

const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
const EPOCHS: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, n]" };
const FOLDS: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, n_f]" };
const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
const DEPTH: Range = NON_NEGATIVE;
const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };

fn higher(_: &Training) -> Better {
    Better::Higher
}

fn lower(_: &Training) -> Better {
    Better::Lower
}

fn neither(_: &Training) -> Better {
    Better::Neither
}

/// What a stability means decides which way is better.
fn by_stability_reading(protocol: &Training) -> Better {
    match protocol.stability_reading {
        StabilityReading::Broken => Better::Lower,
        StabilityReading::Kept => Better::Higher,
    }
}

/// The values are better the way the protocol says.
fn by_direction(protocol: &Training) -> Better {
    match protocol.direction {
        Direction::Max => Better::Higher,
        Direction::Min => Better::Lower,
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::Preset;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_id_occurs_twice_and_ids_are_snake_case() {
        let ids: BTreeSet<_> = METRICS.iter().map(|metric| metric.id).collect();
        assert_eq!(ids.len(), METRICS.len());
        for id in ids {
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{id}");
        }
    }

    #[test]
    fn every_definition_is_written_out() {
        for Metric { id, doc, .. } in METRICS {
            for (heading, text) in
                [("measures", doc.measures), ("formula", doc.formula), ("reference", doc.reference)]
            {
                assert!(!text.is_empty(), "{id} lacks {heading}");
            }
            assert!(!doc.example.0.is_empty() && !doc.example.1.is_empty(), "{id} lacks an example");
        }
    }

    #[test]
    fn the_preset_decides_which_stability_is_better() {
        let better = Preset::ALL.map(|preset| by_stability_reading(&Training::new(preset)));
        use Better::{Higher, Lower};
        assert_eq!(better, [Lower, Lower, Higher, Lower, Higher, Higher]);
    }

    #[test]
    fn every_stability_says_what_it_means() {
        for Metric { id, doc, .. } in METRICS.iter().filter(|metric| metric.id.starts_with("stability_")) {
            let sentences = ["share of broken epochs; 0 is steady", "one minus the share; 1 is steady"];
            let text = format!("{} {}", doc.formula, doc.differs);
            assert!(id.ends_with("_ci") || sentences.iter().all(|sentence| text.contains(sentence)), "{id}");
        }
    }
}
