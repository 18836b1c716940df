//! How many intervals hold the true number, over many samples of every population.

use std::sync::{Mutex, PoisonError};

use calipers::compare::{Model, Options, compare};
use calipers::core::resample::{Interval, Method};
use calipers::core::{Better, Workers};
use calipers::report::comparison::{Line, Ranking};
use calipers::run::Threads;
use calipers::{Error, Result};

use crate::populations::{Clustered, Kind, Models, Number, Part, Populations};
use crate::sample::{self, Sample, bootstrap, drawn};

/// How much is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Samples of each population and size.
    pub(crate) samples: u32,
    /// Resamples of each sample.
    pub(crate) resamples: u32,
    /// How many sampling units samples have.
    pub(crate) sizes: &'static [usize],
    /// How many clusters samples have.
    pub(crate) clusters: &'static [usize],
    /// How many units the models of a set share.
    pub(crate) sets: &'static [usize],
}

impl Plan {
    pub(crate) const WHOLE: Self = Self {
        samples: 1000,
        resamples: 1000,
        sizes: &[5, 10, 20, 50, 100],
        clusters: &[20, 40],
        sets: &[10, 20, 50],
    };
    pub(crate) const QUICK: Self = Self { samples: 200, ..Self::WHOLE };
}

/// Of so many samples, in how many there was an interval, and in how many it held the true number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) held: u32,
    pub(crate) of: u32,
}

impl Share {
    fn count(&mut self, held: Option<bool>) {
        self.of += u32::from(held.is_some());
        self.held += u32::from(held == Some(true));
    }

    fn add(&mut self, other: Self) {
        self.held += other.held;
        self.of += other.of;
    }

    /// In percent.
    pub(crate) fn percent(self) -> f64 {
        100.0 * f64::from(self.held) / f64::from(self.of.max(1))
    }
}

/// What is drawn of a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// Units, or runs.
    Units,
    /// Units that really come together, one by one.
    UnitsOfClusters,
    /// Clusters.
    Clusters,
    /// Units, for the difference of two models.
    Differences,
}

/// How often the intervals of one number hold it.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    pub(crate) population: &'static str,
    /// The number of each sampling unit that it is of, where it is no number of the family.
    pub(crate) each: Option<&'static str>,
    pub(crate) drawn: Drawn,
    pub(crate) kind: Kind,
    pub(crate) path: String,
    pub(crate) rare_labels: bool,
    /// How many sampling units a sample has.
    pub(crate) size: usize,
    /// Samples that were drawn.
    pub(crate) samples: u32,
    /// By method, in the order of [`sample::METHODS`].
    pub(crate) shares: [Share; 3],
}

/// How often the best of several models is in the set of those that are not distinguishable from it.
#[derive(Clone, Debug)]
pub(crate) struct InSet {
    pub(crate) population: &'static str,
    pub(crate) path: String,
    pub(crate) models: usize,
    pub(crate) size: usize,
    pub(crate) share: Share,
    /// How many models the sets hold together.
    pub(crate) members: u64,
}

/// Everything that was measured.
pub(crate) struct Results {
    pub(crate) plan: Plan,
    pub(crate) coverage: Vec<Coverage>,
    pub(crate) sets: Vec<InSet>,
}

impl Results {
    pub(crate) fn of(
        populations: &Populations,
        plan: &Plan,
        threads: usize,
        said: &dyn Fn(&str),
    ) -> Result<Self> {
        let mut results = Self { plan: *plan, coverage: Vec::new(), sets: Vec::new() };
        for population in &populations.single {
            for part in &population.parts {
                for &size in plan.sizes {
                    let found = part_of(part, Drawn::Units, size, plan, threads)?;
                    results.keep(population.name, part, Drawn::Units, size, &found, plan);
                }
            }
            said(population.name);
        }
        for Clustered { name, part } in &populations.clustered {
            for &size in plan.clusters {
                for drawn in [Drawn::UnitsOfClusters, Drawn::Clusters] {
                    let found = part_of(part, drawn, size, plan, threads)?;
                    results.keep(name, part, drawn, size, &found, plan);
                }
            }
            said(name);
        }
        for models in &populations.models {
            results.differences(models, plan, threads)?;
            results.sets(models, plan, threads)?;
            said(models.name);
        }
        Ok(results)
    }

    fn keep(
        &mut self,
        population: &'static str,
        part: &Part,
        drawn: Drawn,
        size: usize,
        found: &[[Share; 3]],
        plan: &Plan,
    ) {
        let line = |(number, shares): (&Number, &[Share; 3])| Coverage {
            population,
            each: part.each,
            drawn,
            kind: number.kind,
            path: number.path.clone(),
            rare_labels: number.rare_labels,
            size,
            samples: plan.samples,
            shares: *shares,
        };
        self.coverage.extend(part.numbers.iter().zip(found).map(line));
    }

    /// Differences of the second model to the first.
    fn differences(&mut self, models: &Models, plan: &Plan, threads: usize) -> Result<()> {
        for (kind, path) in &models.numbers {
            let truths = truths(models, path)?;
            let truth = truths[1] - truths[0];
            for &size in plan.sizes {
                let shares = counted(plan.samples, threads, [Share::default(); 3], |number, shares| {
                    let places = drawn(number, models.models[0].len(), size);
                    let rows = [models.models[0].sample(&places)?, models.models[1].sample(&places)?];
                    let of = |rows| Sample::of(rows, &[path], false, number, plan.resamples);
                    let [first, later] = [of(&*rows[0])?, of(&*rows[1])?];
                    let found = later.differences(&first, path);
                    shares.iter_mut().zip(found).for_each(|(share, found)| share.count(holds(found, truth)));
                    Ok(())
                })?;
                self.coverage.push(Coverage {
                    population: models.name,
                    each: None,
                    drawn: Drawn::Differences,
                    kind: *kind,
                    path: path.clone(),
                    rare_labels: false,
                    size,
                    samples: plan.samples,
                    shares: joined(shares.iter()),
                });
            }
        }
        Ok(())
    }

    fn sets(&mut self, models: &Models, plan: &Plan, threads: usize) -> Result<()> {
        for (_, path) in &models.numbers {
            let truths = truths(models, path)?;
            let higher = |better| better != Better::Lower;
            for &size in plan.sets {
                let all = models.models.len();
                let new = (Share::default(), 0u64);
                let parts = counted(plan.samples, threads, new, |number, (share, members)| {
                    let line = compared(models, path, number, size, plan)?;
                    let sign = if higher(line.better) { 1.0 } else { -1.0 };
                    let best = (1..all).fold(0, |best, model| {
                        if sign * truths[model] > sign * truths[best] { model } else { best }
                    });
                    if let Some(Ranking::Known(ranks)) = &line.ranks {
                        share.count(Some(ranks.set.contains(&best)));
                        *members += ranks.set.len() as u64;
                    }
                    Ok(())
                })?;
                let (mut share, mut members) = (Share::default(), 0);
                for (part, more) in parts {
                    share.add(part);
                    members += more;
                }
                let (population, path) = (models.name, path.clone());
                self.sets.push(InSet { population, path, models: all, size, share, members });
            }
        }
        Ok(())
    }
}

/// The true numbers of all models.
fn truths(models: &Models, path: &str) -> Result<Vec<f64>> {
    let lacking = || Error::value("a model lacks a number").found(path);
    models.models.iter().map(|rows| sample::value(&*rows.all()?, path).ok_or_else(lacking)).collect()
}

/// The line of a number in the comparison of models over one sample of their units.
fn compared(models: &Models, path: &str, number: u32, size: usize, plan: &Plan) -> Result<Line> {
    let places = drawn(number, models.models[0].len(), size);
    let sides = models.models.iter().enumerate().map(|(at, rows)| {
        Ok(Model::from_ledgers(&format!("model {at}"), "a population", vec![rows.sample(&places)?]))
    });
    let options = Options {
        metrics: vec![path.to_owned()],
        bootstrap: bootstrap(number, plan.resamples, Method::Expanded),
        ..Options::default()
    };
    let mut lines = compare(&sides.collect::<Result<Vec<_>>>()?, &options)?.remove(0).lines;
    Ok(lines.remove(0))
}

/// How often the intervals of each number of a part hold it.
fn part_of(
    part: &Part,
    drawn_as: Drawn,
    size: usize,
    plan: &Plan,
    threads: usize,
) -> Result<Vec<[Share; 3]>> {
    let paths: Vec<&str> = part.numbers.iter().map(|number| number.path.as_str()).collect();
    let new = vec![[Share::default(); 3]; paths.len()];
    let parts = counted(plan.samples, threads, new, |number, shares| {
        let rows = part.rows.sample(&drawn(number, part.rows.len(), size))?;
        let sample = Sample::of(&*rows, &paths, drawn_as == Drawn::Clusters, number, plan.resamples)?;
        for (shares, wanted) in shares.iter_mut().zip(&part.numbers) {
            let found = sample.intervals(&wanted.path);
            shares.iter_mut().zip(found).for_each(|(share, found)| share.count(holds(found, wanted.truth)));
        }
        Ok(())
    })?;
    Ok((0..paths.len()).map(|number| joined(parts.iter().map(|part| &part[number]))).collect())
}

/// Whether an interval holds the true number, where there is one.
fn holds(interval: Option<Interval>, truth: f64) -> Option<bool> {
    interval.map(|Interval { bounds: [low, high], .. }| low <= truth && truth <= high)
}

fn joined<'s>(parts: impl Iterator<Item = &'s [Share; 3]>) -> [Share; 3] {
    let mut all = [Share::default(); 3];
    parts.for_each(|part| all.iter_mut().zip(part).for_each(|(all, part)| all.add(*part)));
    all
}

/// Samples that one thread takes at a time.
const AT_ONCE: u32 = 10;

/// Every sample counted into parts, which are sums and so do not depend on who counted what.
fn counted<T: Clone + Send + Sync>(
    samples: u32,
    threads: usize,
    new: T,
    count: impl Fn(u32, &mut T) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let parts: Mutex<Vec<Result<T>>> = Mutex::default();
    Threads(threads).each(samples.div_ceil(AT_ONCE) as usize, &|at| {
        let start = at as u32 * AT_ONCE;
        let mut part = new.clone();
        let mut some = start..samples.min(start + AT_ONCE);
        let done = some.try_for_each(|number| count(number, &mut part)).map(|()| part);
        parts.lock().unwrap_or_else(PoisonError::into_inner).push(done);
    });
    parts.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
}
