//! Readings of masks: agreement with the truth, shape, stability.

use std::collections::BTreeMap;

use calipers_core::functions::ln;
use calipers_core::{Rows, Value};

use super::protocol::{Explanation, Preset};
use super::published;
use super::reading::{
    NEITHER, NO_ELEMENTS, NO_NEGATIVE, NO_POSITIVE, NONE_SELECTED, PUBLISHED_NAN, Reading, ZERO_MASK, given,
    mean, number, ratio, unless,
};
use super::row::{AgreementRow, Confusion, MaskRow, Row, StabilityRow, TypeRow};

/// The value of one unit; `None` where it lacks the evidence.
pub(crate) type UnitValue = fn(&Explanation, &Row) -> Option<Reading>;

/// The value of one type of a unit.
pub(crate) type TypeValue = fn(&Explanation, &TypeRow) -> Option<Reading>;

/// A quotient of counts under the protocol's conventions.
type Share = fn(&Explanation, &Confusion) -> Reading;

/// The mean over units.
pub(crate) fn over_units(protocol: &Explanation, rows: &Rows<'_, Row>, value: UnitValue) -> Value {
    given(mean(rows.iter().filter_map(|row| value(protocol, row))))
}

/// The mean over units for each type.
pub(crate) fn by_type(protocol: &Explanation, rows: &Rows<'_, Row>, value: TypeValue) -> Value {
    let mut types: BTreeMap<&str, Vec<Reading>> = BTreeMap::new();
    for (name, row) in rows.iter().filter_map(|row| row.mask.as_deref()).flat_map(|mask| &mask.types) {
        if let Some(value) = value(protocol, row) {
            types.entry(name).or_default().push(value);
        }
    }
    if types.is_empty() {
        return given(None);
    }
    let entries = types.into_iter();
    Value::PerLabel(entries.map(|(name, values)| (name.into(), given(mean(values.into_iter())))).collect())
}

/// The quotient of the counts of all units together.
pub(crate) fn from_sums(rows: &Rows<'_, Row>, share: Share) -> Value {
    let mut total: Option<Confusion> = None;
    for counts in rows.iter().filter_map(agreement).map(|agreement| agreement.confusion) {
        let sum = total.get_or_insert_default();
        sum.tp += counts.tp;
        sum.fp += counts.fp;
        sum.tn += counts.tn;
        sum.fn_ += counts.fn_;
    }
    match total {
        Some(counts) => number(share(&Explanation::default(), &counts)),
        None => given(None),
    }
}

/// A quotient of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Accuracy,
    Recall,
    Precision,
    F1,
    Jaccard,
}

impl Part {
    /// Its numerator and its divisor.
    fn of(self, counts: &Confusion) -> [u64; 2] {
        let Confusion { tp, fp, fn_, .. } = *counts;
        match self {
            Self::Accuracy => [tp + counts.tn, counts.elements()],
            Self::Recall => [tp, counts.positives()],
            Self::Precision => [tp, tp + fp],
            Self::F1 => [2 * tp, 2 * tp + fp + fn_],
            Self::Jaccard => [tp, tp + fp + fn_],
        }
    }
}

/// What one unit adds to the numerator and the divisor of a quotient of all units together.
pub(crate) fn pooled_parts(row: &Row, part: Part) -> Option<(i128, i128)> {
    let [numerator, divisor] = part.of(&agreement(row)?.confusion);
    Some((numerator.into(), divisor.into()))
}

/// How many mask elements there are.
pub(crate) fn num_mask_elements(rows: &Rows<'_, Row>) -> Value {
    match rows.iter().filter_map(mask).map(|mask| i128::from(mask.elements)).reduce(|a, b| a + b) {
        Some(count) => Value::Count(count),
        None => given(None),
    }
}

fn mask(row: &Row) -> Option<&MaskRow> {
    row.mask.as_deref()
}

fn agreement(row: &Row) -> Option<&AgreementRow> {
    mask(row)?.agreement.as_ref()
}

fn is_published(protocol: &Explanation) -> bool {
    protocol.preset == Preset::Pyg
}

/// A quotient as strict and published code have it.
fn quotient(
    protocol: &Explanation,
    counts: &Confusion,
    [part, of]: [u64; 2],
    reason: &'static str,
) -> Reading {
    if is_published(protocol) {
        unless(counts.elements() == 0, PUBLISHED_NAN)?;
        return Ok(published::ratio(part, of));
    }
    unless(counts.elements() == 0, NO_ELEMENTS)?;
    ratio(part, of, reason)
}

pub(crate) fn accuracy_of(protocol: &Explanation, counts: &Confusion) -> Reading {
    quotient(protocol, counts, Part::Accuracy.of(counts), NO_ELEMENTS)
}

pub(crate) fn recall_of(protocol: &Explanation, counts: &Confusion) -> Reading {
    quotient(protocol, counts, Part::Recall.of(counts), NO_POSITIVE)
}

pub(crate) fn precision_of(protocol: &Explanation, counts: &Confusion) -> Reading {
    quotient(protocol, counts, Part::Precision.of(counts), NONE_SELECTED)
}

pub(crate) fn f1_of(protocol: &Explanation, counts: &Confusion) -> Reading {
    quotient(protocol, counts, Part::F1.of(counts), NEITHER)
}

pub(crate) fn jaccard_of(protocol: &Explanation, counts: &Confusion) -> Reading {
    let [part, union] = Part::Jaccard.of(counts);
    if protocol.preset == Preset::Graphxai && counts.elements() > 0 {
        return Ok(part as f64 / (union as f64 + 1e-9));
    }
    quotient(protocol, counts, [part, union], NEITHER)
}

fn auroc_of(protocol: &Explanation, counts: &Confusion, twice: u128) -> Reading {
    if is_published(protocol) {
        unless(counts.elements() == 0, PUBLISHED_NAN)?;
        return Ok(published::auroc(counts, twice));
    }
    unless(counts.elements() == 0, NO_ELEMENTS)?;
    unless(counts.positives() == 0, NO_POSITIVE)?;
    let pairs = 2 * i128::from(counts.positives()) * i128::from(counts.negatives());
    ratio(twice as i128, pairs, NO_NEGATIVE)
}

macro_rules! shares {
    ($($name:ident $typed:ident $share:ident),*) => {
        $(
            pub(crate) fn $name(protocol: &Explanation, row: &Row) -> Option<Reading> {
                Some($share(protocol, &agreement(row)?.confusion))
            }

            pub(crate) fn $typed(protocol: &Explanation, row: &TypeRow) -> Option<Reading> {
                Some($share(protocol, &row.agreement?.0))
            }
        )*
    };
}
shares!(
    accuracy accuracy_typed accuracy_of,
    recall recall_typed recall_of,
    precision precision_typed precision_of,
    f1_score f1_score_typed f1_of,
    jaccard jaccard_typed jaccard_of
);

pub(crate) fn auroc(protocol: &Explanation, row: &Row) -> Option<Reading> {
    let agreement = agreement(row)?;
    Some(auroc_of(protocol, &agreement.confusion, agreement.twice_auroc))
}

pub(crate) fn auroc_typed(protocol: &Explanation, row: &TypeRow) -> Option<Reading> {
    let (counts, twice) = row.agreement?;
    Some(auroc_of(protocol, &counts, twice))
}

pub(crate) fn sparsity_typed(_: &Explanation, row: &TypeRow) -> Option<Reading> {
    Some(ratio(row.elements - row.selected, row.elements, NO_ELEMENTS))
}

pub(crate) fn average_precision(_: &Explanation, row: &Row) -> Option<Reading> {
    let agreement = agreement(row)?;
    Some(with_positives(&agreement.confusion).map(|places| agreement.precision.value() / places as f64))
}

pub(crate) fn relevance_mass(_: &Explanation, row: &Row) -> Option<Reading> {
    let (mask, agreement) = (mask(row)?, agreement(row)?);
    let share = |_| -> Reading {
        unless(mask.mass.value() <= 0.0, ZERO_MASK)?;
        Ok(agreement.mass.value() / mask.mass.value())
    };
    Some(with_positives(&agreement.confusion).and_then(share))
}

pub(crate) fn relevance_rank(_: &Explanation, row: &Row) -> Option<Reading> {
    let agreement = agreement(row)?;
    Some(with_positives(&agreement.confusion).and_then(|places| {
        let top = agreement.top;
        let [hits, slots, ties, tie_hits] = [top.hits, top.slots, top.ties, top.tie_hits].map(i128::from);
        ratio(hits * ties + slots * tie_hits, ties * i128::from(places), NO_ELEMENTS)
    }))
}

/// The size of a truth that is not empty.
fn with_positives(counts: &Confusion) -> Result<u64, super::reading::Reason> {
    unless(counts.elements() == 0, NO_ELEMENTS)?;
    unless(counts.positives() == 0, NO_POSITIVE)?;
    Ok(counts.positives())
}

pub(crate) fn sparsity(_: &Explanation, row: &Row) -> Option<Reading> {
    mask(row).map(|mask| ratio(mask.elements - mask.selected, mask.elements, NO_ELEMENTS))
}

pub(crate) fn zero_fraction(_: &Explanation, row: &Row) -> Option<Reading> {
    mask(row).map(|mask| ratio(mask.zeros, mask.elements, NO_ELEMENTS))
}

/// The mass of a mask that is not 0 everywhere.
fn positive_mass(mask: &MaskRow) -> Reading {
    unless(mask.elements == 0, NO_ELEMENTS)?;
    unless(mask.mass.value() <= 0.0, ZERO_MASK)?;
    Ok(mask.mass.value())
}

pub(crate) fn entropy(_: &Explanation, row: &Row) -> Option<Reading> {
    let mask = mask(row)?;
    Some(positive_mass(mask).map(|mass| (ln(mass) - mask.mass_log.value() / mass).max(0.0)))
}

pub(crate) fn gini(_: &Explanation, row: &Row) -> Option<Reading> {
    let mask = mask(row)?;
    Some(positive_mass(mask).map(|mass| mask.gini.value() / mass / mask.elements as f64))
}

fn stable(row: &Row, value: fn(&StabilityRow) -> Option<f64>) -> Option<Reading> {
    let mask = mask(row)?;
    let stability = mask.stability.as_ref()?;
    let reason = if mask.elements == 0 { NO_ELEMENTS } else { ZERO_MASK };
    Some(value(stability).ok_or(reason.into()))
}

pub(crate) fn instability_cosine(_: &Explanation, row: &Row) -> Option<Reading> {
    stable(row, |stability| stability.cosine_max)
}

pub(crate) fn instability_cosine_mean(_: &Explanation, row: &Row) -> Option<Reading> {
    stable(row, |stability| stability.cosine_mean)
}

pub(crate) fn sensitivity_max(_: &Explanation, row: &Row) -> Option<Reading> {
    stable(row, |stability| stability.sensitivity)
}
