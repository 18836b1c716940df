//! Intervals of ten thousand units from ten thousand resamples: of units, of clusters, and with one more
//! sample per unit for bca. And the report without any, of ten times as many units.

use std::time::Instant;

use calipers::run::Threads;
use calipers_core::resample::{Asked, Bootstrap, Bounds, Clusters, Method};
use calipers_core::{Accumulator, Ledger, Protocol, Workers};
use serde_json::json;

use crate::Outcome;
use crate::harness::clock::{by_turns, cpu_seconds};
use crate::harness::line::{Goal, Line, duration};
use crate::units::{Add, UNITS, Visitor, every_family, maps, rows, segmentation};

const RESAMPLES: u32 = 10_000;
const CLUSTERS: usize = 500;
const CLASSES: usize = 19;
/// Images of the report without intervals.
const MANY: usize = 100_000;
/// What intervals may take on two threads.
const LIMIT: f64 = 2.0;
/// How much longer than units clusters may take, and bca.
const BY_CLUSTER: f64 = 1.0;
const BCA: f64 = 2.2;

/// Overlap of nineteen classes, then every number of every family.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let overlap = segmentation(json!(["overlap"]), CLASSES)?;
    let images = rows(&overlap, UNITS, 0, 1, maps)?;
    timed(report, "overlap of 19 classes", &images)?;
    every_family(&mut Timed { report })
}

/// The report of a hundred thousand images of nineteen classes.
pub(crate) fn run_report(report: &mut dyn FnMut(Line)) -> Outcome {
    let images = rows(&segmentation(json!(["overlap"]), CLASSES)?, MANY, 0, 1, maps)?;
    let seconds = |work: &dyn Fn()| {
        let start = cpu_seconds();
        work();
        cpu_seconds() - start
    };
    let (ours, table) = by_turns(
        5,
        || -> Outcome<f64> { Ok(seconds(&|| _ = std::hint::black_box(images.finish()))) },
        || Ok(seconds(&|| _ = std::hint::black_box(images.per_unit()))),
    )?;
    report(Line {
        job: "report of 100,000 images, overlap of 19 classes, times longer; table of units".into(),
        ours: duration(ours),
        against: duration(table),
        ratio: ours / table,
        goal: Goal::AtMost(1.0),
    });
    Ok(())
}

struct Timed<'r> {
    report: &'r mut dyn FnMut(Line),
}

impl Visitor for Timed<'_> {
    fn family<P>(&mut self, name: &str, protocol: &P, _: &str, add: Add<P>) -> Outcome
    where
        P: Protocol + Send + Sync,
        P::Row: Send + Sync,
    {
        timed(self.report, name, &rows(protocol, UNITS, 0, 1, add)?)
    }
}

/// Wall and CPU seconds, and how many numbers have an interval.
fn seconds<P: Protocol>(
    rows: &Accumulator<P>,
    method: Method,
    clusters: Option<&Clusters>,
) -> Outcome<(f64, f64, usize)> {
    let threads = Threads(std::thread::available_parallelism().map_or(1, usize::from));
    let bootstrap = Bootstrap { resamples: RESAMPLES, confidence: 0.95, seed: 0, method };
    let asked = Asked { bootstrap, clusters, memory: u64::MAX };
    let mut report = rows.finish_on(&threads);
    let (wall, cpu) = (Instant::now(), cpu_seconds());
    rows.add_intervals(&mut report, &asked, &threads)?;
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let mut numbers = 0;
    for (id, bounds) in report.intervals.iter().flat_map(|intervals| &intervals.bounds) {
        Bounds::visit(bounds, id, &mut |_, _| numbers += 1);
    }
    Ok((wall, cpu, numbers))
}

fn timed<P: Protocol>(report: &mut dyn FnMut(Line), name: &str, rows: &Accumulator<P>) -> Outcome {
    let units = rows.sampling_units();
    let of = units.iter().enumerate().map(|(at, unit)| (unit.to_string(), format!("{:03}", at % CLUSTERS)));
    let clusters = Clusters { rule: "bench".into(), of: Some(of.collect()), ..Clusters::default() };
    let threads = Threads(std::thread::available_parallelism().map_or(1, usize::from)).count();
    let (wall, cpu, numbers) = seconds(rows, Method::Expanded, None)?;
    report(Line {
        job: format!(
            "{name} ({numbers}): 10,000 resamples of 10,000 units, {threads} threads, CPU {}",
            duration(cpu)
        ),
        ours: duration(wall),
        against: duration(LIMIT),
        ratio: wall / LIMIT,
        goal: Goal::AtMost(1.0),
    });
    for (what, method, clusters, goal) in [
        ("in 500 clusters", Method::Expanded, Some(&clusters), BY_CLUSTER),
        ("with bca", Method::Bca, None, BCA),
    ] {
        let (_, more, _) = seconds(rows, method, clusters)?;
        report(Line {
            job: format!("{name} ({numbers}) {what}, CPU, times longer; without"),
            ours: duration(more),
            against: duration(cpu),
            ratio: more / cpu,
            goal: Goal::AtMost(goal),
        });
    }
    Ok(())
}
