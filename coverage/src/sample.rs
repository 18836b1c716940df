//! A sample of a population, and what the program's own resampler says about it.

use calipers::core::resample::{
    Bootstrap, Clusters, Evidence, Interval, Leaf, Level, Method, Plan, Resampler, Scope,
};
use calipers::core::{IntervalRule, SplitMix64};
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

/// The interval of each number by each method; `None` where there is none.
pub(crate) fn intervals(
    rows: &dyn Ledger,
    paths: &[&str],
    by_folder: bool,
    number: u32,
    resamples: u32,
) -> Result<Vec<[Option<Interval>; 3]>> {
    let clusters: Option<Clusters> =
        by_folder.then(|| ClusterRule::Folder.clusters(&rows.sampling_units())).transpose()?;
    let plan = rows.plan(clusters.as_ref())?;
    let resampler = reader(rows, paths);
    let drawn = resampler.read(&plan.draw(bootstrap(number, resamples, Method::Bca).seed, 0..resamples));
    let left_out = resampler.read(&plan.leave_out(0..plan.left_out_samples() as u32));
    let infos = rows.metrics();
    let one = |path: &&str| -> [Option<Interval>; 3] {
        let place = resampler.leaves().iter().position(|(leaf, _)| leaf.path() == *path);
        let Some(place) = place else { return [const { None }; 3] };
        let (leaf, value) = &resampler.leaves()[place];
        let info = infos.iter().find(|info| info.id == leaf.id);
        let number = Number {
            leaf,
            value: *value,
            order_statistic: info.is_some_and(|info| info.interval == IntervalRule::OrderStatistic),
            resamples: column(&drawn, place),
            left_out: column(&left_out, place),
        };
        METHODS.map(|method| number.interval(&plan, method, resamples))
    };
    Ok(paths.iter().map(one).collect())
}

fn reader<'r>(rows: &'r dyn Ledger, paths: &[&str]) -> Box<dyn Resampler + 'r> {
    let wanted = |id: &str| {
        let below =
            |path: &&str| path.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        paths.iter().any(below)
    };
    rows.resampler(Scope::Intervals, &wanted)
}

fn column(samples: &[Vec<Option<f64>>], place: usize) -> Vec<f64> {
    samples.iter().map(|sample| sample[place].unwrap_or(f64::NAN)).collect()
}

/// One number, and what it comes to in other samples.
struct Number<'a> {
    leaf: &'a Leaf,
    value: f64,
    order_statistic: bool,
    resamples: Vec<f64>,
    left_out: Vec<f64>,
}

impl Number<'_> {
    fn interval(&self, plan: &Plan, method: Method, resamples: u32) -> Option<Interval> {
        let strata = plan.read_by(self.leaf.label.as_deref());
        if plan.too_small(strata.clone()).is_some() {
            return None;
        }
        let level = Level { method, half: (1.0 - CONFIDENCE) / 2.0, resamples };
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
        let found = intervals(&rows, &paths, false, 3, 200).unwrap();
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
