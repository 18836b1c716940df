//! Training histories from files: paths into histories, histories into runs, runs into rows.
//!
//! ```text
//! discover  paths -> histories          logs     files -> tables of logged rows
//! split     a table -> its runs         x_axis   which key is x
//! samples   a run -> its curve, in the order of logging
//! assign    a run -> group and fold     claims   no two runs are one unit
//! assemble  all of it, run by run       cut      a long table into tables of one run
//! study     what the per-run JSON adds  endings  what a history says beside its curve
//! tracking  the runs of a tracking server
//! ```

pub mod assemble;
pub mod assign;
pub mod claims;
pub mod cut;
pub mod discover;
pub mod endings;
pub mod logs;
pub mod options;
pub mod runs_file;
pub mod samples;
pub mod sketch;
pub mod split;
pub mod study;
mod tracking;
pub mod x_axis;

use std::collections::BTreeSet;

use calipers_core::{Accumulator, Result};
use calipers_metrics::training::Training;

use self::assemble::{Assembler, Part};
use self::claims::{Claim, Claims};
use self::discover::Content;
use self::logs::Reader;
use self::options::Options;
use self::sketch::Sketch;
use crate::inputs::Inputs;
use crate::run::{self, Work};
use crate::training::endings::Endings;

/// Everything a run over histories gives.
pub struct Measured {
    /// One accumulator for each metric.
    pub accumulators: Vec<Accumulator<Training>>,
    /// Which run became which unit, in the order in which they were found.
    pub runs: Vec<Claim>,
    /// Small pictures of the first curves, where they were asked for.
    pub sketches: Vec<Sketch>,
    /// What histories say beside their curves, where it was asked for.
    pub endings: Endings,
}

/// How many runs get a sketch.
const SKETCHED: usize = 60;

/// Measures everything the options name. `inputs` holds the files that were read for the options
/// themselves.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Measured> {
    options.check()?;
    let protocols = options.protocols();
    let mut histories = discover::histories(&options.inputs, options.format)?;
    histories.retain(|history| match &history.content {
        Content::Server(address) => inputs.may_read_below(address.shown()),
        content => content.places().iter().any(|place| inputs.may_read(&place.shown)),
    });
    // Where there are fewer histories than shards, every shard reads them all and measures its runs.
    let share = work.shard.filter(|shard| (shard.of as usize) > histories.len());
    let part = match work.shard.filter(|_| share.is_none()) {
        Some(shard) => shard.range(histories.len()),
        None => 0..histories.len(),
    };
    let claims = Claims::default();
    let reader =
        Reader { options, wanted: options.wanted(), inputs: &inputs, notes: logs::notes(&options.inputs) };
    let assembler = Assembler { options, protocols: &protocols, share, reader, claims: &claims };
    let parts = run::in_parts(
        &histories[part],
        work.threads,
        work.progress,
        || Part::new(&protocols),
        |job, history, part| assembler.history(job, history, part),
    )?;
    let mut accumulators: Vec<_> = protocols.iter().cloned().map(Accumulator::new).collect();
    let (mut sketches, mut endings, mut seen) = (Vec::new(), Endings::new(), BTreeSet::new());
    let mut runs = claims.finish()?;
    runs.retain(|run| share.is_none_or(|shard| shard.takes(run.place)));
    for part in parts {
        for (whole, part) in accumulators.iter_mut().zip(part.accumulators) {
            whole.merge(part)?;
        }
        sketches.extend(part.sketches);
        endings.extend(part.endings);
        seen.extend(part.seen);
    }
    if work.shard.is_none() {
        let empty = (0..options.inputs.len()).find(|input| !seen.contains(input));
        if let Some(empty) = empty.filter(|empty| histories.iter().any(|history| history.input == *empty)) {
            return Err(discover::nothing_in(&options.inputs[empty].display().to_string()));
        }
    }
    for accumulator in &mut accumulators {
        accumulator.protocol().check_folds(&accumulator.rows())?;
        accumulator.provenance.facts.extend(study::facts(options));
    }
    if let Some(first) = accumulators.first().filter(|_| options.endings) {
        for row in first.rows().iter() {
            endings.entry((row.group.clone(), row.fold.clone())).or_default().epochs = Some(row.epochs);
        }
    }
    work.record(&mut accumulators, inputs, Some(options.reading()))?;
    Ok(Measured { accumulators, runs, sketches: first_runs(sketches), endings })
}

/// The sketches of the first runs, metric by metric.
fn first_runs(mut sketches: Vec<((usize, usize), Sketch)>) -> Vec<Sketch> {
    sketches.sort_by_key(|(place, sketch)| (sketch.metric, *place));
    let places: BTreeSet<_> = sketches.iter().map(|(place, _)| *place).collect();
    let places: BTreeSet<_> = places.into_iter().take(SKETCHED).collect();
    sketches.into_iter().filter(|(place, _)| places.contains(place)).map(|(_, sketch)| sketch).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::assign::{Assignment, FoldBy, GroupBy};
    use super::*;
    use calipers_io::history::{Numbers, Origin, Places, Table};
    use std::path::PathBuf;

    /// A table of columns without gaps.
    pub(crate) fn table(origin: Origin, columns: &[(&str, &[f64])]) -> Table {
        let numbers = columns.iter().map(|(key, values)| Numbers {
            key: (*key).into(),
            rows: (0..values.len() as u32).collect(),
            values: values.to_vec(),
            unreadable: None,
        });
        Table {
            origin,
            run: Default::default(),
            keys: columns.iter().map(|(key, _)| (*key).into()).collect(),
            before: 0,
            rows: columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0),
            numbers: numbers.collect(),
            texts: Vec::new(),
            places: Places::LinesFrom(2),
            cut_at: None,
        }
    }

    /// The options of a plain run over files.
    pub(crate) fn options(inputs: &[PathBuf], metric: &str) -> Options {
        Options {
            inputs: inputs.to_vec(),
            metrics: vec![Training { metric: metric.into(), label: metric.into(), ..Training::default() }],
            assignment: Assignment { group_by: GroupBy::None, fold_by: FoldBy::Auto, runs: None },
            x: None,
            run_column: None,
            delimited: Default::default(),
            format: None,
            skip_missing: false,
            endings: false,
            sketches: false,
            timeout: options::TIMEOUT,
        }
    }
}
