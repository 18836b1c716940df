//! What a caller can ask of a training run, checked before anything is read.

use std::path::PathBuf;
use std::time::Duration;

use calipers_core::provenance::Setting;
use calipers_core::{Error, Reading, Result};
use calipers_io::history::{Format, Wanted, delimited};
use calipers_metrics::training::Training;

use super::assign::{Assignment, FoldBy, GroupBy};
use super::x_axis;
use crate::training::endings::TEST_KEYS;

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
    /// The x of a row; by format when it is not given.
    pub x: Option<String>,
    /// The column that separates the runs of one table.
    pub run_column: Option<String>,
    /// How delimited tables are written.
    pub delimited: delimited::Options,
    /// The layout of every file, where it is not to be found out.
    pub format: Option<&'static Format>,
    /// Whether a history without a metric is left out, with a warning.
    pub skip_missing: bool,
    /// Whether to keep what histories say beside their curves.
    pub endings: bool,
    /// Whether to keep small pictures of the first curves.
    pub sketches: bool,
    /// How long a request to a tracking server may take.
    pub timeout: Duration,
}

impl Options {
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
        let Assignment { group_by, fold_by, .. } = &self.assignment;
        let texts = [self.run_column.as_deref(), group_by.column(), fold_by.column()];
        Wanted {
            numbers: each_once(numbers),
            texts: each_once(texts.into_iter().flatten().map(String::from)),
        }
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
            ("format", text(self.format.map(|format| format.name))),
            ("key_column", text(long.map(|long| long.key_column.as_str()))),
            ("project", text(self.assignment.runs.as_ref().map(|runs| runs.project.as_str()))),
            ("run_column", text(self.run_column.as_deref())),
            ("skip_missing", Setting::Flag(self.skip_missing)),
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
