//! The metric table: every number of the family in report order, and what its lines share.

use calipers_core::{Better, Metric, Range};

use super::curve::values;
use super::intervals;
pub(crate) use super::protocol::Training;
use super::protocol::parameters::{Direction, StabilityReading};
use super::saturation::{aftermath, by_preset, divergence, stability, sustained, sweep, velocity};
use super::survival::{spread, times};

pub(crate) use super::group::*;
pub(crate) use super::row::Row;
pub(crate) use crate::line::*;

/// A line of the table.
pub(crate) type Line = Metric<Training>;

/// Every metric in report order.
pub(crate) const METRICS: &[Line] = &[
    values::FOLD_COUNT,
    by_preset::SATURATION_COUNT,
    values::EPOCHS_MEAN,
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
    times::VELOCITY_KM_MEDIAN,
    times::VELOCITY_RMST,
    times::RMST_HORIZON,
    times::VELOCITY_ERT,
    times::VELOCITY_PAR,
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

/// Why configurations have no value of what only saturating runs have.
pub(crate) const NO_SATURATION: &str = "no fold saturates";

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("Training behaviours meta-metrics, ", $section)
    };
}
pub(crate) use document;

pub(crate) const EPOCHS: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, n]" };
pub(crate) const FOLDS: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, n_f]" };

/// What a stability means decides which way is better.
pub(crate) fn by_stability_reading(protocol: &Training) -> Better {
    match protocol.stability_reading {
        StabilityReading::Broken => Better::Lower,
        StabilityReading::Kept => Better::Higher,
    }
}

/// The values are better the way the protocol says.
pub(crate) fn by_direction(protocol: &Training) -> Better {
    match protocol.direction {
        Direction::Max => Better::Higher,
        Direction::Min => Better::Lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::protocol::parameters::Preset;

    #[test]
    fn the_preset_decides_which_stability_is_better() {
        let better = Preset::ALL.map(|preset| by_stability_reading(&Training::new(preset)));
        use Better::{Higher, Lower};
        assert_eq!(better, [Lower, Lower, Higher, Lower, Higher, Higher]);
    }

    #[test]
    fn every_stability_says_what_it_means() {
        let stability = METRICS.iter().filter(|metric| metric.id.starts_with("stability_"));
        for Metric { id, formula, differs, .. } in stability {
            let sentences = ["share of broken epochs; 0 is steady", "one minus the share; 1 is steady"];
            let text = format!("{formula} {differs}");
            assert!(id.ends_with("_ci") || sentences.iter().all(|sentence| text.contains(sentence)), "{id}");
        }
    }
}
