//! What every family reads from counts: a number, or why there is none.

use std::borrow::Cow;

use calipers_core::exact::rounded_quotient;

/// Why there is no value.
pub(crate) type Reason = Cow<'static, str>;

/// A number, or why there is none.
pub(crate) type Reading = Result<f64, Reason>;

/// A quotient of whole numbers, rounded once, or the reason why its divisor is 0.
pub(crate) fn quotient(
    numerator: impl Into<i128>,
    divisor: impl Into<i128>,
    reason: &'static str,
) -> Reading {
    match divisor.into() {
        0 => Err(reason.into()),
        divisor => Ok(rounded_quotient(numerator.into(), divisor)),
    }
}
