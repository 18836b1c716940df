//! Sums of f64 terms that lose nothing and are rounded once.

mod bins;
pub(crate) mod fixed_point;
mod wire;

use serde::{Deserialize, Serialize};

use bins::{BLOCK, Bins, Depth, LANES, WORTHWHILE};
use fixed_point::{FixedPoint, LIMBS, SignMagnitude};
use wire::Wire;

/// The exact sum of any number of f64 terms.
///
/// The order of the terms, the way they are split over several sums and the order of merging do
/// not matter: equal contents compare equal, are written as equal bytes and give the same
/// [`value`](Self::value). Up to 2^62 terms nothing is lost, and a running total beyond the
/// largest f64 does no harm.
///
/// Infinities and NaN are noted aside: with a NaN, or with infinities of both signs, the value is
/// NaN; with infinities of one sign it is that infinity.
///
/// ```
/// use calipers_core::ExactSum;
/// let sum: ExactSum = [1e100, 1.0, -1e100].into_iter().collect();
/// assert_eq!(sum.value().to_bits(), 1f64.to_bits());
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Wire", try_from = "Wire")]
pub struct ExactSum {
    finite: FixedPoint,
    infinite: Infinite,
}

/// Which infinities were added; NaN counts as both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Infinite {
    positive: bool,
    negative: bool,
}

/// The one form of equal sums: beside an infinity, what is finite does not count.
#[derive(Debug, PartialEq, Eq)]
struct Canonical {
    finite: SignMagnitude,
    infinite: Infinite,
}

impl ExactSum {
    /// The sum of no terms.
    pub const fn new() -> Self {
        Self { finite: FixedPoint::zero(), infinite: Infinite { positive: false, negative: false } }
    }

    /// Adds one term.
    pub fn add(&mut self, term: f64) {
        if term.is_finite() {
            self.finite.add(term);
        } else {
            let Infinite { positive, negative } = &mut self.infinite;
            *positive |= term > 0.0 || term.is_nan();
            *negative |= term < 0.0 || term.is_nan();
        }
    }

    /// Adds many terms, on long slices about as fast as a plain loop.
    pub fn add_slice(&mut self, terms: &[f64]) {
        if terms.len() < WORTHWHILE {
            terms.iter().for_each(|&term| self.add(term));
            return;
        }
        let (groups, rest) = terms.as_chunks::<LANES>();
        let mut bins = None;
        // Terms of widely different sizes do not fit the bins: after a failure the next blocks are
        // not even tried, twice as many each time.
        let (mut skipped, mut patience) = (0, 1);
        for block in groups.chunks(BLOCK / LANES) {
            if skipped > 0 {
                skipped -= 1;
                self.add_one_by_one(block.as_flattened());
                continue;
            }
            if bins.is_some_and(|bins: Bins| bins.add_block(block, &mut self.finite)) {
                continue;
            }
            bins = Depth::ALL.into_iter().find_map(|depth| {
                Bins::for_block(block, depth).filter(|bins| bins.add_block(block, &mut self.finite))
            });
            if bins.is_none() {
                self.add_one_by_one(block.as_flattened());
                skipped = patience;
                patience = (2 * patience).min(64);
            }
        }
        rest.iter().for_each(|&term| self.add(term));
    }

    fn add_one_by_one(&mut self, terms: &[f64]) {
        if terms.iter().fold(true, |all, term| all & term.is_finite()) {
            self.finite.add_all(terms);
        } else {
            terms.iter().for_each(|&term| self.add(term));
        }
    }

    /// Adds the terms of another sum.
    pub fn merge(&mut self, other: &Self) {
        self.finite.merge(&other.finite);
        self.infinite.positive |= other.infinite.positive;
        self.infinite.negative |= other.infinite.negative;
    }

    /// The sum, rounded once to the nearest f64, ties to even. The sum of nothing is +0.
    pub fn value(&self) -> f64 {
        match (self.infinite.positive, self.infinite.negative) {
            (false, false) => self.finite.sign_magnitude().round(),
            (true, true) => f64::NAN,
            (true, false) => f64::INFINITY,
            (false, true) => f64::NEG_INFINITY,
        }
    }

    /// The sum divided by a whole number, rounded once; the divisor is not 0.
    ///
    /// ```
    /// use calipers_core::ExactSum;
    /// let thrice: ExactSum = [0.8; 3].into_iter().collect();
    /// assert_eq!(thrice.over(3).to_bits(), 0.8f64.to_bits());
    /// ```
    pub fn over(&self, divisor: u64) -> f64 {
        if self.infinite == Infinite::default() {
            self.finite.sign_magnitude().over(divisor)
        } else {
            self.value()
        }
    }

    /// Whether the sum is exactly 0.
    pub fn is_zero(&self) -> bool {
        *self == Self::new()
    }

    /// The digits of a finite sum: whether it is negative, and its magnitude in units of 2^-1074,
    /// 32 bits a word, lowest first.
    pub(crate) fn digits(&self) -> Option<(bool, [u32; LIMBS])> {
        let finite = self.infinite == Infinite::default();
        finite.then(|| self.finite.sign_magnitude()).map(|number| (number.negative, number.limbs))
    }

    fn canonical(&self) -> Canonical {
        let infinite = self.infinite;
        let counts = infinite == Infinite::default();
        let finite = if counts { self.finite.sign_magnitude() } else { SignMagnitude::ZERO };
        Canonical { finite, infinite }
    }
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for ExactSum {}

impl Extend<f64> for ExactSum {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, terms: T) {
        let mut buffer = [0.0; 256];
        let mut held = 0;
        for term in terms {
            buffer[held] = term;
            held += 1;
            if held == buffer.len() {
                self.add_slice(&buffer);
                held = 0;
            }
        }
        self.add_slice(&buffer[..held]);
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<T: IntoIterator<Item = f64>>(terms: T) -> Self {
        let mut sum = Self::new();
        sum.extend(terms);
        sum
    }
}

/// The exact sum of the terms, rounded once.
///
/// ```
/// use calipers_core::exact::exact_sum;
/// assert_eq!(exact_sum([0.1; 10]).to_bits(), 1f64.to_bits());
/// ```
pub fn exact_sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().collect::<ExactSum>().value()
}

/// The mean of the terms: their exact sum over their number, rounded once; `None` of no terms.
///
/// ```
/// use calipers_core::exact::exact_mean;
/// assert_eq!(exact_mean([0.8; 3]), Some(0.8));
/// ```
pub fn exact_mean(terms: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut count = 0;
    let sum: ExactSum = terms.into_iter().inspect(|_| count += 1).collect();
    (count > 0).then(|| sum.over(count))
}
