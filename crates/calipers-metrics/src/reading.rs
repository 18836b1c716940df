//! What every family reads from counts: a number, or why there is none.

use std::borrow::Cow;

use calipers_core::Value;
use calipers_core::exact::rounded_quotient;

/// Why there is no value.
pub(crate) type Reason = Cow<'static, str>;

/// A number, or why there is none.
pub(crate) type Reading = Result<f64, Reason>;

/// What a report prints for a number.
pub(crate) fn number(reading: Reading) -> Value {
    reading.map_or_else(Value::Undefined, Value::Number)
}

/// What a report prints for numbers by name.
pub(crate) fn per_label<'n>(reading: Result<impl IntoIterator<Item = (&'n str, Reading)>, Reason>) -> Value {
    reading.map_or_else(Value::Undefined, |entries| {
        Value::PerLabel(entries.into_iter().map(|(name, value)| (name.into(), number(value))).collect())
    })
}

/// A quotient of whole numbers, rounded once; the reason when the divisor is 0.
pub(crate) fn quotient(
    numerator: impl Into<i128>,
    divisor: impl Into<i128>,
    reason: impl Into<Reason>,
) -> Reading {
    match divisor.into() {
        0 => Err(reason.into()),
        divisor => Ok(rounded_quotient(numerator.into(), divisor)),
    }
}

/// Refuses a condition that leaves no number.
pub(crate) fn unless(condition: bool, reason: &'static str) -> Result<(), Reason> {
    if condition { Err(reason.into()) } else { Ok(()) }
}
