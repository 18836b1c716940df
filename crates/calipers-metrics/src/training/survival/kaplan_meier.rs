//! How many runs are still unsaturated at each epoch (Kaplan and Meier 1958), in exact fractions. A run
//! that never saturates counts for as long as it lasted.
//!
//! ```text
//! 1 |----.           r = runs that saturate or end here or later, d = those that saturate here
//!   |    |  1 - d/r
//!   |    '------.
//!   |           '----x      x: a run ends unsaturated
//! 0 +---------------------> epoch
//! ```

use calipers_core::exact::Rational;
use num_bigint::BigUint;

use super::lifetimes::Lifetime;

/// The survival curve of a group.
#[derive(Clone, Debug)]
pub(super) struct Survival {
    steps: Vec<Step>,
    /// The last epoch of any run: beyond it nothing is known.
    pub(super) last: u64,
}

/// A fall of the curve to `left / risk` of its height.
#[derive(Clone, Copy, Debug)]
struct Step {
    epoch: u64,
    risk: u64,
    left: u64,
}

/// Falls between which no run ended unsaturated: their product is one fraction.
struct Stretch {
    risk: u64,
    left: u64,
    /// The area below the curve from the first fall to the next stretch, in units of the height
    /// before it, times `risk`.
    area: u128,
}

impl Survival {
    /// The curve of lifetimes in the order of their epochs, each with how many runs have it.
    pub(super) fn new(lifetimes: impl Iterator<Item = (Lifetime, u64)>) -> Self {
        let lifetimes: Vec<(Lifetime, u64)> = lifetimes.collect();
        let last = lifetimes.last().map_or(0, |(lifetime, _)| lifetime.epoch);
        let mut risk = lifetimes.iter().map(|(_, runs)| runs).sum();
        let mut steps = Vec::new();
        for same in lifetimes.chunk_by(|(a, _), (b, _)| a.epoch == b.epoch) {
            let saturated: u64 =
                same.iter().filter(|(lifetime, _)| lifetime.saturates).map(|(_, runs)| runs).sum();
            if saturated > 0 {
                steps.push(Step { epoch: same[0].0.epoch, risk, left: risk - saturated });
            }
            // Runs that end unsaturated at this epoch were at risk in it.
            risk -= same.iter().map(|(_, runs)| runs).sum::<u64>();
        }
        Self { steps, last }
    }

    /// The epochs at which the curve falls, and its height from there on.
    pub(super) fn heights(&self) -> Vec<(u64, f64)> {
        let mut height = 1.0;
        let mut fall = |step: &Step| {
            height *= step.left as f64 / step.risk as f64;
            (step.epoch, height)
        };
        self.steps.iter().map(&mut fall).collect()
    }

    /// The first epoch at which no more than half of the curve is left.
    pub(super) fn median(&self) -> Option<u64> {
        // Twice the height before the stretch is `twice / risks` times the risk of the stretch.
        let (mut twice, mut risks) = (BigUint::from(2u32), BigUint::from(1u32));
        let mut before: Option<&Step> = None;
        for step in &self.steps {
            if before.is_none_or(|before| before.left != step.risk) {
                twice *= before.map_or(1, |before| before.left);
                risks *= step.risk;
            }
            if &twice * step.left <= risks {
                return Some(step.epoch);
            }
            before = Some(step);
        }
        None
    }

    /// The area below the curve from 0 to the horizon, correctly rounded; `None` where the curve
    /// is not known as far as that.
    pub(super) fn area(&self, horizon: u64) -> Option<f64> {
        let known = horizon <= self.last || self.steps.last().is_some_and(|step| step.left == 0);
        known.then(|| {
            let steps = &self.steps[..self.steps.partition_point(|step| step.epoch < horizon)];
            let full = steps.first().map_or(horizon, |step| step.epoch);
            // From the last stretch to the first: area = (own area + left * later areas) / risk.
            let (mut area, mut unit) = (BigUint::ZERO, BigUint::from(1u32));
            for stretch in stretches(steps, horizon).iter().rev() {
                area = &unit * stretch.area + area * stretch.left;
                unit *= stretch.risk;
            }
            Rational::new((&unit * full + area).into(), unit).nearest()
        })
    }
}

fn stretches(steps: &[Step], horizon: u64) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let until = steps.get(i + 1).map_or(horizon, |next| next.epoch);
        let area = u128::from(step.left) * u128::from(until - step.epoch);
        match found.last_mut() {
            Some(stretch) if stretch.left == step.risk => {
                stretch.left = step.left;
                stretch.area += area;
            }
            _ => found.push(Stretch { risk: step.risk, left: step.left, area }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The curve by its definition, as fractions of 128 bits.
    fn slow(lifetimes: &[Lifetime]) -> Vec<(u64, (u128, u128))> {
        let (mut height, mut curve) = ((1u128, 1u128), Vec::new());
        for epoch in 1..=lifetimes.iter().map(|lifetime| lifetime.epoch).max().unwrap_or(0) {
            let at_risk = lifetimes.iter().filter(|lifetime| lifetime.epoch >= epoch).count() as u128;
            let here = |lifetime: &&Lifetime| lifetime.saturates && lifetime.epoch == epoch;
            let saturated = lifetimes.iter().filter(here).count() as u128;
            if saturated > 0 {
                let (n, d) = (height.0 * (at_risk - saturated), height.1 * at_risk);
                let shared = gcd(n, d);
                height = (n / shared, d / shared);
                curve.push((epoch, height));
            }
        }
        curve
    }

    fn survival(mut lifetimes: Vec<Lifetime>) -> Survival {
        lifetimes.sort_unstable();
        Survival::new(lifetimes.into_iter().map(|lifetime| (lifetime, 1)))
    }

    fn gcd(a: u128, b: u128) -> u128 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    fn lifetimes() -> impl Strategy<Value = Vec<Lifetime>> {
        let one = (1u64..20, any::<bool>()).prop_map(|(epoch, saturates)| Lifetime { epoch, saturates });
        prop::collection::vec(one, 1..14)
    }

    proptest! {
        #[test]
        fn the_median_is_the_first_epoch_with_half_or_less_left(lifetimes in lifetimes()) {
            let slow = slow(&lifetimes).into_iter().find(|(_, (n, d))| 2 * n <= *d).map(|(epoch, _)| epoch);
            prop_assert_eq!(survival(lifetimes).median(), slow);
        }

        #[test]
        fn the_area_is_the_sum_of_its_rectangles(lifetimes in lifetimes(), horizon in 1u64..24) {
            let (mut area, mut from, mut height) = (0.0, 0, 1.0);
            let curve = slow(&lifetimes);
            for &(epoch, (n, d)) in curve.iter().filter(|(epoch, _)| *epoch < horizon) {
                area += height * (epoch - from) as f64;
                (from, height) = (epoch, n as f64 / d as f64);
            }
            area += height * (horizon - from) as f64;
            let survival = survival(lifetimes);
            let known = horizon <= survival.last || curve.last().is_some_and(|(_, (n, _))| *n == 0);
            match survival.area(horizon) {
                Some(found) => prop_assert!(known && (found - area).abs() <= 1e-13 * area, "{found} {area}"),
                None => prop_assert!(!known),
            }
        }
    }

    #[test]
    fn ten_thousand_runs_that_end_at_different_epochs_are_compared_exactly() {
        let run = |epoch| Lifetime { epoch, saturates: epoch % 2 == 0 };
        let survival = survival((1..=10_000).map(run).collect());
        let (mut height, mut median) = (1.0, None);
        for epoch in (2..=10_000u64).step_by(2) {
            let risk = (10_001 - epoch) as f64;
            height *= (risk - 1.0) / risk;
            median = median.or((height <= 0.5).then_some(epoch));
        }
        assert_eq!(survival.median(), median);
        assert!(survival.area(10_000).is_some_and(|area| area > 6_000.0 && area < 7_000.0));
    }

    #[test]
    fn without_censoring_the_area_is_the_mean() {
        let run = |epoch| Lifetime { epoch, saturates: true };
        let survival = survival([3, 6, 1].map(run).into());
        assert_eq!(survival.area(6).map(f64::to_bits), Some((10.0f64 / 3.0).to_bits()));
        assert_eq!((survival.median(), survival.area(100)), (Some(3), survival.area(6)));
    }

    #[test]
    fn the_area_below_the_steps_is_the_restricted_mean() {
        let runs = [(2, true), (2, false), (3, true), (5, true), (5, false), (8, true), (9, false)];
        let survival = survival(runs.map(|(epoch, saturates)| Lifetime { epoch, saturates }).to_vec());
        let (mut area, mut before, mut height) = (0.0, 0, 1.0);
        for (epoch, left) in survival.heights() {
            area += height * (epoch - before) as f64;
            (before, height) = (epoch, left);
        }
        area += height * (survival.last - before) as f64;
        let exact = survival.area(survival.last).unwrap();
        assert!((area - exact).abs() < 1e-12, "{area} {exact}");
    }

    #[test]
    fn quotients_of_huge_products_are_rounded_once() {
        // Every second run ends unsaturated, so that the unit is a product of hundreds of numbers.
        let run = |epoch| Lifetime { epoch, saturates: epoch % 2 == 1 };
        let survival = survival((1..=301).map(run).collect());
        let (mut area, mut height) = (Rational::whole(0), Rational::whole(1));
        for epoch in 0..301u64 {
            if epoch % 2 == 1 {
                height = height.times(&Rational::ratio(301 - i128::from(epoch), 302 - epoch));
            }
            area = area.plus(&height);
        }
        assert_eq!(survival.area(301).map(f64::to_bits), Some(area.nearest().to_bits()));
    }
}
