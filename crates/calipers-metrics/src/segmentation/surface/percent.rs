//! A share in per cent, taken as the decimal number that was written.

use calipers_core::exact::rounded_quotient;

/// Decimal places that a share may have.
const MOST_PLACES: u32 = 20;

/// `numerator / (100 * denominator)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percent {
    numerator: i128,
    denominator: i128,
}

impl Percent {
    /// The shortest decimal that is stored as this float; of a share too small for that, none.
    pub(crate) fn new(percent: f64) -> Option<Self> {
        (0..=MOST_PLACES).find_map(|places| {
            let denominator = 10i128.pow(places);
            let numerator = (percent * denominator as f64).round() as i128;
            let is_it = rounded_quotient(numerator, denominator).total_cmp(&percent).is_eq();
            is_it.then_some(Self { numerator, denominator })
        })
    }

    /// A whole share.
    pub(crate) const fn whole(percent: u8) -> Self {
        Self { numerator: percent as i128, denominator: 1 }
    }

    /// The whole part of this share of a count.
    pub(crate) fn of(self, count: i128) -> i128 {
        count * self.numerator / (100 * self.denominator)
    }

    /// Where this percentile of so many sorted values lies: the position below, and the way from there to
    /// the next one.
    pub(crate) fn place(self, count: i128) -> (i128, f64) {
        let (scaled, whole) = ((count - 1) * self.numerator, 100 * self.denominator);
        (scaled / whole, rounded_quotient(scaled % whole, whole))
    }

    /// As a share of 1.
    pub(crate) fn share(self) -> f64 {
        rounded_quotient(self.numerator, 100 * self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_decimal_numbers_that_were_written() {
        assert_eq!(Percent::new(29.0).unwrap().of(100), 29);
        assert_eq!(Percent::new(99.9), Some(Percent { numerator: 999, denominator: 10 }));
        assert_eq!(Percent::new(0.5).unwrap().place(21), (0, 0.1));
        assert_eq!(Percent::whole(95).place(10), (8, 0.55));
        assert_eq!(Percent::new(1e-300), None);
        assert!(Percent::new(100.0 / 3.0).is_some());
    }
}
