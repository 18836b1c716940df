//! Intervals by resampling units, with threads: the same bits for any number of them.

use calipers_core::resample::{Bootstrap, Leaf, Resampler, Scope, intervals_of};
use calipers_core::{Ledger, Result};
use calipers_sources::run::{Silent, in_parts};

/// The intervals of an accumulator's numbers, of metrics that are wanted.
pub fn intervals(
    ledger: &dyn Ledger,
    wanted: &dyn Fn(&str) -> bool,
    bootstrap: &Bootstrap,
    scope: Scope,
    threads: usize,
) -> Result<Vec<(Leaf, [f64; 2])>> {
    if ledger.units() == 0 {
        return Ok(Vec::new());
    }
    let resampler = ledger.resampler(scope, wanted);
    let values = together(&[&*resampler], ledger.units(), bootstrap, threads)?;
    Ok(values.first().map_or_else(Vec::new, |values| intervals_of(&*resampler, bootstrap, values)))
}

/// Every number of each resampler in every resample, all of them over the same draws.
pub fn together(
    resamplers: &[&dyn Resampler],
    units: usize,
    bootstrap: &Bootstrap,
    threads: usize,
) -> Result<Vec<Vec<Vec<Option<f64>>>>> {
    let blocks = bootstrap.blocks();
    let parts = in_parts(&blocks, threads, &Silent, Vec::new, |at, block, part: &mut Vec<_>| {
        let weights = bootstrap.draw(units, block);
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
