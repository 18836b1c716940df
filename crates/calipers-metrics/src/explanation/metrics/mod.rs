//! The metric table: every number of the family in report order, with its definition.

mod agreement;
mod counts;
mod curve;
mod faithfulness;
mod fidelity;
mod pooled;
mod probability;
mod regression;
mod robust;
mod shape;
mod stability;
mod sweep;
mod types;

use calipers_core::{Better, Metric, Range};

use super::protocol::Explanation;

type Line = Metric<Explanation>;

/// Every metric in report order.
pub(crate) const METRICS: &[Line] = &[
    counts::NUM_INSTANCES,
    counts::NUM_MASK_ELEMENTS,
    fidelity::FID_PLUS_MODEL,
    fidelity::FID_MINUS_MODEL,
    fidelity::FID_PLUS_PHENOMENON,
    fidelity::FID_MINUS_PHENOMENON,
    fidelity::CHARACTERIZATION_SCORE_MODEL,
    fidelity::CHARACTERIZATION_SCORE_PHENOMENON,
    fidelity::FID_PLUS_SIGNED_PHENOMENON,
    fidelity::FID_MINUS_SIGNED_PHENOMENON,
    probability::FID_PLUS_PROB_MODEL,
    probability::FID_MINUS_PROB_MODEL,
    probability::FID_PLUS_PROB_PHENOMENON,
    probability::FID_MINUS_PROB_PHENOMENON,
    probability::FID_PLUS_PROB_SIGNED_MODEL,
    probability::FID_MINUS_PROB_SIGNED_MODEL,
    probability::FID_PLUS_PROB_SIGNED_PHENOMENON,
    probability::FID_MINUS_PROB_SIGNED_PHENOMENON,
    regression::FID_PLUS_MAE,
    regression::FID_MINUS_MAE,
    regression::FID_PLUS_MSE,
    regression::FID_MINUS_MSE,
    faithfulness::UNFAITHFULNESS,
    faithfulness::UNFAITHFULNESS_REVERSED,
    faithfulness::KL,
    faithfulness::KL_REVERSED,
    agreement::ACCURACY,
    agreement::RECALL,
    agreement::PRECISION,
    agreement::F1_SCORE,
    agreement::AUROC,
    agreement::JACCARD,
    agreement::AVERAGE_PRECISION,
    agreement::RELEVANCE_MASS,
    agreement::RELEVANCE_RANK,
    pooled::ACCURACY_POOLED,
    pooled::RECALL_POOLED,
    pooled::PRECISION_POOLED,
    pooled::F1_SCORE_POOLED,
    pooled::JACCARD_POOLED,
    types::ACCURACY_BY_TYPE,
    types::RECALL_BY_TYPE,
    types::PRECISION_BY_TYPE,
    types::F1_SCORE_BY_TYPE,
    types::AUROC_BY_TYPE,
    types::JACCARD_BY_TYPE,
    types::SPARSITY_BY_TYPE,
    shape::SPARSITY,
    shape::ZERO_FRACTION,
    shape::ENTROPY,
    shape::GINI,
    curve::CHARACTERIZATION_SCORE,
    curve::FIDELITY_CURVE_AUC,
    curve::FIDELITY_CURVE_AUC_NORMALIZED,
    sweep::CURVE_X,
    sweep::FID_PLUS_MODEL_CURVE,
    sweep::FID_MINUS_MODEL_CURVE,
    sweep::FID_PLUS_PHENOMENON_CURVE,
    sweep::FID_MINUS_PHENOMENON_CURVE,
    sweep::FIDELITY_CURVE_AUC_MODEL,
    sweep::FIDELITY_CURVE_AUC_PHENOMENON,
    robust::ROBUST_FID_PLUS_MODEL,
    robust::ROBUST_FID_MINUS_MODEL,
    robust::ROBUST_FID_PLUS_PROB_SIGNED_MODEL,
    robust::ROBUST_FID_MINUS_PROB_SIGNED_MODEL,
    robust::ROBUST_FID_DELTA_MODEL,
    robust::ROBUST_FID_PLUS_PROB_SIGNED_PHENOMENON,
    robust::ROBUST_FID_MINUS_PROB_SIGNED_PHENOMENON,
    robust::ROBUST_FID_DELTA_PHENOMENON,
    stability::INSTABILITY_COSINE,
    stability::INSTABILITY_COSINE_MEAN,
    stability::SENSITIVITY_MAX,
];

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($function:literal) => {
        concat!("torch_geometric.explain.metric, ", $function)
    };
}
use document;

const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
const SIGNED: Range = Range { low: -1.0, high: 1.0, text: "[-1, 1]" };
const TWICE_SIGNED: Range = Range { low: -2.0, high: 2.0, text: "[-2, 2]" };
const ANGLE: Range = Range { low: 0.0, high: 2.0, text: "[0, 2]" };
const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };

fn higher(_: &Explanation) -> Better {
    Better::Higher
}

fn lower(_: &Explanation) -> Better {
    Better::Lower
}

fn neither(_: &Explanation) -> Better {
    Better::Neither
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_id_occurs_twice_and_ids_are_snake_case() {
        let ids: BTreeSet<_> = METRICS.iter().map(|metric| metric.id).collect();
        assert_eq!(ids.len(), METRICS.len());
        for id in ids {
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{id}");
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
