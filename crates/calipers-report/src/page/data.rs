//! The JSON blocks of a page: what is sorted, searched, explained and saved. Together they stay
//! within a size that a browser opens at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::markup::Markup;
use super::units::{self, MOST};
use crate::grid::{Cell, Grid};
use calipers_core::Table;

/// Blocks in the making.
pub(crate) struct Shelf {
    left: usize,
    blocks: Vec<(String, String)>,
    /// Definitions by metric id.
    definitions: BTreeMap<String, Json>,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        Self { left: MOST, blocks: Vec::new(), definitions: BTreeMap::new() }
    }

    /// Keeps a definition once, however many numbers have it.
    pub(crate) fn define(&mut self, id: &str, definition: impl FnOnce() -> Json) {
        if !self.definitions.contains_key(id) {
            self.definitions.insert(id.into(), definition());
        }
    }

    /// Takes in the tables behind a picture and returns where they are; `None` if the page is full.
    pub(crate) fn grids(&mut self, grids: &[(String, Grid)]) -> Option<String> {
        let cells: usize = grids.iter().map(|(_, grid)| grid.rows.len() * grid.columns.len()).sum();
        if cells > self.left {
            return None;
        }
        let tables: Vec<Json> = grids.iter().map(|(name, grid)| table(name, grid)).collect();
        self.put(Json::Array(tables).to_string())
    }

    /// Takes in a per-unit table, as much of it as there is room for, and returns where it is and
    /// how many units are there.
    pub(crate) fn units(&mut self, table: &Table, all: usize) -> (String, units::Kept) {
        let (json, kept) = units::json(table, all, self.left);
        let id = self.put(json).unwrap_or_default();
        (id, kept)
    }

    fn put(&mut self, json: String) -> Option<String> {
        self.left = self.left.checked_sub(json.len())?;
        let id = format!("data-{}", self.blocks.len() + 1);
        self.blocks.push((id.clone(), json));
        Some(id)
    }

    pub(crate) fn write(self, html: &mut Markup) {
        let definitions: Map<String, Json> = self.definitions.into_iter().collect();
        html.json("definitions", &Json::Object(definitions).to_string());
        for (id, json) in self.blocks {
            html.json(&id, &json);
        }
    }
}

fn table(name: &str, grid: &Grid) -> Json {
    let cell = |cell: &Cell| match cell {
        Cell::Empty => Json::Null,
        Cell::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => json!(*x as i64),
        Cell::Number(x) => json!(x),
        Cell::Text(text) | Cell::Bold(text) => json!(text),
        Cell::Flag(on) => json!(on),
    };
    let rows: Vec<Json> = grid.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    json!({"name": name, "columns": grid.columns, "rows": rows})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out() {
        let mut shelf = Shelf::new();
        let grid = Grid { columns: vec!["x".into()], rows: vec![vec![Cell::Number(0.5)]] };
        assert_eq!(shelf.grids(&[("a".into(), grid.clone())]).as_deref(), Some("data-1"));
        let rows = vec![vec![Cell::Text("y".repeat(100))]; MOST / 100];
        assert_eq!(shelf.grids(&[("b".into(), Grid { rows, ..grid })]), None);
    }
}
