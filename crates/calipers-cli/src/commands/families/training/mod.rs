//! `calipers training`: how training runs behave over epochs and folds.

mod calls;
mod demo;
mod extract;
mod keys;
pub(crate) mod tables;
mod view;

use std::path::PathBuf;
use std::time::Duration;

use calipers::inputs::{Inputs, role};
use calipers::io::history::delimited::{self, Long};
use calipers::io::history::encoding::Encoding;
use calipers::io::history::{FORMATS, Format};
use calipers::metrics::training::{Direction, Duplicates, Index, Nan, Precision, Preset, Restarts, Training};
use calipers::resample::affordable;
use calipers::run::{Progress, Silent};
use calipers::sources::training::assign::{Assignment, FoldBy, GroupBy};
use calipers::sources::training::extract::extract;
use calipers::sources::training::options::Options;
use calipers::sources::training::runs::filter::Where;
use calipers::sources::training::study::runs_file::RunsFile;
use calipers::sources::training::survey::listing::Listing;
use calipers::{Error, Ledger, Result, sources};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

pub(in crate::commands) use self::demo::demo;
use self::extract::ExtractArgs;
use crate::options::{Output, Work, named};
use crate::progress::Bar;
use crate::{Measured, Outcome, emit};

/// Score how training runs behave over epochs and folds
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  calipers training folds/*.csv --metric val_F1
  calipers training history.csv --metric val_acc --run-column run --group-by suffix
  calipers training wandb/ --metric val.acc --group-by wandb --fold-by suffix --json -
  calipers training logs/ --metric val_F1_micro --threshold 90 \\
      --metric val_part_parsed --threshold 0.9 --group-by folder
  calipers training tb/ --metric val/F1 --group-by folder --sweep 0.8,0.85,0.9,0.95 --bootstrap 2000
  calipers training mlflow.db --metric val/F1 --preset revised \\
      --group-by 'regex:^(?P<group>.+)-fold(?P<fold>\\d+)$'
  calipers training histories/ --runs results.json --project 12ShadesOfRDF --group-by runs \\
      --preset table-2024-04-25 --table out/results --metric val_F1_micro --threshold 90 --label F1-
  calipers training --runs results.json --project 12ShadesOfRDF --table out/static
  calipers training runs/ --keys
  calipers training extract runs/ -o artefacts.json --group-by folder

Read are CSV, TSV, JSON, JSON lines, parquet, W&B exports, panels and offline logs (.wandb),
TensorBoard events, trainer_state.json, MLflow folders, databases (also as sqlite:///FILE) and
tracking servers (mlflow+http://HOST:PORT). --threshold, --scale, --direction and --label are given once for all metrics, or once for each in the same order.")]
pub(crate) struct TrainingArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TrainingCommand>,
    /// Histories: files, folders that are searched through, or the address of a tracking server
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// List what the histories hold: metrics, x, configurations and runs
    #[arg(long)]
    keys: bool,
    #[command(flatten)]
    metrics: Metrics,
    #[command(flatten)]
    points: Points,
    #[command(flatten)]
    pub(crate) runs: Runs,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    study: Study,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pub(super) work: Work,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand, Debug)]
pub(crate) enum TrainingCommand {
    Extract(ExtractArgs),
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Metrics")]
struct Metrics {
    /// The column, key or tag to look at; one report for each
    #[arg(long, value_name = "KEY")]
    metric: Vec<String>,
    /// The value beyond which a run is saturated [default: 0.9]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    threshold: Vec<f64>,
    /// Divide every value by this first [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    scale: Vec<f64>,
    /// Which values are better [default: max]
    #[arg(long, value_name = "END", value_parser = named::<Direction>(&["max", "min"]))]
    direction: Vec<Direction>,
    /// What tables call the metric [default: KEY]
    #[arg(long, value_name = "NAME")]
    label: Vec<String>,
    /// Count the threshold itself as saturated
    #[arg(long)]
    inclusive: bool,
    /// Which conventions: exact ones, or those of published programs [default: strict]
    #[arg(long, value_name = "NAME", value_parser = named::<Preset>(
        &["strict", "document", "revised", "table-2024-04-24", "table-2024-04-25", "script-2025"]))]
    preset: Option<Preset>,
    /// How many saturated points in a row make a sustained saturation
    #[arg(long, value_name = "K", default_value_t = 3)]
    sustain: u32,
    /// Factor on the length of runs that never saturate, in velocity_par
    #[arg(long, value_name = "K", default_value_t = 10)]
    par: u32,
    /// Up to which epoch velocity_rmst measures [default: the longest run]
    #[arg(long, value_name = "H")]
    horizon: Option<u64>,
    /// Further thresholds to measure at
    #[arg(long, value_name = "T[,T..]", value_delimiter = ',', allow_negative_numbers = true)]
    sweep: Vec<f64>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Points")]
struct Points {
    /// The x of a row; "row" is its position in the file [default: by format]
    #[arg(long, value_name = "KEY")]
    x: Option<String>,
    /// How a point is numbered
    #[arg(long, value_name = "HOW", default_value = "evaluation",
        value_parser = named::<Index>(&["evaluation", "epoch"]))]
    index: Index,
    /// The x of the first epoch, with --index epoch
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    first_epoch: i64,
    /// What counts of several values at one x of a run; written out, it says that they are meant
    /// [default: last]
    #[arg(long, value_name = "RULE", value_parser = named::<Duplicates>(&["last", "first", "mean", "error"]))]
    duplicates: Option<Duplicates>,
    /// What a later session of one run does to the earlier ones; "rewind", "append" and "runs" take rows
    /// in the order in which they were logged
    #[arg(long, value_name = "RULE", default_value = "auto",
        value_parser = named::<Restarts>(&["auto", "overlay", "rewind", "append", "runs"]))]
    restarts: Restarts,
    /// The precision in which a value meets the threshold
    #[arg(long, value_name = "TYPE", default_value = "stored",
        value_parser = named::<Precision>(&["stored", "single", "double"]))]
    precision: Precision,
    /// What a logged NaN or infinity is: not logged, the worst value, or an error
    #[arg(long, value_name = "RULE", default_value = "missing",
        value_parser = named::<Nan>(&["missing", "fail", "error"]))]
    nan: Nan,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Runs")]
pub(crate) struct Runs {
    /// Where configurations come from: none, folder, suffix, regex:RE, column:COL, wandb, project, experiment,
    /// parent, runs; several are given one by one or joined with commas [default: none]
    #[arg(long, value_name = "WHERE")]
    pub(crate) group_by: Vec<GroupBy>,
    /// Where folds come from: auto, run, id, suffix, regex:RE, column:COL, runs; several likewise
    /// [default: auto]
    #[arg(long, value_name = "WHERE")]
    pub(crate) fold_by: Vec<FoldBy>,
    /// Read only runs, or rows of tables, for which KEY=VALUE, KEY!=VALUE or KEY~REGEX holds
    #[arg(long = "where", value_name = "TEST")]
    filters: Vec<Where>,
    /// The column that separates the runs of one table
    #[arg(long, value_name = "COL")]
    run_column: Option<String>,
    /// The declared number of folds [default: the runs of each group; 5 in table-*]
    #[arg(long, value_name = "N")]
    folds: Option<u32>,
    /// Leave histories without the metric out, with a warning
    #[arg(long)]
    skip_missing: bool,
}

/// The format of every file; none where it is found out.
#[derive(Clone, Copy, Debug)]
struct Layout(Option<&'static Format>);

const AUTO: &str = "auto";

#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
struct Files {
    /// The layout of every file; in folders, only files that can have it are looked at
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = layouts())]
    format: Layout,
    /// In a long table, the column of metric names
    #[arg(long, value_name = "COL", requires = "value_column")]
    key_column: Option<String>,
    /// In a long table, the column of values
    #[arg(long, value_name = "COL", requires = "key_column")]
    value_column: Option<String>,
    /// The character between cells, or "tab" [default: , ; or tab, whichever the header has]
    #[arg(long, value_name = "C", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// How text files are written [default: by their marks, else UTF-8]
    #[arg(long, value_name = "NAME", value_parser = encodings())]
    encoding: Option<Encoding>,
    /// How tables write decimals
    #[arg(long, value_name = "MARK", default_value = "point", value_parser = ["point", "comma"])]
    decimal: String,
    /// How long a request to a tracking server may take [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60", hide_default_value = true)]
    timeout: Duration,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Study")]
struct Study {
    /// The per-run JSON of a study
    #[arg(long, value_name = "FILE")]
    runs: Option<PathBuf>,
    /// The project in it, where there are several; with --table alone, what the study is called
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Write PREFIX_STRICT, PREFIX_MEAN_WISE and PREFIX_MEAN_NAIVE as .csv, .md and .tex; without --runs the
    /// JSON is extracted first
    #[arg(long, value_name = "PREFIX")]
    table: Option<PathBuf>,
    /// The per-run JSON itself, where it is no file.
    #[arg(skip)]
    json: Option<String>,
    /// Whether the caller writes the tables itself.
    #[arg(skip)]
    tabled: bool,
}

impl Study {
    fn wants_tables(&self) -> bool {
        self.table.is_some() || self.tabled
    }
}

impl TrainingArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        if let Some(TrainingCommand::Extract(extract)) = self.command {
            return extract.run();
        }
        if self.keys {
            self.output.check()?;
            keys::check(&self.output)?;
            keys::write(&self.listing(&Silent)?, &self.output)?;
            return Ok(Outcome::Done);
        }
        self.output.check_shard(&self.work)?;
        let inputs = Inputs::default();
        self.output.check()?;
        if let Some(prefix) = &self.study.table {
            tables::check_whole(self.work.shard)?;
            tables::check(prefix)?;
        }
        if let (true, Some(prefix), Some(runs)) =
            (self.is_without_histories(), &self.study.table, self.runs_file(&inputs)?)
        {
            return tables::without_histories(&runs, prefix, self.preset(), self.runs.folds, &self.output);
        }
        if self.metrics.metric.is_empty()
            && !self.inputs.is_empty()
            && let Ok(listing) = self.listing(&Silent)
        {
            keys::tables(&listing).lines().for_each(emit::note);
        }
        let bar = Bar::new(&self.output);
        self.measured(inputs, &bar)?.emit()
    }

    /// Measures the histories, and says nothing of them.
    pub(crate) fn measure(mut self, progress: &dyn Progress) -> Result<Measured> {
        self.output.quiet = true;
        self.output.check()?;
        self.measured(Inputs::default(), progress)
    }

    fn is_without_histories(&self) -> bool {
        self.inputs.is_empty() && self.metrics.metric.is_empty()
    }

    /// What the histories hold; the metrics are not looked at.
    pub(crate) fn listing(&self, progress: &dyn Progress) -> Result<Listing> {
        let inputs = Inputs::default();
        let options = self.unchecked(&inputs)?;
        if options.inputs.is_empty() {
            return Err(Error::usage("no histories are given").advice("name files or folders to read"));
        }
        Listing::of(&options, progress)
    }

    fn measured(self, inputs: Inputs, progress: &dyn Progress) -> Result<Measured> {
        let options = self.options(&inputs)?;
        if self.output.per_unit.is_some() && options.metrics.len() > 1 {
            return Err(Error::usage("--per-unit shows one metric")
                .found(format!("{} metrics", options.metrics.len()))
                .advice("give one --metric, or write a --state and show its parts"));
        }
        let names = self.work.names()?;
        let work = self.work.with(names.as_ref(), progress);
        let measured = sources::training::measure(&options, inputs, &work)?;
        if let Some((kept, found)) = measured.kept.filter(|_| !self.output.quiet) {
            emit::note(&format!("{kept} of {found} runs read (--where)"));
        }
        for rows in &measured.accumulators {
            affordable(rows, None, self.work.threads())?;
        }
        let mut beside = Vec::new();
        if let Some(prefix) = &self.study.table {
            let runs = match options.assignment.runs {
                Some(runs) => runs,
                None => self.extracted(&options)?,
            };
            beside =
                tables::beside(tables::measured(&runs, &measured, self.preset(), self.runs.folds), prefix);
        }
        if self.output.wants_table() {
            emit::show(&view::write(&measured, emit::style(), self.output.all))?;
        }
        let boxed = |accumulator| -> Box<dyn Ledger> { Box::new(accumulator) };
        let ledgers = measured.accumulators.into_iter().map(boxed).collect();
        Ok(Measured { ledgers, beside, seed: self.seed, threads: self.work.threads(), output: self.output })
    }

    /// The per-run JSON of the histories' own folders.
    fn extracted(&self, options: &Options) -> Result<RunsFile> {
        let project = self.study.project.as_deref();
        let extracted = extract(options, project, &Silent)?;
        if !self.output.quiet {
            extract::doubts(&extracted);
        }
        extracted.runs_file(project)
    }

    fn preset(&self) -> Preset {
        self.metrics.preset.unwrap_or(Preset::Strict)
    }

    fn runs_file(&self, inputs: &Inputs) -> Result<Option<RunsFile>> {
        let project = self.study.project.as_deref();
        if let Some(json) = &self.study.json {
            return RunsFile::parse(json.as_bytes(), project)
                .map(Some)
                .map_err(|error| error.in_file("runs"));
        }
        let Some(path) = &self.study.runs else { return Ok(None) };
        let shown = path.display().to_string();
        let bytes = inputs.read(path, &shown, &role("runs", None))?;
        RunsFile::parse(&bytes, project).map(Some).map_err(|error| error.in_file(shown))
    }

    fn options(&self, inputs: &Inputs) -> Result<Options> {
        let options = self.unchecked(inputs)?;
        options.check()?;
        Ok(options)
    }

    fn unchecked(&self, inputs: &Inputs) -> Result<Options> {
        if self.study.project.is_some() && self.study.runs.is_none() && !self.study.wants_tables() {
            return Err(Error::usage("--project goes with --runs or --table"));
        }
        let alone = |option: &str, error: String| Error::usage(error).at(option);
        Ok(Options {
            assignment: Assignment {
                group_by: GroupBy::joined(&self.runs.group_by).map_err(|error| alone("--group-by", error))?,
                fold_by: FoldBy::joined(&self.runs.fold_by).map_err(|error| alone("--fold-by", error))?,
                runs: self.runs_file(inputs)?,
            },
            filters: self.runs.filters.clone(),
            repeats_meant: self.points.duplicates.is_some(),
            x: self.points.x.clone(),
            run_column: self.runs.run_column.clone(),
            delimited: self.files.delimited()?,
            encoding: self.files.encoding,
            format: self.files.format.0,
            skip_missing: self.runs.skip_missing,
            endings: self.study.wants_tables(),
            // A resumed folder keeps them, because a table may be asked for later.
            sketches: self.output.wants_table() || self.work.resume.is_some(),
            timeout: self.files.timeout,
            ..Options::over(self.inputs.clone(), self.protocols()?)
        })
    }

    /// One protocol for each metric.
    fn protocols(&self) -> Result<Vec<Training>> {
        let Metrics { metric, threshold, scale, direction, label, .. } = &self.metrics;
        let count = metric.len();
        let thresholds = per_metric("--threshold", threshold, count)?;
        let scales = per_metric("--scale", scale, count)?;
        let directions = per_metric("--direction", direction, count)?;
        let labels = per_metric("--label", label, count)?;
        let of = |at: usize| {
            let defaults = Training::new(self.preset());
            Training {
                metric: metric[at].clone(),
                label: labels[at].unwrap_or(&metric[at]).clone(),
                threshold: thresholds[at].copied().unwrap_or(defaults.threshold),
                scale: scales[at].copied().unwrap_or(defaults.scale),
                direction: directions[at].copied().unwrap_or(defaults.direction),
                inclusive: self.metrics.inclusive,
                index: self.points.index,
                first_epoch: self.points.first_epoch,
                duplicates: self.points.duplicates.unwrap_or(defaults.duplicates),
                restarts: self.points.restarts,
                precision: self.points.precision,
                nan: self.points.nan,
                folds: self.runs.folds,
                sustain: self.metrics.sustain,
                par: self.metrics.par,
                horizon: self.metrics.horizon,
                sweep: self.metrics.sweep.clone(),
                bootstrap: self.output.bootstrap,
                seed: self.seed,
                confidence: self.output.confidence,
                ..defaults
            }
        };
        Ok((0..count).map(of).collect())
    }
}

impl Files {
    fn delimited(&self) -> Result<delimited::Options> {
        let decimal_comma = self.decimal == "comma";
        if decimal_comma && self.delimiter == Some(b',') {
            return Err(Error::usage("a comma cannot stand between cells and inside numbers")
                .found("--delimiter , and --decimal comma"));
        }
        let columns = self.key_column.clone().zip(self.value_column.clone());
        let long = columns.map(|(key_column, value_column)| Long { key_column, value_column });
        Ok(delimited::Options { delimiter: self.delimiter, decimal_comma, long })
    }
}

/// The value of an option for each metric: given for all, for each, or not at all.
fn per_metric<'a, T>(option: &str, given: &'a [T], metrics: usize) -> Result<Vec<Option<&'a T>>> {
    match given {
        [] => Ok(vec![None; metrics]),
        [one] => Ok(vec![Some(one); metrics]),
        each if each.len() == metrics => Ok(each.iter().map(Some).collect()),
        other => Err(Error::usage(format!("{option} is given once, or once for each --metric"))
            .found(format!("{} times {option}, {metrics} times --metric", other.len()))
            .allowed(if metrics == 1 { "1".to_owned() } else { format!("1 or {metrics}") })),
    }
}

fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("one ASCII character, or tab".into()),
    }
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a number of seconds above 0".into())
}

fn encodings() -> impl TypedValueParser<Value = Encoding> {
    PossibleValuesParser::new(Encoding::ALL.map(|(name, _)| name))
        .map(|name| name.parse().unwrap_or(Encoding::Utf8))
}

fn layouts() -> impl TypedValueParser<Value = Layout> {
    PossibleValuesParser::new(std::iter::once(AUTO).chain(FORMATS.iter().map(|format| format.name)))
        .map(|name| Layout(FORMATS.called(&name)))
}
