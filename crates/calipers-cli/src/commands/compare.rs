//! `calipers compare`: models over the same units.

use std::num::NonZeroU32;
use std::path::PathBuf;

use calipers::compare::{self, Model, Options, open};
use calipers::core::resample::{Bootstrap, Method};
use calipers::report::comparison::{self, Comparison};
use calipers::report::page::{self, Page};
use calipers::{Error, Result};
use clap::Args;

use crate::files::{Files, Place};
use crate::options::{Work, is_stream, named, spread, whole};
use crate::{Outcome, emit};

/// Compare models over the same units: paired differences, intervals and tests
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers compare baseline.state multi-head.state
  calipers compare a.state b.state c.state --metric miou --metric biou --markdown
  calipers compare a.csv b.csv --json -                 what --per-unit wrote
  calipers compare a.state b.state --by-label --html comparison.html
  calipers compare a.state b.state --cluster-by folder  images of one patient are drawn together
  calipers compare training.state --between groups      groups are the models, paired by fold

Every later model is compared with the first, and three or more are ranked. The models may differ in how a
prediction is read (heads, maps, temperatures, checkpoints), not in what is measured, and must have the same
units.

Marks: > best value of a line; * p adj. says a difference that chance does not explain; = not distinguishable
from the best.")]
pub(crate) struct Compare {
    /// States, or per-unit files (.csv, .jsonl, .parquet)
    #[arg(required = true, num_args = 1.., value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Compare this metric only, or this number of it, such as iou.sky (may be repeated): the fewer tests,
    /// the less is corrected for
    #[arg(long, visible_alias = "select", value_name = "ID[,ID..]", value_delimiter = ',')]
    metric: Vec<String>,
    /// Compare the numbers of single classes, groups or types too
    #[arg(long)]
    by_label: bool,
    /// Names of the models, in their order [default: the models that states name, else the names of the files]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    names: Vec<String>,
    /// Compare the groups of one training state with each other, run by run of a fold
    #[arg(long, value_name = "WHAT", value_parser = ["groups"])]
    between: Option<String>,
    /// What runs of attacked models are called whatever their model is: a pattern with (?P<run>..)
    #[arg(long, value_name = "regex:PATTERN")]
    run_by: Option<String>,
    /// Which units are drawn together: none, folder, regex:PATTERN or FILE.csv:COLUMN
    #[arg(long, value_name = "RULE")]
    cluster_by: Option<String>,
    /// How intervals are made
    #[arg(long, value_name = "METHOD", default_value = Method::default().name(), value_parser = named::<Method>(&Method::NAMES))]
    interval: Method,
    /// Number of resamples, and of random sign patterns where not all are tried
    #[arg(long, value_name = "B", default_value = "10000", value_parser = whole::<NonZeroU32>("1 to 4294967295"))]
    resamples: NonZeroU32,
    /// The share of resamples an interval holds
    #[arg(long, value_name = "C", default_value_t = 0.95)]
    confidence: f64,
    /// Seed of the resamples and the sign patterns
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten)]
    output: Forms,
}

/// What is written, and where to.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
struct Forms {
    /// Write the comparison as JSON ("-" for standard output)
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Write one row per metric as CSV ("-" for standard output)
    #[arg(long, value_name = "FILE|-")]
    csv: Option<PathBuf>,
    /// Print a Markdown table, or write it: --markdown=FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    markdown: Option<PathBuf>,
    /// Print a LaTeX table, or write it: --latex=FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    latex: Option<PathBuf>,
    /// Write a page that holds everything
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// On the terminal, in Markdown and in LaTeX: the ranks by every metric, as with --metric
    #[arg(long)]
    all: bool,
    /// In tables: intervals as ±, the distance of their farther end
    #[arg(long)]
    plus_minus: bool,
    /// Print no table and no warnings
    #[arg(long, short)]
    quiet: bool,
    /// End with exit status 3 when there is any warning
    #[arg(long)]
    strict: bool,
    /// Compare the units that are there, although shards are missing
    #[arg(long)]
    partial: bool,
}

impl Compare {
    pub(crate) fn run(self) -> Result<Outcome> {
        self.output.check()?;
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(Error::usage("--confidence must lie between 0 and 1").found(self.confidence));
        }
        let run_by = self.run_by.as_deref().map(str::parse).transpose()?;
        let cluster_by = self.cluster_by.as_deref().map(str::parse).transpose()?;
        if self.between.is_none() && self.models.len() < 2 {
            return Err(Error::usage("a comparison needs at least two models")
                .found(self.models.len())
                .advice("give another, or --between groups for those of a training state"));
        }
        let models = open(&self.models)?;
        if !self.output.partial {
            models.iter().try_for_each(Model::require_whole)?;
        }
        let mut output = self.output;
        // Who names metrics wants to know the order by each.
        output.all |= !self.metric.is_empty();
        let options = Options {
            metrics: self.metric,
            by_label: self.by_label,
            names: self.names,
            between_groups: self.between.is_some(),
            run_by,
            cluster_by,
            bootstrap: Bootstrap {
                resamples: self.resamples.get(),
                confidence: self.confidence,
                seed: self.seed,
                method: self.interval,
            },
            threads: Work { threads: self.threads, ..Work::default() }.threads(),
        };
        output.write(&compare::compare(&models, &options)?)
    }
}

impl Forms {
    /// Refuses what cannot be done, before any work.
    fn check(&self) -> Result<()> {
        let forms = [&self.json, &self.csv, &self.html, &self.markdown, &self.latex];
        let paths = || forms.into_iter().flatten();
        paths().filter(|path| !is_stream(path)).try_for_each(|path| calipers::output::check(path))
    }

    fn write(&self, comparisons: &[Comparison]) -> Result<Outcome> {
        let forms = comparison::Forms { all: self.all, spread: spread(self.plus_minus) };
        let mut files = Files::new(self.quiet);
        if let Some(path) = &self.json {
            files.put(Place::Json, path, comparison::json(comparisons))?;
        }
        if let Some(path) = &self.csv {
            files.put(Place::Csv, path, comparison::csv(comparisons))?;
        }
        if let Some(path) = &self.html {
            let sections = comparisons.iter().map(comparison::section).collect();
            let page = Page { title: comparison::TITLE.into(), sections };
            files.put(Place::Page, path, page::write(&page))?;
        }
        if let Some(path) = &self.markdown {
            files.put(Place::Markdown, path, comparison::markdown(comparisons, forms))?;
        }
        if let Some(path) = &self.latex {
            files.put(Place::Latex, path, comparison::latex(comparisons, forms))?;
        }
        files.done()?;
        let spoken = [&self.json, &self.csv, &self.markdown, &self.latex].iter().any(|form| form.is_some());
        let warnings = || comparisons.iter().flat_map(|comparison| &comparison.warnings);
        if !spoken && self.html.is_none() && !self.quiet {
            emit::show(&comparison::terminal(comparisons, emit::style(), forms))?;
        } else if !self.quiet {
            warnings().for_each(|warning| {
                emit::note(&format!("warning[{}]: {}", warning.code, warning.message));
            });
        }
        Ok(if self.strict && warnings().next().is_some() { Outcome::Warned } else { Outcome::Done })
    }
}
