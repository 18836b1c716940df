//! The normal distribution: its distribution function and quantiles, the same bits everywhere.
//!
//! ```text
//! centre   Phi(z) - 1/2 = phi(z) (z + z^3/3 + z^5/(3 5) + ...)          every term is positive
//! tail     1 - Phi(z)   = phi(z) / (z + 1/(z + 2/(z + 3/(z + ...))))    Laplace's continued fraction
//! ```
//!
//! Each is used where it keeps its relative accuracy, so that quantiles are accurate in both tails
//! and around the middle.

use super::{exp, ln};

/// From here on the tail is worked out for itself.
const TAIL_FROM: f64 = 2.5;
/// How deep the continued fraction goes: more than enough from [`TAIL_FROM`] on.
const DEPTH: u32 = 80;
/// 1/sqrt(2 pi).
const DENSITY_AT_0: f64 = 0.398_942_280_401_432_7;
/// Newton's iteration is done long before.
const STEPS: u32 = 60;

/// The share of a normal distribution below z: Phi.
///
/// ```
/// use calipers_core::functions::normal_cdf;
/// assert_eq!(normal_cdf(0.0).to_bits(), 0.5f64.to_bits());
/// assert!((normal_cdf(-1.96) - 0.024_997_895_148_220_43).abs() < 1e-16);
/// ```
pub fn normal_cdf(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    if z < 0.0 { upper(-z) } else { 1.0 - upper(z) }
}

/// The z below which the share p of a normal distribution lies; infinite at 0 and 1, NaN outside.
///
/// ```
/// use calipers_core::functions::normal_quantile;
/// assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    // From 1/2 on 1 - p is exact.
    if p > 0.5 { upper_quantile(1.0 - p) } else { -upper_quantile(p) }
}

/// The density at z.
fn density(z: f64) -> f64 {
    DENSITY_AT_0 * exp(-z * z / 2.0)
}

/// Phi(z) - 1/2 for z from 0 to [`TAIL_FROM`].
fn centre(z: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (z, 0.0, 1.0);
    while sum + term > sum {
        sum += term;
        odd += 2.0;
        term *= z * z / odd;
    }
    density(z) * sum
}

/// 1 - Phi(z) for z of at least 0.
fn upper(z: f64) -> f64 {
    if z < TAIL_FROM {
        return 0.5 - centre(z);
    }
    if z.is_infinite() {
        return 0.0;
    }
    let fraction = (1..=DEPTH).rev().fold(z, |below, k| z + f64::from(k) / below);
    density(z) / fraction
}

/// The z of at least 0 above which the share h, at most 1/2, lies.
fn upper_quantile(h: f64) -> f64 {
    if h <= 0.0 {
        return f64::INFINITY;
    }
    if h > 0.25 {
        // Exact, so that quantiles near 0 keep their digits.
        let share = 0.5 - h;
        return newton(share / DENSITY_AT_0, |z| z - (centre(z) - share) / density(z));
    }
    // The logarithm of the tail falls ever faster: from one step on the iteration comes from the right.
    newton((-2.0 * ln(2.0 * h)).sqrt(), |z| z + ln(upper(z) / h) * upper(z) / density(z))
}

/// Where an iteration comes to rest.
pub(super) fn newton(start: f64, next: impl Fn(f64) -> f64) -> f64 {
    let mut at = start;
    for _ in 0..STEPS {
        let then = next(at);
        if (then - at).abs() <= f64::EPSILON * at.abs() {
            return then;
        }
        at = then;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out with 60 digits: z and Phi(z).
    const SHARES: &[(f64, f64)] = &[
        (-37.0, 5.725571222524577e-300),
        (-20.0, 2.7536241186062337e-89),
        (-8.0, 6.220960574271784e-16),
        (-5.5, 1.8989562465887718e-08),
        (-3.0, 0.0013498980316300946),
        (-2.5, 0.006209665325776135),
        (-2.4999, 0.00621141837494459),
        (-1.0, 0.15865525393145705),
        (-0.3, 0.3820885778110474),
        (-1e-09, 0.49999999960105773),
        (0.0, 0.5),
        (1e-05, 0.500003989422804),
        (0.7, 0.758036347776927),
        (1.959963984540054, 0.975),
        (2.5, 0.9937903346742238),
        (4.0, 0.9999683287581669),
        (9.0, 1.0),
    ];
    /// p and its quantile.
    const QUANTILES: &[(f64, f64)] = &[
        (1e-15, -7.941345326170997),
        (1e-12, -7.034483825301132),
        (1e-08, -5.612001244174789),
        (0.0001, -3.7190164854556804),
        (0.001, -3.0902323061678136),
        (0.0125, -2.2414027276049455),
        (0.025, -1.9599639845400543),
        (0.1, -1.2815515655446004),
        (0.25, -0.6744897501960817),
        (0.2500001, -0.674489435509607),
        (0.4, -0.2533471031357997),
        (0.499999, -2.5066282745665593e-06),
        (0.5000001, 2.506628273311648e-07),
        (0.6, 0.2533471031357997),
        (0.75, 0.6744897501960817),
        (0.9, 1.2815515655446006),
        (0.975, 1.9599639845400538),
        (0.9999, 3.7190164854557084),
        (0.999999999999, 7.0344869100478356),
        (0.9999999999999991, 7.956038125481531),
    ];

    #[test]
    fn shares_are_those_of_sixty_digits() {
        for &(z, share) in SHARES {
            let found = normal_cdf(z);
            assert!((found - share).abs() <= 1e-15, "Phi({z}) = {found:e}, not {share:e}");
            assert!(z > 0.0 || (found / share - 1.0).abs() < 1e-12, "Phi({z}) = {found:e}, not {share:e}");
        }
    }

    #[test]
    fn quantiles_are_those_of_sixty_digits() {
        for &(p, z) in QUANTILES {
            let found = normal_quantile(p);
            assert!((found / z - 1.0).abs() < 1e-12, "quantile of {p:e} is {found}, not {z}");
        }
    }

    #[test]
    fn the_ends_are_infinite_and_what_is_no_share_has_no_quantile() {
        assert_eq!(
            [0.0, 1.0].map(|p| normal_quantile(p).to_bits()),
            [f64::NEG_INFINITY, f64::INFINITY].map(f64::to_bits)
        );
        assert_eq!(normal_quantile(0.5).abs().to_bits(), 0);
        assert!([-0.1, 1.1, f64::NAN].iter().all(|p| normal_quantile(*p).is_nan()));
        assert_eq!(
            [f64::NEG_INFINITY, f64::INFINITY].map(|x| normal_cdf(x).to_bits()),
            [0.0, 1.0].map(f64::to_bits)
        );
    }

    #[test]
    fn shares_rise_with_z_across_the_joint() {
        let shares: Vec<f64> = (0..2000).map(|k| normal_cdf(-4.0 + 0.004 * f64::from(k))).collect();
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
