//! The text of a report as it grows: lines, paragraphs, parts and warnings.

use calipers_core::Warning;
use calipers_core::error::printable;

use super::sheet::{INDENT, Sheet};
use super::{Grid, LINES_OF_WARNING, Style, UNITS_NAMED};
use crate::table::Part;
use crate::table::labels::{LabelTable, Window};
use crate::text::{Paint, columns, short, wrapped};

/// The text so far.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) style: Style,
    /// Whether it shows the numbers that are shown first.
    pub(super) is_first: bool,
    /// The most rows of a table of labels.
    pub(super) labels: usize,
}

impl Page {
    /// A line of painted pieces, without blanks at its end.
    pub(super) fn line(&mut self, pieces: &[(String, Paint)]) {
        let last = pieces.iter().rposition(|(text, _)| !text.trim_end().is_empty());
        for (i, (text, paint)) in pieces.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
            let text = if Some(i) == last { text.trim_end() } else { text };
            self.text.push_str(&paint.on(text, self.style.colour));
        }
        self.text.push('\n');
    }

    /// Text broken into lines, the first and the other lines indented as given.
    pub(super) fn paragraph(&mut self, first: usize, others: usize, text: &str, paint: Paint) {
        self.lines(first, others, text, paint, usize::MAX);
    }

    /// The same, cut behind so many lines.
    fn lines(&mut self, first: usize, others: usize, text: &str, paint: Paint, most: usize) {
        let width = self.style.width.saturating_sub(first.max(others)).max(20);
        let whole = wrapped(text, width);
        let is_cut = whole.len() > most;
        // What is cut needs room for the sign that says so.
        let lines = if is_cut { wrapped(text, width - 2) } else { whole };
        for (i, line) in lines.into_iter().take(most).enumerate() {
            let indent = if i == 0 { first } else { others };
            let end = if is_cut && i + 1 == most { " …" } else { "" };
            self.line(&[(" ".repeat(indent), Paint::Plain), (line + end, paint)]);
        }
    }

    /// A heading, lines, and tables of labels. Returns how many numbers had no room.
    pub(super) fn part(&mut self, part: &Part, grid: &Grid, reading: Option<&str>) -> usize {
        if !part.title.is_empty() {
            self.text.push('\n');
            let title = format!("  {}", part.title);
            let room = self.style.width.saturating_sub(columns(&title) + 2);
            let reading = reading.map(|text| format!("  {}", short(text, room)));
            self.line(&[(title, Paint::Bold), (reading.unwrap_or_default(), Paint::Dim)]);
        } else if !part.lines.is_empty() {
            self.text.push('\n');
        }
        part.lines.iter().for_each(|line| grid.put(line, self));
        let mut left_out = 0;
        for (i, table) in part.tables.iter().enumerate() {
            if part.title.is_empty() || !part.lines.is_empty() || i > 0 {
                self.text.push('\n');
            }
            left_out += self.table(table);
        }
        left_out
    }

    /// Labels by metrics, or metrics by labels where only that has room. Returns how many metrics had none.
    fn table(&mut self, table: &LabelTable) -> usize {
        let (is_first, labels) = (self.is_first, self.labels);
        let room = self.style.width.saturating_sub(INDENT);
        let whole = Window::of(table);
        let across = Sheet::across(&whole);
        let fitting = across.fitting(room).max(1);
        if table.labels.len() == 1 || fitting < table.columns.len() {
            let down = Sheet::down(&whole);
            if down.fitting(room) == table.labels.len() && table.labels.len() <= table.columns.len() {
                down.put(self);
                return 0;
            }
        }
        let windows = table.cut(fitting, labels);
        let shown = windows.iter().filter(|window| !window.is_below(labels));
        for (i, window) in shown.take(if is_first { 1 } else { usize::MAX }).enumerate() {
            if i > 0 {
                self.text.push('\n');
            }
            Sheet::across(window).put(self);
        }
        let hidden = table.labels.len().saturating_sub(labels);
        if hidden > 0 {
            let whither = if is_first { "" } else { ", which --csv and --json hold" };
            let text = format!("{}… and {hidden} more rows{whither}", " ".repeat(INDENT));
            self.line(&[(text, Paint::Dim)]);
        }
        if is_first { table.columns.len().saturating_sub(fitting) } else { 0 }
    }

    pub(super) fn warning(&mut self, warning: &Warning) {
        let message = format!("{}: {}", printable(&warning.code), printable(&warning.message));
        let most = if self.is_first { LINES_OF_WARNING } else { usize::MAX };
        self.lines(4, 6, &message, Paint::Yellow, most);
        if warning.units.is_empty() {
            return;
        }
        let named: Vec<String> = warning.units.iter().take(UNITS_NAMED).map(|unit| short(unit, 60)).collect();
        let more = match warning.units.len().saturating_sub(UNITS_NAMED) {
            0 => String::new(),
            more => format!(", … and {more} more"),
        };
        self.paragraph(6, 6, &format!("{}{more}", named.join(", ")), Paint::Dim);
    }
}
