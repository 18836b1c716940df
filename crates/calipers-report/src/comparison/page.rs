//! A comparison as a section of a page: both models side by side.

use calipers_core::{Table, Value};

use super::lines::{grid, in_bold, notes, title};
use super::pictures::{self, pictures};
use super::{BEST, Comparison, Line, joint, ranks};
use crate::grid::{Cell, Grid};
use crate::page::{Block, Section, flatten};

/// How many columns of the table there are without tests.
const UNTESTED: usize = 5;
/// What the table of readings is called.
const READINGS: &str = "How predictions are read, where models differ";

/// The section of a comparison.
pub fn section(comparison: &Comparison) -> Section {
    let mut blocks = vec![Block::Warnings(comparison.warnings.clone())];
    let method = comparison.method();
    let has_method = !method.is_empty();
    blocks.extend(has_method.then_some(Block::Text(method)));
    for table in joint::tables(comparison) {
        blocks.push(Block::Table { title: table.title, grid: table.grid });
        blocks.extend(in_bold(&table.notes).into_iter().map(Block::Text));
    }
    blocks.extend(comparison.pictures.iter().cloned().map(Block::Picture));
    blocks.extend(pictures::ranks(comparison).map(Block::Picture));
    for other in 0..comparison.models.len().saturating_sub(1) {
        blocks.extend(pictures(comparison, other).into_iter().map(Block::Picture));
        blocks
            .push(Block::Table { title: title(comparison, other), grid: compact(&grid(comparison, other)) });
        let legend = comparison.legend(other).map(|text| text.replacen(BEST, "bold:", 1));
        blocks.extend(legend.map(Block::Text));
        if let Some(table) = farthest(comparison, other) {
            blocks.push(Block::Text(format!(
                "Units that differ most between {} and {}:",
                comparison.models[0].name,
                comparison.models[other + 1].name
            )));
            blocks.push(Block::Units { all: table.rows.len(), table });
        }
    }
    if let Some(table) = ranks::every(comparison) {
        blocks.push(Block::Table { title: table.title, grid: table.grid });
        blocks.extend(table.notes.into_iter().map(Block::Text));
    }
    blocks.push(Block::Table { title: READINGS.into(), grid: readings(comparison) });
    // The method stands above already.
    blocks.extend(notes(comparison).into_iter().skip(usize::from(has_method)).map(Block::Text));
    if !comparison.inputs.is_empty() {
        blocks.push(Block::Inputs(comparison.inputs.clone()));
    }
    let names: Vec<&str> = comparison.models.iter().map(|model| model.name.as_str()).collect();
    Section {
        heading: format!("{}: {}", comparison.family, names.join(", ")),
        slug: "comparison".into(),
        blocks,
    }
}

/// Every pair of numbers kept of the units that differ most, to be sorted and searched.
fn farthest(comparison: &Comparison, other: usize) -> Option<Table> {
    let rows = comparison.lines.iter().flat_map(|line| of(line, other));
    let rows: Vec<(String, Vec<Value>)> = rows.collect();
    let (first, model) = (&comparison.models[0].name, &comparison.models[other + 1].name);
    let columns = ["unit", "metric", first, model, "difference"].map(String::from).into();
    (!rows.is_empty()).then_some(Table { columns, rows })
}

fn of(line: &Line, other: usize) -> impl Iterator<Item = (String, Vec<Value>)> {
    let paired = line.against[other].as_ref().and_then(|found| found.paired.as_ref());
    paired.into_iter().flat_map(|paired| &paired.most).map(|pair| {
        let numbers = [pair.first, pair.other, pair.other - pair.first].map(Value::Number);
        (pair.unit.clone(), std::iter::once(Value::Text(line.name())).chain(numbers).collect())
    })
}

/// The table with directions beside the names and the units' verdicts in one column, so that a laptop
/// shows it whole.
fn compact(grid: &Grid) -> Grid {
    let tested = grid.rows.iter().any(|row| row[9..].iter().any(|cell| *cell != Cell::Empty));
    let columns = [&grid.columns[0], &grid.columns[2], &grid.columns[3], &grid.columns[4], &grid.columns[5]];
    let columns = columns.into_iter().map(String::as_str).chain(["won / tied / lost"]);
    let columns = columns.chain(grid.columns[9..].iter().map(String::as_str)).map(String::from);
    let columns: Vec<String> = columns.take(if tested { usize::MAX } else { UNTESTED }).collect();
    let row = |cells: &Vec<Cell>| {
        let named = match (&cells[0], &cells[1]) {
            (Cell::Text(name), Cell::Text(arrow)) => Cell::Text(format!("{name} {arrow}")),
            (name, _) => name.clone(),
        };
        let counts: Option<Vec<String>> = cells[6..9]
            .iter()
            .map(|cell| match cell {
                Cell::Number(units) => Some(format!("{units:.0}")),
                _ => None,
            })
            .collect();
        let verdict = counts.map_or(Cell::Empty, |counts| Cell::Text(counts.join(" / ")));
        let middle = cells[2..6].iter().cloned();
        let cells = std::iter::once(named).chain(middle).chain([verdict]).chain(cells[9..].iter().cloned());
        cells.take(columns.len()).collect()
    };
    let rows = grid.rows.iter().map(row).collect();
    Grid { rows, columns }
}

/// The parameters of reading that differ, side by side, after the source.
fn readings(comparison: &Comparison) -> Grid {
    let flat: Vec<Vec<(String, String)>> = comparison
        .models
        .iter()
        .map(|model| {
            let mut lines = vec![("source".to_owned(), model.source.clone())];
            for (key, value) in &model.reading {
                flatten(key, value, &mut lines);
            }
            lines
        })
        .collect();
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in flat.iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let value = |lines: &Vec<(String, String)>, key: &str| {
        lines.iter().find(|(known, _)| known == key).map_or(Cell::Empty, |(_, text)| Cell::Text(text.clone()))
    };
    let row = |key: &&String| -> Vec<Cell> {
        std::iter::once(Cell::Text(key.to_string()))
            .chain(flat.iter().map(|lines| value(lines, key)))
            .collect()
    };
    let differ = |cells: &Vec<Cell>| {
        cells[1..].iter().any(|cell| *cell != cells[1]) || cells[0] == Cell::Text("source".into())
    };
    let columns =
        std::iter::once("parameter").chain(comparison.models.iter().map(|model| model.name.as_str()));
    Grid { columns: columns.map(String::from).collect(), rows: keys.iter().map(row).filter(differ).collect() }
}
