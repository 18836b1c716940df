//! Units that are fitted to, units that are held back, and how surprising the truth is in each.

use calipers_core::{Accumulator, ExactSum, SplitMix64};
use calipers_metrics::segmentation::protocol::Segmentation;

use super::Holdout;

/// Which units are held back, by position in the order of their names.
pub(super) struct Split(Vec<bool>);

impl Split {
    /// Shuffles the units and holds back the first of them. One unit is always fitted to, and one
    /// held back where a share of several is.
    pub(super) fn new(units: usize, holdout: Holdout) -> Self {
        let wanted = (holdout.share * units as f64).round() as usize;
        let least = usize::from(holdout.share > 0.0);
        let count = wanted.max(least).min(units.saturating_sub(1));
        let mut order: Vec<usize> = (0..units).collect();
        let mut random = SplitMix64::new(holdout.seed);
        for last in (1..units).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        let mut held_back = vec![false; units];
        order[..count].iter().for_each(|unit| held_back[*unit] = true);
        Self(held_back)
    }

    /// Whether the unit at this position is held back.
    pub(super) fn is_held_back(&self, unit: usize) -> bool {
        self.0[unit]
    }
}

/// What is known of one share of the units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// How many units it has.
    pub units: u64,
    /// Their scored pixels.
    pub pixels: u64,
    /// Pixels whose true class has probability 0, which are left out.
    pub infinite: u64,
    /// The mean surprise of the truth with the parameters of the configuration.
    pub before: f64,
    /// The same with the fitted ones.
    pub after: f64,
}

impl Share {
    /// This share before, the other after.
    pub(super) fn then(self, after: &Self) -> Self {
        Self { after: after.before, ..self }
    }
}

/// Both shares of what was measured; the second unless nothing is held back.
pub(super) fn shares(measured: &Accumulator<Segmentation>, split: &Split) -> (Share, Option<Share>) {
    let share = |held_back: bool| {
        let (mut units, mut pixels, mut infinite, mut sum) = (0, 0, 0, ExactSum::default());
        let rows = measured.rows();
        for row in rows.iter().zip(&split.0).filter(|(_, is)| **is == held_back).map(|(row, _)| row) {
            units += 1;
            if let Some(calibration) = row.pixels.as_ref().and_then(|pixels| pixels.calibration.as_ref()) {
                pixels += calibration.pixels;
                infinite += calibration.infinite;
                calibration.nll.add_to(&mut sum);
            }
        }
        let mean = sum.value() / (pixels - infinite).max(1) as f64;
        Share { units, pixels, infinite, before: mean, after: mean }
    };
    (share(false), Some(share(true)).filter(|share| share.units > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_back(units: usize, share: f64, seed: u64) -> usize {
        let split = Split::new(units, Holdout { share, seed });
        (0..units).filter(|&unit| split.is_held_back(unit)).count()
    }

    #[test]
    fn the_share_is_kept_and_something_is_always_fitted_to() {
        assert_eq!(held_back(10, 0.2, 0), 2);
        assert_eq!(held_back(10, 0.0, 0), 0);
        assert_eq!(held_back(3, 0.01, 0), 1);
        assert_eq!(held_back(1, 0.5, 0), 0);
        assert_eq!(held_back(2, 0.99, 0), 1);
    }

    #[test]
    fn the_seed_decides_which_units_are_held_back() {
        let split = |seed| Split::new(50, Holdout { share: 0.5, seed }).0;
        assert_eq!(split(1), split(1));
        assert_ne!(split(1), split(2));
    }
}
