//! Every number of every model in every sample: resamples, those without one sampling unit, and
//! sampling units alone. All models are read from the same draws.

use std::ops::Range;

use calipers_core::Result;
use calipers_core::resample::{Held, Leaf, Method, Plan, Resampler, Weights, collected};
use calipers_sources::memory::allowed;
use calipers_sources::run::Threads;

use super::Options;

/// Bytes of a sampling unit in each difference: both numbers, what sets them apart, and that as a whole number
/// in two places.
const TESTED: u128 = 48;

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
        let held = Held {
            numbers: models.iter().map(|model| model.leaves().len()).sum(),
            resamples,
            others: left_out as usize + alone as usize,
            // The difference of two models, of which the interval is made.
            columns: 1,
            rows: plan.rows(),
            workers: options.threads,
            more: TESTED * u128::from(alone) * differences(models),
        };
        held.within(allowed(), "--resamples")?;
        let read = |samples, weights: &(dyn Fn(Range<u32>) -> Weights + Sync)| {
            collected(models, samples, weights, &Threads(options.threads))
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

/// How many differences to the first model there are at most.
fn differences(models: &[&dyn Resampler]) -> u128 {
    models.iter().skip(1).map(|model| model.leaves().len() as u128).sum()
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
