//! Axes: where they begin and end, where their ticks stand, and what the ticks say.

use serde::Serialize;

/// One axis of a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// What is measured along it, with its unit.
    pub title: String,
    /// Where it begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// Whether equal steps are equal factors.
    pub logarithmic: bool,
}

impl Axis {
    /// From 0 to 1.
    pub fn share(title: impl Into<String>) -> Self {
        Self::between(title, 0.0, 1.0)
    }

    /// From `low` to `high`.
    pub fn between(title: impl Into<String>, low: f64, high: f64) -> Self {
        Self { title: title.into(), low, high, logarithmic: false }
    }

    /// Around all finite values, with round ends.
    pub fn around(title: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        let (low, high) = if high - low > 1e-12 * low.abs().max(high.abs()) {
            (low, high)
        } else {
            let room = if low.abs() > 0.0 { 0.1 * low.abs() } else { 1.0 };
            (low - room, high + room)
        };
        let step = step(high - low, 5.0);
        let axis = Self::between(title, (low / step).floor() * step, (high / step).ceil() * step);
        if axis.low.is_finite() && axis.high.is_finite() { axis } else { Self { low, high, ..axis } }
    }

    /// Around all positive values in factors of ten, when they reach over two decades; else around
    /// them in equal steps from 0.
    pub fn of_sizes(title: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = ends(values.into_iter().filter(|x| *x > 0.0)).unwrap_or((1.0, 10.0));
        if high / low < 100.0 {
            return Self::around(title, [0.0, high]);
        }
        let (mut from, mut to) = (1.0, 1.0);
        while from > low && from > 1e-300 {
            from /= 10.0;
        }
        while from * 10.0 <= low && from < 1e300 {
            from *= 10.0;
        }
        while to < high && to < 1e300 {
            to *= 10.0;
        }
        Self { title: title.into(), low: from, high: to, logarithmic: true }
    }

    /// Where a value lies between the ends, 0 to 1; beyond them where the value is.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = if self.logarithmic {
            decades(value / self.low) / decades(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if place.is_finite() { place.clamp(-10.0, 11.0) } else { 0.0 }
    }

    /// Round values along the axis, about `count` of them, with what they say.
    pub(crate) fn ticks(&self, count: f64) -> Vec<(f64, String)> {
        if self.logarithmic {
            let mut ticks = Vec::new();
            let mut value = self.low;
            while value <= self.high * 1.000_001 {
                ticks.push((value, label(value, value)));
                value *= 10.0;
            }
            let every = ticks.len().div_ceil(8).max(1);
            return ticks.into_iter().step_by(every).collect();
        }
        let step = step(self.high - self.low, count);
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        let steps = (last - first).clamp(0.0, 50.0) as usize;
        (0..=steps)
            .map(|i| {
                let value = (first + i as f64) * step;
                (value, label(value, step))
            })
            .collect()
    }
}

/// The smallest and the largest finite value.
fn ends(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|x| x.is_finite());
    finite.fold(None, |ends, x| match ends {
        None => Some((x, x)),
        Some((low, high)) => Some((x.min(low), x.max(high))),
    })
}

/// A logarithm to base 10 good enough for places on paper, the same on every machine.
fn decades(ratio: f64) -> f64 {
    calipers_core::functions::ln(ratio) / std::f64::consts::LN_10
}

/// The round step, 1, 2 or 5 times a power of ten, that cuts a range into about `count` parts.
fn step(range: f64, count: f64) -> f64 {
    let rough = range / count;
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let mut power = 1.0;
    while power > rough && power > 1e-300 {
        power /= 10.0;
    }
    while power * 10.0 <= rough && power < 1e300 {
        power *= 10.0;
    }
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= 0.85 * rough);
    times.unwrap_or(10.0) * power
}

/// A count in a few characters.
pub fn compact(count: f64) -> String {
    let rough = count.abs();
    label(count, if rough >= 1e4 { rough / 100.0 } else { 1.0 })
}

/// A value with as many digits as ticks a step apart need.
pub(crate) fn label(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".into();
    }
    let largest = value.abs();
    if largest >= 1e15 || (largest < 1e-4 && step < 1e-4) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let (unit, sign) = match largest {
        x if x >= 1e12 => (1e12, "T"),
        x if x >= 1e9 => (1e9, "G"),
        x if x >= 1e6 => (1e6, "M"),
        x if x >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let (value, step) = (value / unit, step / unit);
    let decimals = (0..7).find(|d| step * 10f64.powi(*d) >= 0.999_999).unwrap_or(7);
    let text = format!("{value:.*}", decimals as usize);
    let text = if sign.is_empty() || !text.contains('.') {
        text
    } else {
        text.trim_end_matches('0').trim_end_matches('.').into()
    };
    format!("{text}{sign}").replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(axis: &Axis) -> Vec<String> {
        axis.ticks(5.0).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_say_no_more_than_they_need() {
        assert_eq!(said(&Axis::share("")), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(said(&Axis::around("", [3.0, 17.0])), ["0", "5", "10", "15", "20"]);
        assert_eq!(said(&Axis::around("", [-0.013, 0.021])), ["−0.02", "−0.01", "0", "0.01", "0.02", "0.03"]);
        assert_eq!(said(&Axis::around("", [0.0, 48_000.0])), ["0", "10k", "20k", "30k", "40k", "50k"]);
        assert_eq!(
            said(&Axis::of_sizes("", [3.0, 9e6])),
            ["1", "10", "100", "1000", "10k", "100k", "1M", "10M"]
        );
    }

    #[test]
    fn odd_values_still_give_an_axis() {
        for values in
            [vec![], vec![f64::NAN], vec![7.0], vec![0.0, 0.0], vec![-1e308, 1e308], vec![1e-320, 2e-320]]
        {
            for axis in [Axis::around("", values.clone()), Axis::of_sizes("", values.clone())] {
                assert!(axis.low < axis.high && axis.high - axis.low > 0.0, "{values:?} {axis:?}");
                assert!(axis.ticks(5.0).len() < 60, "{values:?}");
                assert!(axis.place(7.0).is_finite() && axis.place(f64::NAN).is_finite(), "{values:?}");
            }
        }
    }

    #[test]
    fn counts_are_short() {
        let said = [0.0, 7.0, 9_999.0, 12_345.0, 123_456.0, 45_678_901.0, 3e9].map(compact);
        assert_eq!(said, ["0", "7", "9999", "12.3k", "123k", "45.7M", "3G"]);
    }

    #[test]
    fn factors_of_ten_lie_evenly() {
        let axis = Axis::of_sizes("", [1.0, 1000.0]);
        assert!(axis.logarithmic);
        assert!((axis.place(10.0) - 1.0 / 3.0).abs() < 1e-12 && (axis.place(1000.0) - 1.0).abs() < 1e-12);
    }
}
