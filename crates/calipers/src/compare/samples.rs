//! Every number of every model in every sample: resamples, those without one sampling unit, and
//! sampling units alone. All models are read from the same draws.

use std::ops::Range;

use calipers_core::resample::{Leaf, Method, Plan, Resampler, Weights, blocks};
use calipers_core::{Error, Result};
use calipers_sources::memory::half_of_memory;
use calipers_sources::run::{Silent, in_parts};

use super::Options;

/// Room beside the numbers: weights, sums and one column per worker.
const BESIDE: u64 = 64 << 20;

/// What all models come to in all samples.
pub(super) struct Samples(Vec<Numbers>);

/// One model: NaN stands where a number is not defined.
struct Numbers {
    leaves: Vec<(Leaf, f64)>,
    resamples: Vec<f64>,
    left_out: Vec<f64>,
    alone: Vec<f64>,
}

impl Samples {
    /// Draws and reads. Resamples that no interval could come from are not drawn.
    pub(super) fn draw(models: &[&dyn Resampler], plan: &Plan, options: &Options) -> Result<Self> {
        let bootstrap = options.bootstrap;
        let sized = (0..plan.strata().len()).any(|at| plan.too_small(at..at + 1).is_none());
        let resamples = if sized { bootstrap.resamples } else { 0 };
        let left_out =
            if sized && bootstrap.method == Method::Bca { plan.left_out_samples() as u32 } else { 0 };
        let alone = plan.names().len() as u32;
        affordable(models, [resamples, left_out, alone])?;
        let read = |samples, weights: &(dyn Fn(Range<u32>) -> Weights + Sync)| {
            read(models, samples, weights, options.threads)
        };
        let drawn = read(resamples, &|block| plan.draw(bootstrap.seed, block))?;
        let left_out = read(left_out, &|block| plan.leave_out(block))?;
        let alone = read(alone, &|block| plan.alone(block))?;
        let all = models.iter().zip(drawn).zip(left_out.into_iter().zip(alone));
        let one = |((model, resamples), (left_out, alone)): ((&&dyn Resampler, _), _)| Numbers {
            leaves: model.leaves().to_vec(),
            resamples,
            left_out,
            alone,
        };
        Ok(Self(all.map(one).collect()))
    }

    /// One number of a model, where it has it.
    pub(super) fn column(&self, model: usize, leaf: &Leaf) -> Option<Column<'_>> {
        let numbers = &self.0[model];
        let place = numbers.leaves.iter().position(|(known, _)| known == leaf)?;
        Some(Column { value: numbers.leaves[place].1, place, numbers })
    }
}

/// One number of one model.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    /// Over all rows.
    pub(super) value: f64,
    place: usize,
    numbers: &'a Numbers,
}

impl<'a> Column<'a> {
    fn of(self, values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        values.iter().skip(self.place).step_by(self.numbers.leaves.len()).copied()
    }

    /// In each resample.
    pub(super) fn resamples(self) -> impl Iterator<Item = f64> + 'a {
        self.of(&self.numbers.resamples)
    }

    /// In each sample that lacks one sampling unit.
    pub(super) fn left_out(self) -> impl Iterator<Item = f64> + 'a {
        self.of(&self.numbers.left_out)
    }

    /// Of each sampling unit alone.
    pub(super) fn alone(self) -> impl Iterator<Item = f64> + 'a {
        self.of(&self.numbers.alone)
    }
}

/// Refuses more samples than there is memory for, before any is drawn.
fn affordable(models: &[&dyn Resampler], samples: [u32; 3]) -> Result<()> {
    let numbers: usize = models.iter().map(|model| model.leaves().len()).sum();
    let samples: u64 = samples.into_iter().map(u64::from).sum();
    // Blocks are joined at the end, so that the numbers are there twice.
    let needed = 16 * numbers as u128 * u128::from(samples) + u128::from(BESIDE);
    let memory = half_of_memory();
    if needed <= u128::from(memory) {
        return Ok(());
    }
    Err(Error::value(format!("{samples} samples of {numbers} numbers do not fit into memory"))
        .at("--resamples")
        .found(format!("{} MiB", needed >> 20))
        .allowed(format!("{} MiB, half of what there is", memory >> 20))
        .advice("draw fewer resamples, or compare fewer metrics"))
}

/// Every number of each model in so many samples, sample after sample.
fn read(
    models: &[&dyn Resampler],
    samples: u32,
    weights: &(dyn Fn(Range<u32>) -> Weights + Sync),
    threads: usize,
) -> Result<Vec<Vec<f64>>> {
    let parts = in_parts(&blocks(samples), threads, &Silent, Vec::new, |at, block, part: &mut Vec<_>| {
        let weights = weights(block.clone());
        let flat = |model: &&dyn Resampler| -> Vec<f64> {
            model.read(&weights).into_iter().flatten().map(|number| number.unwrap_or(f64::NAN)).collect()
        };
        part.push((at, models.iter().map(flat).collect::<Vec<_>>()));
        Ok(())
    })?;
    let mut done: Vec<_> = parts.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(at, _)| *at);
    let mut all: Vec<Vec<f64>> =
        models.iter().map(|model| Vec::with_capacity(model.leaves().len() * samples as usize)).collect();
    for (_, read) in done {
        all.iter_mut().zip(read).for_each(|(all, read)| all.extend(read));
    }
    Ok(all)
}
