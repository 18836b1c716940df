//! The metric table: every number of the family in report order, with its definition.

mod accuracy;
mod bias;
mod budgets;
mod curves;
mod differences;
mod flips;
mod histograms;

use calipers_core::{Better, Metric, Range};

use super::protocol::Robustness;

type Line = Metric<Robustness>;

/// Every metric in report order; the document's come first.
pub(crate) const METRICS: &[Line] = &[
    bias::BIAS_TOTAL,
    bias::BIAS_MEAN,
    bias::BIAS_PER_NODE,
    bias::BIAS_CURVE,
    histograms::HIST_VALUES,
    histograms::BIN_EDGES,
    differences::MEAN_DIFF,
    accuracy::ROBUST_ACCURACY,
    accuracy::CLEAN_ACCURACY,
    accuracy::ATTACKED_ACCURACY,
    bias::BIAS_RELATIVE,
    bias::BIAS_NODE_QUANTILES,
    bias::BIAS_TOUCHED_SHARE,
    budgets::BIAS_SLOPE,
    budgets::BIAS_LINEARITY,
    accuracy::ACCURACY_DROP,
    accuracy::ATTACK_SUCCESS_RATE,
    budgets::ACCURACY_AUC,
    budgets::ACCURACY_AVERAGE,
    budgets::ACCURACY_3_MIN,
    budgets::ACCURACY_WEIGHTED,
    flips::FLIPS_ADDED,
    flips::FLIPS_REMOVED,
    flips::BUDGET_USED,
    differences::ADDED_MEAN_DIFF,
    differences::KEPT_MEAN_DIFF,
    differences::REMOVED_MEAN_DIFF,
    differences::DIFF_RATIO,
    histograms::ADDED_HIST_VALUES,
    histograms::KEPT_HIST_VALUES,
    histograms::REMOVED_HIST_VALUES,
    histograms::REMOVED_BIN_EDGES,
    histograms::HIST_OUTSIDE,
    differences::PRUNED_ADDED,
    differences::PRUNED_KEPT,
    curves::CURVE,
    curves::CURVE_STD,
];

/// How many of them the document defines.
const IN_DOCUMENT: usize = 10;

/// Whether the document defines a metric.
pub(super) fn in_document(id: &str) -> bool {
    METRICS[..IN_DOCUMENT].iter().any(|metric| metric.id == id)
}

const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
const SIGNED: Range = Range { low: -1.0, high: 1.0, text: "[-1, 1]" };
const UP_TO_ONE: Range = Range { low: f64::NEG_INFINITY, high: 1.0, text: "(-inf, 1]" };
const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };

fn higher(_: &Robustness) -> Better {
    Better::Higher
}

fn lower(_: &Robustness) -> Better {
    Better::Lower
}

fn neither(_: &Robustness) -> Better {
    Better::Neither
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_id_occurs_twice_and_the_document_ends_where_it_should() {
        let ids: BTreeSet<_> = METRICS.iter().map(|metric| metric.id).collect();
        assert_eq!(ids.len(), METRICS.len());
        assert!(
            in_document("bias_total") && in_document("attacked_accuracy") && !in_document("bias_relative")
        );
        for metric in METRICS {
            let document = metric.doc.reference.starts_with("Estimation Bias Measurement");
            assert_eq!(in_document(metric.id), document, "{}", metric.id);
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
}
