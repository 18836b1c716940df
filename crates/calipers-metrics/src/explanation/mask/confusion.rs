//! A mask against its truth: counts at the thresholds, the best of several truths.

use std::cmp::Ordering;

use super::layout::{Bits, Masks, Values};
use super::ranking::Ranking;
use super::threshold::rounded;
use crate::explanation::row::{AgreementRow, Confusion, TypeRow};
use calipers_core::NumberSlice;

/// Elements by selection and truth.
pub(crate) fn confusion(selected: &Bits<'_>, truth: &Bits<'_>) -> Confusion {
    let mut counts = Confusion::default();
    selected.blocks(Some(truth), |_, selected, truth| {
        let both = selected.iter().zip(truth).map(|(a, b)| u32::from(a & b)).sum::<u32>();
        let (selected, truth) = (ones(selected), ones(truth));
        counts.tp += u64::from(both);
        counts.fp += u64::from(selected - both);
        counts.fn_ += u64::from(truth - both);
    });
    counts
}

fn ones(bits: &[bool]) -> u32 {
    bits.iter().map(|&bit| u32::from(bit)).sum()
}

/// How many elements are selected.
pub(crate) fn selected_count(selected: &Bits<'_>) -> u64 {
    let mut count = 0;
    selected.blocks(None, |_, selected, _| count += u64::from(ones(selected)));
    count
}

/// Counts of a mask against one truth.
fn counts(selected: &Bits<'_>, truth: &Bits<'_>, elements: usize) -> Confusion {
    let counts = confusion(selected, truth);
    Confusion { tn: elements as u64 - counts.tp - counts.fp - counts.fn_, ..counts }
}

/// The truth with the largest overlap tp/(tp+fp+fn): 0/0 is last, the first of equals wins.
pub(crate) fn best_truth(
    masks: &Masks<'_, '_>,
    selected: &Bits<'_>,
    threshold: f64,
    elements: usize,
) -> (usize, Confusion) {
    let mut best: Option<(usize, Confusion)> = None;
    for position in 0..masks.truths {
        let found = counts(selected, &masks.truth(position, threshold), elements);
        if best.as_ref().is_none_or(|(_, best)| overlap(&found, best).is_gt()) {
            best = Some((position, found));
        }
    }
    best.unwrap_or_default()
}

/// Compares two overlaps as fractions.
fn overlap(a: &Confusion, b: &Confusion) -> Ordering {
    let union = |counts: &Confusion| u128::from(counts.tp + counts.fp + counts.fn_);
    match (union(a), union(b)) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Less,
        (_, 0) => Ordering::Greater,
        (of_a, of_b) => (u128::from(a.tp) * of_b).cmp(&(u128::from(b.tp) * of_a)),
    }
}

/// Everything but the masses, which [`super::shape`] knows.
pub(crate) fn agreement(ranking: &Ranking, truth: usize, confusion: Confusion) -> AgreementRow {
    let order = ranking.order();
    AgreementRow {
        truth: truth as u64,
        confusion,
        twice_auroc: order.twice_auroc,
        precision: order.precision.into(),
        top: order.top,
        mass: Default::default(),
    }
}

/// One type alone.
pub(crate) fn of_type(values: &Values<'_>, selected: &Bits<'_>, truth: Option<&Bits<'_>>) -> TypeRow {
    let elements = values.len();
    let agreement = truth.map(|truth| {
        let confusion = counts(selected, truth, elements);
        (confusion, Ranking::new(values, Some(truth)).twice_auroc())
    });
    TypeRow { elements: elements as u64, selected: selected_count(selected), agreement }
}

/// Elements of a mask above its threshold against those of a target at or above its own; each
/// threshold is rounded to the type of its array. NaN is neither selected nor true.
pub fn mask_confusion(
    pred: NumberSlice<'_>,
    threshold: f64,
    target: NumberSlice<'_>,
    target_threshold: f64,
) -> Confusion {
    let selected = Bits::above(pred, rounded(pred, threshold));
    let truth = Bits::at_least(target, rounded(target, target_threshold));
    counts(&selected, &truth, pred.len())
}

/// 2 (pairs in order) + (tied pairs) between true and other elements, over the mask's own values.
/// NaN ranks above every number. Divided by 2 P Neg, the area under the ROC curve.
pub fn mask_auroc(pred: NumberSlice<'_>, target: NumberSlice<'_>, target_threshold: f64) -> u128 {
    let truth = Bits::at_least(target, rounded(target, target_threshold));
    Ranking::new(&Values::new(&[pred]), Some(&truth)).twice_auroc()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_a_plain_loop(
            elements in prop::collection::vec((0u8..9, 0u8..9), 0..9000),
            t in 0u8..9,
        ) {
            let pred: Vec<f32> = elements.iter().map(|e| f32::from(e.0) / 8.0).collect();
            let target: Vec<i64> = elements.iter().map(|e| i64::from(e.1)).collect();
            let threshold = f64::from(t) / 8.0;
            let found = mask_confusion(NumberSlice::F32(&pred), threshold, NumberSlice::Int(&target), f64::from(t));
            let count = |s: bool, u: bool| {
                elements.iter().filter(|e| (e.0 > t) == s && (e.1 >= t) == u).count() as u64
            };
            let expected = Confusion {
                tp: count(true, true),
                fp: count(true, false),
                tn: count(false, false),
                fn_: count(false, true),
            };
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_empty_overlap_is_larger_than_none_at_all() {
        let counts = |tp, fp, fn_| Confusion { tp, fp, tn: 0, fn_ };
        assert_eq!(overlap(&counts(0, 0, 1), &counts(0, 0, 0)), Ordering::Greater);
        assert_eq!(overlap(&counts(1, 1, 0), &counts(2, 2, 0)), Ordering::Equal);
        assert_eq!(overlap(&counts(1, 1, 1), &counts(1, 1, 0)), Ordering::Less);
    }
}
