//! Masks against their truths: quotients of counts and what the ranking says, mean over units.

use super::TRUTH;
use crate::explanation::metrics::*;
use crate::explanation::published;
use crate::explanation::row::{AgreementRow, Confusion};

/// A quotient of counts.
pub(crate) type Share = fn(&Explanation, &Confusion) -> Reading;

pub(super) fn agreement(row: &Row) -> Option<&AgreementRow> {
    row.mask.as_deref()?.agreement.as_ref()
}

/// The share of one unit.
pub(super) fn of_counts(protocol: &Explanation, row: &Row, share: Share) -> Value {
    of_unit(agreement(row).map(|agreement| share(protocol, &agreement.confusion)))
}

pub(super) fn accuracy(protocol: &Explanation, counts: &Confusion) -> Reading {
    share(protocol, counts, counts.tp + counts.tn, counts.elements(), NO_ELEMENTS)
}

pub(super) fn recall(protocol: &Explanation, counts: &Confusion) -> Reading {
    share(protocol, counts, counts.tp, counts.positives(), NO_POSITIVE)
}

pub(super) fn precision(protocol: &Explanation, counts: &Confusion) -> Reading {
    share(protocol, counts, counts.tp, counts.tp + counts.fp, NONE_SELECTED)
}

pub(super) fn f1_score(protocol: &Explanation, counts: &Confusion) -> Reading {
    share(protocol, counts, 2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn_, NEITHER)
}

pub(super) fn jaccard(protocol: &Explanation, counts: &Confusion) -> Reading {
    let union = counts.tp + counts.fp + counts.fn_;
    if protocol.preset == Preset::Graphxai && counts.elements() > 0 {
        return Ok(counts.tp as f64 / (union as f64 + 1e-9));
    }
    share(protocol, counts, counts.tp, union, NEITHER)
}

/// The area under the ROC curve, from twice the pairs in order with ties counted once.
pub(super) fn auroc_of(protocol: &Explanation, counts: &Confusion, twice: u128) -> Reading {
    if protocol.preset == Preset::Pyg {
        unless(counts.elements() == 0, PUBLISHED_NAN)?;
        return Ok(published::auroc(counts, twice));
    }
    unless(counts.elements() == 0, NO_ELEMENTS)?;
    unless(counts.positives() == 0, NO_POSITIVE)?;
    let pairs = 2 * i128::from(counts.positives()) * i128::from(counts.negatives());
    quotient(twice as i128, pairs, NO_NEGATIVE)
}

/// A quotient as the formulas and as the published code have it.
fn share(protocol: &Explanation, counts: &Confusion, part: u64, of: u64, reason: &'static str) -> Reading {
    if protocol.preset == Preset::Pyg {
        unless(counts.elements() == 0, PUBLISHED_NAN)?;
        return Ok(published::ratio(part, of));
    }
    unless(counts.elements() == 0, NO_ELEMENTS)?;
    quotient(part, of, reason)
}

/// The size of a truth that is not empty.
fn with_positives(counts: &Confusion) -> Result<u64, Reason> {
    unless(counts.elements() == 0, NO_ELEMENTS)?;
    unless(counts.positives() == 0, NO_POSITIVE)?;
    Ok(counts.positives())
}

fn precision_over_places(row: &Row) -> Option<Reading> {
    let agreement = agreement(row)?;
    Some(with_positives(&agreement.confusion).map(|places| agreement.precision.to_sum().over(places)))
}

fn mass_in_truth(row: &Row) -> Option<Reading> {
    let (mask, agreement) = (row.mask.as_deref()?, agreement(row)?);
    let share = |_| -> Reading {
        unless(mask.mass.value() <= 0.0, ZERO_MASK)?;
        Ok(agreement.mass.value() / mask.mass.value())
    };
    Some(with_positives(&agreement.confusion).and_then(share))
}

/// Of the places at the last level, the share that a random order of its elements gives to the truth.
fn top_in_truth(row: &Row) -> Option<Reading> {
    let agreement = agreement(row)?;
    Some(with_positives(&agreement.confusion).and_then(|places| {
        let top = agreement.top;
        let [hits, slots, ties, tie_hits] = [top.hits, top.slots, top.ties, top.tie_hits].map(i128::from);
        quotient(hits * ties + slots * tie_hits, ties * i128::from(places), NO_ELEMENTS)
    }))
}

const AGREEMENT: Line = Line {
    group: "agreement",
    better: higher,
    range: SHARE,
    per_unit: true,
    needs: &[TRUTH],
    reference: document!("groundtruth_metrics"),
    ..PUBLISHED
};

const BEYOND_AGREEMENT: Line = Line { presets: BEYOND.presets, ..AGREEMENT };

pub(crate) const ACCURACY: Line = Line {
    id: "accuracy",
    measures: "The share of elements on which mask and truth agree.",
    formula: "(tp + tn)/n, mean over units; selected is pred_mask > threshold, true is target >= target \
              threshold. Preset pyg: f32 quotients, 0 for 0/0.",
    undefined: reasons!(mask, "published code returns NaN"),
    differs: "A mask value on the threshold is not selected, a target value on it is true.",
    example: ("mask", "0.8"),
    number: Number::mean(|protocol, row| of_counts(protocol, row, accuracy)),
    ..AGREEMENT
};

pub(crate) const RECALL: Line = Line {
    id: "recall",
    measures: "The share of the truth that is selected.",
    formula: "tp/(tp + fn), mean over units; selected is pred_mask > threshold, true is target >= target \
              threshold. Preset pyg: f32 quotients, 0 for 0/0.",
    undefined: reasons!(mask, "target mask has no positive element", "published code returns NaN"),
    differs: "0/0 is undefined; the published code gives 0.",
    example: ("mask", "0.5"),
    number: Number::mean(|protocol, row| of_counts(protocol, row, recall)),
    ..AGREEMENT
};

pub(crate) const PRECISION: Line = Line {
    id: "precision",
    measures: "The share of the selected elements that lie in the truth.",
    formula: "tp/(tp + fp), mean over units; selected is pred_mask > threshold, true is target >= target \
              threshold. Preset pyg: f32 quotients, 0 for 0/0.",
    undefined: reasons!(mask, "no element is selected (pred_mask > threshold)", "published code returns NaN"),
    differs: "0/0 is undefined; the published code gives 0.",
    example: ("mask", "1.0"),
    number: Number::mean(|protocol, row| of_counts(protocol, row, precision)),
    ..AGREEMENT
};

pub(crate) const F1_SCORE: Line = Line {
    id: "f1_score",
    measures: "Precision and recall in one number.",
    formula: "2tp/(2tp + fp + fn), mean over units; selected is pred_mask > threshold, true is target >= \
              target threshold. Preset pyg: f32 quotients, 0 for 0/0.",
    undefined: reasons!(mask, "neither mask has a positive element", "published code returns NaN"),
    differs: "0/0 is undefined; the published code gives 0.",
    example: ("mask", "0.6666666666666666"),
    headline: Some(6),
    number: Number::mean(|protocol, row| of_counts(protocol, row, f1_score)),
    ..AGREEMENT
};

pub(crate) const AUROC: Line = Line {
    id: "auroc",
    measures: "How often a true element has a higher mask value than another one.",
    formula: "(#pairs true > other + half of the tied pairs) / (P Neg), over the stored values; mean over \
              units.",
    undefined: "\"mask has no elements\"; \"target mask has no positive element\"; \"target mask has no \
                negative element\"; \"published code returns NaN\".",
    differs: "Undefined where the truth has one class; the published code gives 0. Logits are ranked as they \
              are, so saturated sigmoids cannot tie.",
    example: ("mask", "0.9166666666666666"),
    headline: Some(5),
    number: Number::mean(|protocol, row| {
        of_unit(agreement(row).map(|found| auroc_of(protocol, &found.confusion, found.twice_auroc)))
    }),
    ..AGREEMENT
};

pub(crate) const JACCARD: Line = Line {
    id: "jaccard",
    measures: "The overlap of selection and truth: GEA.",
    formula: "tp/(tp + fp + fn), mean over units; of several truths the one with the largest. Preset \
              graphxai: tp/(tp + fp + fn + 1e-9).",
    undefined: reasons!(mask, "neither mask has a positive element"),
    reference: GRAPHXAI,
    example: ("mask", "0.5"),
    number: Number::mean(|protocol, row| of_counts(protocol, row, jaccard)),
    ..BEYOND_AGREEMENT
};

pub(crate) const AVERAGE_PRECISION: Line = Line {
    id: "average_precision",
    measures: "Precision averaged over the places where the truth is met when elements are taken from the \
               highest value down.",
    formula: "Sum over distinct values, descending, of (R_k - R_k-1) P_k; mean over units.",
    undefined: reasons!(mask, "target mask has no positive element"),
    differs: "No interpolation; tied elements enter together.",
    reference: "Calipers",
    example: ("mask", "0.8333333333333334"),
    number: Number::mean(|_, row| of_unit(precision_over_places(row))),
    ..BEYOND_AGREEMENT
};

pub(crate) const RELEVANCE_MASS: Line = Line {
    id: "relevance_mass",
    measures: "The share of the importance that lies in the truth.",
    formula: "Sum of |m| in the truth / sum of |m|; mean over units.",
    undefined: reasons!(mask, "target mask has no positive element", "mask is zero everywhere"),
    differs: "Sizes count: a negative value is as important as a positive one.",
    reference: CLEVR,
    example: ("mask", "0.625"),
    number: Number::mean(|_, row| of_unit(mass_in_truth(row))),
    ..BEYOND_AGREEMENT
};

pub(crate) const RELEVANCE_RANK: Line = Line {
    id: "relevance_rank",
    measures: "The share of the P highest values that lie in the truth, P being its size.",
    formula: "(hits above the last level + slots * tie_hits/ties)/P; mean over units.",
    undefined: reasons!(mask, "target mask has no positive element"),
    differs: "Ties at the last level count by expectation, so the order of equal values does not matter.",
    reference: CLEVR,
    example: ("mask", "0.75"),
    number: Number::mean(|_, row| of_unit(top_in_truth(row))),
    ..BEYOND_AGREEMENT
};
