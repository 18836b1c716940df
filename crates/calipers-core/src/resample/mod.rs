//! Percentile intervals by resampling units.

mod column;
mod cut;
mod means;
mod partition;
mod resampler;
mod splitmix;
mod weighted_sum;

use crate::accumulator::Accumulator;
use crate::protocol::Protocol;
use crate::stop;

pub use means::Means;
pub(crate) use resampler::Numbers;
pub use resampler::{Leaf, Resampler, Scope};
pub use splitmix::SplitMix64;
pub use weighted_sum::{Panels, Weights};

/// Resamples that are drawn together: few enough for the cache, enough to be worth a thread.
pub const BLOCK: u32 = 32;

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

impl Bootstrap {
    /// The resamples in blocks, to be drawn in any order.
    pub fn blocks(&self) -> Vec<std::ops::Range<u32>> {
        let end = |start: u32| start.saturating_add(BLOCK).min(self.resamples);
        (0..self.resamples).step_by(BLOCK as usize).map(|start| start..end(start)).collect()
    }

    /// The resamples of a block.
    pub fn draw(&self, units: usize, block: &std::ops::Range<u32>) -> Weights {
        Weights::resamples(self.seed, units, block.clone())
    }

    /// The interval of one number from its values in all resamples. A number defined in fewer than 9
    /// of 10 resamples has none.
    pub fn interval(&self, values: impl IntoIterator<Item = Option<f64>>) -> Option<[f64; 2]> {
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let enough = values.len() as f64 >= 0.9 * f64::from(self.resamples);
        percentile_interval(values, self.confidence).filter(|_| enough)
    }
}

/// The interval of every metric that is a single number or count: for each resample as many rows
/// as there are units are drawn with replacement; the interval lies between the values at rank k
/// and at rank R - 1 - k of the R defined ones, k = floor((1 - C)/2 R + 0.5). A metric defined in
/// fewer than 9 of 10 resamples has no interval.
pub(crate) fn intervals<P>(accumulator: &Accumulator<P>, bootstrap: &Bootstrap) -> Vec<(String, [f64; 2])>
where
    P: Protocol,
{
    let numbers = Numbers::new(accumulator, Scope::Single, &|_| true);
    let blocks = bootstrap.blocks().into_iter().take_while(|_| !stop::asked());
    let values = blocks.flat_map(|block| numbers.read(&bootstrap.draw(accumulator.len(), &block)));
    let values: Vec<Vec<Option<f64>>> = values.collect();
    intervals_of(&numbers, bootstrap, &values).into_iter().map(|(leaf, bounds)| (leaf.id, bounds)).collect()
}

/// The intervals of a resampler's numbers from what was read of every resample.
pub fn intervals_of(
    resampler: &dyn Resampler,
    bootstrap: &Bootstrap,
    values: &[Vec<Option<f64>>],
) -> Vec<(Leaf, [f64; 2])> {
    let one = |(place, (leaf, _)): (usize, &(Leaf, f64))| {
        let bounds = bootstrap.interval(values.iter().map(|resample| resample[place]))?;
        Some((leaf.clone(), bounds))
    };
    resampler.leaves().iter().enumerate().filter_map(one).collect()
}

/// The two order statistics that bound the middle `confidence` of the values; `None` without any.
pub fn percentile_interval(mut values: Vec<f64>, confidence: f64) -> Option<[f64; 2]> {
    let last = values.len().checked_sub(1)?;
    let k = (((1.0 - confidence) / 2.0 * values.len() as f64 + 0.5).floor() as usize).min(last / 2);
    let (_, low, above) = values.select_nth_unstable_by(k, f64::total_cmp);
    let low = *low;
    let high = match (last - k).checked_sub(k + 1) {
        Some(place) => *above.select_nth_unstable_by(place, f64::total_cmp).1,
        None => low,
    };
    Some([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    }

    #[test]
    fn blocks_cover_every_resample_once() {
        for resamples in [0, 1, 31, 32, 33, 2000] {
            let bootstrap = Bootstrap { resamples, confidence: 0.95, seed: 0 };
            assert!(bootstrap.blocks().into_iter().flatten().eq(0..resamples));
        }
    }
}
