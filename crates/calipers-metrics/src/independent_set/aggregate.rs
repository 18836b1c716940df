//! From graphs to the data set: the mean, the pooled quotient and the total.
//!
//! In all three, graphs without their inputs are left out; if none is left the aggregate has the
//! reason of the first graph in key order.

use calipers_core::exact::rounded_quotient;
use calipers_core::{ExactSum, Rows, Value};

use super::evidence::{NO_UNITS, Reading, Reason};
use super::row::Row;

/// One correctly rounded division of whole numbers; `reason` when the divisor is 0.
pub(crate) fn quotient(numerator: impl Into<i128>, divisor: impl Into<i128>, reason: Reason) -> Reading {
    let (numerator, divisor) = (numerator.into(), divisor.into());
    if divisor == 0 { Err(reason) } else { Ok(rounded_quotient(numerator, divisor)) }
}

/// What a report prints for a number.
pub(crate) fn number(reading: Reading) -> Value {
    reading.map_or_else(Value::undefined, Value::Number)
}

/// What a report prints for a whole number.
pub(crate) fn count(reading: Result<i128, Reason>) -> Value {
    reading.map_or_else(Value::undefined, Value::Count)
}

/// What a report prints for a curve.
pub(crate) fn series(reading: Result<Vec<f64>, Reason>) -> Value {
    reading.map_or_else(Value::undefined, |points| {
        Value::Series(points.into_iter().map(Value::Number).collect())
    })
}

/// The graphs' evidence where they have it.
pub(crate) fn present<'a, T>(
    rows: &Rows<'a, Row>,
    evidence: impl Fn(&'a Row) -> Result<T, Reason>,
) -> Result<Vec<T>, Reason> {
    let mut found = Vec::with_capacity(rows.len());
    let mut missing = None;
    for row in rows.iter() {
        match evidence(row) {
            Ok(value) => found.push(value),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    if found.is_empty() { Err(missing.unwrap_or(NO_UNITS)) } else { Ok(found) }
}

/// The mean over the graphs where the value is defined.
pub(crate) fn mean(rows: &Rows<'_, Row>, per_graph: impl Fn(&Row) -> Reading) -> Reading {
    let values = present(rows, per_graph)?;
    Ok(mean_of(values.into_iter()))
}

/// The exact sum of at least one value, rounded once, divided by their number.
pub(crate) fn mean_of(mut values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let number = values.len();
    if number == 1 {
        // Single rows are read for tables and warnings, many times: the sum is the value, and as a
        // sum it has no negative zero.
        return values.next().unwrap_or(0.0) + 0.0;
    }
    exact_sum(values) / number as f64
}

/// The exact sum of the values, rounded once.
pub(crate) fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut sum = ExactSum::new();
    values.for_each(|value| sum.add(value));
    sum.value()
}

/// Numerators and denominators added over the graphs that have both, then one division.
pub(crate) fn pooled(
    rows: &Rows<'_, Row>,
    parts: impl Fn(&Row) -> Result<(i128, u64), Reason>,
    zero: Reason,
) -> Reading {
    let parts = present(rows, parts)?;
    let numerator: i128 = parts.iter().map(|part| part.0).sum();
    let divisor: i128 = parts.iter().map(|part| i128::from(part.1)).sum();
    quotient(numerator, divisor, zero)
}

/// The same for float sums: each graph gives its terms and its whole-number denominator, which is
/// not 0.
pub(crate) fn pooled_sum<const TERMS: usize>(
    rows: &Rows<'_, Row>,
    parts: impl Fn(&Row) -> Result<([f64; TERMS], u64), Reason>,
) -> Reading {
    let parts = present(rows, parts)?;
    let divisor: u64 = parts.iter().map(|part| part.1).sum();
    Ok(exact_sum(parts.iter().flat_map(|part| part.0)) / divisor as f64)
}

/// The sum over the graphs that have the count.
pub(crate) fn total(rows: &Rows<'_, Row>, per_graph: impl Fn(&Row) -> Result<i128, Reason>) -> Value {
    count(present(rows, per_graph).map(|counts| counts.into_iter().sum()))
}
