//! The strength of an attack: a decimal fraction of the edges, compared and multiplied exactly.

use std::cmp::Ordering;
use std::fmt;

use calipers_core::{Error, Result};
use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use calipers_core::NumberSlice;
use calipers_core::exact::Rational;

/// More digits than any float needs, and too few to make sums of them slow.
const MAX_DIGITS: i64 = 400;

/// A share of the undirected clean edges that may be flipped, known by its decimal text.
///
/// ```
/// use calipers_metrics::robustness::Budget;
/// let budget = Budget::parse("0.050")?;
/// assert_eq!(budget.label(), "0.05");
/// assert_eq!(budget.allowed(5069), 253);
/// # Ok::<(), calipers_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Budget {
    /// Digits, and after a point more of them without a zero at the end.
    label: String,
}

impl Budget {
    /// Reads a decimal fraction; an exponent is allowed.
    pub fn parse(text: &str) -> Result<Self> {
        canonical(text).map(|label| Self { label }).ok_or_else(|| {
            Error::value(format!("{text:?} is not a decimal fraction >= 0"))
                .advice("write a budget as a share of the edges, such as 0.05")
        })
    }

    /// The budget that a number of an array stands for: the shortest text that reads back to the
    /// same number of its type.
    pub fn from_cell(cells: &NumberSlice<'_>, position: usize) -> Result<Self> {
        Self::parse(&match cells {
            NumberSlice::F16(values) => {
                shortest(values[position].to_f64(), |x| half::f16::from_f64(x).to_f64())
            }
            NumberSlice::BF16(values) => {
                shortest(values[position].to_f64(), |x| half::bf16::from_f64(x).to_f64())
            }
            NumberSlice::F32(values) => values[position].to_string(),
            NumberSlice::F64(values) => values[position].to_string(),
            NumberSlice::Int(_) | NumberSlice::Bool(_) => cells.shown(position),
        })
    }

    /// The decimal text without trailing zeros.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// How many flips it allows among so many clean edges: the product, rounded down exactly.
    pub fn allowed(&self, edges: u64) -> u64 {
        let value = self.value();
        let flips = value.numerator().magnitude() * edges / value.denominator();
        u64::try_from(flips).unwrap_or(u64::MAX)
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.label == "0"
    }

    /// Whether it asks for more flips than there are edges.
    pub(in crate::robustness) fn exceeds_all(&self) -> bool {
        let (whole, fraction) = self.parts();
        whole.len() > 1 || whole > "1" || (whole == "1" && !fraction.is_empty())
    }

    /// The exact value.
    pub(in crate::robustness) fn value(&self) -> Rational {
        let (whole, fraction) = self.parts();
        let digits = format!("{whole}{fraction}");
        let numerator = BigUint::parse_bytes(digits.as_bytes(), 10).expect("a label is made of digits");
        Rational::new(numerator.into(), BigUint::from(10u32).pow(fraction.len() as u32))
    }

    fn parts(&self) -> (&str, &str) {
        self.label.split_once('.').unwrap_or((&self.label, ""))
    }
}

impl PartialOrd for Budget {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Budget {
    /// By value: without zeros at the ends, text of one length orders as numbers do.
    fn cmp(&self, other: &Self) -> Ordering {
        let ((whole, fraction), (other_whole, other_fraction)) = (self.parts(), other.parts());
        (whole.len(), whole, fraction).cmp(&(other_whole.len(), other_whole, other_fraction))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl From<Budget> for String {
    fn from(budget: Budget) -> Self {
        budget.label
    }
}

impl TryFrom<String> for Budget {
    type Error = String;

    fn try_from(label: String) -> std::result::Result<Self, String> {
        match canonical(&label) {
            Some(text) if text == label => Ok(Self { label }),
            _ => Err(format!("{label:?} is not the label of a budget")),
        }
    }
}

/// The label of a decimal text: plain digits, no zeros that do not count.
fn canonical(text: &str) -> Option<String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() as i64 > MAX_DIGITS || exponent.abs() > MAX_DIGITS {
        return None;
    }
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let point = whole.len() as i64 + exponent;
    let before = point.max(0) as usize;
    let zeros = "0".repeat((-point).max(0) as usize);
    let mut digits = format!("{zeros}{digits}");
    while digits.len() < before {
        digits.push('0');
    }
    let (whole, fraction) = digits.split_at(before);
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { whole.into() } else { format!("{whole}.{fraction}") })
}

/// The shortest decimal text that a narrow type reads as the same number.
fn shortest(value: f64, narrow: impl Fn(f64) -> f64) -> String {
    (0..17)
        .map(|digits| format!("{value:.digits$e}"))
        .find(|text| text.parse().is_ok_and(|read: f64| narrow(read).to_bits() == value.to_bits()))
        .unwrap_or_else(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::prelude::*;

    use super::*;

    fn label(text: &str) -> Option<String> {
        Budget::parse(text).ok().map(String::from)
    }

    #[test]
    fn zeros_that_do_not_count_are_left_out() {
        for (text, expected) in [
            ("0.050", "0.05"),
            ("0", "0"),
            ("0.0", "0"),
            ("000.50", "0.5"),
            ("10", "10"),
            ("1e-05", "0.00001"),
            ("1.5E2", "150"),
            ("12.5e-1", "1.25"),
            (".5", "0.5"),
            ("5.", "5"),
        ] {
            assert_eq!(label(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_fraction_is_named() {
        for text in ["five", "-0.1", "nan", "", ".", "inf", "+1", "1_0", "0,5", "1e", "1e999999", " 1"] {
            let error = Budget::parse(text).unwrap_err().to_string();
            assert!(error.contains("is not a decimal fraction >= 0") && error.contains(text), "{error}");
        }
    }

    #[test]
    fn numbers_of_arrays_get_their_shortest_text() {
        assert_eq!(Budget::from_cell(&NumberSlice::F32(&[0.05]), 0).unwrap().label(), "0.05");
        assert_eq!(
            Budget::from_cell(&NumberSlice::F64(&[0.05f32.into()]), 0).unwrap().label(),
            "0.05000000074505806"
        );
        assert_eq!(Budget::from_cell(&NumberSlice::F16(&[f16::from_f32(0.05)]), 0).unwrap().label(), "0.05");
        assert_eq!(Budget::from_cell(&NumberSlice::Int(&[5]), 0).unwrap().label(), "5");
        assert!(Budget::from_cell(&NumberSlice::F64(&[f64::NAN]), 0).is_err());
    }

    #[test]
    fn allowed_flips_are_rounded_down_in_decimal() {
        assert_eq!(Budget::parse("0.1").unwrap().allowed(30), 3);
        assert_eq!(Budget::parse("0.3").unwrap().allowed(10), 3);
        assert_eq!(Budget::parse("0.29").unwrap().allowed(100), 29);
        assert_eq!(Budget::parse("0.05").unwrap().allowed(19), 0);
        assert!(!Budget::parse("1").unwrap().exceeds_all() && Budget::parse("1.01").unwrap().exceeds_all());
        assert!(Budget::parse("5").unwrap().exceeds_all() && !Budget::parse("0.99").unwrap().exceeds_all());
    }

    proptest! {
        #[test]
        fn labels_order_as_their_values_do(a in 0u32..2000, b in 0u32..2000) {
            let budget = |n: u32| Budget::parse(&format!("{n}e-3")).unwrap();
            prop_assert_eq!(budget(a).cmp(&budget(b)), a.cmp(&b));
            let again = serde_json::to_string(&budget(a)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Budget>(&again).unwrap(), budget(a));
        }
    }
}
