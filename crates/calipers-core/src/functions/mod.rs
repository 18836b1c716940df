//! Transcendental functions whose every result is the f64 nearest to the true value, and what is made
//! of them with IEEE arithmetic alone: the normal and Student's t distribution.
//!
//! The platform's own functions differ from one machine to the next; a correctly rounded result
//! leaves no room for that. Everything is done in whole numbers: a first evaluation is good to
//! about 67 bits and says how far it may be off, and when a rounding boundary lies within that
//! distance (once in thousands of arguments) the boundary is compared with the true value at 230
//! bits. No boundary can be hit exactly: by the theorem of Lindemann and Weierstrass these
//! functions are irrational at every f64 but the few that are answered outright.

mod approx;
mod kernels;
pub mod lanes;
mod normal;
mod student;
mod tables;
mod wide;

use approx::{Approx, Dyadic};

pub use normal::{normal_cdf, normal_quantile};
pub use student::student_quantile;

/// e^x. `exp(-inf)` is 0, `exp(inf)` is inf, and NaN gives NaN.
///
/// ```
/// use calipers_core::functions::exp;
/// assert_eq!(exp(1.0).to_bits(), std::f64::consts::E.to_bits());
/// ```
pub fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    if x.abs() < TINY {
        return 1.0;
    }
    if x >= 710.0 {
        return f64::INFINITY;
    }
    if x <= SMALLEST_EXPONENT {
        return 0.0;
    }
    let power = kernels::exp(kernels::fixed(x));
    Approx::new(power.value, 126 - power.exponent, kernels::EXP_ERROR)
        .round(|boundary| wide::exp_exceeds(x, boundary))
}

/// The natural logarithm. `ln(0)` is -inf, `ln(inf)` is inf; a negative number or NaN gives NaN.
///
/// ```
/// use calipers_core::functions::ln;
/// assert_eq!(ln(2.0).to_bits(), std::f64::consts::LN_2.to_bits());
/// ```
pub fn ln(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x.is_infinite() {
        return x;
    }
    if x.to_bits() << 1 == 0 {
        return f64::NEG_INFINITY;
    }
    let near_one = x - 1.0;
    if near_one.abs() < SMALL {
        // The difference is exact here.
        return log1p_of_small(near_one);
    }
    let number = Dyadic::of(x);
    let zeros = number.significand.leading_zeros();
    let value = u128::from(number.significand) << (zeros + 53);
    let logarithm = kernels::ln(value, number.exponent + 63 - zeros as i32);
    let magnitude = Approx::new(logarithm.unsigned_abs(), 112, kernels::LN_ERROR)
        .round(|boundary| wide::ln_exceeds(x, boundary));
    if logarithm < 0 { -magnitude } else { magnitude }
}

/// ln(1 + x), exact also where 1 + x would lose digits. `log1p(-1)` is -inf, `log1p(inf)` is inf;
/// a number below -1 or NaN gives NaN.
///
/// ```
/// use calipers_core::functions::log1p;
/// assert_eq!(log1p(1e-300).to_bits(), 1e-300f64.to_bits());
/// ```
pub fn log1p(x: f64) -> f64 {
    if x.is_nan() || x < -1.0 {
        return f64::NAN;
    }
    if x.is_infinite() {
        return x;
    }
    if x.to_bits() == (-1f64).to_bits() {
        return f64::NEG_INFINITY;
    }
    if x.abs() < SMALL {
        return log1p_of_small(x);
    }
    let (value, exponent) = kernels::one_plus(x);
    let logarithm = kernels::ln(value, exponent);
    let magnitude = Approx::new(logarithm.unsigned_abs(), 112, kernels::LN_ERROR)
        .round(|boundary| wide::log1p_exceeds(x, boundary));
    if logarithm < 0 { -magnitude } else { magnitude }
}

/// The hyperbolic tangent. `tanh(inf)` is 1, `tanh(-inf)` is -1, and NaN gives NaN.
///
/// ```
/// use calipers_core::functions::tanh;
/// assert_eq!(tanh(-20.0).to_bits(), (-1f64).to_bits());
/// ```
pub fn tanh(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    let magnitude = x.abs();
    if magnitude < 1.0 / (1 << 27) as f64 {
        return x;
    }
    if magnitude >= 20.0 {
        return 1f64.copysign(x);
    }
    let approx = if magnitude < 1.0 / 32.0 {
        let (value, exponent) = kernels::normalised(magnitude);
        let shrunk = kernels::shrink(value, kernels::tanh_deficit(magnitude));
        Approx::new(shrunk, 126 - exponent, kernels::SMALL_ERROR)
    } else {
        let power = kernels::exp(-2 * kernels::fixed(magnitude));
        let quotient = kernels::multiply(
            kernels::ONE - power.fraction(),
            kernels::reciprocal(kernels::ONE + power.fraction()),
        );
        Approx::new(quotient, 124, power.error() + 16)
    };
    approx.round(|boundary| wide::tanh_exceeds(magnitude, boundary)).copysign(x)
}

/// The logistic function 1/(1 + e^-z). `sigmoid(-inf)` is 0, `sigmoid(inf)` is 1, and NaN gives
/// NaN.
///
/// ```
/// use calipers_core::functions::sigmoid;
/// assert_eq!(sigmoid(0.0).to_bits(), 0.5f64.to_bits());
/// ```
pub fn sigmoid(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    if z.abs() < TINY {
        return 0.5;
    }
    if z >= 38.0 {
        return 1.0;
    }
    if z <= SMALLEST_EXPONENT {
        return 0.0;
    }
    let power = kernels::exp(kernels::fixed(-z.abs()));
    let share = kernels::reciprocal(kernels::ONE + power.fraction());
    let approx = if z > 0.0 {
        Approx::new(share, 126, power.error() + (1 << 32))
    } else {
        Approx::new(kernels::multiply(power.value, share), 124 - power.exponent, kernels::EXP_ERROR)
    };
    approx.round(|boundary| wide::sigmoid_exceeds(z, boundary))
}

/// Below this, e^x is 1 and the logistic function 1/2.
const TINY: f64 = f64::EPSILON / 4.0;

/// e^x is less than half of the smallest number above 0.
const SMALLEST_EXPONENT: f64 = -746.0;

/// Where ln(1 + x) is taken from its power series at once.
const SMALL: f64 = 1.0 / 256.0;

fn log1p_of_small(x: f64) -> f64 {
    if x.abs() < TINY {
        return x;
    }
    let (value, exponent) = kernels::normalised(x.abs());
    let shrunk = kernels::shrink(value, kernels::log1p_deficit((kernels::fixed(x) >> 42) as i64));
    Approx::new(shrunk, 126 - exponent, kernels::SMALL_ERROR)
        .round(|boundary| wide::log1p_exceeds(x, boundary))
        .copysign(x)
}
