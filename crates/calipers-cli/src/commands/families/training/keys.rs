//! `calipers training --keys`: what logs hold, before a metric is chosen.

use std::fmt::Write;

use calipers::core::error::printable;
use calipers::report::grid::{Cell, Grid};
use calipers::report::number::rounded;
use calipers::sources::training::survey::listing::Listing;
use calipers::{Error, Result};

use crate::options::Output;
use crate::{emit, files};

/// The most lines of a table on the terminal, and the most characters of a cell.
const MOST_LINES: usize = 30;
const MOST_CHARS: usize = 60;
/// What stands between the texts of a cell.
const BETWEEN: &str = "|";

/// Refuses what a list of keys has no form for.
pub(crate) fn check(output: &Output) -> Result<()> {
    let other = output.html.is_some() || output.per_unit.is_some() || output.state.is_some();
    if other || output.markdown.is_some() || output.latex.is_some() {
        return Err(Error::usage("a list of keys is no report")
            .found("--keys with an output option")
            .allowed("--json FILE|- and --csv FILE|-"));
    }
    Ok(())
}

/// Writes the list as it was asked for.
pub(crate) fn write(listing: &Listing, to: &Output) -> Result<()> {
    let forms = [
        (&to.json, serde_json::to_string_pretty(&listing.to_json()).unwrap_or_default() + "\n"),
        (&to.csv, csv(listing)),
    ];
    for (path, text) in forms {
        match path {
            None => {}
            Some(path) => files::put(path, &text, to.quiet)?,
        }
    }
    if to.json.is_none() && to.csv.is_none() && !to.quiet {
        emit::show(&tables(listing))?;
    }
    Ok(())
}

/// One table of everything, with the kind of each row in front.
fn csv(listing: &Listing) -> String {
    let columns = ["kind", "key", "runs", "points", "min", "max", "values"].map(String::from).to_vec();
    let text = |text: &str| Cell::Text(text.to_owned());
    let count = |count: usize| Cell::Number(count as f64);
    let none = || Cell::Empty;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for metric in &listing.metrics {
        let (runs, points) = (count(metric.runs), count(metric.points));
        let (min, max) = (Cell::Number(metric.min), Cell::Number(metric.max));
        rows.push(vec![text("metric"), text(&metric.key), runs, points, min, max, none()]);
    }
    for x in &listing.x {
        rows.push(vec![text("x"), text(&x.key), count(x.runs), none(), none(), none(), none()]);
    }
    for config in &listing.config {
        let values = text(&config.values.join(BETWEEN));
        rows.push(vec![
            text("config"),
            text(&config.key),
            count(config.runs),
            none(),
            none(),
            none(),
            values,
        ]);
    }
    for run in &listing.runs {
        let id = run.id.as_deref().unwrap_or_default();
        let values = [&run.format, id, run.x.as_deref().unwrap_or_default()].join(BETWEEN);
        rows.push(vec![text("run"), text(&run.run), none(), none(), none(), none(), text(&values)]);
    }
    Grid { columns, rows }.csv()
}

/// Four small tables.
pub(crate) fn tables(listing: &Listing) -> String {
    let metrics = listing.metrics.iter().map(|metric| {
        let numbers = [metric.runs.to_string(), metric.points.to_string()];
        let ends = [rounded(metric.min), rounded(metric.max)];
        std::iter::once(metric.key.clone()).chain(numbers).chain(ends).collect()
    });
    let x = listing.x.iter().map(|x| vec![x.key.clone(), x.runs.to_string()]);
    let config = listing
        .config
        .iter()
        .map(|config| vec![config.key.clone(), config.runs.to_string(), config.values.join(" ")]);
    let runs = listing.runs.iter().map(|run| {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".into());
        vec![run.run.clone(), run.format.clone(), or_dash(&run.id), or_dash(&run.x)]
    });
    let tables = [
        table(&["metric", "runs", "points", "min", "max"], metrics.collect()),
        table(&["x", "runs"], x.collect()),
        table(&["config", "runs", "values"], config.collect()),
        table(&["run", "format", "id", "x"], runs.collect()),
    ];
    tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Lines with aligned columns; nothing where there are no rows.
fn table(heads: &[&str], rows: Vec<Vec<String>>) -> Option<String> {
    let left_out = rows.len().saturating_sub(MOST_LINES);
    let heads = heads.iter().map(|head| (*head).to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(heads)
        .chain(rows.iter().take(MOST_LINES).cloned())
        .map(|line: Vec<String>| line.iter().map(|cell| short(cell)).collect())
        .collect();
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in &lines {
        let mut padded = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            padded.push_str(cell);
            padded.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", padded.trim_end());
    }
    if left_out > 0 {
        let _ = writeln!(text, "and {left_out} more, which --csv and --json hold");
    }
    (!rows.is_empty()).then_some(text)
}

/// Text from a file made safe to print and cut.
fn short(text: &str) -> String {
    let safe = printable(text);
    if safe.chars().count() <= MOST_CHARS {
        return safe;
    }
    safe.chars().take(MOST_CHARS - 1).chain(['…']).collect()
}
