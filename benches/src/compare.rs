//! Two models over the same ten thousand units, ten thousand resamples: every number that is
//! compared, and one of them alone.

use std::time::Instant;

use calipers::compare::{Model, Options, compare};
use calipers_core::{Ledger, Protocol};

use crate::Outcome;
use crate::harness::clock::cpu_seconds;
use crate::harness::line::{Goal, Line, duration};
use crate::units::{Add, UNITS, Visitor, every_family, rows};

/// What a comparison may take.
const LIMIT: f64 = 2.0;

/// Every family by the clock on the wall, with as many threads as there are cores.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    every_family(&mut Compared { report })
}

struct Compared<'r> {
    report: &'r mut dyn FnMut(Line),
}

impl Visitor for Compared<'_> {
    fn family<P>(&mut self, name: &str, protocol: &P, metric: &str, add: Add<P>) -> Outcome
    where
        P: Protocol + Send + Sync,
        P::Row: Send + Sync,
    {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let model = |seed: u64| -> Outcome<Model> {
            let rows: Vec<Box<dyn Ledger>> = vec![Box::new(rows(protocol, UNITS, seed, threads, add)?)];
            Ok(Model::from_ledgers(&format!("model {seed}"), "a bench", rows))
        };
        let models = [model(0)?, model(UNITS as u64)?];
        for (what, metrics) in [("every number", vec![]), (metric, vec![metric.to_owned()])] {
            let options = Options { metrics, by_label: true, threads, ..Options::default() };
            let (wall, cpu) = (Instant::now(), cpu_seconds());
            let lines: usize = compare(&models, &options)?.iter().map(|part| part.lines.len()).sum();
            let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
            (self.report)(Line {
                job: format!(
                    "{name}, {what} ({lines}): 10,000 resamples of 10,000 units, {threads} threads, CPU {}",
                    duration(cpu)
                ),
                ours: duration(wall),
                against: duration(LIMIT),
                ratio: wall / LIMIT,
                goal: Goal::AtMost(1.0),
            });
        }
        Ok(())
    }
}
