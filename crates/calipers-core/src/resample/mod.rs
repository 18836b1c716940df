//! How sure a number is: intervals by resampling.
//!
//! ```text
//! rows --Plan--> strata of sampling units --draw--> Weights --Resampler--> numbers --Level--> Interval
//!                                         --leave_out-->                                 (bca)
//! ```
//!
//! * [`Plan`] says what is drawn and how often each row then counts;
//! * [`Resampler`] reads the numbers of weighted rows;
//! * [`Level`] makes an interval of them by one of three [`Method`]s;
//! * [`Intervals`] is what a report holds: every output shows these.

mod collected;
mod held;
mod intervals;
mod method;
mod plan;
mod resampler;
mod splitmix;
mod warnings;
mod weighted_sum;

pub use collected::collected;
pub use held::Held;
pub(crate) use intervals::add;
pub use intervals::{Asked, Bounds, Drawn, Intervals};
pub use method::{Evidence, Interval, Level, Method, percentile_interval};
pub use plan::{Clusters, Draws, Plan, Sampled, Sampling, Stratum};
pub(crate) use resampler::Numbers;
pub use resampler::{Leaf, Means, Resampler, Scope, resampled};
pub use splitmix::SplitMix64;
pub use warnings::{clusters_ignored, few_resamples, few_units};
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
    /// How intervals are made.
    pub method: Method,
}

impl Bootstrap {
    /// The resamples in blocks, to be drawn in any order.
    pub fn blocks(&self) -> Vec<std::ops::Range<u32>> {
        blocks(self.resamples)
    }

    /// The share that intervals leave out, and how they are made.
    pub fn level(&self) -> Level {
        Level { method: self.method, half: (1.0 - self.confidence) / 2.0, resamples: self.resamples }
    }
}

/// The samples, divided into blocks.
pub fn blocks(samples: u32) -> Vec<std::ops::Range<u32>> {
    let end = |start: u32| start.saturating_add(BLOCK).min(samples);
    (0..samples).step_by(BLOCK as usize).map(|start| start..end(start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_resample_once() {
        for resamples in [0, 1, 31, 32, 33, 2000] {
            assert!(blocks(resamples).into_iter().flatten().eq(0..resamples));
        }
    }
}
