//! From a history to rows: its runs are named, placed in a group, and measured for every metric.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Protocol, Result};
use calipers_io::history::{Numbers, Origin, Reader as FormatReader, Table};
use calipers_metrics::training::{Curve, Index, Restarts, Sample, Training};

use super::SKETCHED;
use super::assign::GroupBy;
use super::discover::History;
use super::logs::{Log, Reader, Sink};
use super::noticed::{noticed, these_are_epochs};
use super::options::{Options, RUNTIME};
use super::points::repeats;
use super::points::samples::{self, marks_missing};
use super::points::sessions::{self, Resumed};
use super::points::sketch::Sketch;
use super::points::x_axis::{Chosen, Found, Wish, XAxis, is_epoch, near};
use super::points::x_values::readable;
use super::runs::claims::Claim;
use super::runs::filter;
use super::runs::known::Known;
use super::runs::resolve::{Lacking, Measured, Pending, Print};
use super::runs::rules::Labelled;
use super::runs::split::{Part as RunPart, Split};
use crate::training::study::endings::{Ending, TEST_KEYS};

/// What one worker gathers.
#[derive(Default)]
pub struct Part {
    /// The runs, measured but not yet units.
    pub runs: Vec<Pending>,
    /// How many runs there were before any was left out.
    pub found: usize,
    /// The paths of the command line under which there was a history.
    pub seen: BTreeSet<usize>,
    /// The conditions whose key some run knows.
    pub met: BTreeSet<usize>,
}

impl Part {
    /// Adds what came of another history.
    pub fn take_in(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.found += other.found;
        self.seen.extend(other.seen);
        self.met.extend(other.met);
    }
}

/// Measures histories.
pub struct Assembler<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// One protocol for each metric.
    pub protocols: &'a [Training],
    /// Where tables come from.
    pub reader: Reader<'a>,
}

/// Keys that turned out to be needed while a history was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct More {
    numbers: BTreeSet<String>,
    texts: BTreeSet<String>,
}

/// The runs of one history, measured aside: a history that is read once more begins anew.
struct Gathering<'g, 'a> {
    assembler: &'g Assembler<'a>,
    job: usize,
    runs: Vec<Pending>,
    /// How many runs there were before any was left out.
    found: usize,
    /// The conditions whose key some run knows.
    met: BTreeSet<usize>,
    /// What was read besides what was asked for.
    had: More,
    /// What has to be read besides.
    more: More,
}

/// The curves of one metric in the runs of a table.
enum Curves {
    /// The key is not in the table.
    Absent,
    /// Those of each run of the table.
    Of(Vec<OfRun>),
}

/// The curves of one metric in one run of a table: several where sessions are runs of their own.
#[derive(Default)]
struct OfRun {
    sessions: Vec<Vec<Sample>>,
    x: Found,
    facts: Vec<(&'static str, String)>,
    /// Why values share an x, where some do.
    cause: Option<String>,
}

impl Sink for Gathering<'_, '_> {
    fn log(&mut self, log: Log) -> Result<()> {
        let shown = log.shown.clone();
        self.assembler.log(log, self).map_err(|error| error.in_file(shown))
    }

    fn again(&mut self) {
        self.runs.clear();
        self.met.clear();
        self.found = 0;
    }
}

impl Assembler<'_> {
    /// Measures every run of a history.
    pub fn history(&self, job: usize, history: &History, part: &mut Part) -> Result<()> {
        let mut had = More::default();
        loop {
            let mut wanted = self.options.wanted();
            wanted.numbers.extend(had.numbers.iter().cloned());
            wanted.texts.extend(
                had.texts.iter().filter(|text| !wanted.texts.contains(text)).cloned().collect::<Vec<_>>(),
            );
            let more = had.clone();
            let mut gathering = Gathering {
                assembler: self,
                job,
                runs: Vec::new(),
                found: 0,
                met: BTreeSet::new(),
                had: had.clone(),
                more,
            };
            if !self.reader.read(history, &wanted, &mut gathering)? {
                return Ok(());
            }
            if gathering.more != had {
                // What it takes to understand the file is in the file, and is read now.
                had = gathering.more;
                self.reader.unread(history);
                continue;
            }
            part.seen.insert(history.input);
            part.found += gathering.found;
            part.met.extend(gathering.met);
            if gathering.runs.is_empty() && gathering.found > 0 {
                self.reader.forget(history);
            }
            part.runs.extend(gathering.runs);
            return Ok(());
        }
    }

    fn log(&self, mut log: Log, gathering: &mut Gathering<'_, '_>) -> Result<()> {
        // A file of many runs does not say which of them is meant.
        let of_many = matches!(log.format.reader, FormatReader::Runs { .. });
        let name = log.name.clone();
        let about = |error: Error| if of_many { error.at(format!("run {name}")) } else { error };
        let filters = &self.options.filters;
        let is_table = log.table.origin.is_table();
        // Columns may vary in rows that are left out.
        let before = if is_table && !filters.is_empty() {
            Split::new(&log.table, self.options).map_or(1, |split| split.runs.len())
        } else {
            0
        };
        gathering.met.extend(filter::met(filters, &log.table, |_| false));
        let by_rows = is_table && filter::rows(&mut log.table, filters);
        if by_rows && log.table.numbers.iter().all(|column| column.rows.is_empty()) {
            gathering.found += before;
            return Ok(());
        }
        let log = log;
        let table = &log.table;
        let split = Split::new(table, self.options)?;
        let knowns: Vec<Known> =
            split.runs.iter().map(|part| log.known(part.name.as_deref().unwrap_or(&log.name))).collect();
        gathering.found += split.runs.len().max(before);
        let knows = |key: &str| knowns.iter().any(|known| known.text(key).is_some());
        gathering.met.extend(filter::met(filters, table, knows));
        let wanted: Vec<bool> =
            knowns.iter().zip(&split.runs).map(|(known, part)| self.wants(&log, known, part)).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        let mut curves = Vec::new();
        for protocol in self.protocols {
            curves.push(self.curves(&log, protocol, &split, gathering).map_err(about)?);
        }
        if gathering.more != gathering.had {
            return Ok(());
        }
        self.note(&log, &curves);
        let mut endings = self.endings(table, &split).map_err(about)?;
        for (at, known) in knowns.into_iter().enumerate().filter(|(at, _)| wanted[*at]) {
            let sessions = |curves: &Curves| match curves {
                Curves::Absent => 0,
                Curves::Of(runs) => runs[at].sessions.len(),
            };
            let runs = curves.iter().map(sessions).max().unwrap_or(0).max(1);
            for session in 0..runs {
                let mut known = known.clone();
                if runs > 1 {
                    known.name = format!("{}#{}", known.name, session + 1);
                }
                let ending = std::mem::take(&mut endings[at]);
                let run = self.run(&log, &known, (&split, at, session), &curves, ending, gathering)?;
                gathering.runs.push(run);
            }
        }
        Ok(())
    }

    /// Whether the conditions on a run hold; those on the columns of its table have been looked at.
    fn wants(&self, log: &Log, known: &Known, part: &RunPart) -> bool {
        let is_table = log.table.origin.is_table();
        self.options.filters.iter().all(|test| {
            if is_table && log.table.texts.iter().any(|column| column.key == test.key) {
                return true;
            }
            let text = part.columns.get(&test.key).map(String::as_str).or_else(|| known.text(&test.key));
            test.holds(text)
        })
    }

    /// The curves of a metric in every run of a table. Where keys have to be read first, it says so in
    /// `gathering`.
    fn curves(
        &self,
        log: &Log,
        protocol: &Training,
        split: &Split,
        gathering: &mut Gathering<'_, '_>,
    ) -> Result<Curves> {
        let table = &log.table;
        let Some(column) = table.number(&protocol.metric) else { return Ok(Curves::Absent) };
        let wish = Wish {
            asked: self.options.x.as_deref(),
            own: log.x.as_deref(),
            epochs: protocol.index == Index::Epoch && self.options.x.is_none(),
        };
        let axis = match XAxis::choose(table, column, split, wish)? {
            Chosen::Known(axis) => axis,
            Chosen::Read(keys) if keys.iter().all(|key| gathering.had.numbers.contains(key)) => {
                return Err(Error::format("a key is listed but cannot be read").found(keys.join(", ")));
            }
            Chosen::Read(keys) => {
                gathering.more.numbers.extend(keys);
                return Ok(Curves::Absent);
            }
        };
        let mut of_runs = Vec::new();
        let by_run = samples::by_run(table, column, &axis, split)?;
        for ((samples, x), part) in by_run.into_iter().zip(axis.runs).zip(&split.runs) {
            let name = part.name.as_deref().unwrap_or(&log.name);
            let run = self.resumed(log, protocol, (name, samples, x), gathering);
            of_runs.push(run.map_err(|error| {
                if part.name.is_some() { error.at(format!("run {name}")) } else { error }
            })?);
        }
        Ok(Curves::Of(of_runs))
    }

    /// What the sessions of a run leave of its values, in the order of logging.
    fn resumed(
        &self,
        log: &Log,
        protocol: &Training,
        (name, samples, x): (&str, Vec<Sample>, Found),
        gathering: &mut Gathering<'_, '_>,
    ) -> Result<OfRun> {
        let table = &log.table;
        let mut run = OfRun { x, ..OfRun::default() };
        let Some(key) = run.x.key.clone() else { return Ok(run) };
        if protocol.index == Index::Epoch && self.options.x.is_none() && !is_epoch(&key) {
            these_are_epochs(&key, &samples)?;
        }
        if let Some(passed) = &run.x.passed {
            run.facts.push(("x-fallback", format!("'{key}' for '{passed}' in {}", log.shown)));
        }
        if samples::shares_an_x(&samples) && self.may_be_several(table) {
            let asked = &self.options.wanted().texts;
            let unread: Vec<&String> = repeats::undecided(table, &protocol.metric, &key)
                .filter(|text| !asked.contains(text) && !gathering.had.texts.contains(*text))
                .collect();
            if !unread.is_empty() {
                gathering.more.texts.extend(unread.into_iter().cloned());
                return Ok(run);
            }
            repeats::refuse_several_runs(table, &protocol.metric, &key, &samples)?;
        }
        let Resumed { runs, sessions, removed, from, shifted } =
            sessions::resume(table, &key, samples, protocol.restarts)?;
        let told = matches!(protocol.restarts, Restarts::Append | Restarts::Runs) && sessions > 1;
        if removed > 0 || told {
            let taken = match from {
                Some(x) => format!(", {removed} values from {key} = {x} on were taken back"),
                None => String::new(),
            };
            run.facts.push(("restarted", format!("run {name}: {sessions} sessions{taken}")));
        }
        if let Some(by) = shifted {
            run.facts.push(("steps-shifted", format!("run {name}: by {by}")));
        }
        for mut samples in runs {
            if samples::shares_an_x(&samples) {
                run.cause = Some(repeats::cause(table, &key, &samples)?);
                samples::order(table, &key, &mut samples)?;
            }
            run.sessions.push(samples);
        }
        Ok(run)
    }

    /// Whether rows of several runs may stand in a table without anybody having said so.
    fn may_be_several(&self, table: &Table) -> bool {
        let Options { run_column, repeats_meant, assignment, .. } = self.options;
        let restarts = self.protocols.iter().all(|protocol| protocol.restarts == Restarts::Auto);
        let undeclared = run_column.is_none() && !repeats_meant && assignment.columns().next().is_none();
        table.origin.is_table() && undeclared && restarts
    }

    /// Says in the inputs how a log was read.
    fn note(&self, log: &Log, curves: &[Curves]) {
        let of_runs = |curves: &Curves| match curves {
            Curves::Absent => None,
            Curves::Of(runs) => runs.iter().find_map(|run| run.x.key.clone()),
        };
        let x = curves.iter().find_map(of_runs);
        for file in &log.files {
            self.reader.inputs.note(file, "format", log.format.name);
            if let Some(x) = &x {
                self.reader.inputs.note(file, "x", x);
            }
        }
    }

    fn run(
        &self,
        log: &Log,
        known: &Known,
        (split, at, session): (&Split, usize, usize),
        curves: &[Curves],
        ending: Ending,
        gathering: &Gathering<'_, '_>,
    ) -> Result<Pending> {
        let part = &split.runs[at];
        let place = (gathering.job, gathering.runs.len());
        let column = |key: &str| part.columns.get(key).map(String::as_str);
        let labelled = Labelled { known, column: &column, folder: log.folder.as_deref() };
        let labels = self.options.assignment.of(labelled);
        let of = |curves: &'_ Curves| match curves {
            Curves::Absent => None,
            Curves::Of(runs) => Some(runs[at].sessions.get(session).map_or(0, Vec::len)),
        };
        let values = curves.first().and_then(of).unwrap_or(0);
        let any = curves.iter().any(|curves| of(curves).is_some_and(|values| values > 0));
        // A run without any of the metrics is left out before a rule looks at it.
        let (group, fold, by_name) = match labels {
            Ok(labels) => (labels.group, labels.fold, labels.by_name),
            Err(error) if any => return Err(error),
            Err(_) => (String::new(), known.name.clone(), false),
        };
        let claim = Claim { place, group, fold, run: known.name.clone(), file: log.shown.clone(), values };
        let mut run = Pending {
            by_name,
            identity: known.identity(),
            id: known.id.clone(),
            format: log.format.name,
            facts: noticed(log, part, split, at, &claim),
            metrics: Vec::new(),
            sketches: Vec::new(),
            ending: if self.options.endings { Some(ending) } else { None },
            config: self.config(known, part),
            claim,
        };
        for (metric, curves) in curves.iter().enumerate() {
            let protocol = &self.protocols[metric];
            let column = log.table.number(&protocol.metric);
            let of_run = match curves {
                Curves::Of(runs) => Some(&runs[at]),
                Curves::Absent => None,
            };
            let samples =
                of_run.and_then(|run| run.sessions.get(session)).filter(|samples| !samples.is_empty());
            let (Some(column), Some(of_run), Some(samples)) = (column, of_run, samples) else {
                run.metrics.push(Err(self.lacking(log, protocol, column.is_some())));
                continue;
            };
            let measured = self.measure(log, &mut run, (metric, column), (of_run, samples))?;
            run.metrics.push(Ok(measured));
        }
        Ok(run)
    }

    /// What is known of a run by key, where that is kept.
    fn config(&self, known: &Known, part: &RunPart) -> BTreeMap<String, String> {
        let kept = self.options.points;
        let config = known.config.iter().chain(&part.columns).filter(|_| kept);
        config.map(|(key, text)| (key.clone(), text.clone())).collect()
    }

    /// What a message needs to know about a run without the metric.
    fn lacking(&self, log: &Log, protocol: &Training, has_key: bool) -> Lacking {
        let table = &log.table;
        if self.options.skip_missing {
            return Lacking::default();
        }
        Lacking {
            has_key,
            empty: table.origin == Origin::Wandb && table.rows == 0,
            near: near(&protocol.metric, &table.keys),
            keys: table.keys.clone(),
        }
    }

    fn measure(
        &self,
        log: &Log,
        run: &mut Pending,
        (metric, column): (usize, &Numbers),
        (of_run, samples): (&OfRun, &[Sample]),
    ) -> Result<Measured> {
        let (protocol, claim) = (&self.protocols[metric], &run.claim);
        let x_key = of_run.x.key.clone().unwrap_or_default();
        let elsewhere = log.missing_elsewhere.get(metric).copied().unwrap_or(false);
        let mut facts: Vec<(String, String)> =
            of_run.facts.iter().map(|(code, detail)| ((*code).to_owned(), detail.clone())).collect();
        let curve = Curve {
            group: &claim.group,
            fold: &claim.fold,
            folds: self.folds(&claim.group),
            x_key: &x_key,
            samples,
            stored: column.stored,
            marks_missing: marks_missing(&log.table, column, elsewhere),
            place: &|row| log.table.places.of(row),
        };
        let about = |error: Error| {
            error.at(format!("unit {}, run {}, key '{}'", claim.unit(), claim.run, protocol.metric))
        };
        let points = if self.options.points { protocol.points(&curve).map_err(about)? } else { Vec::new() };
        let row = protocol.measure(&claim.unit(), curve).map_err(about)?;
        if let (Some(cause), true) = (&of_run.cause, row.doubts.repeated > 0) {
            facts.push(("repeated-x".into(), cause.clone()));
        }
        if self.options.sketches && claim.place.0 < SKETCHED && claim.place.1 < SKETCHED {
            run.sketches.push(Sketch::new(metric, protocol, samples, &row));
        }
        Ok(Measured { row, x_key, print: Print::of(samples), facts, points })
    }

    /// How many folds the per-run JSON lists for a group.
    fn folds(&self, group: &str) -> Option<u32> {
        let assignment = &self.options.assignment;
        let by_runs = matches!(assignment.group_by, GroupBy::Runs);
        let listed = assignment.runs.as_ref().filter(|_| by_runs)?.group(group)?;
        u32::try_from(listed.runs.len()).ok()
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
