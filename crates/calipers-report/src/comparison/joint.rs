//! Three and more models in one table: every number of every model, the best of each metric marked.

use super::lines::{about, sampled};
use super::{BEST, Comparison, Line, Titled};
use crate::grid::{Cell, Grid};
use crate::table::Digits;
use crate::terminal::arrow;

/// The most models or metrics beside each other on paper.
const COLUMNS: usize = 8;
/// The most rows of a table on paper.
const ROWS: usize = 40;

/// How the numbers stand: models are rows where the metrics fit beside each other, else columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Models,
    Metrics,
}

/// What a form can show at once.
pub(super) struct Room<'a> {
    /// The most rows of a table.
    pub(super) rows: usize,
    /// Whether a table is narrow enough.
    pub(super) is_narrow: &'a dyn Fn(&Grid) -> bool,
}

/// The tables for papers and pages.
pub(super) fn tables(comparison: &Comparison) -> Vec<Titled> {
    fitting(comparison, &Room { rows: ROWS, is_narrow: &|grid| grid.columns.len() <= COLUMNS + 1 })
}

/// The tables that there is room for; none of two models, whose own table holds all of it.
pub(super) fn fitting(comparison: &Comparison, room: &Room<'_>) -> Vec<Titled> {
    if comparison.models.len() < 3 || comparison.lines.is_empty() {
        return Vec::new();
    }
    let (models, lines) = (comparison.models.len(), comparison.lines.len());
    let in_rows = part(comparison, Shape::Models, (0..models, 0..lines));
    let grids = if models <= room.rows && (room.is_narrow)(&in_rows) {
        vec![in_rows]
    } else {
        in_columns(comparison, room)
    };
    let title = format!("{}: {models} models, {}", about(comparison), sampled(comparison));
    let marked = comparison.lines.iter().any(|line| line.best().is_some());
    let notes: Vec<String> =
        marked.then(|| format!("{BEST} best value of each metric")).into_iter().collect();
    grids.into_iter().map(|grid| Titled { title: title.clone(), grid, notes: notes.clone() }).collect()
}

/// Models as columns, as many beside each other as there is room for.
fn in_columns(comparison: &Comparison, room: &Room<'_>) -> Vec<Grid> {
    let (models, lines) = (comparison.models.len(), comparison.lines.len());
    let of = |first: usize, wide: usize| first..(first + wide).min(models);
    let is_narrow = |wide: &usize| {
        let mut starts = (0..models).step_by(*wide);
        starts.all(|first| (room.is_narrow)(&part(comparison, Shape::Metrics, (of(first, *wide), 0..lines))))
    };
    let wide = (1..=models).rev().find(is_narrow).unwrap_or(1);
    let windows = (0..models).step_by(wide).flat_map(|first| {
        let rows = (0..lines).step_by(room.rows).map(move |row| row..(row + room.rows).min(lines));
        rows.map(move |rows| (of(first, wide), rows))
    });
    windows.map(|window| part(comparison, Shape::Metrics, window)).collect()
}

/// Some models and some lines.
type Window = (std::ops::Range<usize>, std::ops::Range<usize>);

fn part(comparison: &Comparison, shape: Shape, (models, lines): Window) -> Grid {
    let lines = &comparison.lines[lines];
    let named = |line: &Line| format!("{} {}", line.name(), arrow(line.better)).trim_end().to_owned();
    let name = |model: usize| comparison.models[model].name.clone();
    let cells = |line: &Line| -> Vec<Cell> { models.clone().map(|model| cell(line, model)).collect() };
    let numbers: Vec<Vec<Cell>> = lines.iter().map(cells).collect();
    match shape {
        Shape::Models => Grid {
            columns: std::iter::once("model".to_owned()).chain(lines.iter().map(named)).collect(),
            rows: models
                .clone()
                .enumerate()
                .map(|(at, model)| {
                    let own = numbers.iter().map(|line| line[at].clone());
                    std::iter::once(Cell::Text(name(model))).chain(own).collect()
                })
                .collect(),
        },
        Shape::Metrics => Grid {
            columns: std::iter::once("metric".to_owned()).chain(models.clone().map(name)).collect(),
            rows: lines
                .iter()
                .zip(numbers)
                .map(|(line, numbers)| std::iter::once(Cell::Text(named(line))).chain(numbers).collect())
                .collect(),
        },
    }
}

/// The number of a model, with as many digits as the others of its metric.
fn cell(line: &Line, model: usize) -> Cell {
    let Some(number) = line.values[model].as_f64() else { return Cell::Empty };
    let digits = Digits::of_column(line.values.iter().filter_map(|value| Some((value.as_f64()?, None))));
    match line.is_best(model, line.best()) {
        true => Cell::Bold(digits.number(number)),
        false => Cell::Text(digits.number(number)),
    }
}
