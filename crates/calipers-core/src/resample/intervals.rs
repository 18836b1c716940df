//! How sure the numbers of a report are: the one object that every output shows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::collected::collected;
use super::held::Held;
use super::method::{Evidence, Interval, Level, Method};
use super::plan::{Clusters, Plan};
use super::resampler::{Numbers, Resampled, Resampler, Scope, Tree};
use super::{Bootstrap, Weights, warnings};
use crate::accumulator::Accumulator;
use crate::error::Result;
use crate::ledger::Ledger;
use crate::metric::IntervalRule;
use crate::protocol::Protocol;
use crate::report::Report;
use crate::workers::Workers;

/// What intervals are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// How to resample.
    pub bootstrap: Bootstrap,
    /// Which sampling units come together; `None` where it was not said.
    pub clusters: Option<&'a Clusters>,
    /// How many bytes drawing may take: half of the machine's memory.
    pub memory: u64,
}

/// How sure the numbers of a report are.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// What was drawn.
    pub drawn: Drawn,
    /// By full id in report order, in the shape of the value; what has no interval is left out.
    pub bounds: Vec<(String, Bounds)>,
    /// The paths of the other numbers, each with the reason.
    pub missing: Vec<(String, String)>,
}

/// What was drawn, and how intervals were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// How it was asked for.
    pub bootstrap: Bootstrap,
    /// `unit`, `run` or `cluster`.
    pub sampling_unit: String,
    /// The rule for clusters, where one was given.
    pub cluster_by: Option<String>,
    /// By name how many units and sampling units each stratum has.
    pub strata: Vec<(String, [u64; 2])>,
    /// The paths of numbers whose interval is a percentile interval although another was asked for.
    pub percentile_used: Vec<(String, String)>,
}

/// The intervals of one metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Bounds {
    /// Of a single number.
    Interval([f64; 2]),
    /// By label.
    Labels(Vec<(String, Bounds)>),
}

impl Bounds {
    /// The interval, where it is that of a single number.
    pub fn single(&self) -> Option<[f64; 2]> {
        match self {
            Self::Interval(bounds) => Some(*bounds),
            Self::Labels(_) => None,
        }
    }

    /// What lies below a label.
    pub fn below(&self, label: &str) -> Option<&Self> {
        match self {
            Self::Interval(_) => None,
            Self::Labels(entries) => entries.iter().find(|(name, _)| name == label).map(|(_, below)| below),
        }
    }

    /// Calls `visit` with every interval and its path: the id, then labels joined with dots.
    pub fn visit(&self, id: &str, visit: &mut impl FnMut(&str, [f64; 2])) {
        match self {
            Self::Interval(bounds) => visit(id, *bounds),
            Self::Labels(entries) => {
                entries.iter().for_each(|(label, below)| below.visit(&format!("{id}.{label}"), visit));
            }
        }
    }
}

impl Intervals {
    /// The intervals of a metric.
    pub fn get(&self, id: &str) -> Option<&Bounds> {
        self.bounds.iter().find(|(name, _)| name == id).map(|(_, bounds)| bounds)
    }
}

/// Draws, and adds intervals and warnings about them to a report.
pub(crate) fn add<P: Protocol>(
    rows: &Accumulator<P>,
    report: &mut Report,
    asked: &Asked<'_>,
    workers: &dyn Workers,
) -> Result<()> {
    let plan = rows.plan(asked.clusters)?;
    let wanted: BTreeSet<&str> = report.metrics.iter().map(|(id, _)| id.as_str()).collect();
    let numbers = Numbers::new(rows, Scope::Intervals, &|id| wanted.contains(id));
    let metrics: Vec<Resampled> = numbers.resampled().collect();
    let found = found(&numbers, &metrics, &plan, asked, workers)?;
    let mut intervals = Intervals {
        drawn: Drawn {
            bootstrap: asked.bootstrap,
            sampling_unit: plan.word().into(),
            cluster_by: plan.rule().map(String::from),
            strata: strata(&plan),
            percentile_used: Vec::new(),
        },
        bounds: Vec::new(),
        missing: Vec::new(),
    };
    let mut each = found.iter();
    for metric in &metrics {
        let bounds = bounds(&metric.tree, &mut metric.id.clone(), &mut each, &mut intervals);
        intervals.bounds.extend(bounds.map(|bounds| (metric.id.clone(), bounds)));
    }
    report.warnings.extend(warnings::of(rows, &plan, asked, &metrics, &found));
    if let Some(clusters) = asked.clusters {
        report.inputs = report.inputs.merged(&clusters.inputs)?;
    }
    report.intervals = Some(intervals);
    Ok(())
}

fn strata(plan: &Plan) -> Vec<(String, [u64; 2])> {
    let sizes = |stratum: &super::Stratum| [stratum.rows as u64, stratum.units.len() as u64];
    plan.strata().iter().map(|stratum| (stratum.name.clone(), sizes(stratum))).collect()
}

/// One number: the strata that it reads, and what came of it.
pub(super) struct Found {
    pub(super) strata: Range<usize>,
    pub(super) interval: std::result::Result<Interval, String>,
}

/// The intervals of all numbers, in their order.
fn found(
    numbers: &dyn Resampler,
    metrics: &[Resampled],
    plan: &Plan,
    asked: &Asked<'_>,
    workers: &dyn Workers,
) -> Result<Vec<Found>> {
    let leaves = read(metrics, plan);
    let sized = leaves.iter().any(|leaf| leaf.none.is_none());
    let level = asked.bootstrap.level();
    let samples = Samples::draw(numbers, plan, asked, sized, workers)?;
    let slots: Vec<Mutex<Option<std::result::Result<Interval, String>>>> =
        leaves.iter().map(|_| Mutex::default()).collect();
    workers.each(leaves.len(), &|at| {
        let leaf = &leaves[at];
        let interval = match &leaf.none {
            Some(reason) => Err(reason.clone()),
            None => samples.interval(at, leaf, plan, &level),
        };
        *slots[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(interval);
    });
    let done = slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    let both = leaves.into_iter().zip(done);
    Ok(both.filter_map(|(leaf, interval)| Some(Found { strata: leaf.strata, interval: interval? })).collect())
}

/// One number before anything is drawn.
struct Read {
    value: f64,
    strata: Range<usize>,
    order_statistic: bool,
    /// Why it has no interval whatever is drawn.
    none: Option<String>,
}

fn read(metrics: &[Resampled], plan: &Plan) -> Vec<Read> {
    let mut leaves = Vec::new();
    for metric in metrics {
        metric.tree.visit(&mut Vec::new(), &mut |path, value| {
            let strata = plan.read_by(path.first().map(String::as_str));
            leaves.push(Read {
                value,
                none: plan.too_small(strata.clone()),
                strata,
                order_statistic: metric.rule == IntervalRule::OrderStatistic,
            });
        });
    }
    leaves
}

/// Every number in every resample and, where the method needs them, in every jackknife sample.
struct Samples {
    leaves: usize,
    /// Resample by resample; NaN where a number is not defined.
    resamples: Vec<f64>,
    left_out: Vec<f64>,
}

impl Samples {
    fn draw(
        numbers: &dyn Resampler,
        plan: &Plan,
        asked: &Asked<'_>,
        sized: bool,
        workers: &dyn Workers,
    ) -> Result<Self> {
        let Bootstrap { resamples, seed, method, .. } = asked.bootstrap;
        let leaves = numbers.leaves().len();
        if !sized {
            return Ok(Self { leaves, resamples: Vec::new(), left_out: Vec::new() });
        }
        let left_out = if method == Method::Bca { plan.left_out_samples() } else { 0 };
        let held = Held {
            numbers: leaves,
            resamples,
            others: left_out,
            columns: workers.count().min(leaves),
            rows: plan.rows(),
            workers: workers.count(),
            more: 0,
        };
        held.within(asked.memory, "--bootstrap")?;
        let read = |samples, weights: &(dyn Fn(Range<u32>) -> Weights + Sync)| {
            Ok(collected(&[numbers], samples, weights, workers)?.pop().unwrap_or_default())
        };
        Ok(Self {
            leaves,
            resamples: read(resamples, &|block| plan.draw(seed, block))?,
            left_out: read(left_out as u32, &|block| plan.leave_out(block))?,
        })
    }

    fn interval(
        &self,
        at: usize,
        leaf: &Read,
        plan: &Plan,
        level: &Level,
    ) -> std::result::Result<Interval, String> {
        let column =
            |values: &[f64]| values.iter().skip(at).step_by(self.leaves).copied().collect::<Vec<_>>();
        let left_out = column(&self.left_out);
        let of_stratum =
            |stratum| if left_out.is_empty() { &[][..] } else { &left_out[plan.left_out_of(stratum)] };
        level.interval(Evidence {
            value: leaf.value,
            resamples: column(&self.resamples),
            left_out: leaf.strata.clone().map(of_stratum).collect(),
            sizes: plan.sizes(leaf.strata.clone()),
            order_statistic: leaf.order_statistic,
        })
    }
}

/// The intervals of a metric in its shape; reasons go to the others.
fn bounds<'f>(
    tree: &Tree,
    path: &mut String,
    found: &mut impl Iterator<Item = &'f Found>,
    intervals: &mut Intervals,
) -> Option<Bounds> {
    match tree {
        Tree::Number(_) => match &found.next()?.interval {
            Ok(interval) => {
                if let Some(reason) = &interval.percentile_because {
                    put(&mut intervals.drawn.percentile_used, path, reason);
                }
                Some(Bounds::Interval(interval.bounds))
            }
            Err(reason) => {
                put(&mut intervals.missing, path, reason);
                None
            }
        },
        Tree::Labels(entries) => {
            let mut kept = Vec::new();
            for (label, below) in entries {
                let length = path.len();
                path.push('.');
                path.push_str(label);
                kept.extend(bounds(below, path, found, intervals).map(|below| (label.clone(), below)));
                path.truncate(length);
            }
            (!kept.is_empty()).then_some(Bounds::Labels(kept))
        }
    }
}

/// Labels with dots may give two numbers one path: an object must not repeat a key.
fn put(entries: &mut Vec<(String, String)>, path: &str, reason: &str) {
    if entries.last().is_none_or(|(last, _)| last != path) {
        entries.push((path.into(), reason.into()));
    }
}

/// The sampling units in which each label occurs.
pub(super) fn labelled<P: Protocol>(rows: &Accumulator<P>, plan: &Plan) -> BTreeMap<String, usize> {
    let mut units: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let all = rows.rows();
    for (row, unit) in all.iter().zip(plan.unit_of()) {
        for label in rows.protocol().labels_of(row) {
            match units.get_mut(label) {
                Some(known) => _ = known.insert(*unit),
                None => _ = units.insert(label.to_owned(), BTreeSet::from([*unit])),
            }
        }
    }
    units.into_iter().map(|(label, units)| (label, units.len())).collect()
}
