//! What a reading gives before it becomes a [`Value`]: a number, or the reason why there is none.

use calipers_core::Value;
use calipers_core::exact::rounded_quotient;

/// Why there is no value.
pub(crate) type Reason = &'static str;

/// A number, or why there is none.
pub(crate) type Reading = Result<f64, Reason>;

/// What a report prints for a number.
pub(crate) fn number(reading: Reading) -> Value {
    reading.map_or_else(Value::undefined, Value::Number)
}

/// One correctly rounded division of whole numbers; `reason` when the divisor is 0.
pub(crate) fn quotient(numerator: impl Into<i128>, divisor: impl Into<i128>, reason: Reason) -> Reading {
    let (numerator, divisor) = (numerator.into(), divisor.into());
    if divisor == 0 { Err(reason) } else { Ok(rounded_quotient(numerator, divisor)) }
}
