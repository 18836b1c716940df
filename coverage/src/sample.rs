//! A sample of a population, and what the program's own resampler says about it.

use std::ops::Range;

use calipers::core::resample::{
    Bootstrap, Clusters, Evidence, Interval, Level, Method, Plan, Resampler, Scope,
};
use calipers::core::{IntervalRule, MetricInfo, SplitMix64};
use calipers::sources::clusters::ClusterRule;
use calipers::{Ledger, Result};

/// Every method, in the order of the tables.
pub(crate) const METHODS: [Method; 3] = [Method::Percentile, Method::Bca, Method::Expanded];
/// The share of true numbers that intervals claim to hold.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The places in a population that sample `number` draws, with replacement.
pub(crate) fn drawn(number: u32, population: usize, units: usize) -> Vec<usize> {
    let mut random = SplitMix64::new(2 * u64::from(number));
    (0..units).map(|_| random.below(population as u64) as usize).collect()
}

/// How sample `number` is resampled.
pub(crate) fn bootstrap(number: u32, resamples: u32, method: Method) -> Bootstrap {
    Bootstrap { resamples, confidence: CONFIDENCE, seed: 2 * u64::from(number) + 1, method }
}

/// A number over all rows of an accumulator.
pub(crate) fn value(rows: &dyn Ledger, path: &str) -> Option<f64> {
    let resampler = reader(rows, &[path]);
    resampler.leaves().iter().find(|(leaf, _)| leaf.path() == path).map(|(_, value)| *value)
}

/// A sample, and every number of it in other samples.
pub(crate) struct Sample<'r> {
    plan: Plan,
    resampler: Box<dyn Resampler + 'r>,
    infos: Vec<MetricInfo>,
    resamples: Vec<Vec<Option<f64>>>,
    left_out: Vec<Vec<Option<f64>>>,
}

impl<'r> Sample<'r> {
    /// Resamples of sample `number`, of its units or of their folders.
    pub(crate) fn of(
        rows: &'r dyn Ledger,
        paths: &[&str],
        by_folder: bool,
        number: u32,
        resamples: u32,
    ) -> Result<Self> {
        let clusters: Option<Clusters> =
            by_folder.then(|| ClusterRule::Folder.clusters(&rows.sampling_units())).transpose()?;
        let plan = rows.plan(clusters.as_ref())?;
        let resampler = reader(rows, paths);
        let seed = bootstrap(number, resamples, Method::Bca).seed;
        let drawn = resampler.read(&plan.draw(seed, 0..resamples));
        let left_out = resampler.read(&plan.leave_out(0..plan.left_out_samples() as u32));
        Ok(Self { plan, resampler, infos: rows.metrics(), resamples: drawn, left_out })
    }

    fn number(&self, path: &str) -> Option<Number> {
        let place = self.resampler.leaves().iter().position(|(leaf, _)| leaf.path() == path)?;
        let (leaf, value) = &self.resampler.leaves()[place];
        let info = self.infos.iter().find(|info| info.id == leaf.id);
        let column = |samples: &[Vec<Option<f64>>]| -> Vec<f64> {
            samples.iter().map(|sample| sample[place].unwrap_or(f64::NAN)).collect()
        };
        Some(Number {
            strata: self.plan.read_by(leaf.label.as_deref()),
            value: *value,
            order_statistic: info.is_some_and(|info| info.interval == IntervalRule::OrderStatistic),
            resamples: column(&self.resamples),
            left_out: column(&self.left_out),
        })
    }

    /// The interval of a number by each method; `None` where there is none.
    pub(crate) fn intervals(&self, path: &str) -> [Option<Interval>; 3] {
        self.number(path).map_or([const { None }; 3], |number| number.intervals(&self.plan))
    }

    /// The same of its difference to the number of another model over the same units.
    pub(crate) fn differences(&self, first: &Self, path: &str) -> [Option<Interval>; 3] {
        let both = first.number(path).zip(self.number(path));
        let less = |(first, own): (Number, Number)| {
            let less = |own: Vec<f64>, first: Vec<f64>| {
                own.iter().zip(first).map(|(own, first)| own - first).collect()
            };
            Number {
                value: own.value - first.value,
                resamples: less(own.resamples, first.resamples),
                left_out: less(own.left_out, first.left_out),
                ..own
            }
        };
        both.map(less).map_or([const { None }; 3], |number| number.intervals(&self.plan))
    }
}

fn reader<'r>(rows: &'r dyn Ledger, paths: &[&str]) -> Box<dyn Resampler + 'r> {
    let wanted = |id: &str| {
        let below =
            |path: &&str| path.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        paths.iter().any(below)
    };
    rows.resampler(Scope::Intervals, &wanted)
}

/// One number, and what it comes to in other samples.
struct Number {
    strata: Range<usize>,
    value: f64,
    order_statistic: bool,
    resamples: Vec<f64>,
    left_out: Vec<f64>,
}

impl Number {
    fn intervals(&self, plan: &Plan) -> [Option<Interval>; 3] {
        METHODS.map(|method| self.interval(plan, method))
    }

    fn interval(&self, plan: &Plan, method: Method) -> Option<Interval> {
        let strata = self.strata.clone();
        if plan.too_small(strata.clone()).is_some() {
            return None;
        }
        let level = Level { method, half: (1.0 - CONFIDENCE) / 2.0, resamples: self.resamples.len() as u32 };
        let evidence = Evidence {
            value: self.value,
            resamples: self.resamples.clone(),
            left_out: strata.clone().map(|stratum| &self.left_out[plan.left_out_of(stratum)]).collect(),
            sizes: plan.sizes(strata),
            order_statistic: self.order_statistic,
        };
        level.interval(evidence).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::populations::columns::{Columns, MEAN, MEDIAN};
    use calipers::Accumulator;
    use calipers::core::resample::Asked;
    use calipers::run::Threads;

    #[test]
    fn intervals_are_those_that_the_program_adds_to_a_report() {
        let mut rows = Accumulator::new(Columns);
        for (at, place) in drawn(3, 50, 12).into_iter().enumerate() {
            rows.insert(format!("{at:02}"), [Some(place as f64 / 7.0), Some(1.0)]).unwrap();
        }
        let paths = [MEAN, MEDIAN];
        let sample = Sample::of(&rows, &paths, false, 3, 200).unwrap();
        let found = paths.map(|path| sample.intervals(path));
        for (place, method) in METHODS.into_iter().enumerate() {
            let asked = Asked { bootstrap: bootstrap(3, 200, method), clusters: None, memory: u64::MAX };
            let mut report = rows.finish();
            rows.add_intervals(&mut report, &asked, &Threads(1)).unwrap();
            let wanted = report.intervals.unwrap();
            for (path, found) in paths.iter().zip(&found) {
                let bounds = found[place].as_ref().map(|interval| interval.bounds.map(f64::to_bits));
                let wanted = wanted.get(path).and_then(|bounds| bounds.single());
                assert_eq!(bounds, wanted.map(|bounds| bounds.map(f64::to_bits)), "{path} {method:?}");
                assert!(bounds.is_some());
            }
        }
    }
}
