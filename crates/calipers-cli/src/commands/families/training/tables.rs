//! The three tables of a study, each as CSV, Markdown and LaTeX.

use std::path::{Path, PathBuf};

use calipers::metrics::training::Preset;
use calipers::report::grid::Grid;
use calipers::run::Shard;
use calipers::sources::training::study::endings::Endings;
use calipers::sources::training::study::runs_file::RunsFile;
use calipers::sources::training::{Measured, study};
use calipers::tables::training::{Aggregation, Study};
use calipers::{Error, Report, Result};

use crate::files::{Beside, Files, Place};
use crate::options::Output;
use crate::{Outcome, emit};

/// A table in its three forms, and its cells.
pub struct Tabled {
    /// Columns and cells.
    pub grid: Grid,
    /// CSV, Markdown and LaTeX.
    pub texts: [String; 3],
}

/// Refuses tables of a part of the folds, before any work.
pub(crate) fn check_whole(shard: Option<Shard>) -> Result<()> {
    match shard {
        None => Ok(()),
        Some(_) => Err(Error::usage("a table needs every fold")
            .found("a table with --shard")
            .advice("measure all histories in one run")),
    }
}

/// Refuses tables that cannot be written, before any work. A folder that is not there yet is made.
pub(crate) fn check(prefix: &Path) -> Result<()> {
    if let Some(folder) = prefix.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::io(format!("cannot create the folder: {}", error.kind())).in_file(folder.display())
        })?;
    }
    for aggregation in Aggregation::ALL {
        for (ending, _) in FORMS {
            calipers::output::check(&file(prefix, aggregation, ending))?;
        }
    }
    Ok(())
}

/// The tables of measured histories.
pub(crate) fn measured(
    runs: &RunsFile,
    measured: &Measured,
    preset: Preset,
    folds: Option<u32>,
) -> [Tabled; 3] {
    let metrics: Vec<(String, Report)> = measured
        .accumulators
        .iter()
        .map(|accumulator| (accumulator.protocol().label.clone(), accumulator.finish()))
        .collect();
    let published = preset.is_table();
    made(&Study { runs, endings: &measured.endings, metrics: &metrics, published, folds })
}

/// The tables of a study without histories: what the per-run JSON says by itself.
pub(crate) fn of_runs(runs: &RunsFile, preset: Preset, folds: Option<u32>) -> [Tabled; 3] {
    let (endings, published) = (Endings::new(), preset.is_table());
    made(&Study { runs, endings: &endings, metrics: &[], published, folds })
}

/// Writes the tables of a study without histories.
pub(crate) fn without_histories(
    runs: &RunsFile,
    prefix: &Path,
    preset: Preset,
    folds: Option<u32>,
    output: &Output,
) -> Result<Outcome> {
    let forms = [&output.json, &output.csv, &output.markdown, &output.latex, &output.html];
    if forms.iter().any(|form| form.is_some()) || output.per_unit.is_some() || output.state.is_some() {
        return Err(Error::usage("without histories there is no report, only the tables")
            .advice("name histories and a --metric, or leave the output options out"));
    }
    let tables = of_runs(runs, preset, folds);
    write_texts(tables.each_ref().map(|table| &table.texts), prefix)?;
    let doubts = study::carbon(runs);
    if !output.quiet {
        if let [first, more @ ..] = doubts.as_slice() {
            let others =
                if more.is_empty() { String::new() } else { format!(" and {} more groups", more.len()) };
            emit::note(&format!(
                "warning[{}]: emissions grow from fold to fold, they may be running totals: {}{others}",
                first.code, first.detail
            ));
        }
        let files =
            Aggregation::ALL.map(|aggregation| file(prefix, aggregation, "csv").display().to_string());
        emit::note(&format!("written: {}; the same as .md and .tex", files.join(", ")));
    }
    Ok(if output.strict && !doubts.is_empty() { Outcome::Warned } else { Outcome::Done })
}

/// The forms of a table: every digit for programs; rounded, and without paths, for papers.
const FORMS: [(&str, Form); 3] = [
    ("csv", Grid::csv),
    ("md", |table| table.before(FIRST_PATH).markdown()),
    ("tex", |table| table.before(FIRST_PATH).latex()),
];
const FIRST_PATH: &str = "tokenizer_path";

type Form = fn(&Grid) -> String;

fn made(study: &Study<'_>) -> [Tabled; 3] {
    Aggregation::ALL.map(|aggregation| {
        let grid = study.table(aggregation);
        Tabled { texts: FORMS.map(|(_, form)| form(&grid)), grid }
    })
}

/// Tables in the order of aggregations, to be written beside reports.
pub(super) fn beside(tables: [Tabled; 3], prefix: &Path) -> Vec<Beside> {
    let mut all = Vec::new();
    for (aggregation, table) in Aggregation::ALL.into_iter().zip(tables) {
        for ((ending, _), text) in FORMS.iter().zip(table.texts) {
            let write = move |out: &mut dyn std::io::Write| out.write_all(text.as_bytes());
            let path = file(prefix, aggregation, ending);
            all.push(Beside { place: Place::Table, path, write: Box::new(write) });
        }
    }
    all
}

/// Writes the texts of tables in the order of aggregations.
pub(crate) fn write_texts(tables: [&[String; 3]; 3], prefix: &Path) -> Result<()> {
    let mut files = Files::new(true);
    for (aggregation, texts) in Aggregation::ALL.into_iter().zip(tables) {
        for ((ending, _), text) in FORMS.iter().zip(texts) {
            files.put(Place::Table, &file(prefix, aggregation, ending), text)?;
        }
    }
    files.done()
}

fn file(prefix: &Path, aggregation: Aggregation, ending: &str) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!("{}.{ending}", aggregation.suffix()));
    name.into()
}
