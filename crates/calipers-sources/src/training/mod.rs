//! Training histories from files: paths into histories, histories into runs, runs into rows.
//!
//! ```text
//! discover  paths -> histories              logs      files -> tables of logged rows
//! runs      a table -> its runs, their      points    the rows of a run -> its curve
//!           labels, which are read          assign    a run -> group and fold
//! assemble  all of it, run by run           survey    every run, whatever it logged
//! study     what the per-run JSON adds,     extract   the per-run JSON of a study
//!           and histories beside curves
//! ```

pub mod assemble;
pub mod assign;
pub mod discover;
pub mod extract;
mod kept;
pub mod logs;
mod noticed;
pub mod options;
pub mod points;
pub mod runs;
pub mod study;
pub mod survey;

use std::collections::BTreeSet;

use calipers_core::fault::caught;
use calipers_core::{Accumulator, Fact, Result, stop};
use calipers_io::memory;
use calipers_metrics::training::Training;

use self::assemble::{Assembler, Part};
use self::discover::{Content, Found, nothing_in};
use self::kept::{Finished, Kept};
use self::logs::Reader;
use self::options::Options;
use self::points::read::Read;
use self::points::sketch::Sketch;
use self::runs::claims::Claim;
use self::runs::resolve::{Pending, resolve};
use self::survey::described::{nothing_left, unknown_keys};
use crate::inputs::Inputs;
use crate::run::{self, Work};
use crate::training::study::endings::Endings;

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
    /// The runs and their points in the order of units, where they were asked for.
    pub read: Vec<Read>,
    /// How many runs were read, and of how many, where conditions left some out.
    pub kept: Option<(usize, usize)>,
}

/// How many runs get a sketch.
const SKETCHED: usize = 500;

/// Measures everything the options name. `inputs` holds the files that were read for the options
/// themselves.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Measured> {
    options.check()?;
    let protocols = options.protocols();
    let inputs = inputs.keep_going(work.keep_going);
    let Found { mut histories, unread } = discover::histories(&options.inputs, options.format, &inputs)?;
    histories.retain(|history| match &history.content {
        Content::Server(address) => inputs.may_read_below(address.shown()),
        content => content.places().iter().any(|place| inputs.may_read(&place.shown)),
    });
    let notes = logs::notes(&options.inputs);
    let kept = work.resume.map(|folder| Kept::open(folder, options, &protocols, &histories, (&inputs, work)));
    let kept = kept.transpose()?;
    // Only all histories together say what the runs are called, so that every shard reads them all.
    let read_all = |finished: Option<&Finished<'_>>| {
        run::in_parts(&histories, work.threads, work.progress, Part::default, |job, history, part| {
            if let Some(stored) = kept.as_ref().and_then(|kept| kept.take(job, history, &inputs)) {
                part.take_in(stored);
                return Ok(());
            }
            let _unit = memory::Unit::begin();
            let (own, mut read) = (inputs.aside(), Part::default());
            let reader = Reader { options, inputs: &own, notes: &notes };
            let assembler = Assembler { options, protocols: &protocols, reader };
            let done = caught(|| assembler.history(job, history, &mut read));
            stop::wanted()?;
            if inputs.unless_left_out(&history.shown, done)?.is_none() {
                part.seen.insert(history.input);
                return Ok(());
            }
            finished.map_or(Ok(()), |finished| kept::keep(finished, history, &read, &own))?;
            inputs.adopt(own);
            part.take_in(read);
            Ok(())
        })
    };
    let parts = match &kept {
        None => read_all(None),
        Some(kept) => kept.while_running(|finished| read_all(Some(finished)))?,
    }?;
    let (mut found, mut seen, mut runs): (usize, BTreeSet<usize>, Vec<Pending>) = Default::default();
    let mut met: BTreeSet<usize> = BTreeSet::new();
    for part in parts {
        found += part.found;
        seen.extend(part.seen);
        met.extend(part.met);
        runs.extend(part.runs);
    }
    let empty = (0..options.inputs.len()).find(|input| !seen.contains(input) && !inputs.goes_on());
    if let Some(empty) = empty.filter(|empty| histories.iter().any(|history| history.input == *empty)) {
        return Err(nothing_in(&options.inputs[empty].display().to_string(), &unread));
    }
    let kept = (!options.filters.is_empty()).then_some((runs.len(), found));
    if let Some((0, 1..)) = kept {
        return Err(nothing_left(options, &histories, found));
    }
    if met.len() < options.filters.len()
        && let Some(error) = unknown_keys(options, &histories)
    {
        return Err(error);
    }
    let runs = resolve(runs, options, &inputs)?;
    let names: Vec<String> = runs.iter().map(Pending::name).collect();
    let chosen = work.choose_names(names.iter().map(String::as_str), &inputs, &[])?;
    let mut accumulators: Vec<_> = protocols.iter().cloned().map(Accumulator::new).collect();
    let (mut sketches, mut endings, mut claims) = (Vec::new(), Endings::new(), Vec::new());
    let mut read: Vec<Read> = Vec::new();
    for (run, _) in runs.into_iter().zip(&names).filter(|(_, name)| work.wants(name)) {
        claims.push(run.claim.clone());
        run.into_unit(&mut accumulators, &mut sketches, &mut endings, &mut read)?;
    }
    read.sort_by_cached_key(|run| run.claim.unit());
    for accumulator in &mut accumulators {
        accumulator.protocol().check_folds(&accumulator.rows())?;
        accumulator.provenance.facts.extend(study::facts(options));
        accumulator.provenance.facts.extend(unread.iter().map(|log| Fact {
            code: "unread-log".into(),
            unit: String::new(),
            detail: log.to_string(),
        }));
    }
    if let Some(first) = accumulators.first().filter(|_| options.endings) {
        for row in first.rows().iter() {
            endings.entry((row.group.clone(), row.fold.clone())).or_default().epochs = Some(row.epochs);
        }
    }
    chosen.record(&mut accumulators, inputs, Some(options.reading()))?;
    Ok(Measured { accumulators, runs: claims, sketches: first_runs(sketches), endings, read, kept })
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
            ..Numbers::default()
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
        let training = Training { metric: metric.into(), label: metric.into(), ..Training::default() };
        Options::over(inputs.to_vec(), vec![training])
    }
}
