//! Numbers by label in columns that line up.

use super::arrow;
use super::page::Page;
use crate::table::labels::{Entry, Window};
use crate::text::{Paint, columns, left, right, short};

/// Cells in columns with a name before each row.
pub(super) struct Sheet {
    /// The lines of each heading.
    headings: Vec<Vec<String>>,
    /// A name, an arrow and the cells of each row.
    rows: Vec<(String, &'static str, Vec<String>)>,
}

pub(super) const INDENT: usize = 4;
const GAP: usize = 2;
/// The most columns of a label, and of one line of a heading.
const LABEL: usize = 24;
const HEADING: usize = 12;

impl Sheet {
    /// A row for each label.
    pub(super) fn across(window: &Window<'_>) -> Self {
        let headings = window.columns.iter().map(|column| {
            let mut lines = in_lines(&column.name);
            if let (Some(last), arrow @ ("↑" | "↓")) = (lines.last_mut(), arrow(column.better)) {
                last.push_str(&format!(" {arrow}"));
            }
            lines
        });
        let rows = window.rows().map(|(_, label, entries)| {
            (short(label, LABEL), "", entries.iter().map(|entry| Entry::with_interval(entry)).collect())
        });
        Self { headings: headings.collect(), rows: rows.collect() }
    }

    /// A row for each metric.
    pub(super) fn down(window: &Window<'_>) -> Self {
        let headings = window.labels.iter().map(|label| vec![short(label, LABEL)]);
        let rows = window.columns.iter().map(|column| {
            let cells = column.entries.iter().map(Entry::with_interval).collect();
            (short(&column.name, 2 * LABEL), arrow(column.better), cells)
        });
        Self { headings: headings.collect(), rows: rows.collect() }
    }

    /// The widths of the names and arrows, and of each column.
    fn widths(&self) -> (usize, usize, Vec<usize>) {
        let name = self.rows.iter().map(|(name, ..)| columns(name)).max().unwrap_or(0);
        let arrow = self.rows.iter().map(|(_, arrow, _)| columns(arrow)).max().unwrap_or(0);
        let of = |k: usize| {
            let cells = self.rows.iter().map(|(.., cells)| columns(&cells[k]));
            cells.chain(self.headings[k].iter().map(|line| columns(line))).max().unwrap_or(0)
        };
        (name, arrow, (0..self.headings.len()).map(of).collect())
    }

    /// How many columns have room, from the first on.
    pub(super) fn fitting(&self, room: usize) -> usize {
        let (name, arrow, widths) = self.widths();
        let mut used = name + if arrow > 0 { arrow + 1 } else { 0 };
        widths
            .iter()
            .take_while(|width| {
                used += GAP + **width;
                used <= room
            })
            .count()
    }

    pub(super) fn put(&self, page: &mut Page) {
        let (name, arrow, widths) = self.widths();
        let before = INDENT + name + if arrow > 0 { arrow + 1 } else { 0 };
        let height = self.headings.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let mut line = " ".repeat(before);
            for (lines, width) in self.headings.iter().zip(&widths) {
                // Headings stand on the line above the numbers.
                let text = (at + lines.len()).checked_sub(height).map_or("", |at| &lines[at]);
                line.push_str(&" ".repeat(GAP));
                line.push_str(&right(text, *width));
            }
            page.line(&[(line, Paint::Bold)]);
        }
        for (row, direction, cells) in &self.rows {
            let mut values = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                values.push_str(&" ".repeat(GAP));
                values.push_str(&right(cell, *width));
            }
            let row = format!("{}{}", " ".repeat(INDENT), left(row, name));
            let direction = if arrow > 0 { format!(" {}", left(direction, arrow)) } else { String::new() };
            page.line(&[(row, Paint::Plain), (direction, Paint::Green), (values, Paint::Plain)]);
        }
    }
}

/// A heading in lines that are not too long, broken after underscores.
fn in_lines(name: &str) -> Vec<String> {
    let safe = short(name, 4 * HEADING);
    let mut lines = vec![String::new()];
    for word in safe.split_inclusive('_') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && columns(&lines[last]) + columns(word) > HEADING {
            lines.push(word.to_owned());
        } else {
            lines[last].push_str(word);
        }
    }
    lines
}
