//! The three tables of a study, each as CSV, Markdown and LaTeX.

use std::path::{Path, PathBuf};

use calipers::metrics::training::Preset;
use calipers::report::grid::Grid;
use calipers::run::Shard;
use calipers::sources::training::endings::Endings;
use calipers::sources::training::runs_file::RunsFile;
use calipers::sources::training::{Measured, study};
use calipers::tables::training::{Aggregation, Study};
use calipers::{Error, Report, Result};

use crate::options::Output;
use crate::{Outcome, emit};

/// Refuses tables that cannot be written, before any work. A folder that is not there yet is made.
pub(crate) fn check(prefix: &Path, shard: Option<Shard>) -> Result<()> {
    if shard.is_some() {
        return Err(Error::usage("a table needs every fold")
            .found("--table with --shard")
            .advice("measure all histories in one run"));
    }
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

/// Writes the tables of measured histories.
pub(crate) fn write(
    runs: &RunsFile,
    measured: &Measured,
    prefix: &Path,
    preset: Preset,
    folds: Option<u32>,
) -> Result<()> {
    let metrics: Vec<(String, Report)> = measured
        .accumulators
        .iter()
        .map(|accumulator| (accumulator.protocol().label.clone(), accumulator.finish()))
        .collect();
    let published = preset.is_table();
    write_all(&Study { runs, endings: &measured.endings, metrics: &metrics, published, folds }, prefix)
}

/// Writes the tables of a study without histories: what the per-run JSON says by itself.
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
    let (endings, published) = (Endings::new(), preset.is_table());
    write_all(&Study { runs, endings: &endings, metrics: &[], published, folds }, prefix)?;
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

fn write_all(study: &Study<'_>, prefix: &Path) -> Result<()> {
    for aggregation in Aggregation::ALL {
        let table = study.table(aggregation);
        for (ending, form) in FORMS {
            calipers::output::write(&file(prefix, aggregation, ending), form(&table).as_bytes())?;
        }
    }
    Ok(())
}

fn file(prefix: &Path, aggregation: Aggregation, ending: &str) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!("{}.{ending}", aggregation.suffix()));
    name.into()
}
