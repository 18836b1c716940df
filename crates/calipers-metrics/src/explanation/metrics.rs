//! The metric table: every number of the family in report order, and what its lines share.

use calipers_core::{Metric, Range};

use super::curve::{given, sweep};
use super::fidelity::{labels, probability, regression, robust};
use super::mask::{agreement, distribution, pooled, types};
pub(super) use super::protocol::{Explanation, Preset};
use super::{faithfulness, stability};

pub(super) use super::row::Row;
pub(super) use super::row::needs::Need;
// Its `number` stands before the one of all families: a reading of this family may be infinite.
pub(super) use super::row::reading::{number, *};
pub(super) use crate::line::*;

pub(super) type Line = Metric<Explanation>;

/// Every metric in report order.
pub(super) const METRICS: &[Line] = &[
    labels::NUM_INSTANCES,
    distribution::NUM_MASK_ELEMENTS,
    labels::FID_PLUS_MODEL,
    labels::FID_MINUS_MODEL,
    labels::FID_PLUS_PHENOMENON,
    labels::FID_MINUS_PHENOMENON,
    labels::CHARACTERIZATION_SCORE_MODEL,
    labels::CHARACTERIZATION_SCORE_PHENOMENON,
    labels::FID_PLUS_SIGNED_PHENOMENON,
    labels::FID_MINUS_SIGNED_PHENOMENON,
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
    distribution::SPARSITY,
    distribution::ZERO_FRACTION,
    distribution::ENTROPY,
    distribution::GINI,
    given::CHARACTERIZATION_SCORE,
    given::FIDELITY_CURVE_AUC,
    given::FIDELITY_CURVE_AUC_NORMALIZED,
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

/// A line that the published functions have too, and therefore every preset.
pub(super) const PUBLISHED: Line = Line::DEFAULTS;

/// A line of the document that the published functions do not return.
pub(super) const DOCUMENTED: Line =
    Line { presets: |protocol| protocol.preset != Preset::Pyg, ..Line::DEFAULTS };

/// A line beyond the document.
pub(super) const BEYOND: Line = Line {
    presets: |protocol| matches!(protocol.preset, Preset::Strict | Preset::Graphxai),
    ..Line::DEFAULTS
};

/// The reasons of a mask, then those of the metric itself.
macro_rules! reasons {
    (mask $(, $reason:literal)*) => {
        concat!("\"mask has no elements\"" $(, "; \"", $reason, "\"")*, ".")
    };
}
pub(super) use reasons;

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($function:literal) => {
        concat!("torch_geometric.explain.metric, ", $function)
    };
}
pub(super) use document;

pub(super) const SURVEY: &str =
    "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023";
pub(super) const GRAPHXAI: &str = "Agarwal et al., Evaluating Explainability for Graph Neural Networks, 2023";
pub(super) const CLEVR: &str = "Arras, Osman and Samek, CLEVR-XAI: A benchmark dataset for the ground truth \
                                evaluation of neural network explanations, 2022";

pub(super) const TWICE_SIGNED: Range = Range { low: -2.0, high: 2.0, text: "[-2, 2]" };
