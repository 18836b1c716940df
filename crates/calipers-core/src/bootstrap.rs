//! Percentile intervals by resampling units.

use crate::accumulator::Accumulator;
use crate::protocol::{Protocol, full_id};
use crate::splitmix::SplitMix64;
use crate::value::Value;

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many resamples are drawn.
    pub resamples: u32,
    /// The share of resamples an interval holds.
    pub confidence: f64,
    /// The seed of the draws.
    pub seed: u64,
}

/// The interval of every metric that is a single number or count: for each resample as many rows
/// as there are units are drawn with replacement; the interval lies between the values at rank k
/// and at rank R - 1 - k of the R defined ones, k = floor((1 - C)/2 R + 0.5). A metric defined in
/// fewer than 9 of 10 resamples has no interval.
pub(crate) fn intervals<P: Protocol>(
    accumulator: &Accumulator<P>,
    bootstrap: &Bootstrap,
) -> Vec<(String, [f64; 2])> {
    let (protocol, rows) = (accumulator.protocol(), accumulator.rows());
    if rows.is_empty() {
        return Vec::new();
    }
    let scalars: Vec<_> = P::METRICS
        .iter()
        .filter(|metric| protocol.reports(metric) && protocol.has_evidence(metric, &rows))
        .filter(|metric| matches!((metric.read)(protocol, &rows), Value::Number(_) | Value::Count(_)))
        .collect();
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); scalars.len()];
    let mut random = SplitMix64::new(bootstrap.seed);
    for _ in 0..bootstrap.resamples {
        let mut drawn: Vec<usize> =
            (0..rows.len()).map(|_| random.below(rows.len() as u64) as usize).collect();
        drawn.sort_unstable();
        let sample = rows.select(drawn);
        for (metric, values) in scalars.iter().zip(&mut values) {
            values.extend((metric.read)(protocol, &sample).as_f64());
        }
    }
    scalars
        .iter()
        .zip(values)
        .filter_map(|(metric, values)| {
            let enough = values.len() as f64 >= 0.9 * f64::from(bootstrap.resamples);
            let interval = percentile_interval(values, bootstrap.confidence)?;
            enough.then(|| (full_id::<P>(metric.id), interval))
        })
        .collect()
}

/// The two order statistics that bound the middle `confidence` of the values; `None` without any.
pub fn percentile_interval(mut values: Vec<f64>, confidence: f64) -> Option<[f64; 2]> {
    let last = values.len().checked_sub(1)?;
    values.sort_unstable_by(f64::total_cmp);
    let k = (((1.0 - confidence) / 2.0 * values.len() as f64 + 0.5).floor() as usize).min(last / 2);
    Some([values[k], values[last - k]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_drops_the_same_number_of_values_on_both_sides() {
        let values: Vec<f64> = (0..100).rev().map(f64::from).collect();
        assert_eq!(percentile_interval(values, 0.9), Some([5.0, 94.0]));
        assert_eq!(percentile_interval(vec![3.0], 0.95), Some([3.0, 3.0]));
        assert_eq!(percentile_interval(vec![], 0.95), None);
    }
}
