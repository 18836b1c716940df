//! The options every measuring command shares.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use calipers::chosen::Chosen;
use calipers::core::resample::{Bootstrap, Method};
use calipers::io::file::InputFile;
use calipers::io::memory;
use calipers::registry;
use calipers::report::{Amount, Shown, Spread};
use calipers::resample::{Intervals, PAGE_RESAMPLES, conceivable};
use calipers::run::{self, Progress, Shard};
use calipers::sources::clusters::ClusterRule;

use calipers::{Error, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

/// What is written, and where to.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// Write the report as JSON ("-" for standard output)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Write the metrics as CSV ("-" for standard output)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) csv: Option<PathBuf>,
    /// Print the numbers as Markdown, or write them: --markdown=FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print the numbers as LaTeX tables, or write them: --latex=FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) latex: Option<PathBuf>,
    /// Write the report as one HTML page with pictures
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Only these numbers, in this order, in every form of the report
    #[arg(long, value_name = "ID[,ID..]", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// On the terminal, in Markdown and in LaTeX: every number
    #[arg(long)]
    pub(crate) all: bool,
    /// In tables: intervals as ±, the distance of their farther end
    #[arg(long)]
    pub(crate) plus_minus: bool,
    /// Write one row per unit: .csv, .jsonl or .parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) per_unit: Option<PathBuf>,
    /// Write the state, to be shown or merged later
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Add intervals from B bootstrap resamples of what is a sample: units, runs or clusters
    #[arg(long, value_name = "B", default_value_t = 0, value_parser = whole::<u32>("0 to 4294967295"))]
    pub(crate) bootstrap: u32,
    /// The share of resamples an interval holds
    #[arg(long, value_name = "C", default_value_t = 0.95)]
    pub(crate) confidence: f64,
    /// Set by a family that lets metrics be chosen
    #[arg(skip)]
    pub(crate) chosen: Chosen,
    /// How an interval is made of the resamples [default: expanded]
    #[arg(long, value_name = "METHOD", value_parser = named::<Method>(&Method::NAMES))]
    pub(crate) interval: Option<Method>,
    /// Draw units together that are not independent: none, folder, regex:PATTERN or FILE.csv:COLUMN
    #[arg(long, value_name = "RULE")]
    pub(crate) cluster_by: Option<ClusterRule>,
    /// Print no table, no warnings and no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Draw no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// End with exit status 3 when there is any warning
    #[arg(long)]
    pub(crate) strict: bool,
    /// Report on the units that are there, although shards are missing
    #[arg(long)]
    pub(crate) partial: bool,
}

/// How the work is divided.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Work")]
pub(crate) struct Work {
    /// Measure only shard I of N (I from 1); combine the states with `calipers merge`
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Measure only the units that FILE names, one per line ("-" reads standard input)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) units: Option<PathBuf>,
    /// The names themselves, where a program gives them
    #[arg(skip)]
    pub(crate) named: Option<BTreeSet<String>>,
    /// What the inputs at work may ask for together, such as 512M or 4GiB [default: half of the memory]
    #[arg(long, value_name = "SIZE", value_parser = size_of_memory)]
    pub(crate) memory: Option<u64>,
    /// Leave out units that cannot be read or measured, name them in the report, and end with status 4
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Keep what is measured in DIR; the same command again goes on from there
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
}

impl Work {
    /// The same for the library, measuring the units of these names, and telling someone how far it has
    /// come.
    pub(crate) fn with<'a>(
        &'a self,
        names: Option<&'a BTreeSet<String>>,
        progress: &'a dyn Progress,
    ) -> run::Work<'a> {
        memory::allow(self.memory);
        run::Work {
            shard: self.shard,
            units: names,
            keep_going: self.keep_going,
            resume: self.resume.as_deref(),
            threads: self.threads(),
            progress,
        }
    }

    /// The names of the units that are measured; none where all are. Refuses a folder that is no local path.
    pub(crate) fn names(&self) -> Result<Option<BTreeSet<String>>> {
        if let Some(folder) = self.resume.as_deref().filter(|folder| folder.to_string_lossy().contains("://"))
        {
            return Err(Error::usage("outputs are local, and so is what a run keeps")
                .at("--resume")
                .found(folder.display())
                .advice("name a folder on this machine"));
        }
        let Some(path) = &self.units else { return Ok(self.named.clone()) };
        let shown = path.display().to_string();
        let text = if is_stream(path) {
            let mut text = String::new();
            let read = std::io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Error::io(format!("cannot read standard input: {error}")))?;
            text
        } else {
            let bytes = InputFile::open(path)?.read_all().map_err(|error| error.in_file(&shown))?;
            String::from_utf8(bytes).map_err(|_| Error::format("names are UTF-8 text").in_file(&shown))?
        };
        let names: BTreeSet<String> =
            text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        if names.is_empty() {
            return Err(Error::value("no unit is named").in_file(&shown).allowed("one name per line"));
        }
        Ok(Some(names))
    }

    /// The number of worker threads.
    pub(crate) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.map_or_else(cores, usize::from)
    }
}

impl Output {
    /// Refuses what cannot be done, before any work: impossible targets, unknown endings.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_files()?;
        self.check_intervals(self.bootstrap > 0)
    }

    /// The same where a state may say how intervals are made.
    pub(crate) fn check_files(&self) -> Result<()> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(Error::usage("--confidence must lie between 0 and 1").found(self.confidence));
        }
        conceivable(self.bootstrap, "--bootstrap")?;
        self.select.iter().try_for_each(|id| registry::alike(id).map(drop))?;
        if let Some(path) = &self.per_unit {
            crate::emit::table_format("--per-unit", path)?;
        }
        self.files().try_for_each(|(_, path)| calipers::output::check(path))
    }

    /// The files that are written, with the options that name them.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("--json", &self.json),
            ("--csv", &self.csv),
            ("--html", &self.html),
            ("--markdown", &self.markdown),
            ("--latex", &self.latex),
            ("--per-unit", &self.per_unit),
            ("--state", &self.state),
        ];
        files
            .into_iter()
            .filter_map(|(flag, path)| Some((flag, path.as_deref().filter(|path| !is_stream(path))?)))
    }

    /// Refuses to say how intervals are made where none is.
    pub(crate) fn check_intervals(&self, made: bool) -> Result<()> {
        let given = [("--interval", self.interval.is_some()), ("--cluster-by", self.cluster_by.is_some())];
        match given.iter().find(|(_, given)| *given && !made && self.html.is_none()) {
            None => Ok(()),
            Some((flag, _)) => Err(Error::usage(format!("{flag} needs --bootstrap or --html"))
                .advice("no interval is made without resamples; --bootstrap 2000 draws some")),
        }
    }

    /// How intervals are made, when they are asked for.
    pub(crate) fn intervals(&self, seed: u64) -> Option<Intervals> {
        (self.bootstrap > 0).then(|| self.resampled(self.bootstrap, seed))
    }

    /// How the intervals of a page are made where none were asked for.
    pub(crate) fn page_intervals(&self, seed: u64) -> Intervals {
        self.resampled(if self.bootstrap > 0 { self.bootstrap } else { PAGE_RESAMPLES }, seed)
    }

    fn resampled(&self, resamples: u32, seed: u64) -> Intervals {
        let method = self.interval.unwrap_or_default();
        Intervals {
            bootstrap: Bootstrap { resamples, confidence: self.confidence, seed, method },
            cluster_by: self.cluster_by.clone(),
        }
    }

    /// How much a table shows, and how.
    pub(crate) fn shown(&self) -> Shown {
        let amount = match (self.select.is_empty(), self.all) {
            (false, _) => Amount::Selected,
            (true, true) => Amount::Everything,
            (true, false) => Amount::Headline,
        };
        Shown { amount, spread: spread(self.plus_minus) }
    }

    /// Whether anything is asked for that shows numbers, beside the table.
    pub(crate) fn wants_report(&self) -> bool {
        let files = [&self.json, &self.csv, &self.html, &self.markdown, &self.latex, &self.per_unit];
        files.iter().any(|file| file.is_some())
    }

    /// Whether something is asked for that is read from rows, beside the table.
    pub(crate) fn needs_rows(&self) -> bool {
        self.wants_report() || self.all || self.strict || self.bootstrap > 0 || !self.select.is_empty()
    }

    /// Refuses a report on one shard before it is measured, unless that is wanted.
    pub(crate) fn check_shard(&self, work: &Work) -> Result<()> {
        let Some(shard) = work.shard.filter(|shard| shard.is_part() && !self.partial) else { return Ok(()) };
        let table = self.state.is_none() && !self.quiet;
        if !self.wants_report() && !table {
            return Ok(());
        }
        Err(Error::value("a report on one shard would be on a part of the units")
            .at("--shard")
            .found(shard)
            .advice("--state FILE keeps it for `calipers merge`; --partial reports on these units alone"))
    }

    /// Whether a table is wanted: nothing else was asked to speak for the report.
    pub(crate) fn wants_table(&self) -> bool {
        let files = [&self.json, &self.csv, &self.html, &self.markdown, &self.latex];
        let spoken = files.iter().any(|file| file.is_some());
        let stream = self.state.as_deref().is_some_and(is_stream);
        !self.quiet && !spoken && !stream
    }
}

/// How intervals are written in tables.
pub(crate) fn spread(plus_minus: bool) -> Spread {
    if plus_minus { Spread::PlusMinus } else { Spread::Brackets }
}

/// A number of bytes with its unit.
pub(crate) fn size_of_memory(text: &str) -> std::result::Result<u64, String> {
    memory::size(text).ok_or_else(|| "allowed are digits with K, M, G or T, such as 512M or 4GiB".into())
}

/// Whether a path stands for standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A parser for whole numbers that says which are allowed; whoever takes the number knows its range.
pub(crate) fn whole<T: FromStr>(
    allowed: &'static str,
) -> impl Fn(&str) -> std::result::Result<T, String> + Clone {
    move |text| text.parse().map_err(|_| format!("allowed are whole numbers, {allowed}"))
}

/// A parser for words that the protocol spells the same way in JSON.
pub(crate) fn named<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value::<T>(name.into()))
}
