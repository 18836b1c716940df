//! The metric table: every number of the family in report order, and what its lines share.

use calipers_core::Metric;

use super::difference::{density, flips};
use super::protocol::Preset;
pub(super) use super::protocol::Robustness;
pub(super) use super::row::Row;
pub(super) use super::row::condition::*;
pub(super) use super::row::reading::*;
use super::{accuracy, bias, budget, difference};
pub(super) use crate::line::*;
use budget::curve;

pub(super) type Line = Metric<Robustness>;

/// Every metric in report order; the document's come first.
pub(super) const METRICS: &[Line] = &[
    bias::BIAS_TOTAL,
    bias::BIAS_MEAN,
    bias::BIAS_PER_NODE,
    curve::BIAS_CURVE,
    density::HIST_VALUES,
    density::BIN_EDGES,
    difference::MEAN_DIFF,
    accuracy::ROBUST_ACCURACY,
    accuracy::CLEAN_ACCURACY,
    accuracy::ATTACKED_ACCURACY,
    bias::BIAS_RELATIVE,
    bias::BIAS_NODE_QUANTILES,
    bias::BIAS_TOUCHED_SHARE,
    budget::BIAS_SLOPE,
    budget::BIAS_LINEARITY,
    accuracy::ACCURACY_DROP,
    accuracy::ATTACK_SUCCESS_RATE,
    budget::ACCURACY_AUC,
    budget::ACCURACY_AVERAGE,
    budget::ACCURACY_3_MIN,
    budget::ACCURACY_WEIGHTED,
    flips::FLIPS_ADDED,
    flips::FLIPS_REMOVED,
    flips::BUDGET_USED,
    difference::ADDED_MEAN_DIFF,
    difference::KEPT_MEAN_DIFF,
    difference::REMOVED_MEAN_DIFF,
    difference::DIFF_RATIO,
    density::ADDED_HIST_VALUES,
    density::KEPT_HIST_VALUES,
    density::REMOVED_HIST_VALUES,
    density::REMOVED_BIN_EDGES,
    density::HIST_OUTSIDE,
    difference::PRUNED_ADDED,
    difference::PRUNED_KEPT,
    curve::CURVE,
    curve::CURVE_STD,
];

/// The reasons that many numbers share, then those of the metric itself.
macro_rules! reasons {
    (condition $(, $reason:literal)*) => {
        concat!("\"report holds K conditions; see robustness.curve\"" $(, "; \"", $reason, "\"")*, ".")
    };
    (flips $(, $reason:literal)*) => {
        reasons!(condition, "clean and attacked edges are both needed" $(, $reason)*)
    };
    (histogram, $empty:literal) => {
        reasons!(
            flips, "bin edges differ between units; give --hist-range", $empty,
            "all edge differences are equal", "no edge difference inside the range"
        )
    };
    (scores $(, $reason:literal)*) => {
        reasons!(
            condition, "no labels given", "no test nodes given", "test set is empty",
            "features are not class scores" $(, $reason)*
        )
    };
}
pub(super) use reasons;

/// A line that the document defines: every preset has it.
pub(super) const DOCUMENTED: Line = Line::DEFAULTS;

/// A line beyond the document.
pub(super) const BEYOND: Line =
    Line { presets: |protocol| protocol.preset == Preset::Strict, ..Line::DEFAULTS };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_what_refers_to_it() {
        let of_document = Robustness { preset: Preset::Document, ..Robustness::default() };
        for metric in METRICS {
            let document = metric.reference.starts_with("Estimation Bias Measurement");
            assert_eq!((metric.presets)(&of_document), document, "{}", metric.id);
        }
    }
}
