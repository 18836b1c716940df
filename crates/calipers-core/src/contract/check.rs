//! What was stored is trusted no more than data. A state may come from a stranger: its parameters and rows must
//! be what some run could have stored, so that nothing behind the decoding has to ask again.

use std::fmt::{Display, Formatter};

use crate::error::{Error, Result};
use crate::exact::CompactSum;

/// The longest name of a unit, in bytes.
pub const NAME: usize = 4 << 10;
/// No run counts further; more would not fit the arithmetic behind it.
pub const COUNT: u64 = 1 << 63;

/// Refuses a field that holds what no run stores.
pub fn keep(holds: bool, field: impl Display, found: impl Display, allowed: impl Display) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::format("a stored value that no run gives").at(field).found(found).allowed(allowed))
}

/// Refuses a count above a limit.
pub fn at_most(field: impl Display, found: u64, most: u64) -> Result<()> {
    keep(found <= most, field, found, format_args!("0 to {most}"))
}

/// Refuses a list of another length.
pub fn long(field: impl Display, found: usize, length: usize) -> Result<()> {
    keep(found == length, field, format_args!("{found} entries"), format_args!("{length} entries"))
}

/// Refuses a number outside a range, and NaN. The ends of a range of all numbers are infinite, and not in it.
pub fn within(field: impl Display, found: f64, least: f64, most: f64) -> Result<()> {
    let holds = found.is_finite() && least <= found && found <= most;
    keep(holds, field, found, format_args!("{least} to {most}, finite"))
}

/// Refuses NaN and infinities.
pub fn finite(field: impl Display, found: f64) -> Result<()> {
    within(field, found, f64::NEG_INFINITY, f64::INFINITY)
}

/// Refuses a sum that is not finite, or of so many terms none of which is negative or above `largest`. What
/// rounding adds to the terms is allowed for.
pub fn sum(field: impl Display, found: &CompactSum, terms: u64, largest: f64) -> Result<()> {
    // A term may be rounded up, and a mean is compared with the exact limit.
    const ROUNDED: f64 = 1.0 + 1e-9;
    let most = if terms == 0 { 0.0 } else { terms as f64 * largest * ROUNDED };
    within(field, found.value(), 0.0, most)
}

/// Refuses a sum below 0, and NaN. One of finite terms may be beyond the largest number.
pub fn positive_sum(field: impl Display, found: &CompactSum) -> Result<()> {
    let found = found.value();
    keep(found >= 0.0, field, found, "0 or more")
}

/// Refuses a sum that is not a number.
pub fn number_sum(field: impl Display, found: &CompactSum) -> Result<()> {
    let found = found.value();
    keep(!found.is_nan(), field, found, "a number")
}

/// Refuses a sum that is not finite.
pub fn finite_sum(field: impl Display, found: &CompactSum) -> Result<()> {
    finite(field, found.value())
}

/// The name of a unit, or of a thing in it, as a row may have it.
pub fn name(field: impl Display, found: &str) -> Result<()> {
    let shown = Shown(found);
    keep(!found.is_empty() && found.len() <= NAME, field, shown, format_args!("1 to {NAME} bytes of text"))
}

/// The first characters of a name that may be long.
struct Shown<'a>(&'a str);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let short: String = self.0.chars().take(40).collect();
        write!(f, "{short:?}, {} bytes", self.0.len())
    }
}

/// The sum of counts, which may be beyond 64 bits.
pub fn total(counts: impl IntoIterator<Item = u64>) -> u128 {
    counts.into_iter().map(u128::from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_field_found_and_allowed() {
        let said = at_most("top.ties", 7, 6).unwrap_err().to_string();
        assert!(["top.ties", "7", "0 to 6"].iter().all(|word| said.contains(word)), "{said}");
        assert!(at_most("top.ties", 6, 6).is_ok());
        assert!(long("bins", 3, 4).is_err() && long("bins", 4, 4).is_ok());
        assert!(name("unit", "").is_err() && name("unit", "a").is_ok());
        let said = name("unit", &"x".repeat(NAME + 1)).unwrap_err().to_string();
        assert!(said.len() < 300, "{said}");
    }

    #[test]
    fn numbers_and_sums_outside_their_range_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, -0.5, 1.5] {
            assert!(within("x", bad, 0.0, 1.0).is_err(), "{bad}");
        }
        assert!(finite("x", f64::MAX).is_ok() && finite("x", f64::NEG_INFINITY).is_err());
        let of = |terms: &[f64]| terms.iter().copied().collect::<CompactSum>();
        assert!(sum("x", &of(&[0.5, 1.0]), 2, 1.0).is_ok());
        assert!(sum("x", &of(&[0.5, 1.0]), 1, 1.0).is_err());
        assert!(sum("x", &of(&[f64::NAN]), 1, 1.0).is_err() && sum("x", &of(&[-1.0]), 9, 1.0).is_err());
        assert!(
            sum("x", &of(&[]), 0, f64::INFINITY).is_ok() && sum("x", &of(&[1e300]), 1, f64::INFINITY).is_ok()
        );
    }
}
