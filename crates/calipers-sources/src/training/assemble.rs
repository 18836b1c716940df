//! From a history to rows: its runs are named, placed in a group, and measured for every metric.

use std::collections::BTreeSet;

use calipers_core::{Accumulator, Error, Fact, Protocol, Result};
use calipers_io::history::{Numbers, Origin, Reader as FormatReader, Table};
use calipers_metrics::training::Training;
use calipers_metrics::training::{Curve, Sample};

use super::SKETCHED;
use super::assign::{GroupBy, RunNames};
use super::claims::{Claim, Claims};
use super::discover::History;
use super::logs::{Log, Reader, Sink};
use super::options::{Options, RUNTIME};
use super::samples::{self, marks_missing};
use super::sketch::Sketch;
use super::split::{Part as RunPart, Split};
use super::x_axis::{XAxis, missing, readable};
use crate::run::Shard;
use crate::training::endings::{Ending, Endings, TEST_KEYS};

/// How many rows W&B's `history()` gives when it samples.
const SAMPLED_ROWS: usize = 500;

/// What one worker gathers.
pub struct Part {
    /// One accumulator for each metric.
    pub accumulators: Vec<Accumulator<Training>>,
    /// Sketches and the places of their runs.
    pub sketches: Vec<((usize, usize), Sketch)>,
    /// What histories say beside their curves.
    pub endings: Endings,
    /// The paths of the command line under which there was a history.
    pub seen: BTreeSet<usize>,
}

impl Part {
    /// Nothing yet.
    pub fn new(protocols: &[Training]) -> Self {
        Self {
            accumulators: protocols.iter().cloned().map(Accumulator::new).collect(),
            sketches: Vec::new(),
            endings: Endings::new(),
            seen: BTreeSet::new(),
        }
    }
}

impl Part {
    /// Adds what was gathered aside.
    fn take_in(&mut self, aside: Self) -> Result<()> {
        for (whole, aside) in self.accumulators.iter_mut().zip(aside.accumulators) {
            whole.merge(aside)?;
        }
        self.sketches.extend(aside.sketches);
        self.endings.extend(aside.endings);
        Ok(())
    }
}

/// Measures histories.
pub struct Assembler<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// One protocol for each metric.
    pub protocols: &'a [Training],
    /// Which runs to measure, where runs and not histories are divided.
    pub share: Option<Shard>,
    /// Where tables come from.
    pub reader: Reader<'a>,
    /// Which units are taken.
    pub claims: &'a Claims,
}

/// One run on its way to its rows.
struct Run<'a> {
    log: &'a Log,
    claim: Claim,
    folds: Option<u32>,
    x_key: &'a str,
    /// What was noticed about it in its file.
    facts: Vec<Fact>,
    /// Whether no other run has its unit.
    first: bool,
}

/// The runs of one history, measured aside: a history that is read once more begins anew.
struct Gathering<'g, 'a> {
    assembler: &'g Assembler<'a>,
    job: usize,
    part: Part,
    claims: Vec<Claim>,
    units: BTreeSet<String>,
}

impl Sink for Gathering<'_, '_> {
    fn log(&mut self, log: Log) -> Result<()> {
        let assembler = self.assembler;
        assembler.log(&log, self).map_err(|error| error.in_file(&log.shown))
    }

    fn again(&mut self) {
        self.part = Part::new(self.assembler.protocols);
        self.claims.clear();
        self.units.clear();
    }
}

impl Assembler<'_> {
    /// Measures every run of a history.
    pub fn history(&self, job: usize, history: &History, part: &mut Part) -> Result<()> {
        let mut gathering = Gathering {
            assembler: self,
            job,
            part: Part::new(self.protocols),
            claims: Vec::new(),
            units: BTreeSet::new(),
        };
        if !self.reader.read(history, &mut gathering)? {
            return Ok(());
        }
        part.seen.insert(history.input);
        let firsts = gathering.claims.into_iter().map(|claim| self.claims.take(claim));
        // A unit that is taken is a complaint about all claims, made when they are known.
        if firsts.filter(|first| !first).count() == 0 {
            part.take_in(gathering.part)?;
        }
        Ok(())
    }

    fn log(&self, log: &Log, gathering: &mut Gathering<'_, '_>) -> Result<()> {
        let table = &log.table;
        // A file of many runs does not say which of them is meant.
        let of_many = matches!(log.format.reader, FormatReader::Runs { .. });
        let about = |error: Error| if of_many { error.at(format!("run {}", log.name)) } else { error };
        let columns = self.columns(table).map_err(about)?;
        let split = Split::new(table, self.options)?;
        let has_curve = columns.iter().any(Option::is_some);
        let axis = has_curve
            .then(|| XAxis::choose(table, self.options.x.as_deref(), log.x.as_deref()))
            .transpose()
            .map_err(about)?;
        for file in &log.files {
            self.reader.inputs.note(file, "format", log.format.name);
            if let Some(axis) = &axis {
                self.reader.inputs.note(file, "x", axis.key);
            }
        }
        let by_run = |column: &Option<&Numbers>| match (column, &axis) {
            (Some(column), Some(axis)) => samples::by_run(table, column, axis, &split),
            _ => Ok(vec![Vec::new(); split.runs.len()]),
        };
        let curves: Vec<Vec<Vec<Sample>>> =
            columns.iter().map(by_run).collect::<Result<_>>().map_err(about)?;
        let mut endings = self.endings(table, &split).map_err(about)?;
        let x_key = axis.as_ref().map_or("", |axis| axis.key);
        for (at, run_part) in split.runs.iter().enumerate() {
            let place = (gathering.job, gathering.claims.len());
            let claim = self.claim(place, log, run_part, curves[0][at].len())?;
            let first = gathering.units.insert(claim.unit());
            gathering.claims.push(claim.clone());
            if !self.share.is_none_or(|shard| shard.takes(place)) {
                continue;
            }
            let facts = noticed(log, run_part, &split, at, &claim);
            let run = Run { log, folds: self.folds(&claim.group), claim, x_key, facts, first };
            for (metric, (samples, column)) in curves.iter().zip(&columns).enumerate() {
                self.measure(&run, metric, &samples[at], *column, &mut gathering.part)?;
            }
            if self.options.endings && first {
                let unit = (run.claim.group, run.claim.fold);
                gathering.part.endings.insert(unit, std::mem::take(&mut endings[at]));
            }
        }
        Ok(())
    }

    /// The column of each metric; none only where that may be.
    fn columns<'t>(&self, table: &'t Table) -> Result<Vec<Option<&'t Numbers>>> {
        let column = |training: &Training| match table.number(&training.metric) {
            None if !self.options.skip_missing => Err(missing_metric(table, &training.metric)),
            column => Ok(column),
        };
        self.options.metrics.iter().map(column).collect()
    }

    fn claim(&self, place: (usize, usize), log: &Log, part: &RunPart, values: usize) -> Result<Claim> {
        let run = &log.table.run;
        let name = part.name.as_ref().unwrap_or(&log.name);
        let label =
            |column: Option<&str>| column.and_then(|column| run.labels.get(column)).map(String::as_str);
        let assignment = &self.options.assignment;
        let (group, fold) = assignment.of(RunNames {
            name,
            id: run.id.as_deref(),
            filed: run.group.as_deref(),
            group_column: part.group.as_deref().or_else(|| label(assignment.group_by.column())),
            fold_column: part.fold.as_deref().or_else(|| label(assignment.fold_by.column())),
        })?;
        Ok(Claim { place, group, fold, run: name.clone(), file: log.shown.clone(), values })
    }

    /// How many folds the per-run JSON lists for a group.
    fn folds(&self, group: &str) -> Option<u32> {
        let assignment = &self.options.assignment;
        let by_runs = matches!(assignment.group_by, GroupBy::Runs);
        let listed = assignment.runs.as_ref().filter(|_| by_runs)?.group(group)?;
        u32::try_from(listed.runs.len()).ok()
    }

    fn measure(
        &self,
        run: &Run<'_>,
        metric: usize,
        samples: &[Sample],
        column: Option<&Numbers>,
        part: &mut Part,
    ) -> Result<()> {
        let Run { log, claim, .. } = run;
        let accumulator = &mut part.accumulators[metric];
        let key = accumulator.protocol().metric.clone();
        let column = match column.filter(|_| !samples.is_empty()) {
            Some(column) => column,
            None if self.options.skip_missing => {
                let detail = format!("run {} in {}", claim.run, claim.file);
                accumulator.provenance.facts.insert(Fact {
                    code: "metric-missing".into(),
                    unit: claim.unit(),
                    detail,
                });
                return Ok(());
            }
            None => {
                return Err(Error::value(format!("a run without a single value of '{key}'"))
                    .at(format!("run {}", claim.run))
                    .advice("leave such runs out with --skip-missing"));
            }
        };
        let elsewhere = log.missing_elsewhere.get(metric).copied().unwrap_or(false);
        let curve = Curve {
            group: &claim.group,
            fold: &claim.fold,
            folds: run.folds,
            x_key: run.x_key,
            samples,
            marks_missing: marks_missing(&log.table, column, elsewhere),
            place: &|row| log.table.places.of(row),
        };
        let about = |error: Error| error.at(format!("run {}, key '{key}'", claim.run));
        let sketched = self.options.sketches && claim.place.0 < SKETCHED && claim.place.1 < SKETCHED;
        if sketched || !run.first {
            let row = accumulator.protocol().measure(&claim.run, curve).map_err(about)?;
            let sketch = Sketch::new(metric, accumulator.protocol(), samples, &row);
            part.sketches.push((claim.place, sketch));
        }
        if run.first {
            accumulator.update(curve.name(), curve).map_err(about)?;
            accumulator.provenance.facts.extend(run.facts.iter().cloned());
        }
        Ok(())
    }

    /// What each run of a table says beside its curves.
    fn endings(&self, table: &Table, split: &Split) -> Result<Vec<Ending>> {
        let mut endings = vec![Ending::default(); split.runs.len()];
        if !self.options.endings {
            return Ok(endings);
        }
        for key in TEST_KEYS.into_iter().chain([RUNTIME]) {
            let Some(column) = table.number(key) else { continue };
            readable(column)?;
            for (row, value) in column.rows.iter().zip(&column.values) {
                let Some(run) = split.run_of(*row) else { continue };
                if key == RUNTIME {
                    endings[run].runtime = Some(*value);
                } else {
                    endings[run].last.insert(key.into(), *value);
                }
            }
        }
        Ok(endings)
    }
}

fn missing_metric(table: &Table, key: &str) -> Error {
    let error = missing(table, key);
    if table.origin == Origin::Wandb && table.rows == 0 { error.found("no history records") } else { error }
}

/// What a run's file has about it that a reader of the numbers should know.
fn noticed(log: &Log, part: &RunPart, split: &Split, at: usize, claim: &Claim) -> Vec<Fact> {
    let fact = |code: &str, detail: String| Fact { code: code.into(), unit: claim.unit(), detail };
    let mut facts = Vec::new();
    if let Some(steps) = sampled(&log.table, part, split, at) {
        facts.push(fact(
            "sampled-history",
            format!("{SAMPLED_ROWS} rows over {steps} steps in {}", claim.file),
        ));
    }
    if let Some(cut_at) = log.table.cut_at {
        facts.push(fact("truncated-file", format!("{} at byte {cut_at}", claim.file)));
    }
    if log.aggregated {
        facts.push(fact("aggregated-panel", format!("run {} in {}", claim.run, claim.file)));
    }
    if let Some(group) = log.table.run.group.as_ref().filter(|group| !group.is_empty()) {
        facts.push(fact("wandb-group", group.clone()));
    }
    facts
}

/// Over how many steps a table of W&B was sampled, if it looks so.
fn sampled(table: &Table, part: &RunPart, split: &Split, at: usize) -> Option<f64> {
    let may_be = table.origin.is_table() && part.rows == SAMPLED_ROWS;
    let steps = table.number("_step").filter(|_| may_be)?;
    let mine = steps.rows.iter().zip(&steps.values).filter(|(row, _)| split.run_of(**row) == Some(at));
    let (low, high) = mine
        .map(|(_, step)| *step)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), step| (low.min(step), high.max(step)));
    let steps = high - low + 1.0;
    (steps > SAMPLED_ROWS as f64).then_some(steps)
}
