//! Numbers or reasons: how counts and sums of rows become quotients, means and series.

use std::borrow::Cow;

use calipers_core::exact::exact_sum;
use calipers_core::exact::rounded_quotient;
use calipers_core::{CompactSum, ExactSum, Rows, Value};

use super::row::Row;

/// Why there is no value.
pub(crate) type Reason = Cow<'static, str>;

/// A number, or why there is none.
pub(crate) type Reading = Result<f64, Reason>;

pub(crate) const NO_INSTANCES: &str = "no explained instances";
pub(crate) const ZERO_WEIGHT: &str = "0/0: weight 0 on a fidelity term of 0";
pub(crate) const LENGTHS_DIFFER: &str = "curves have different lengths";
pub(crate) const AXES_DIFFER: &str = "units have different x";
pub(crate) const NO_ELEMENTS: &str = "mask has no elements";
pub(crate) const NO_POSITIVE: &str = "target mask has no positive element";
pub(crate) const NO_NEGATIVE: &str = "target mask has no negative element";
pub(crate) const NONE_SELECTED: &str = "no element is selected (pred_mask > threshold)";
pub(crate) const NEITHER: &str = "neither mask has a positive element";
pub(crate) const ZERO_MASK: &str = "mask is zero everywhere";
pub(crate) const NO_RANGE: &str = "x range is 0";
pub(crate) const PUBLISHED_NAN: &str = "published code returns NaN";
/// What a single unit shows in the table of units for evidence it lacks.
const NO_EVIDENCE: &str = "the unit lacks a key that this needs";
const TOO_LARGE: &str = "infinite: beyond the largest number";

/// The value that reports print.
pub(crate) fn number(reading: Reading) -> Value {
    match reading {
        Ok(x) if x.is_finite() => Value::Number(x),
        Ok(_) => Value::undefined(TOO_LARGE),
        Err(reason) => Value::Undefined(reason),
    }
}

/// The same, for a reading that needs evidence.
pub(crate) fn given(reading: Option<Reading>) -> Value {
    reading.map_or(Value::undefined(NO_EVIDENCE), number)
}

/// A quotient of whole numbers, or the reason why its divisor is 0.
pub(crate) fn ratio(numerator: impl Into<i128>, divisor: impl Into<i128>, reason: &'static str) -> Reading {
    match divisor.into() {
        0 => Err(reason.into()),
        divisor => Ok(rounded_quotient(numerator.into(), divisor)),
    }
}

/// Refuses a condition that makes every number undefined.
pub(crate) fn unless(condition: bool, reason: &'static str) -> Result<(), Reason> {
    if condition { Err(reason.into()) } else { Ok(()) }
}

/// The mean of the defined values; of none, the first reason. `None` without values.
pub(crate) fn mean(values: impl Iterator<Item = Reading> + Clone) -> Option<Reading> {
    let first = values.clone().next()?;
    let mut sum = ExactSum::new();
    let mut count = 0u64;
    for value in values.flatten() {
        sum.add(value);
        count += 1;
    }
    Some(if count == 0 { first } else { Ok(sum.value() / count as f64) })
}

/// The quotient of counts of all rows that have them.
pub(crate) fn pooled(rows: &Rows<'_, Row>, counts: impl Fn(&Row) -> Option<(i128, u64)>) -> Option<Reading> {
    let found: Vec<(i128, u64)> = rows.iter().filter_map(counts).collect();
    let numerator: i128 = found.iter().map(|counts| counts.0).sum();
    let divisor: i128 = found.iter().map(|counts| i128::from(counts.1)).sum();
    (!found.is_empty()).then(|| ratio(numerator, divisor, NO_INSTANCES))
}

/// An exact sum of all rows that have it, divided by their counts.
pub(crate) fn pooled_mean(
    rows: &Rows<'_, Row>,
    sums: impl for<'r> Fn(&'r Row) -> Option<(&'r CompactSum, u64)>,
) -> Option<Reading> {
    let mut total = ExactSum::new();
    let mut count = None;
    for row in rows.iter() {
        if let Some((sum, more)) = sums(row) {
            sum.add_to(&mut total);
            *count.get_or_insert(0u64) += more;
        }
    }
    count.map(|count| divided(total.value(), count))
}

/// The sum of a number of all rows that have it, divided by their counts.
pub(crate) fn pooled_numbers(
    rows: &Rows<'_, Row>,
    numbers: impl Fn(&Row) -> Option<(f64, u64)>,
) -> Option<Reading> {
    let found: Vec<(f64, u64)> = rows.iter().filter_map(numbers).collect();
    let count = found.iter().map(|number| number.1).sum();
    (!found.is_empty()).then(|| divided(exact_sum(found.iter().map(|number| number.0)), count))
}

fn divided(sum: f64, count: u64) -> Reading {
    if count == 0 { Err(NO_INSTANCES.into()) } else { Ok(sum / count as f64) }
}
