//! Masks against their truths, all elements together.

use super::TRUTH;
use super::agreement::{Share, accuracy, agreement, f1_score, jaccard, precision, recall};
use crate::explanation::metrics::*;
use crate::explanation::row::Confusion;

const ROWS: usize = 0;
const TP: usize = 1;
const FP: usize = 2;
const TN: usize = 3;
const FN: usize = 4;

fn counts(_: &Explanation, row: &Row, terms: &mut Terms<'_>) {
    let Some(Confusion { tp, fp, tn, fn_ }) = agreement(row).map(|agreement| agreement.confusion) else {
        return;
    };
    for (column, count) in [(ROWS, 1), (TP, tp), (FP, fp), (TN, tn), (FN, fn_)] {
        terms.whole(column, count);
    }
}

/// A share of the counts of all units together, as every preset but the published code has it.
fn pooled(sums: &Sums<'_, Row>, share: Share) -> Value {
    let [rows, tp, fp, tn, fn_] = [ROWS, TP, FP, TN, FN].map(|column| sums.whole(column) as u64);
    if rows == 0 {
        return given(None);
    }
    number(share(&Explanation::default(), &Confusion { tp, fp, tn, fn_ }))
}

const POOLED: Line =
    Line { group: "pooled", better: higher, range: SHARE, per_unit: true, needs: &[TRUTH], ..BEYOND };

pub(crate) const ACCURACY_POOLED: Line = Line {
    id: "accuracy_pooled",
    measures: "accuracy with every element counting the same.",
    formula: "(tp + tn)/n of the counts of all units together.",
    undefined: "\"mask has no elements\".",
    differs: "Large masks weigh more than in accuracy.",
    example: ("pooled", "0.5"),
    number: Number::pooled(counts, |_, sums| pooled(sums, accuracy)),
    ..POOLED
};

pub(crate) const RECALL_POOLED: Line = Line {
    id: "recall_pooled",
    measures: "recall with every element counting the same.",
    formula: "tp/(tp + fn) of the counts of all units together.",
    undefined: reasons!(mask, "target mask has no positive element"),
    differs: "Large masks weigh more than in recall.",
    example: ("pooled", "0.5"),
    number: Number::pooled(counts, |_, sums| pooled(sums, recall)),
    ..POOLED
};

pub(crate) const PRECISION_POOLED: Line = Line {
    id: "precision_pooled",
    measures: "precision with every element counting the same.",
    formula: "tp/(tp + fp) of the counts of all units together.",
    undefined: reasons!(mask, "no element is selected (pred_mask > threshold)"),
    differs: "Large masks weigh more than in precision.",
    example: ("pooled", "0.4"),
    number: Number::pooled(counts, |_, sums| pooled(sums, precision)),
    ..POOLED
};

pub(crate) const F1_SCORE_POOLED: Line = Line {
    id: "f1_score_pooled",
    measures: "f1_score with every element counting the same.",
    formula: "2tp/(2tp + fp + fn) of the counts of all units together.",
    undefined: reasons!(mask, "neither mask has a positive element"),
    differs: "Large masks weigh more than in f1_score.",
    example: ("pooled", "0.4444444444444444"),
    number: Number::pooled(counts, |_, sums| pooled(sums, f1_score)),
    ..POOLED
};

pub(crate) const JACCARD_POOLED: Line = Line {
    id: "jaccard_pooled",
    measures: "jaccard with every element counting the same.",
    formula: "tp/(tp + fp + fn) of the counts of all units together.",
    undefined: reasons!(mask, "neither mask has a positive element"),
    differs: "Large masks weigh more than in jaccard.",
    example: ("pooled", "0.2857142857142857"),
    number: Number::pooled(counts, |_, sums| pooled(sums, jaccard)),
    ..POOLED
};
