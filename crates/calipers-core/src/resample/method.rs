//! From the values of a number in resamples to its interval.
//!
//! ```text
//! percentile   drops the share h = (1 - C)/2 of the resamples on each side
//! expanded     the same with a smaller h: that of Student's t on as few sampling units as there are
//! bca          moves both ends by the bias of the resamples and by how the spread changes with the number
//! ```
//!
//! Bounds are values that occurred in resamples, so that nothing is interpolated.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::exact::{ExactSum, exact_mean};
use crate::functions::{normal_cdf, normal_quantile, student_quantile};

/// How an interval is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The percentile interval at the level that few sampling units need.
    #[default]
    Expanded,
    /// The middle share of the resamples.
    Percentile,
    /// Bias-corrected and accelerated (Efron 1987).
    Bca,
}

impl Method {
    /// The names in options and reports.
    pub const NAMES: [&str; 3] = ["expanded", "percentile", "bca"];

    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// What resamples say about one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence<'a> {
    /// The number over all rows.
    pub value: f64,
    /// The number in each resample; NaN where it is not defined.
    pub resamples: Vec<f64>,
    /// For each stratum that it reads the number without each of its sampling units; NaN where it is
    /// not defined. Only [`Method::Bca`] looks at it.
    pub left_out: Vec<&'a [f64]>,
    /// How many sampling units each stratum has that it reads; at least 2.
    pub sizes: Vec<usize>,
    /// Whether it is an order statistic.
    pub order_statistic: bool,
}

/// An interval, and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The lower and the upper bound.
    pub bounds: [f64; 2],
    /// Why it is a percentile interval although another method was asked for.
    pub percentile_because: Option<Cow<'static, str>>,
    /// Whether the number is the same in every resample.
    pub no_spread: bool,
}

/// The share that an interval leaves out on each side, and how it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// How it is made.
    pub method: Method,
    /// The share left out on each side.
    pub half: f64,
    /// How many resamples were drawn.
    pub resamples: u32,
}

impl Level {
    /// The interval of a number, or why it has none.
    pub fn interval(&self, evidence: Evidence<'_>) -> Result<Interval, String> {
        let Evidence { value, resamples: mut values, left_out, sizes, order_statistic } = evidence;
        values.retain(|value| !value.is_nan());
        if (values.len() as f64) < 0.9 * f64::from(self.resamples) || values.is_empty() {
            return Err(format!("defined in {} of {} resamples", values.len(), self.resamples));
        }
        let no_spread = values.iter().all(|other| same(*other, values[0]));
        let found = |bounds| Interval { bounds, percentile_because: None, no_spread };
        if no_spread {
            return Ok(found(middle(&mut values, self.half)));
        }
        Ok(match self.method {
            Method::Percentile => found(middle(&mut values, self.half)),
            Method::Expanded => found(middle(&mut values, expanded(self.half, &sizes))),
            Method::Bca => match self.accelerated(value, &values, &left_out, &sizes, order_statistic) {
                Ok(ranks) => found(ranks.map(|rank| *values.select_nth_unstable_by(rank, f64::total_cmp).1)),
                Err(reason) => {
                    Interval { percentile_because: Some(reason), ..found(middle(&mut values, self.half)) }
                }
            },
        })
    }

    /// The ranks of the bounds among the sorted resamples, or why there are none.
    fn accelerated(
        &self,
        value: f64,
        values: &[f64],
        left_out: &[&[f64]],
        sizes: &[usize],
        order_statistic: bool,
    ) -> Result<[usize; 2], Cow<'static, str>> {
        if order_statistic {
            return Err("an order statistic has no smooth jackknife".into());
        }
        let below = values.iter().filter(|other| **other < value).count();
        let equal = values.iter().filter(|other| same(**other, value)).count();
        // Ties count half: 2 below + equal of 2 R.
        let share = (2 * below + equal) as f64 / (2 * values.len()) as f64;
        if share <= 0.0 || share >= 1.0 {
            return Err("every resample lies on one side of the number".into());
        }
        let samples: usize = sizes.iter().sum();
        let undefined = left_out.iter().flat_map(|values| values.iter()).filter(|x| x.is_nan()).count();
        if undefined as f64 > 0.1 * samples as f64 {
            return Err(format!("undefined in {undefined} of {samples} jackknife samples").into());
        }
        let bias = normal_quantile(share);
        let acceleration = acceleration(left_out, sizes);
        // What both ends are at: z, then -z, each moved twice by the bias and stretched once.
        let z = normal_quantile(self.half);
        let moved = |z: f64| -> Option<f64> {
            let stretch = 1.0 - acceleration * (bias + z);
            (stretch > 0.0).then(|| bias + (bias + z) / stretch)
        };
        let (Some(low), Some(high)) = (moved(z), moved(-z)) else {
            return Err("acceleration too large".into());
        };
        let (count, last) = (values.len() as f64, values.len() - 1);
        let rank = |share: f64| ((share * count + 0.5).floor() as usize).min(last);
        let low = rank(normal_cdf(low));
        // The upper end is counted from above, so that a method without bias is symmetric.
        Ok([low, (last - rank(normal_cdf(-high))).max(low)])
    }
}

/// Whether two numbers are the same; 0 and -0 are.
fn same(a: f64, b: f64) -> bool {
    a.partial_cmp(&b) == Some(std::cmp::Ordering::Equal)
}

/// The share that an expanded interval leaves out: Phi(-sqrt(n/(n - S)) t), t the quantile of Student's
/// t with n - S degrees of freedom, n sampling units in S strata.
///
/// Resampling divides by n where an estimate divides by n - S, and its tails are normal.
fn expanded(half: f64, sizes: &[usize]) -> f64 {
    let units: usize = sizes.iter().sum();
    let degrees = units - sizes.len();
    let quantile = student_quantile(half, degrees as u64);
    normal_cdf(-(units as f64 / degrees as f64).sqrt() * quantile)
}

/// How fast the spread of a number changes with it: the skewness of what each sampling unit does to it.
///
/// sum_s f_s^3 sum_i d_si^3 / (6 (sum_s f_s^2 sum_i d_si^2)^(3/2)), f_s = (n_s - 1)/n_s, d_si the mean of
/// the numbers without one sampling unit minus that without the i-th.
fn acceleration(left_out: &[&[f64]], sizes: &[usize]) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for (values, &size) in left_out.iter().zip(sizes) {
        let defined = || values.iter().copied().filter(|value| !value.is_nan());
        let Some(mean) = exact_mean(defined()) else { continue };
        let (mut cube, mut square) = (ExactSum::new(), ExactSum::new());
        for value in defined() {
            let d = mean - value;
            cube.add(d * d * d);
            square.add(d * d);
        }
        let f = (size as f64 - 1.0) / size as f64;
        cubes += f * f * f * cube.value();
        squares += f * f * square.value();
    }
    // Without spread there is nothing that could change.
    if squares > 0.0 { cubes / (6.0 * (squares * squares.sqrt())) } else { 0.0 }
}

/// The values that bound the middle when this share is left out on each side.
fn middle(values: &mut [f64], half: f64) -> [f64; 2] {
    let last = values.len() - 1;
    let k = ((half * values.len() as f64 + 0.5).floor() as usize).min(last / 2);
    let (_, low, above) = values.select_nth_unstable_by(k, f64::total_cmp);
    let low = *low;
    let high = match (last - k).checked_sub(k + 1) {
        Some(place) => *above.select_nth_unstable_by(place, f64::total_cmp).1,
        None => low,
    };
    [low, high]
}

/// The two order statistics that bound the middle `confidence` of the values; `None` without any.
pub fn percentile_interval(mut values: Vec<f64>, confidence: f64) -> Option<[f64; 2]> {
    (!values.is_empty()).then(|| middle(&mut values, (1.0 - confidence) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evidence(resamples: Vec<f64>, sizes: &[usize]) -> Evidence<'static> {
        let sizes = sizes.to_vec();
        Evidence { value: 0.5, resamples, left_out: Vec::new(), sizes, order_statistic: false }
    }

    fn level(method: Method, resamples: u32) -> Level {
        Level { method, half: (1.0 - 0.95) / 2.0, resamples }
    }

    #[test]
    fn the_interval_drops_the_same_number_of_values_on_both_sides() {
        let values: Vec<f64> = (0..100).rev().map(f64::from).collect();
        assert_eq!(percentile_interval(values, 0.9), Some([5.0, 94.0]));
        assert_eq!(percentile_interval(vec![3.0], 0.95), Some([3.0, 3.0]));
        assert_eq!(percentile_interval(vec![], 0.95), None);
    }

    proptest! {
        #[test]
        fn bounds_are_order_statistics(mut values in prop::collection::vec(-1e3f64..1e3, 1..50), confidence in 0.01f64..0.99) {
            let found = percentile_interval(values.clone(), confidence).unwrap();
            values.sort_unstable_by(f64::total_cmp);
            let last = values.len() - 1;
            let k = (((1.0 - confidence) / 2.0 * values.len() as f64 + 0.5).floor() as usize).min(last / 2);
            prop_assert_eq!(found.map(f64::to_bits), [values[k], values[last - k]].map(f64::to_bits));
        }

        #[test]
        fn expanded_is_never_narrower_than_percentile(values in prop::collection::vec(0f64..1.0, 40..400), units in 2usize..200) {
            let count = values.len() as u32;
            let of = |method| level(method, count).interval(evidence(values.clone(), &[units])).unwrap().bounds;
            let ([low, high], [wide_low, wide_high]) = (of(Method::Percentile), of(Method::Expanded));
            prop_assert!(wide_low <= low && low <= high && high <= wide_high);
        }

        #[test]
        fn without_bias_and_skewness_bca_is_the_percentile_interval(half in prop::collection::vec(0.001f64..0.5, 20..200)) {
            // Symmetric about 0.5, jackknife and resamples alike.
            let values: Vec<f64> = half.iter().flat_map(|x| [0.5 - x, 0.5 + x]).collect();
            let left_out = [0.25, 0.75];
            let count = values.len() as u32;
            let of = |method| {
                let evidence = Evidence { left_out: vec![&left_out], ..evidence(values.clone(), &[2]) };
                level(method, count).interval(evidence).unwrap()
            };
            prop_assert_eq!(of(Method::Percentile), of(Method::Bca));
        }
    }

    #[test]
    fn few_sampling_units_leave_out_less() {
        for (units, share) in [(5, 0.00095), (10, 0.00855), (20, 0.01588), (100, 0.02306)] {
            assert!((expanded((1.0 - 0.95) / 2.0, &[units]) - share).abs() < 5e-6, "{units}");
        }
    }

    #[test]
    fn what_bca_cannot_do_is_a_percentile_interval_with_a_reason() {
        let values: Vec<f64> = (0..100).map(|k| f64::from(k) / 100.0).collect();
        let of = |evidence: Evidence<'_>| {
            let plain = level(Method::Percentile, 100).interval(evidence.clone()).unwrap();
            let found = level(Method::Bca, 100).interval(evidence).unwrap();
            assert_eq!(found.bounds.map(f64::to_bits), plain.bounds.map(f64::to_bits));
            found.percentile_because.unwrap_or_default().into_owned()
        };
        let base = evidence(values, &[4]);
        let left_out = [0.4, f64::NAN, 0.5, 0.6];
        assert_eq!(
            of(Evidence { left_out: vec![&left_out], ..base.clone() }),
            "undefined in 1 of 4 jackknife samples"
        );
        assert_eq!(
            of(Evidence { value: -1.0, ..base.clone() }),
            "every resample lies on one side of the number"
        );
        assert_eq!(
            of(Evidence { order_statistic: true, ..base.clone() }),
            "an order statistic has no smooth jackknife"
        );
        let skewed: Vec<f64> = std::iter::once(90.0).chain(vec![1.0; 99]).collect();
        let steep = Evidence { value: 0.01, left_out: vec![&skewed], sizes: vec![100], ..base };
        let extreme = Level { half: 1e-12, ..level(Method::Bca, 100) };
        assert_eq!(extreme.interval(steep).unwrap().percentile_because.unwrap(), "acceleration too large");
    }

    #[test]
    fn a_number_without_spread_or_too_often_undefined_says_so() {
        for method in [Method::Expanded, Method::Percentile, Method::Bca] {
            let found = level(method, 10).interval(evidence(vec![0.25; 10], &[3])).unwrap();
            assert!(found.no_spread && found.percentile_because.is_none());
            assert_eq!(found.bounds.map(f64::to_bits), [0.25_f64.to_bits(); 2]);
            let mut seldom = vec![f64::NAN; 10];
            seldom[3] = 1.0;
            let reason = level(method, 10).interval(evidence(seldom, &[3])).unwrap_err();
            assert_eq!(reason, "defined in 1 of 10 resamples");
        }
    }
}
