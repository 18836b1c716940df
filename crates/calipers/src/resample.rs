//! How sure numbers are: one way of asking for every face, the same bits for any number of threads.

use calipers_core::resample::{Asked, Bootstrap, Plan, Resampler};
use calipers_core::{Ledger, Report, Result};
use calipers_sources::clusters::ClusterRule;
use calipers_sources::run::{Silent, Threads, in_parts};

pub use calipers_sources::memory::half_of_memory;

/// What intervals are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// How to resample.
    pub bootstrap: Bootstrap,
    /// Which sampling units come together; `None` where nobody said.
    pub cluster_by: Option<ClusterRule>,
}

/// The resamples behind the intervals of a page, where no number is asked for.
pub const PAGE_RESAMPLES: u32 = 2_000;

/// Adds to a report of a ledger how sure its numbers are: what every output then shows.
pub fn add(ledger: &dyn Ledger, report: &mut Report, asked: &Intervals, threads: usize) -> Result<()> {
    let clusters = match &asked.cluster_by {
        Some(rule) => Some(rule.clusters(&ledger.sampling_units())?),
        None => None,
    };
    let asked = Asked { bootstrap: asked.bootstrap, clusters: clusters.as_ref(), memory: half_of_memory() };
    ledger.add_intervals(report, &asked, &Threads(threads))
}

/// What a report says of its own intervals: asking for it again gives the same ones.
pub fn asked_by(report: &Report) -> Result<Option<Intervals>> {
    let Some(intervals) = &report.intervals else { return Ok(None) };
    let rule = intervals.drawn.cluster_by.as_deref().map(str::parse).transpose()?;
    Ok(Some(Intervals { bootstrap: intervals.drawn.bootstrap, cluster_by: rule }))
}

/// Every number of each resampler in every resample, all of them over the same draws.
pub fn together(
    resamplers: &[&dyn Resampler],
    plan: &Plan,
    bootstrap: &Bootstrap,
    threads: usize,
) -> Result<Vec<Vec<Vec<Option<f64>>>>> {
    let blocks = bootstrap.blocks();
    let parts = in_parts(&blocks, threads, &Silent, Vec::new, |at, block, part: &mut Vec<_>| {
        let weights = plan.draw(bootstrap.seed, block.clone());
        let read: Vec<_> = resamplers.iter().map(|resampler| resampler.read(&weights)).collect();
        part.push((at, read));
        Ok(())
    })?;
    let mut done: Vec<_> = parts.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(at, _)| *at);
    let mut all = vec![Vec::with_capacity(bootstrap.resamples as usize); resamplers.len()];
    for (_, read) in done {
        all.iter_mut().zip(read).for_each(|(all, read)| all.extend(read));
    }
    Ok(all)
}
