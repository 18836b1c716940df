//! What a caller can ask of a training run, checked before anything is read.

use std::path::PathBuf;
use std::time::Duration;

use calipers_core::provenance::Setting;
use calipers_core::{Error, Reading, Result};
use calipers_io::history::encoding::Encoding;
use calipers_io::history::{Format, Wanted, delimited};
use calipers_metrics::training::Training;

use super::assign::{Assignment, FoldBy, GroupBy};
use super::points::x_axis;
use super::runs::filter::Where;
use super::runs::known::CONFIG;
use crate::training::study::endings::TEST_KEYS;

/// The x of a protocol that leaves it to the format.
pub const AUTO: &str = "auto";

/// How long a request to a tracking server may take where nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The key that holds how long a run took.
pub const RUNTIME: &str = "_runtime";

/// Where the histories are and how they are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files and folders.
    pub inputs: Vec<PathBuf>,
    /// One protocol for each metric; x and the rules below are filled in from here.
    pub metrics: Vec<Training>,
    /// Which configuration and fold a run belongs to.
    pub assignment: Assignment,
    /// Which runs and rows are read: those for which all of these hold.
    pub filters: Vec<Where>,
    /// Whether it was said what several values at one x are, so that they are meant.
    pub repeats_meant: bool,
    /// The x of a row; by format when it is not given.
    pub x: Option<String>,
    /// The column that separates the runs of one table.
    pub run_column: Option<String>,
    /// How delimited tables are written.
    pub delimited: delimited::Options,
    /// How text files are written; by their marks, else as UTF-8, where it is not given.
    pub encoding: Option<Encoding>,
    /// The layout of every file, where it is not to be found out.
    pub format: Option<&'static Format>,
    /// Whether a history without a metric is left out, with a warning.
    pub skip_missing: bool,
    /// Whether to keep what histories say beside their curves.
    pub endings: bool,
    /// Whether to keep small pictures of the first curves.
    pub sketches: bool,
    /// Whether to keep the points of every run, and its configuration.
    pub points: bool,
    /// How long a request to a tracking server may take.
    pub timeout: Duration,
}

impl Options {
    /// Everything by default: one group, each run a fold, and whatever format a file has.
    pub fn over(inputs: Vec<PathBuf>, metrics: Vec<Training>) -> Self {
        Self {
            inputs,
            metrics,
            assignment: Assignment { group_by: GroupBy::None, fold_by: FoldBy::Auto, runs: None },
            filters: Vec::new(),
            repeats_meant: false,
            x: None,
            run_column: None,
            delimited: delimited::Options::default(),
            encoding: None,
            format: None,
            skip_missing: false,
            endings: false,
            sketches: false,
            points: false,
            timeout: TIMEOUT,
        }
    }

    /// Refuses combinations that contradict themselves: wrong usage, not wrong data.
    pub fn check(&self) -> Result<()> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no histories are given").advice("name files or folders to read"));
        }
        if self.metrics.is_empty() {
            return Err(Error::usage("no metric is given").advice("--metric KEY names a column, key or tag"));
        }
        let Assignment { group_by, fold_by, runs } = &self.assignment;
        if runs.is_none() && (matches!(group_by, GroupBy::Runs) || matches!(fold_by, FoldBy::Runs)) {
            return Err(
                Error::usage("the rule `runs` reads the per-run JSON").advice("give it with --runs FILE")
            );
        }
        self.metrics.iter().try_for_each(|metric| metric.clone().checked().map(|_| ()))
    }

    /// The protocol of each metric, complete.
    pub fn protocols(&self) -> Vec<Training> {
        let complete = |training: &Training| Training {
            x: self.x.clone().unwrap_or_else(|| AUTO.into()),
            group_by: self.assignment.group_by.to_string(),
            fold_by: self.assignment.fold_by.to_string(),
            ..training.clone()
        };
        self.metrics.iter().map(complete).collect()
    }

    /// The keys to read.
    pub fn wanted(&self) -> Wanted {
        let mut numbers: Vec<String> = self.metrics.iter().map(|training| training.metric.clone()).collect();
        match self.x.as_deref() {
            // The step joins an x to values that were logged apart from it.
            Some(x) => numbers.extend([x.to_owned(), "step".into()]),
            None => numbers.extend(x_axis::DEFAULTS.map(String::from)),
        }
        numbers.extend(x_axis::LATER.map(String::from));
        if self.endings {
            numbers.extend(TEST_KEYS.map(String::from));
            numbers.push(RUNTIME.into());
        }
        let tested = self.filters.iter().map(|test| test.key.as_str());
        let texts = self.run_column.as_deref().into_iter().chain(self.assignment.columns()).chain(tested);
        // What stands behind the prefix is the name; a column may have the prefix in its name as well.
        let texts = texts.flat_map(|text| [Some(text), text.strip_prefix(CONFIG)]).flatten();
        Wanted { numbers: each_once(numbers), texts: each_once(texts.map(String::from)), config: self.points }
    }

    /// The options that say how files are found and read.
    pub fn reading(&self) -> Reading {
        let text = |text: Option<&str>| text.map_or(Setting::Unset, |text| Setting::Text(text.into()));
        let long = self.delimited.long.as_ref();
        let delimiter = self.delimited.delimiter.map(|byte| char::from(byte).to_string());
        let decimal = if self.delimited.decimal_comma { "comma" } else { "point" };
        let settings = [
            ("decimal", Setting::Text(decimal.into())),
            ("delimiter", text(delimiter.as_deref())),
            ("encoding", text(self.encoding.map(Encoding::name))),
            ("format", text(self.format.map(|format| format.name))),
            ("key_column", text(long.map(|long| long.key_column.as_str()))),
            ("project", text(self.assignment.runs.as_ref().map(|runs| runs.project.as_str()))),
            ("repeats_meant", Setting::Flag(self.repeats_meant)),
            ("run_column", text(self.run_column.as_deref())),
            ("skip_missing", Setting::Flag(self.skip_missing)),
            (
                "where",
                match self.filters.as_slice() {
                    [] => Setting::Unset,
                    filters => Setting::List(filters.iter().map(ToString::to_string).collect()),
                },
            ),
            ("value_column", text(long.map(|long| long.value_column.as_str()))),
        ];
        settings.into_iter().map(|(key, setting)| (key.to_owned(), setting)).collect()
    }
}

fn each_once(keys: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for key in keys {
        if !once.contains(&key) {
            once.push(key);
        }
    }
    once
}
