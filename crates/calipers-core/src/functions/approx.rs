//! A number known to within an error, and how it is rounded.

/// A positive number: `significand * 2^exponent`, exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dyadic {
    pub(super) significand: u64,
    pub(super) exponent: i32,
}

impl Dyadic {
    /// The magnitude of a finite number.
    pub(super) fn of(x: f64) -> Self {
        let bits = x.abs().to_bits();
        let field = (bits >> 52) as i32;
        let fraction = bits & 0xf_ffff_ffff_ffff;
        match field {
            0 => Self { significand: fraction, exponent: -1074 },
            _ => Self { significand: fraction | (1 << 52), exponent: field - 1075 },
        }
    }

    /// This number times 2^power.
    pub(super) fn scaled(self, power: i32) -> Self {
        Self { exponent: self.exponent + power, ..self }
    }
}

/// A positive number within `error` of `significand`, both in units of 2^(exponent - 127); the
/// leading bit of the significand is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approx {
    significand: u128,
    exponent: i32,
    error: u128,
}

impl Approx {
    /// `value * 2^-scale`, within `error * 2^-scale`; the value is at least 2^64.
    #[inline]
    pub(super) fn new(value: u128, scale: i32, error: u64) -> Self {
        // Below 64, which the mask tells the compiler.
        let zeros = ((value >> 64) as u64).leading_zeros() & 63;
        Self {
            significand: value << zeros,
            exponent: 127 - zeros as i32 - scale,
            error: u128::from(error) << zeros,
        }
    }

    /// The nearest f64. When a boundary between two results is too close to tell,
    /// `exceeds(boundary)` has to say whether the true value is above it.
    #[inline]
    pub(super) fn round(self, exceeds: impl FnOnce(Dyadic) -> bool) -> f64 {
        match self.exponent {
            1024.. => f64::INFINITY,
            -1022.. => {
                let binade = ((self.exponent + 1022) as u64) << 52;
                f64::from_bits(binade + self.round_to(53, exceeds))
            }
            -1075.. => f64::from_bits(self.round_to((self.exponent + 1075) as u32, exceeds)),
            _ => 0.0,
        }
    }

    /// The leading `kept` bits, rounded.
    #[inline]
    fn round_to(self, kept: u32, exceeds: impl FnOnce(Dyadic) -> bool) -> u64 {
        let dropped = 128 - kept;
        let whole = if kept == 0 { 0 } else { (self.significand >> dropped) as u64 };
        let rest = self.significand << kept >> kept;
        let half = 1 << (dropped - 1);
        let up = if rest.abs_diff(half) > self.error {
            rest > half
        } else {
            exceeds(Dyadic { significand: 2 * whole + 1, exponent: self.exponent - kept as i32 })
        };
        whole + u64::from(up)
    }
}
