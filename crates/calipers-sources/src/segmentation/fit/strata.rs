//! A sample without a list of the whole: the pixels of all units in a row, cut into equal strata,
//! one drawn from each.

use calipers_core::SplitMix64;

/// Draws increasing positions among pixels that come unit by unit.
pub(super) struct Strata {
    pixels: u64,
    count: u64,
    random: SplitMix64,
    /// The stratum that is drawn from next.
    next: u64,
    /// The position drawn from it, once it is.
    drawn: Option<u64>,
    /// How many pixels went by.
    passed: u64,
}

impl Strata {
    /// Strata over `pixels` pixels, each of them drawn if they are at most `most`.
    pub(super) fn new(pixels: u64, most: u64, seed: u64) -> Self {
        let random = SplitMix64::new(seed);
        Self { pixels, count: pixels.min(most), random, next: 0, drawn: None, passed: 0 }
    }

    /// The positions drawn among the next pixels, counted from the first of them.
    pub(super) fn next(&mut self, pixels: u64) -> impl Iterator<Item = u64> {
        let mut positions = Vec::new();
        while let Some(position) = self.peek().filter(|position| *position < self.passed + pixels) {
            positions.push(position - self.passed);
            self.next += 1;
            self.drawn = None;
        }
        self.passed += pixels;
        positions.into_iter()
    }

    fn peek(&mut self) -> Option<u64> {
        if self.next == self.count {
            return None;
        }
        let cut =
            |stratum: u64| (u128::from(stratum) * u128::from(self.pixels) / u128::from(self.count)) as u64;
        let (start, end) = (cut(self.next), cut(self.next + 1));
        Some(*self.drawn.get_or_insert_with(|| start + self.random.below(end - start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(units: &[u64], most: u64) -> Vec<u64> {
        let mut strata = Strata::new(units.iter().sum(), most, 3);
        let mut passed = 0;
        let mut all = Vec::new();
        for pixels in units {
            all.extend(strata.next(*pixels).map(|position| passed + position));
            passed += pixels;
        }
        all
    }

    #[test]
    fn few_pixels_are_all_taken() {
        assert_eq!(drawn(&[3, 0, 2], 5), [0, 1, 2, 3, 4]);
        assert_eq!(drawn(&[3, 0, 2], 50), [0, 1, 2, 3, 4]);
        assert!(drawn(&[0], 5).is_empty());
    }

    #[test]
    fn of_many_pixels_each_stratum_gives_one_however_units_cut_them() {
        let whole = drawn(&[1000], 100);
        assert_eq!(whole.len(), 100);
        assert!(whole.iter().enumerate().all(|(stratum, at)| at / 10 == stratum as u64));
        assert_eq!(drawn(&[1, 499, 0, 37, 463], 100), whole);
    }
}
