//! Whether a value is the one that was written down.

use calipers_core::Value;
use serde_json::Value as Json;

/// How far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// Bit for bit.
    Exact,
    /// Units in the last place.
    Ulps(u64),
    Absolute(f64),
    Relative(f64),
    /// Times max(1, |x|).
    Mixed(f64),
}

impl Tolerance {
    fn allows(self, found: f64, expected: f64) -> bool {
        let apart = (found - expected).abs();
        match self {
            Self::Exact => found.to_bits() == expected.to_bits(),
            Self::Ulps(ulps) => found.to_bits().abs_diff(expected.to_bits()) <= ulps,
            Self::Absolute(eps) => apart <= eps,
            Self::Relative(eps) => apart <= eps * expected.abs(),
            Self::Mixed(eps) => apart <= eps * expected.abs().max(1.0),
        }
    }
}

/// Whether a value is the expected one; `null` stands for any reason.
pub(crate) fn agrees(value: &Value, expected: &Json, tolerance: Tolerance) -> bool {
    match (value, expected) {
        (Value::Undefined(_), expected) => expected.is_null(),
        (Value::Text(text), expected) => expected.as_str() == Some(text),
        (Value::Count(count), expected) => expected.as_i64().map(i128::from) == Some(*count),
        (Value::Number(x), Json::Number(y)) => tolerance.allows(*x, y.as_f64().expect("a double")),
        (Value::Series(points), Json::Array(expected)) => {
            points.len() == expected.len()
                && points.iter().zip(expected).all(|(point, expected)| agrees(point, expected, tolerance))
        }
        (Value::PerLabel(entries), Json::Object(expected)) => {
            let mut both = entries.iter().zip(expected);
            entries.len() == expected.len()
                && both
                    .all(|((name, value), (key, expected))| name == key && agrees(value, expected, tolerance))
        }
        _ => false,
    }
}
