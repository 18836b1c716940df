//! `calipers plot`: one figure of a report, as a file for a paper or for slides.

use std::io::Read;
use std::path::{Path, PathBuf};

use calipers::compare::{self, Model, Options, open};
use calipers::core::error::printable;
use calipers::figures::{self, Figure};
use calipers::io::file::InputFile;
use calipers::report::chart::files::{self, FileFormat};
use calipers::report::chart::{Style, points};
use calipers::{Error, Ledger, Report, Result, output, states};
use clap::Args;

use super::verify::Elsewhere;
use crate::options::{Output, is_stream};
use crate::{Outcome, emit};

/// Draw one figure of a report, or of several models, as .pdf, .svg or .png; without a figure, list them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers plot all.state
  calipers plot all.state confusion -o confusion.pdf
  calipers plot calipers-demo/report.json iou --report 3 -o iou.svg --width 8.4cm
  calipers plot all.state worst-images-1 -o worst.png --photos leftImg8bit/val --style slides
  calipers plot l1.state mcp.state bias-curve -o figure6.pdf    several models in one drawing

Words are 7 points high in style paper, 14 points in slides and dark, whatever the width. What is
drawn from inputs needs them where they were when they were measured, or below --root.")]
pub(crate) struct Plot {
    /// A state or a report.json ("-" reads standard input), or states of several models; then the figure,
    /// by the name in the list
    #[arg(value_name = "FILE.. [FIGURE]", required = true, num_args = 1..)]
    words: Vec<PathBuf>,
    /// Where the figure is written; the ending says the format ("-" for SVG on standard output)
    #[arg(long, short, value_name = "FILE|-")]
    output: Option<PathBuf>,
    /// Which report of a file with several, from 1
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    report: Option<u32>,
    /// The folder that the paths in the report are relative to [default: the current one]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// PNG photos named like the units, shown below label maps
    #[arg(long, value_name = "DIR")]
    photos: Option<PathBuf>,
    /// How wide the figure is, with its unit: in, cm, mm or pt [default: a column, of wide figures a page]
    #[arg(long, value_name = "WIDTH", value_parser = points)]
    width: Option<f64>,
    /// What the figure is for: paper, slides or dark
    #[arg(long, value_name = "STYLE", default_value = "paper")]
    style: Style,
    /// Draw the units that are there, although shards are missing
    #[arg(long)]
    partial: bool,
    /// Do not say which file was written
    #[arg(long, short)]
    quiet: bool,
}

impl Plot {
    pub(crate) fn run(self) -> Result<Outcome> {
        let (files, figure) = self.split();
        let target = self.target()?;
        if target.is_some() && figure.is_none() {
            return Err(
                Error::usage("-o needs the figure that is drawn").advice("without -o the figures are listed")
            );
        }
        if files.len() > 1 {
            return self.several(files, figure, target);
        }
        let file = &files[0];
        let shown = file.display().to_string();
        let sources = sources(file, &shown)?;
        if !self.partial {
            let whole = sources.iter().try_for_each(Source::require_whole);
            whole.map_err(|error| error.in_file(&shown))?;
        }
        let Some(name) = figure else {
            self.list(&sources)?;
            return Ok(Outcome::Done);
        };
        let (path, format) = target.ok_or_else(|| nowhere(&name))?;
        let source = self.chosen(&sources, &shown)?;
        let reports: Vec<Report> = sources.iter().map(Source::report).collect();
        let inputs = reports.iter().flat_map(|report| report.inputs.iter()).map(|(input, _)| input);
        emit::spare_inputs(inputs, [("--output", path)].into_iter().filter(|(_, path)| !is_stream(path)))?;
        let figures = self.figures(source)?;
        figures::find(&figures, &name).map_err(|error| error.in_file(&shown))?;
        self.draw(&figures, &name, (path, format))
    }

    /// The files, and the figure: the last word, unless it is a file itself.
    fn split(&self) -> (&[PathBuf], Option<String>) {
        match self.words.split_last() {
            Some((last, files)) if !files.is_empty() && !last.is_file() => {
                (files, Some(last.to_string_lossy().into_owned()))
            }
            _ => (&self.words, None),
        }
    }

    fn draw(&self, figures: &[Figure], name: &str, (path, format): (&Path, FileFormat)) -> Result<Outcome> {
        let (_, chart) = figures::find(figures, name)?;
        let bytes = files::write(chart, format, self.width, self.style)?;
        crate::files::put(path, &bytes, self.quiet)?;
        Ok(Outcome::Done)
    }

    /// The figures of models that are compared.
    fn several(
        &self,
        files: &[PathBuf],
        figure: Option<String>,
        target: Option<(&Path, FileFormat)>,
    ) -> Result<Outcome> {
        let alone = [
            ("--report", self.report.is_some()),
            ("--root", self.root.is_some()),
            ("--photos", self.photos.is_some()),
        ];
        if let Some((flag, _)) = alone.iter().find(|(_, given)| *given) {
            return Err(
                Error::usage(format!("{flag} is for one file")).found(format!("{} files", files.len()))
            );
        }
        let models = open(files)?;
        if !self.partial {
            models.iter().try_for_each(Model::require_whole)?;
        }
        let options = Options { threads: emit::one_a_core(), ..Options::default() };
        let compared = compare::compare(&models, &options)?;
        let figures: Vec<Figure> = compared.iter().flat_map(figures::of_comparison).collect();
        match figure {
            None => emit::say(&listed(&figures, "")).map(|()| Outcome::Done),
            Some(name) => self.draw(&figures, &name, target.ok_or_else(|| nowhere(&name))?),
        }
    }

    /// Where the figure goes, and in which format. Refuses what cannot be written before any work.
    fn target(&self) -> Result<Option<(&Path, FileFormat)>> {
        let Some(path) = self.output.as_deref() else { return Ok(None) };
        if is_stream(path) {
            return Ok(Some((path, files::format("svg")?)));
        }
        let format = files::format(&emit::ending(path)).map_err(|error| {
            error.in_file(path.display()).advice("the ending of the file says its format")
        })?;
        output::check(path)?;
        Ok(Some((path, format)))
    }

    /// The report that is meant: the only one, or that of --report.
    fn chosen<'s>(&self, sources: &'s [Source], shown: &str) -> Result<&'s Source> {
        let several = |found: String| {
            let listed =
                sources.iter().enumerate().map(|(i, source)| format!("{} {}", i + 1, source.title()));
            Error::usage("the file holds several reports")
                .in_file(shown)
                .found(found)
                .allowed(listed.collect::<Vec<_>>().join(", "))
                .advice("say which with --report K")
        };
        match (self.report, sources) {
            (None, [only]) => Ok(only),
            (None, _) => Err(several(sources.len().to_string())),
            (Some(number), _) => {
                sources.get(number as usize - 1).ok_or_else(|| several(format!("--report {number}")))
            }
        }
    }

    fn figures(&self, source: &Source) -> Result<Vec<Figure>> {
        let absolute = |path: &Path| {
            std::path::absolute(path)
                .map_err(|error| Error::io(format!("no such folder: {error}")).in_file(path.display()))
        };
        let photos = self.photos.as_deref().map(absolute).transpose()?;
        let _back = self.root.as_deref().map(Elsewhere::enter).transpose()?;
        match source {
            Source::Rows(ledger) => {
                let report = emit::report(&**ledger, &Output::default(), 0, emit::one_a_core())?;
                Ok(figures::of_ledger(&**ledger, &report, report.intervals.as_ref(), photos))
            }
            Source::Report(report) => figures::of_report(report, photos, emit::one_a_core()),
        }
    }

    /// Names and titles, each report below its own heading where there are several.
    fn list(&self, sources: &[Source]) -> Result<()> {
        let mut said = String::new();
        for (i, source) in sources.iter().enumerate() {
            if self.report.is_some_and(|number| number as usize != i + 1) {
                continue;
            }
            let indent = if sources.len() > 1 { "  " } else { "" };
            if sources.len() > 1 {
                said.push_str(&format!("--report {}: {}\n", i + 1, printable(&source.title())));
            }
            let figures = match self.figures(source) {
                Ok(figures) => figures,
                Err(error) if sources.len() > 1 => {
                    said.push_str(&format!("{indent}{}\n", printable(error.what())));
                    continue;
                }
                Err(error) => return Err(error),
            };
            said.push_str(&listed(&figures, indent));
        }
        emit::say(&said)
    }
}

/// Names and titles, and why one cannot be drawn.
fn listed(figures: &[Figure], indent: &str) -> String {
    let wide = figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
    let line = |figure: &Figure| {
        let what = match &figure.chart {
            Ok(_) => figure.title.clone(),
            Err(why) => format!("{} (not drawn: {why})", figure.title),
        };
        format!("{indent}{:wide$}  {}\n", figure.name, printable(&what))
    };
    figures.iter().map(line).collect()
}

/// A figure without a file.
fn nowhere(name: &str) -> Error {
    Error::usage("a figure needs a file to be written to")
        .advice(format!("-o {name}.pdf; .svg and .png are the other formats"))
}

/// Where figures come from.
enum Source {
    Rows(Box<dyn Ledger>),
    Report(Box<Report>),
}

impl Source {
    /// Refuses rows of which shards are missing.
    fn require_whole(&self) -> Result<()> {
        match self {
            Self::Rows(ledger) => ledger.provenance().listings.require_whole(),
            Self::Report(_) => Ok(()),
        }
    }

    fn report(&self) -> Report {
        match self {
            Self::Rows(ledger) => ledger.report(),
            Self::Report(report) => (**report).clone(),
        }
    }

    /// The family, and the label where it has one.
    fn title(&self) -> String {
        let protocol = self.report().protocol;
        let word = |key: &str| protocol.get(key).and_then(|value| value.as_str()).unwrap_or_default();
        format!("{} {}", word("name"), word("label")).trim_end().to_owned()
    }
}

/// The reports of a file: with their rows, if it is a state.
fn sources(file: &Path, shown: &str) -> Result<Vec<Source>> {
    let bytes = if is_stream(file) {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| Error::io(format!("cannot read standard input: {error}")))?;
        bytes
    } else {
        InputFile::open(file)?.read_all().map_err(|error| error.in_file(shown))?
    };
    if states::is_state(&bytes) {
        return Ok(states::from_bytes(&bytes, shown)?.into_iter().map(Source::Rows).collect());
    }
    let reports = calipers::reports::read(&bytes, shown)?;
    Ok(reports.into_iter().map(|report| Source::Report(Box::new(report))).collect())
}
