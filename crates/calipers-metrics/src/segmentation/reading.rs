//! Numbers or reasons: which rows a part of the report has, and how values become quotients,
//! means and tables.

use std::borrow::Cow;

use calipers_core::exact::rounded_quotient;
use calipers_core::{ExactSum, Rows, Value};

use super::protocol::{Kind, Measure, Segmentation};
use super::row::{CalibrationRow, PixelRow, Row};

/// Why there is no value.
pub(crate) type Reason = Cow<'static, str>;

/// A number, or why there is none.
pub(crate) type Reading = Result<f64, Reason>;

pub(crate) const NO_SCORED_PIXEL: Reason = Cow::Borrowed("no scored pixel");
pub(crate) const NO_CLASS: Reason = Cow::Borrowed("no class with a defined value");
pub(crate) const NO_UNIT: Reason = Cow::Borrowed("no unit with a defined value");
const NOT_REQUESTED: Reason = Cow::Borrowed("not requested");
const NO_PIXELS: Reason = Cow::Borrowed("confusion matrices carry no pixels");
const LABEL_MAPS: Reason = Cow::Borrowed("predictions are label maps, not probabilities");

/// How many parts of a unit the published epsilon of 1e-6 is one of.
const EPSILON_PARTS: i128 = 1_000_000;

/// Refuses a part that was not asked for.
pub(crate) fn requested(protocol: &Segmentation, measure: Measure) -> Result<(), Reason> {
    if protocol.measures(measure) { Ok(()) } else { Err(NOT_REQUESTED) }
}

/// What the rows keep of pixels, for a part that was asked for.
pub(crate) fn pixels<'a>(
    protocol: &Segmentation,
    rows: &Rows<'a, Row>,
    measure: Measure,
) -> Result<Vec<&'a PixelRow>, Reason> {
    requested(protocol, measure)?;
    rows.iter().map(|row| row.pixels.as_ref().ok_or(NO_PIXELS)).collect()
}

/// What the rows keep of probabilities, for a part that was asked for.
pub(crate) fn probabilities<'a>(
    protocol: &Segmentation,
    rows: &Rows<'a, Row>,
    measure: Measure,
) -> Result<Vec<&'a CalibrationRow>, Reason> {
    let pixels = pixels(protocol, rows, measure)?;
    if protocol.heads.iter().any(|head| head.kind == Kind::Labels) {
        return Err(LABEL_MAPS);
    }
    pixels.into_iter().map(|row| row.calibration.as_deref().ok_or(LABEL_MAPS)).collect()
}

/// One correctly rounded division of whole numbers; the reason when the divisor is 0.
pub(crate) fn quotient(numerator: i128, divisor: i128, reason: &'static str) -> Reading {
    if divisor == 0 { Err(reason.into()) } else { Ok(rounded_quotient(numerator, divisor)) }
}

/// `numerator / (divisor + 1e-6)`, correctly rounded.
pub(crate) fn guarded_quotient(numerator: i128, divisor: i128) -> f64 {
    rounded_quotient(EPSILON_PARTS * numerator, EPSILON_PARTS * divisor + 1)
}

/// The mean of the values that are defined.
pub(crate) fn mean(values: impl IntoIterator<Item = Reading>, none: Reason) -> Reading {
    let mut mean = Mean::default();
    values.into_iter().for_each(|value| mean.add(&value));
    mean.value(none)
}

/// A mean on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mean {
    sum: ExactSum,
    count: u64,
}

impl Mean {
    /// Takes in a value if it is defined.
    pub(crate) fn add(&mut self, value: &Reading) {
        if let Ok(value) = value {
            self.sum.add(*value);
            self.count += 1;
        }
    }

    /// Takes in the values of another mean.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        self.count += other.count;
    }

    /// The mean, or the reason when no value was defined.
    pub(crate) fn value(&self, none: Reason) -> Reading {
        if self.count == 0 { Err(none) } else { Ok(self.sum.value() / self.count as f64) }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_takes_the_defined_values_only() {
        assert_eq!(mean([Ok(0.25), Err(NO_UNIT), Ok(0.75)], NO_CLASS), Ok(0.5));
        assert_eq!(mean([Err(NO_UNIT)], NO_CLASS), Err(NO_CLASS));
    }

    #[test]
    fn the_guarded_quotient_adds_a_millionth_to_the_divisor() {
        assert_eq!(guarded_quotient(0, 0).to_bits(), 0f64.to_bits());
        assert!((guarded_quotient(3, 4) - 3.0 / 4.000_001).abs() < 1e-16);
    }
}
