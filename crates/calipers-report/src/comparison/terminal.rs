//! The comparison that people read on a terminal.

use calipers_core::Better;

use super::joint::{self, Room};
use super::lines::{notes, title};
use super::{BEST, Comparison, Difference, Forms, Line, STAR, Titled, ranks};
use crate::grid::{Cell, Grid};
use crate::table::{Digits, Spread};
use crate::terminal::{Style, arrow};
use crate::text::{Paint, columns, left, right, short, wrapped};

/// How many of the units that differ most are shown.
const UNITS: usize = 5;
/// Columns to do without on a narrow terminal, the first of them first: people decide by intervals.
const EXPENDABLE: [usize; 5] = [9, 7, 8, 6, 5];
/// How many columns there are before those that tests fill.
const WITHOUT_TESTS: usize = 6;
const HEADINGS: [&str; 7] = ["difference", "interval", "won", "tied", "lost", "p", "p adj."];

/// The comparisons as tables, each with its notes below: all models together, differences, then ranks:
/// those of the number compared first, or `all`.
pub fn write(comparisons: &[Comparison], style: Style, forms: Forms) -> String {
    let tables = comparisons.iter().flat_map(|comparison| {
        let is_narrow = |grid: &Grid| widths(&words(grid, style)).iter().sum::<usize>() <= style.width;
        let room = Room { rows: usize::MAX, is_narrow: &is_narrow };
        let joint = joint::fitting(comparison, &room).into_iter().map(move |table| titled(&table, style));
        let others = 0..comparison.models.len().saturating_sub(1);
        let differences = others.map(move |other| one(comparison, other, style, forms.spread));
        let ranked = ranks::tables(comparison, forms.all).into_iter().map(move |table| titled(&table, style));
        joint.chain(differences).chain(ranked)
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// The headings and cells of a table of all models as they are shown.
fn words(grid: &Grid, style: Style) -> Vec<Vec<String>> {
    let most = (style.width / 3).max(16);
    let cell = |cell: &Cell| match cell {
        Cell::Text(words) => short(words, most),
        Cell::Bold(words) => format!("{BEST}{}", short(words, most)),
        _ => "–".into(),
    };
    let headings = grid.columns.iter().map(|heading| short(heading, most)).collect();
    let rows = grid.rows.iter().map(|row| row.iter().map(cell).collect());
    let mut rows: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    for column in 0..grid.columns.len() {
        // Ranks line up whether a mark stands behind them or not.
        if rows[1..].iter().any(|row| row[column].ends_with('=')) {
            let plain = rows[1..].iter_mut().map(|row| &mut row[column]).filter(|cell| !cell.ends_with('='));
            plain.for_each(|cell| cell.push(' '));
        }
    }
    rows
}

/// How wide each column is, with the space before it.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns_of = rows.first().map_or(0, Vec::len);
    (0..columns_of).map(|k| 2 + rows.iter().map(|row| columns(&row[k])).max().unwrap_or(0)).collect()
}

/// A table of all models.
fn titled(table: &Titled, style: Style) -> String {
    let mut text = paint(&short(&table.title, style.width), Paint::Bold, style) + "\n\n";
    let rows = words(&table.grid, style);
    let widths = widths(&rows);
    for (at, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(k, (cell, wide))| match k {
            0 => left(cell, wide - 2),
            _ => right(cell, wide - 2),
        });
        let line = format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned();
        text += &(paint(&line, if at == 0 { Paint::Dim } else { Paint::Plain }, style) + "\n");
    }
    text.push('\n');
    said(&mut text, &table.notes, style);
    text
}

/// What stands below a table.
fn said(text: &mut String, notes: &[String], style: Style) {
    for note in notes {
        let note = calipers_core::error::printable(note);
        for (i, line) in wrapped(&note, style.width.saturating_sub(4).max(20)).into_iter().enumerate() {
            let indent = if i == 0 { "  " } else { "    " };
            *text += &(paint(&format!("{indent}{line}"), Paint::Dim, style) + "\n");
        }
    }
}

fn one(comparison: &Comparison, other: usize, style: Style, spread: Spread) -> String {
    let mut text = paint(&short(&title(comparison, other), style.width), Paint::Bold, style) + "\n\n";
    let most = (style.width / 3).max(16);
    let models = [&comparison.models[0].name, &comparison.models[other + 1].name].map(|name| short(name, 16));
    let rows: Vec<(Vec<String>, Paint)> = comparison
        .lines
        .iter()
        .map(|line| (cells(comparison, line, other, most, spread), verdict(comparison, line, other)))
        .collect();
    let heading: Vec<String> =
        [String::new(), String::new()].into_iter().chain(models).chain(HEADINGS.map(String::from)).collect();
    let width =
        |k: usize| rows.iter().map(|(row, _)| &row[k]).chain([&heading[k]]).map(|cell| columns(cell)).max();
    let widths: Vec<usize> = (0..heading.len()).map(|k| width(k).unwrap_or(0)).collect();
    // Without a test there is nothing to say about single units either.
    let columns_of_tests = if comparison.tests() > 0 { heading.len() } else { WITHOUT_TESTS };
    let mut shown: Vec<usize> = (0..columns_of_tests).collect();
    let too_wide = |shown: &[usize]| shown.iter().map(|&k| widths[k] + 2).sum::<usize>() > style.width;
    for k in EXPENDABLE {
        if too_wide(&shown) {
            shown.retain(|&column| column != k);
        }
    }
    let laid_out = |cells: &[String]| -> String {
        let padded = shown.iter().map(|&k| match k {
            0 | 1 => left(&cells[k], widths[k]),
            _ => right(&cells[k], widths[k]),
        });
        format!("  {}", padded.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    text += &(paint(&laid_out(&heading), Paint::Dim, style) + "\n");
    for (row, colour) in &rows {
        text += &(paint(&laid_out(row), *colour, style) + "\n");
    }
    let legend: Vec<String> = comparison.legend(other).into_iter().collect();
    said(&mut text, &legend, style);
    text += &farthest(comparison, other, style);
    text.push('\n');
    let notes: Vec<String> = notes(comparison).into_iter().chain(spread.note()).collect();
    said(&mut text, &notes, style);
    text
}

fn paint(text: &str, paint: Paint, style: Style) -> String {
    paint.on(text, style.colour)
}

/// Green and yellow only where the corrected test says so.
fn verdict(comparison: &Comparison, line: &Line, other: usize) -> Paint {
    let Some(found @ Difference { difference, paired: Some(_), .. }) = &line.against[other] else {
        return Paint::Plain;
    };
    let gained = match line.better {
        Better::Lower => *difference < 0.0,
        _ => *difference > 0.0,
    };
    match (comparison.is_clear(found), gained) {
        (false, _) => Paint::Plain,
        (true, true) => Paint::Green,
        (true, false) => Paint::Yellow,
    }
}

fn cells(comparison: &Comparison, line: &Line, other: usize, most: usize, spread: Spread) -> Vec<String> {
    let (best, digits) = (line.best(), line.digits(other));
    let value = |model: usize| match line.values[model].as_f64() {
        Some(number) => {
            format!("{}{}", if line.is_best(model, best) { BEST } else { "" }, digits.number(number))
        }
        None => "–".into(),
    };
    // Every cell is as long as one with a star, so that points stay below each other.
    let starred = line_has_star(comparison, other);
    let mark = |found: &Difference| match (comparison.is_clear(found), starred) {
        (true, _) => STAR,
        (false, true) => " ",
        (false, false) => "",
    };
    let found = line.against[other].as_ref();
    let paired = found.and_then(|found| found.paired.as_ref());
    let dash = || String::from("–");
    let count = |n: Option<u64>| n.map_or_else(dash, |n| n.to_string());
    vec![
        short(&line.name(), most),
        arrow(line.better).into(),
        value(0),
        value(other + 1),
        found.map_or_else(dash, |found| digits.signed(found.difference)),
        found.and_then(|found| found.spread(digits, spread)).unwrap_or_else(dash),
        count(paired.map(|paired| paired.wins)),
        count(paired.map(|paired| paired.ties)),
        count(paired.map(|paired| paired.losses)),
        paired.map_or_else(dash, |paired| p(paired.permutation)),
        match (found, paired) {
            (Some(found), Some(paired)) => format!("{}{}", p(paired.adjusted), mark(found)),
            _ if starred => "– ".into(),
            _ => dash(),
        },
    ]
}

/// Whether some difference of a later model is marked.
fn line_has_star(comparison: &Comparison, other: usize) -> bool {
    comparison
        .lines
        .iter()
        .filter_map(|line| line.against[other].as_ref())
        .any(|found| comparison.is_clear(found))
}

/// A p-value for reading.
pub(super) fn p(p: f64) -> String {
    if p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

/// The units that differ most in the first number that has any.
fn farthest(comparison: &Comparison, other: usize, style: Style) -> String {
    let with_units = |line: &&Line| {
        line.against[other]
            .as_ref()
            .and_then(|found| found.paired.as_ref())
            .is_some_and(|p| !p.most.is_empty())
    };
    let Some(line) = comparison.lines.iter().find(with_units) else { return String::new() };
    let paired = line.against[other].as_ref().and_then(|found| found.paired.as_ref());
    let pairs = paired.map_or(&[][..], |paired| &paired.most);
    let heading = format!("\n  units that differ most in {}", short(&line.name(), style.width / 2));
    let mut text = paint(&heading, Paint::Bold, style) + "\n";
    let shown = &pairs[..pairs.len().min(UNITS)];
    let digits = Digits::of_column(shown.iter().flat_map(|pair| [(pair.first, None), (pair.other, None)]));
    let wide = shown.iter().map(|pair| columns(&short(&pair.unit, style.width / 2))).max().unwrap_or(0);
    for pair in shown {
        let unit = left(&short(&pair.unit, style.width / 2), wide);
        let (first, later) = (digits.number(pair.first), digits.number(pair.other));
        text += &format!("    {unit}  {first} → {later}  ({})\n", digits.signed(pair.other - pair.first));
    }
    text
}
