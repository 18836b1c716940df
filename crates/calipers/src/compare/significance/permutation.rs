//! The paired permutation test: does the mean difference between two models come from which of
//! them is called which?
//!
//! Were the models alike, every unit's two values could as well be exchanged, so that each
//! difference is as likely with the other sign. The p-value is the share of all sign patterns whose
//! mean difference is at least as far from 0.

use std::ops::Range;

use calipers_core::resample::{Panels, Weights};

/// Up to so many differences that are not 0, every sign pattern is tried.
const EXACT: usize = 20;

/// The outcome of one test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The p-value, two-sided.
    pub p: f64,
    /// Whether every sign pattern was tried.
    pub exact: bool,
}

/// Differences as whole numbers of one power of two, the largest of them as long as sums stay exact.
fn whole(differences: &[f64]) -> Vec<i64> {
    let largest = differences.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    // The next power of two above the largest: dividing by it loses no digit of a difference.
    let exponent = (largest.to_bits() >> 52).clamp(1, 2045) + 1;
    let power = f64::from_bits(exponent << 52);
    let most = (1u64 << Panels::bits(differences.len())) as f64;
    differences.iter().map(|x| (x / power * most).round() as i64).collect()
}

/// How far two sums of so many rounded differences may be apart and still be the same: patterns that
/// tie count as extreme, whichever way their last digits fell.
fn tolerance(differences: usize) -> i64 {
    differences as i64
}

/// One test for each column of differences, all of them with the same `throws` random patterns
/// where the patterns are too many. A unit that is left out has a difference of 0.
pub struct Tests {
    columns: Vec<Vec<i64>>,
    panels: Panels,
    units: usize,
}

impl Tests {
    /// Columns of as many differences as there are units.
    pub fn new(units: usize, columns: &[Vec<f64>]) -> Self {
        let columns: Vec<Vec<i64>> = columns.iter().map(|column| whole(column)).collect();
        let mut panels = Panels::new(units);
        for column in columns.iter().filter(|column| !is_small(column)) {
            panels.push(&column.iter().map(|&x| x as f64).collect::<Vec<_>>());
        }
        Self { columns, panels, units }
    }

    /// How many of these patterns are at least as extreme, for each test that is not exact.
    pub fn extreme(&self, seed: u64, throws: Range<u32>) -> Vec<u64> {
        let large: Vec<i64> = self.large().map(|column| column.iter().sum()).collect();
        let mut hits = vec![0; large.len()];
        for sums in self.panels.sums(&Weights::coins(seed, self.units, throws)) {
            for ((hits, sum), total) in hits.iter_mut().zip(sums).zip(&large) {
                *hits += u64::from((2 * sum as i64 - total).abs() + tolerance(self.units) >= total.abs());
            }
        }
        hits
    }

    /// The outcome of every test, from how many of `throws` random patterns were as extreme.
    pub fn outcomes(&self, hits: &[u64], throws: u32) -> Vec<Outcome> {
        let mut hits = hits.iter();
        let one = |column: &Vec<i64>| {
            if is_small(column) {
                return Outcome { p: exact(column), exact: true };
            }
            // The pattern that was seen is one of them.
            let hits = hits.next().copied().unwrap_or(0) + 1;
            Outcome { p: hits as f64 / (f64::from(throws) + 1.0), exact: false }
        };
        self.columns.iter().map(one).collect()
    }

    /// Whether every pattern is tried in each test, so that no random one is needed.
    pub fn are_exact(&self) -> bool {
        self.large().next().is_none()
    }

    fn large(&self) -> impl Iterator<Item = &Vec<i64>> {
        self.columns.iter().filter(|column| !is_small(column))
    }
}

fn is_small(column: &[i64]) -> bool {
    column.iter().filter(|x| **x != 0).count() <= EXACT
}

/// Every sign pattern in the order in which neighbours differ in one sign.
fn exact(column: &[i64]) -> f64 {
    let differences: Vec<i64> = column.iter().copied().filter(|x| *x != 0).collect();
    let total: i64 = differences.iter().sum();
    let patterns = 1u64 << differences.len();
    let (mut sum, mut negative, mut hits) = (total, 0u64, 1u64);
    for step in 1..patterns {
        let flipped = step.trailing_zeros() as usize;
        let was_negative = negative >> flipped & 1 == 1;
        sum += if was_negative { 2 * differences[flipped] } else { -2 * differences[flipped] };
        negative ^= 1 << flipped;
        hits += u64::from(sum.abs() + tolerance(differences.len()) >= total.abs());
    }
    hits as f64 / patterns as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::SplitMix64;
    use proptest::prelude::*;

    /// The obvious version.
    fn by_counting(differences: &[f64]) -> f64 {
        let total: f64 = differences.iter().sum();
        let patterns = 1u32 << differences.len();
        let mean = |pattern: u32| -> f64 {
            let signed = |(i, x): (usize, &f64)| if pattern >> i & 1 == 1 { -x } else { *x };
            differences.iter().enumerate().map(signed).sum()
        };
        let hits = (0..patterns).filter(|pattern| mean(*pattern).abs() >= total.abs() - 1e-9).count();
        hits as f64 / f64::from(patterns)
    }

    fn p(differences: &[f64]) -> Outcome {
        Tests::new(differences.len(), &[differences.to_vec()]).outcomes(&[], 0)[0]
    }

    proptest! {
        #[test]
        fn few_differences_are_tried_in_every_pattern(differences in prop::collection::vec(-8i32..8, 1..11)) {
            let differences: Vec<f64> = differences.into_iter().map(|x| f64::from(x) / 8.0).collect();
            let outcome = p(&differences);
            prop_assert!(outcome.exact);
            prop_assert!((outcome.p - by_counting(&differences)).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_models_have_no_evidence_and_clear_ones_the_smallest_share() {
        assert_eq!(p(&[0.0; 5]).p.to_bits(), 1f64.to_bits());
        assert_eq!(p(&[0.1; 5]).p.to_bits(), 0.0625f64.to_bits());
    }

    #[test]
    fn random_patterns_come_close_to_all_of_them() {
        let mut random = SplitMix64::new(1);
        let differences: Vec<f64> = (0..40).map(|_| random.unit() - 0.4).collect();
        let tests = Tests::new(40, std::slice::from_ref(&differences));
        let outcome = tests.outcomes(&tests.extreme(0, 0..20_000), 20_000)[0];
        let again = tests.outcomes(&tests.extreme(99, 0..20_000), 20_000)[0];
        assert!(!outcome.exact && (outcome.p - again.p).abs() < 0.01, "{outcome:?} {again:?}");
        let split: u64 = [0..7_000, 7_000..20_000].map(|part| tests.extreme(0, part)[0]).iter().sum();
        assert_eq!(split, tests.extreme(0, 0..20_000)[0]);
    }
}
