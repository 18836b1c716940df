//! What a metric's reading returns: a number, a count, many of them, or a reason why there is none.

use std::borrow::Cow;

use crate::exact::rounded_quotient;

/// The value of one metric, or of one cell of the per-unit table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// A whole number; may be negative.
    Count(i128),
    /// Values by class, group, type, head or condition, in report order.
    PerLabel(Vec<(String, Value)>),
    /// Values in order: a curve, a sweep, the bins of a diagram.
    Series(Vec<Value>),
    /// A name, in cells of the per-unit table; never the value of a metric.
    Text(String),
    /// There is no value, and this is why.
    Undefined(Cow<'static, str>),
}

impl Value {
    /// No value, for a reason known in advance.
    pub const fn undefined(reason: &'static str) -> Self {
        Self::Undefined(Cow::Borrowed(reason))
    }

    /// A quotient of two whole numbers, correctly rounded; `reason` when the divisor is 0.
    pub fn ratio(numerator: i128, divisor: i128, reason: &'static str) -> Self {
        if divisor == 0 {
            Self::undefined(reason)
        } else {
            Self::Number(rounded_quotient(numerator, divisor))
        }
    }

    /// The number or count as f64, if there is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Count(n) => Some(*n as f64),
            _ => None,
        }
    }

    /// The reason why there is no value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Undefined(reason) => Some(reason),
            _ => None,
        }
    }
}
