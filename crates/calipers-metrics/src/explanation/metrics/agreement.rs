//! Masks against their truths, mean over units.

use calipers_core::{Doc, Number};

use super::super::mask_reading::{
    accuracy, auroc, average_precision, f1_score, jaccard, over_units, precision, recall, relevance_mass,
    relevance_rank,
};
use super::{Line, SHARE, document, higher};

pub(super) const ACCURACY: Line = Line {
    id: "accuracy",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of elements on which mask and truth agree.",
        formula: "(tp + tn)/n, mean over units; selected is pred_mask > threshold, true is target >= \
                 target threshold. Preset pyg: f32 quotients, 0 for 0/0.",
        undefined: "\"mask has no elements\"; \"published code returns NaN\".",
        differs: "A mask value on the threshold is not selected, a target value on it is true.",
        reference: document!("groundtruth_metrics"),
        example: ("mask", "0.8"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, accuracy)),
    ..Line::DEFAULTS
};

pub(super) const RECALL: Line = Line {
    id: "recall",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the truth that is selected.",
        formula: "tp/(tp + fn), mean over units; selected is pred_mask > threshold, true is target >= \
                 target threshold. Preset pyg: f32 quotients, 0 for 0/0.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\"; \"published code \
                   returns NaN\".",
        differs: "0/0 is undefined; the published code gives 0.",
        reference: document!("groundtruth_metrics"),
        example: ("mask", "0.5"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, recall)),
    ..Line::DEFAULTS
};

pub(super) const PRECISION: Line = Line {
    id: "precision",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the selected elements that lie in the truth.",
        formula: "tp/(tp + fp), mean over units; selected is pred_mask > threshold, true is target >= \
                 target threshold. Preset pyg: f32 quotients, 0 for 0/0.",
        undefined: "\"mask has no elements\"; \"no element is selected (pred_mask > threshold)\"; \
                   \"published code returns NaN\".",
        differs: "0/0 is undefined; the published code gives 0.",
        reference: document!("groundtruth_metrics"),
        example: ("mask", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, precision)),
    ..Line::DEFAULTS
};

pub(super) const F1_SCORE: Line = Line {
    id: "f1_score",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Precision and recall in one number.",
        formula: "2tp/(2tp + fp + fn), mean over units; selected is pred_mask > threshold, true is target \
                 >= target threshold. Preset pyg: f32 quotients, 0 for 0/0.",
        undefined: "\"mask has no elements\"; \"neither mask has a positive element\"; \"published code \
                   returns NaN\".",
        differs: "0/0 is undefined; the published code gives 0.",
        reference: document!("groundtruth_metrics"),
        example: ("mask", "0.6666666666666666"),
    },
    headline: Some(6),
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, f1_score)),
    ..Line::DEFAULTS
};

pub(super) const AUROC: Line = Line {
    id: "auroc",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often a true element has a higher mask value than another one.",
        formula: "(#pairs true > other + half of the tied pairs) / (P Neg), over the stored values; mean \
                 over units.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\"; \"target mask has \
                   no negative element\"; \"published code returns NaN\".",
        differs: "Undefined where the truth has one class; the published code gives 0. Logits are ranked \
                 as they are, so saturated sigmoids cannot tie.",
        reference: document!("groundtruth_metrics"),
        example: ("mask", "0.9166666666666666"),
    },
    headline: Some(5),
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, auroc)),
    ..Line::DEFAULTS
};

pub(super) const JACCARD: Line = Line {
    id: "jaccard",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The overlap of selection and truth: GEA.",
        formula: "tp/(tp + fp + fn), mean over units; of several truths the one with the largest. Preset \
                 graphxai: tp/(tp + fp + fn + 1e-9).",
        undefined: "\"mask has no elements\"; \"neither mask has a positive element\".",
        differs: "",
        reference: "Agarwal et al., Evaluating Explainability for Graph Neural Networks, 2023",
        example: ("mask", "0.5"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, jaccard)),
    ..Line::DEFAULTS
};

pub(super) const AVERAGE_PRECISION: Line = Line {
    id: "average_precision",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Precision averaged over the places where the truth is met when elements are taken from \
                  the highest value down.",
        formula: "Sum over distinct values, descending, of (R_k - R_k-1) P_k; mean over units.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\".",
        differs: "No interpolation; tied elements enter together.",
        reference: "Calipers",
        example: ("mask", "0.8333333333333334"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, average_precision)),
    ..Line::DEFAULTS
};

pub(super) const RELEVANCE_MASS: Line = Line {
    id: "relevance_mass",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the importance that lies in the truth.",
        formula: "Sum of |m| in the truth / sum of |m|; mean over units.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\"; \"mask is zero \
                   everywhere\".",
        differs: "Sizes count: a negative value is as important as a positive one.",
        reference: "Arras, Osman and Samek, CLEVR-XAI: A benchmark dataset for the ground truth \
                  evaluation of neural network explanations, 2022",
        example: ("mask", "0.625"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, relevance_mass)),
    ..Line::DEFAULTS
};

pub(super) const RELEVANCE_RANK: Line = Line {
    id: "relevance_rank",
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the P highest values that lie in the truth, P being its size.",
        formula: "(hits above the last level + slots * tie_hits/ties)/P; mean over units.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\".",
        differs: "Ties at the last level count by expectation, so the order of equal values does not \
                 matter.",
        reference: "Arras, Osman and Samek, CLEVR-XAI: A benchmark dataset for the ground truth \
                  evaluation of neural network explanations, 2022",
        example: ("mask", "0.75"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, relevance_rank)),
    ..Line::DEFAULTS
};
