//! The comparison that people read on a terminal.

use calipers_core::{Better, Value};

use super::lines::{notes, signed, title};
use super::{Comparison, Difference, Line};
use crate::number::rounded;
use crate::terminal::{Style, arrow};
use crate::text::{Paint, columns, left, right, short, wrapped};

/// How many of the units that differ most are shown.
const UNITS: usize = 5;
/// Columns to do without on a narrow terminal, the first of them first.
const EXPENDABLE: [usize; 3] = [9, 7, 5];
const HEADINGS: [&str; 7] = ["difference", "interval", "won", "tied", "lost", "p", "p adj."];

/// The comparisons as tables, each with its notes below.
pub fn write(comparisons: &[Comparison], style: Style) -> String {
    let tables = comparisons.iter().flat_map(|comparison| {
        (0..comparison.models.len().saturating_sub(1)).map(move |other| one(comparison, other, style))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn one(comparison: &Comparison, other: usize, style: Style) -> String {
    let mut text = paint(&short(&title(comparison, other), style.width), Paint::Bold, style) + "\n\n";
    let most = (style.width / 3).max(16);
    let models = [&comparison.models[0].name, &comparison.models[other + 1].name].map(|name| short(name, 16));
    let rows: Vec<(Vec<String>, Paint)> = comparison
        .lines
        .iter()
        .map(|line| (cells(line, other, most), verdict(comparison, line, other)))
        .collect();
    let heading: Vec<String> =
        [String::new(), String::new()].into_iter().chain(models).chain(HEADINGS.map(String::from)).collect();
    let width =
        |k: usize| rows.iter().map(|(row, _)| &row[k]).chain([&heading[k]]).map(|cell| columns(cell)).max();
    let widths: Vec<usize> = (0..heading.len()).map(|k| width(k).unwrap_or(0)).collect();
    let mut shown: Vec<usize> = (0..heading.len()).collect();
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
    text += &farthest(comparison, other, style);
    text.push('\n');
    for note in notes(comparison) {
        let note = calipers_core::error::printable(&note);
        for (i, line) in wrapped(&note, style.width.saturating_sub(4).max(20)).into_iter().enumerate() {
            let indent = if i == 0 { "  " } else { "    " };
            text += &(paint(&format!("{indent}{line}"), Paint::Dim, style) + "\n");
        }
    }
    text
}

fn paint(text: &str, paint: Paint, style: Style) -> String {
    paint.on(text, style.colour)
}

/// Green and yellow only where the corrected test says so.
fn verdict(comparison: &Comparison, line: &Line, other: usize) -> Paint {
    let Some(Difference { difference, paired: Some(paired), .. }) = &line.against[other] else {
        return Paint::Plain;
    };
    let gained = match line.better {
        Better::Lower => *difference < 0.0,
        _ => *difference > 0.0,
    };
    match (paired.adjusted <= comparison.level(), gained) {
        (false, _) => Paint::Plain,
        (true, true) => Paint::Green,
        (true, false) => Paint::Yellow,
    }
}

fn cells(line: &Line, other: usize, most: usize) -> Vec<String> {
    let best = line.best().map(f64::to_bits);
    let value = |value: &Value| match value.as_f64() {
        Some(number) => {
            format!("{}{}", rounded(number), if best == Some(number.to_bits()) { "*" } else { " " })
        }
        None => "– ".into(),
    };
    let found = line.against[other].as_ref();
    let paired = found.and_then(|found| found.paired.as_ref());
    let dash = || String::from("–");
    let count = |n: Option<u64>| n.map_or_else(dash, |n| n.to_string());
    let interval = found.and_then(|found| found.interval);
    vec![
        short(&line.name(), most),
        arrow(line.better).into(),
        value(&line.values[0]),
        value(&line.values[other + 1]),
        found.map_or_else(dash, |found| signed(found.difference)),
        interval.map_or_else(dash, |[low, high]| format!("[{}, {}]", signed(low), signed(high))),
        count(paired.map(|paired| paired.wins)),
        count(paired.map(|paired| paired.ties)),
        count(paired.map(|paired| paired.losses)),
        paired.map_or_else(dash, |paired| p(paired.permutation)),
        paired.map_or_else(dash, |paired| p(paired.adjusted)),
    ]
}

/// A p-value for reading.
fn p(p: f64) -> String {
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
    let wide = shown.iter().map(|pair| columns(&short(&pair.unit, style.width / 2))).max().unwrap_or(0);
    for pair in shown {
        let unit = left(&short(&pair.unit, style.width / 2), wide);
        let (first, later) = (rounded(pair.first), rounded(pair.other));
        text += &format!("    {unit}  {first} → {later}  ({})\n", signed(pair.other - pair.first));
    }
    text
}
