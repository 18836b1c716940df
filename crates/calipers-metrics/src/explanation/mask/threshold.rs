//! Where a mask value counts as selected, and a target value as true.

use calipers_core::functions;
use calipers_core::{NumberSlice, on_numbers};
use half::{bf16, f16};

use crate::explanation::protocol::MaskScores;
use crate::explanation::unit::Importance;

/// The threshold rounded to the type that masks of this data are compared in.
pub(crate) fn rounded(data: NumberSlice<'_>, threshold: f64) -> f64 {
    match data {
        NumberSlice::F16(_) => f64::from(f16::from_f64(threshold)),
        NumberSlice::BF16(_) => f64::from(bf16::from_f64(threshold)),
        NumberSlice::F32(_) | NumberSlice::Int(_) | NumberSlice::Bool(_) => f64::from(threshold as f32),
        NumberSlice::F64(_) => threshold,
    }
}

/// The value above which elements of a predicted mask are selected.
pub(crate) fn selection(data: NumberSlice<'_>, threshold: f64, scores: MaskScores) -> f64 {
    match scores {
        MaskScores::Probs | MaskScores::Raw => rounded(data, threshold),
        MaskScores::Logits => log_odds(threshold),
    }
}

/// Which values lie above the threshold.
pub(crate) fn above(data: NumberSlice<'_>, threshold: f64, out: &mut [bool]) {
    on_numbers!(data, values => fill(values, out, |value| value > threshold));
}

/// Which values lie at or above the threshold.
pub(crate) fn at_least(data: NumberSlice<'_>, threshold: f64, out: &mut [bool]) {
    on_numbers!(data, values => fill(values, out, |value| value >= threshold));
}

/// Whether every value fulfils a condition.
pub(crate) fn all(data: NumberSlice<'_>, condition: impl Fn(f64) -> bool + Copy) -> bool {
    fn each<T: Importance>(values: &[T], condition: impl Fn(f64) -> bool) -> bool {
        // A block is looked at as a whole, which is faster than stopping at the first failure.
        let whole = |block: &[T]| block.iter().fold(true, |all, value| all & condition(value.importance()));
        values.chunks(4096).all(whole)
    }
    on_numbers!(data, values => each(values, condition))
}

#[inline(always)]
fn fill<T: Importance>(values: &[T], out: &mut [bool], selects: impl Fn(f64) -> bool) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = selects(value.importance());
    }
}

/// ln(t/(1-t)), rounded once: the logit whose sigmoid is t; infinite at and beyond 0 and 1.
pub(crate) fn log_odds(t: f64) -> f64 {
    if t >= 1.0 {
        return f64::INFINITY;
    }
    if t <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // 1 - t in two parts, exactly.
    let rest = Double::sum(1.0, -t);
    let first = functions::ln(t) - functions::ln(rest.high);
    if first < -700.0 {
        return first;
    }
    // One step of Newton's iteration in twice the precision: with e = exp(-first) the true value is
    // first + ln(t e / (1 - t)), and that logarithm is tiny.
    let scaled = Double::exp(-first).times(Double { high: t, low: 0.0 });
    let off = scaled.minus(rest);
    let ratio = off.high / rest.high;
    first + (ratio - 0.5 * ratio * ratio + off.low / rest.high)
}

/// A number as the sum of two f64, the second below half a unit of the first.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    const LN_2: Self = Self { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let b_part = high - a;
        Self { high, low: (a - (high - b_part)) + (b - b_part) }
    }

    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + (self.low + other.low))
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let rest = (-high).mul_add(divisor, self.high) + self.low;
        Self::sum(high, rest / divisor)
    }

    /// e^x for |x| below 745, to about 100 bits.
    fn exp(x: f64) -> Self {
        const HALVINGS: i32 = 8;
        let twos = (x * std::f64::consts::LOG2_E).round_ties_even();
        let part = Self { high: x, low: 0.0 }.minus(Self::LN_2.times(Self { high: twos, low: 0.0 }));
        let small = Self { high: part.high / 256.0, low: part.low / 256.0 };
        let mut sum = Self { high: 1.0, low: 0.0 };
        for k in (1..=12).rev() {
            sum = Self { high: 1.0, low: 0.0 }.plus(sum.times(small).over(f64::from(k)));
        }
        for _ in 0..HALVINGS {
            sum = sum.times(sum);
        }
        // In two steps, so that neither factor is too small for an f64.
        let half = (twos / 2.0).floor();
        let scale = |power: f64| f64::from_bits(((power as i64 + 1023) as u64) << 52);
        let (first, second) = (scale(half), scale(twos - half));
        Self { high: sum.high * first * second, low: sum.low * first * second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logit_of_a_threshold_is_rounded_once() {
        // Computed with 60 digits from the f64 thresholds.
        for (t, expected) in LOG_ODDS {
            assert_eq!(log_odds(t).to_bits(), expected.to_bits(), "{t}");
        }
        assert_eq!(log_odds(0.5).to_bits(), 0);
        assert_eq!((log_odds(0.0), log_odds(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_threshold_is_compared_in_the_type_of_the_mask() {
        let mut selected = [false; 3];
        let single = NumberSlice::F32(&[0.35, 0.36, 0.34]);
        above(single, rounded(single, 0.35), &mut selected);
        assert_eq!(selected, [false, true, false]);
        at_least(single, rounded(single, 0.35), &mut selected);
        assert_eq!(selected, [true, true, false]);
        let halves = [0.35, 0.36, 0.34].map(f16::from_f64);
        let half = NumberSlice::F16(&halves);
        at_least(half, rounded(half, 0.35), &mut selected);
        assert_eq!(selected, [true, true, false]);
    }

    const LOG_ODDS: [(f64, f64); 40] = [
        (0.75, 1.0986122886681098),
        (0.9, 2.1972245773362196),
        (0.1, -2.197224577336219),
        (0.35, -0.6190392084062235),
        (0.3, -0.8472978603872037),
        (0.7, 0.8472978603872034),
        (0.6, 0.4054651081081643),
        (0.001, -6.906754778648554),
        (1e-12, -27.63102111592755),
        (1e-300, -690.7755278982137),
        (0.999, 6.906754778648553),
        (0.25, -1.0986122886681098),
        (0.2, -1.3862943611198906),
        (0.5000000000000001, 4.440892098500626e-16),
        (0.49999999999999994, -2.220446049250313e-16),
        (0.9999999999999999, 36.7368005696771),
        (0.6229016948897019, 0.5018828035046233),
        (0.35853551175589526, -0.5817261135129722),
        (0.9424502837770503, 2.795833964432221),
        (0.6520316967541351, 0.6279817823992053),
        (0.029005, -3.5108530900294523),
        (0.776, 1.242506468328179),
        (0.649, 0.6146464932382243),
        (0.113206, -2.058403543921389),
        (0.868445, 1.8872792409737613),
        (0.5437608592359304, 0.17549244966368516),
        (0.24933071444268662, -1.1021850036593752),
        (0.21673, -1.2848251249373308),
        (0.182076, -1.502345240419832),
        (0.16, -1.6582280766035324),
        (0.13876741839890316, -1.8255653148098732),
        (0.445, -0.22089383158019427),
        (0.002, -6.212606095751519),
        (0.209, -1.330963715802843),
        (0.96, 3.178053830347945),
        (0.872408, 1.9224195313704318),
        (0.314, -0.7814846418176319),
        (0.5392234688708106, 0.1572169066293294),
        (0.626, 0.5150945736855665),
        (0.9409760010879991, 2.7689735132130697),
    ];
}
