//! What drawing holds in memory at once, so that too much of it is refused before anything is drawn.

use crate::error::{Error, Result};
use crate::resample::BLOCK;

/// Beside everything counted here: sums of pieces, and what the program needs anyway.
const BESIDE: u128 = 64 << 20;
/// The lists of blocks, by sample: a place in a list for every model, a lock and a range for every block.
const LISTED: u128 = 4;
/// The weight of a row in a resample, once as a count and once as a float.
const WEIGHT: u128 = 12;

/// What is held while intervals are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// How many numbers each sample has, over all models.
    pub numbers: usize,
    /// How many resamples are drawn.
    pub resamples: u32,
    /// How many samples there are beside them: without a sampling unit, or of one alone.
    pub others: usize,
    /// How many numbers are copied at once, so that their interval can be made.
    pub columns: usize,
    /// How many rows there are.
    pub rows: usize,
    /// How many workers each have the weights of some resamples.
    pub workers: usize,
    /// Bytes that are held beside all of this.
    pub more: u128,
}

impl Held {
    /// Bytes per sample.
    fn each(&self) -> u128 {
        8 * (self.numbers.max(1) as u128 + self.columns as u128) + LISTED
    }

    /// Bytes that do not depend on the number of resamples.
    fn fixed(&self) -> u128 {
        let weights = WEIGHT * self.rows as u128 * u128::from(BLOCK) * self.workers as u128;
        self.each() * self.others as u128 + weights + self.more + BESIDE
    }

    /// Bytes altogether.
    fn bytes(&self) -> u128 {
        self.each() * u128::from(self.resamples) + self.fixed()
    }

    /// Refuses more than is allowed, half of the machine's memory where nobody said; `option` is what asked
    /// for resamples.
    pub fn within(&self, half: u64, option: &str) -> Result<()> {
        let Self { numbers, resamples, .. } = self;
        if self.bytes() <= u128::from(half) {
            return Ok(());
        }
        let most = u128::from(half).saturating_sub(self.fixed()) / self.each();
        Err(Error::usage(format!("{resamples} resamples of {numbers} numbers do not fit into memory"))
            .at(option)
            .found(format!("{} MiB", self.bytes() >> 20))
            .allowed(format!(
                "{} MiB, half of what there is unless --memory says: at most {most} resamples",
                half >> 20
            ))
            .advice("draw fewer resamples, or ask for fewer numbers"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_that_a_message_names_fits_and_one_more_does_not() {
        let held =
            Held { numbers: 7, others: 90, columns: 2, rows: 1000, workers: 2, more: 5, ..Held::default() };
        let half = 200 << 20;
        let said = Held { resamples: u32::MAX, ..held }.within(half, "--bootstrap").unwrap_err().to_string();
        let most = said.split("at most ").nth(1).unwrap().split(' ').next().unwrap();
        let most: u32 = most.parse().unwrap();
        assert!(Held { resamples: most, ..held }.within(half, "--bootstrap").is_ok(), "{said}");
        assert!(Held { resamples: most + 1, ..held }.within(half, "--bootstrap").is_err(), "{said}");
        assert!(said.contains("--bootstrap") && said.contains("200 MiB"), "{said}");
    }

    #[test]
    fn everything_that_grows_is_counted() {
        let held = Held { numbers: 10, resamples: 1000, ..Held::default() };
        let more = |held: Held| held.bytes();
        let least = more(held);
        for other in [
            Held { numbers: 11, ..held },
            Held { resamples: 1001, ..held },
            Held { others: 1, ..held },
            Held { columns: 1, ..held },
            Held { rows: 1, workers: 1, ..held },
            Held { more: 1, ..held },
        ] {
            assert!(more(other) > least, "{other:?}");
        }
    }

    #[test]
    fn the_largest_numbers_are_refused_without_an_overflow() {
        let most = usize::MAX;
        let held = Held {
            numbers: most,
            resamples: u32::MAX,
            others: 1 << 40,
            columns: 0,
            rows: most,
            workers: 64,
            more: 0,
        };
        assert!(held.within(u64::MAX, "--bootstrap").is_err());
    }
}
