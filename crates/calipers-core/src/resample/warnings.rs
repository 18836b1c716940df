//! What a reader of intervals should know.

use std::collections::{BTreeMap, BTreeSet};

use super::Bootstrap;
use super::intervals::{Asked, Found, labelled};
use super::method::Method;
use super::plan::Plan;
use super::resampler::Resampled;
use crate::accumulator::Accumulator;
use crate::metric::IntervalRule;
use crate::protocol::Protocol;
use crate::report::Warning;
use crate::spelling::listed;

/// Intervals of fewer sampling units are too short more often than they claim.
const FEW: usize = 20;
/// A label in fewer sampling units is missing from many resamples.
const RARE: usize = 5;
/// At least this many values lie outside an interval on each side.
const OUTSIDE: f64 = 5.0;
/// A folder of so many units is no coincidence.
const FOLDER: usize = 5;
/// How many paths or labels a message names.
const NAMED: usize = 10;

/// The warnings about what was found, in a fixed order.
pub(super) fn of<P: Protocol>(
    rows: &Accumulator<P>,
    plan: &Plan,
    asked: &Asked<'_>,
    metrics: &[Resampled],
    found: &[Found],
) -> Vec<Warning> {
    let paths = paths(metrics);
    let every = || paths.iter().zip(found);
    let read = found.iter().filter(|one| one.interval.is_ok()).flat_map(|one| one.strata.clone());
    let mut all: Vec<Warning> = few_units(plan, &read.collect()).into_iter().collect();
    all.extend(few_resamples(&asked.bootstrap));
    let flat = every().filter(|(_, one)| one.interval.as_ref().is_ok_and(|interval| interval.no_spread));
    let flat: Vec<&str> = flat.map(|(path, _)| path.path.as_str()).collect();
    all.extend((!flat.is_empty()).then(|| {
        warning(
            "no-spread",
            format!(
                "{} the same in every resample: no width says that the sample has no spread, not that a number \
                 is certain: {}",
                many(flat.len(), "number is", "numbers are"),
                named(&flat)
            ),
        )
    }));
    let over_labels =
        |(path, one): &(&Path, &Found)| path.rule == IntervalRule::OverLabels && one.interval.is_ok();
    if every().any(|one| over_labels(&one)) {
        all.extend(rare_labels(&labelled(rows, plan), plan));
    }
    let fell_back = every().filter(|(path, one)| {
        let fell_back = |interval: &super::Interval| interval.percentile_because.is_some();
        path.rule == IntervalRule::OrderStatistic && one.interval.as_ref().is_ok_and(fell_back)
    });
    let medians: Vec<&str> = fell_back.map(|(path, _)| path.path.as_str()).collect();
    all.extend((asked.bootstrap.method == Method::Bca && !medians.is_empty()).then(|| {
        let message =
            format!("order statistics have percentile intervals in place of bca: {}", named(&medians));
        warning("median-interval", message)
    }));
    if asked.clusters.is_none() && P::SAMPLING.by_folder {
        all.extend(clusters_ignored(plan));
    }
    all
}

/// A number as messages name it.
struct Path {
    path: String,
    rule: IntervalRule,
}

fn paths(metrics: &[Resampled]) -> Vec<Path> {
    let mut paths = Vec::new();
    for metric in metrics {
        metric.tree.visit(&mut vec![metric.id.clone()], &mut |path, _| {
            paths.push(Path { path: path.join("."), rule: metric.rule });
        });
    }
    paths
}

fn warning(code: &str, message: String) -> Warning {
    Warning { code: code.into(), message, units: Vec::new() }
}

fn many(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

fn named(names: &[impl AsRef<str>]) -> String {
    listed(names, NAMED)
}

/// What there is to say about intervals that read these strata.
pub fn few_units(plan: &Plan, read: &BTreeSet<usize>) -> Option<Warning> {
    let small = read.iter().map(|at| &plan.strata()[*at]).filter(|stratum| stratum.units.len() < FEW);
    let several = plan.strata().len() > 1;
    let one = |stratum: &super::Stratum| {
        let of = if several { format!(" of {}", stratum.name) } else { String::new() };
        format!("{} {}s{of}", stratum.units.len(), plan.word())
    };
    let small: Vec<String> = small.map(one).collect();
    let message = || {
        let what = named(&small);
        format!(
            "intervals come from {what}: intervals of fewer than {FEW} are too short more often than they claim"
        )
    };
    (!small.is_empty()).then(|| warning("few-units", message()))
}

/// What there is to say about intervals of so few resamples.
pub fn few_resamples(bootstrap: &Bootstrap) -> Option<Warning> {
    let half = bootstrap.level().half;
    let few = half * f64::from(bootstrap.resamples) < OUTSIDE;
    few.then(|| {
        let mut least = (OUTSIDE / half).floor() as u64;
        while half * (least as f64) < OUTSIDE {
            least += 1;
        }
        let message = format!(
            "{} resamples leave fewer than 5 outside each end of an interval: at least {least} would do",
            bootstrap.resamples
        );
        warning("few-resamples", message)
    })
}

fn rare_labels(units: &BTreeMap<String, usize>, plan: &Plan) -> Option<Warning> {
    let rare: Vec<&str> =
        units.iter().filter(|(_, units)| **units < RARE).map(|(label, _)| label.as_str()).collect();
    (!rare.is_empty()).then(|| {
        let message = format!(
            "{} in fewer than {RARE} {}s ({}): which labels take part in a mean differs from sample to sample, so \
             that its interval is about the labels seen",
            many(rare.len(), "label occurs", "labels occur"),
            plan.word(),
            named(&rare)
        );
        warning("rare-labels", message)
    })
}

/// What there is to say about units that lie in folders and are drawn one by one.
pub fn clusters_ignored(plan: &Plan) -> Option<Warning> {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for name in plan.names() {
        *folders.entry(name.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    let large = folders.values().any(|units| *units >= FOLDER);
    (folders.len() >= 2 && large).then(|| {
        let message = format!(
            "units lie in {} folders and were drawn one by one: --cluster-by folder if they are videos, patients \
             or scenes, --cluster-by none if not",
            folders.len()
        );
        warning("clusters-ignored", message)
    })
}
