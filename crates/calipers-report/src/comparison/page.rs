//! A comparison as a section of a page: both models side by side.

use calipers_core::{Table, Value};

use super::lines::{grid, notes, title};
use super::pictures::pictures;
use super::{Comparison, Line};
use crate::grid::{Cell, Grid};
use crate::page::{Block, Section};

/// The section of a comparison.
pub fn section(comparison: &Comparison) -> Section {
    let mut blocks = vec![Block::Warnings(comparison.warnings.clone())];
    blocks.push(Block::Text(comparison.method()));
    for other in 0..comparison.models.len().saturating_sub(1) {
        blocks.push(Block::Table { title: title(comparison, other), grid: grid(comparison, other) });
        blocks.extend(pictures(comparison, other).into_iter().map(Block::Picture));
        if let Some(table) = farthest(comparison, other) {
            blocks.push(Block::Text(format!(
                "Units that differ most between {} and {}:",
                comparison.models[0].name,
                comparison.models[other + 1].name
            )));
            blocks.push(Block::Units(table));
        }
    }
    blocks.push(Block::Table { title: "How predictions are read".into(), grid: readings(comparison) });
    // The method stands above already.
    blocks.extend(notes(comparison).into_iter().skip(1).map(Block::Text));
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

/// The parameters of reading, side by side.
fn readings(comparison: &Comparison) -> Grid {
    let mut keys: Vec<&String> = Vec::new();
    for model in &comparison.models {
        let new = model.reading.keys().filter(|key| !keys.contains(key)).collect::<Vec<_>>();
        keys.extend(new);
    }
    let columns = std::iter::once("").chain(comparison.models.iter().map(|model| model.name.as_str()));
    let row = |name: &str, cell: &dyn Fn(&super::Model) -> Option<String>| {
        let cells = comparison.models.iter().map(|model| cell(model).map_or(Cell::Empty, Cell::Text));
        std::iter::once(Cell::Text(name.into())).chain(cells).collect()
    };
    let mut rows = vec![row("source", &|model| Some(model.source.clone()))];
    rows.extend(
        keys.iter().map(|key| row(key, &|model| model.reading.get(*key).map(|value| value.to_string()))),
    );
    let mut columns: Vec<String> = columns.map(String::from).collect();
    columns[0] = "parameter".into();
    Grid { columns, rows }
}
