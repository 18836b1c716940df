//! A report as parts of lines and tables of labels: what the terminal, Markdown and LaTeX have in common.
//!
//! ```text
//! Report --layout--> parts --terminal, markdown, latex, notebook--> text
//!          digits      how many digits a number has
//!          labels      numbers by class, group, type or condition, side by side
//!          form        lists that are no curves
//! Report --csv-------> one line per number
//! Grid   ------------> a table of mixed cells, in the same forms
//! ```

mod cell;
pub mod csv;
mod digits;
pub(crate) mod form;
pub mod grid;
pub(crate) mod labels;
pub mod latex;
pub mod markdown;
pub mod notebook;
mod shown;
pub mod terminal;

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;
use calipers_core::resample::Bounds;
use calipers_core::{Better, Form, Report, Value};

pub(crate) use self::cell::number;
use self::cell::{How, push_lines};
pub(crate) use self::digits::Digits;
use self::labels::{Column, LabelTable};
pub use self::shown::{Amount, Shown, Spread};
use crate::leaf::{Leaf, leaf};
use crate::number::shortest;
use crate::sampling;

/// The most numbers that are shown first, and the most columns of their table of labels.
const MOST_FIRST: usize = 12;
const MOST_COLUMNS: usize = 6;

/// Lines under one heading of the metric table, and below them the numbers by label.
pub(crate) struct Part {
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<Line>,
    pub(crate) tables: Vec<LabelTable>,
}

/// One line: a metric, or a value inside one.
pub(crate) struct Line {
    /// How far below its metric.
    pub(crate) depth: usize,
    /// The id without its family, or the key.
    pub(crate) name: String,
    /// The id without its family, and the path below it.
    pub(crate) path: String,
    pub(crate) cell: Cell,
    pub(crate) better: Better,
    pub(crate) range: &'static str,
}

/// What stands in the value column.
pub(crate) enum Cell {
    /// A number or count, rounded for reading, and its interval.
    Number(String, Option<String>),
    /// An interval in words.
    Interval(String),
    /// Values at thresholds, in words.
    Sweep(String),
    /// A series: its picture, its ends and its length.
    Series { bars: String, ends: String, length: usize },
    /// The values follow on the next lines.
    Heading,
    /// No value, and why.
    Undefined(String),
    /// This many further values are left out.
    Omitted(usize),
}

/// A report laid out for a table.
pub(crate) struct Layout {
    pub(crate) title: Title,
    pub(crate) parts: Vec<Part>,
    /// Ids without a value that share a reason, by reason in report order.
    pub(crate) undefined: Vec<(String, Vec<String>)>,
    /// Whether these are the numbers that are shown first.
    pub(crate) is_first: bool,
    /// How many further numbers there are.
    pub(crate) more: usize,
    /// How intervals were made, where some are shown, and which numbers have none.
    pub(crate) sampling: Option<String>,
    /// The share that an interval holds, in percent.
    pub(crate) share: Option<String>,
}

/// What a table says above itself.
pub(crate) struct Title {
    pub(crate) protocol: String,
    /// What is measured, where the protocol has a label and a threshold for it.
    pub(crate) subject: Option<String>,
    pub(crate) preset: Option<String>,
    pub(crate) units: String,
}

/// How much a table of everything shows.
pub(crate) struct Extent {
    /// With this many ids or more, a shared reason is given once below the table.
    pub(crate) gather: usize,
    /// The most values shown of one metric.
    pub(crate) most: usize,
}

/// A report and its metric table.
struct Source<'r> {
    report: &'r Report,
    infos: BTreeMap<&'r str, &'r MetricInfo>,
    prefix: String,
    spread: Spread,
}

/// Lays out a report; `infos` is its metric table. A report without a number that is shown first is shown
/// whole.
pub(crate) fn layout(
    report: &Report,
    infos: &[MetricInfo],
    shown: impl Into<Shown>,
    extent: &Extent,
) -> Layout {
    let Shown { amount, spread } = shown.into();
    let text = |key: &str| report.protocol.get(key).and_then(|value| value.as_str()).map(String::from);
    let title = Title {
        protocol: text("name").unwrap_or_default(),
        subject: text("label")
            .zip(report.protocol.get("threshold").and_then(|value| value.as_f64()))
            .map(|(label, threshold)| format!("{}, threshold {}", printable(&label), shortest(threshold))),
        preset: text("preset"),
        units: format!("{} unit{}", report.units, if report.units == 1 { "" } else { "s" }),
    };
    let source = Source {
        report,
        infos: infos.iter().map(|info| (info.id.as_str(), info)).collect(),
        prefix: format!("{}.", title.protocol),
        spread,
    };
    let mut undefined = Vec::new();
    let mut more = 0;
    let first = (amount == Amount::Headline).then(|| source.headline()).flatten();
    let is_first = first.is_some();
    let parts = match first {
        Some((part, hidden)) => {
            more = hidden;
            vec![part]
        }
        None => {
            undefined = source.shared_reasons();
            undefined.retain(|(_, names)| names.len() >= extent.gather);
            source.parts(amount, &undefined, extent.most)
        }
    };
    let drawn = report.intervals.as_ref().filter(|_| parts.iter().any(Part::has_intervals));
    let drawn = drawn.map(|intervals| &intervals.drawn);
    let missing = report.intervals.as_ref().and_then(sampling::missing);
    let note = drawn.and_then(|_| spread.note());
    let said: Vec<String> = drawn.map(sampling::words).into_iter().chain(note).chain(missing).collect();
    Layout {
        title,
        parts,
        undefined,
        is_first,
        more,
        sampling: (!said.is_empty()).then(|| said.join(" ")),
        share: drawn.map(sampling::share),
    }
}

impl Part {
    pub(crate) fn has_intervals(&self) -> bool {
        let in_lines = self.lines.iter().any(|line| matches!(line.cell, Cell::Number(_, Some(_))));
        in_lines || self.tables.iter().any(LabelTable::has_intervals)
    }
}

impl<'r> Source<'r> {
    fn name<'n>(&self, id: &'n str) -> &'n str {
        id.strip_prefix(&self.prefix).unwrap_or(id)
    }

    /// Whether labels are groups that somebody chooses from: those that the protocol was told to make.
    fn is_choice(&self) -> bool {
        self.report.protocol.contains_key("group_by")
    }

    /// The line of the metric table behind an id without its family.
    fn line(&self, name: &str) -> Option<&'r MetricInfo> {
        let full = format!("{}{name}", self.prefix);
        self.infos.get(full.as_str()).or_else(|| self.infos.get(name)).copied()
    }

    fn bounds(&self, id: &str) -> Option<&'r Bounds> {
        self.report.intervals.as_ref().and_then(|intervals| intervals.get(id))
    }

    fn columns(&self, id: &str, value: &'r Value) -> Option<(Vec<String>, Vec<Column>)> {
        labels::columns(self.name(id), value, self.bounds(id), self.spread, &|name| self.line(name))
    }

    /// The numbers that are shown first, where there are any, and how many others there are.
    fn headline(&self) -> Option<(Part, usize)> {
        let mut first: Vec<&MetricInfo> =
            self.infos.values().filter(|info| info.headline.is_some()).copied().collect();
        first.sort_by_key(|info| info.headline);
        let mut lines = Vec::new();
        for info in first.iter().take(MOST_FIRST) {
            if let Some(value) = self.report.get(&info.id)
                && matches!(leaf(value), Some(Leaf::Number(_) | Leaf::Count(_)))
            {
                self.push(&mut lines, &info.id, value, 0);
            }
        }
        if lines.is_empty() {
            self.push_first(&mut lines);
        }
        let (mut all, mut labelled) = (0, Vec::new());
        for (id, value) in &self.report.metrics {
            let columns = self.columns(id, value);
            all += columns.as_ref().map_or(1, |(_, columns)| columns.len());
            labelled.extend(columns);
        }
        let table = labels::joined(labelled).into_iter().reduce(|best, next| {
            // The first of those that have most of what is shown first, then most of anything.
            if weight(&next) > weight(&best) { next } else { best }
        });
        let table = table.map(chosen).filter(|table| !table.columns.is_empty());
        let table = table.map(|table| LabelTable { is_choice: self.is_choice(), ..table });
        let shown = lines.len() + table.as_ref().map_or(0, |table| table.columns.len());
        (shown > 0).then(|| {
            (Part { title: "", lines, tables: table.into_iter().collect() }, all.saturating_sub(shown))
        })
    }

    /// The first single numbers there are, where the evidence gives none of those that are shown first.
    fn push_first(&self, lines: &mut Vec<Line>) {
        // Counts of what was read say little of it.
        let is_single = |value: &Value| matches!(leaf(value), Some(Leaf::Number(_)));
        if self.report.metrics.iter().any(|(_, value)| is_labelled(value)) {
            return;
        }
        for (id, value) in self.report.metrics.iter().filter(|(_, value)| is_single(value)).take(MOST_FIRST) {
            self.push(lines, id, value, 0);
        }
    }

    /// Every number, but for those whose reason is said once: under their headings, or in one part as they
    /// were selected.
    fn parts(&self, amount: Amount, undefined: &[(String, Vec<String>)], most: usize) -> Vec<Part> {
        let mut groups: Vec<(&'static str, Vec<(&'r String, &'r Value)>)> = Vec::new();
        for (id, value) in &self.report.metrics {
            if value.reason().is_some_and(|reason| undefined.iter().any(|(gathered, _)| gathered == reason)) {
                continue;
            }
            let group = self.infos.get(id.as_str()).map_or("", |info| info.group);
            let group = if amount == Amount::Selected { "" } else { group };
            match groups.iter_mut().find(|(title, _)| *title == group) {
                Some((_, members)) => members.push((id, value)),
                None => groups.push((group, vec![(id, value)])),
            }
        }
        let part = |(title, members): (&'static str, Vec<(&'r String, &'r Value)>)| {
            let (mut lines, mut labelled) = (Vec::new(), Vec::new());
            for (id, value) in members {
                match self.columns(id, value) {
                    Some(columns) => labelled.push(columns),
                    None => self.push(&mut lines, id, value, most),
                }
            }
            let is_choice = self.is_choice();
            let tables = labels::joined(labelled).into_iter();
            Part { title, lines, tables: tables.map(|table| LabelTable { is_choice, ..table }).collect() }
        };
        groups.into_iter().map(part).collect()
    }

    /// The names of the metrics that are undefined as a whole, by reason.
    fn shared_reasons(&self) -> Vec<(String, Vec<String>)> {
        let mut shared: Vec<(String, Vec<String>)> = Vec::new();
        for (id, value) in &self.report.metrics {
            let Some(reason) = value.reason().filter(|reason| !reason.is_empty()) else { continue };
            let name = self.name(id).to_string();
            match shared.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(name),
                None => shared.push((reason.into(), vec![name])),
            }
        }
        shared
    }

    /// The lines of a metric.
    fn push(&self, lines: &mut Vec<Line>, id: &str, value: &Value, most: usize) {
        let start = lines.len();
        let info = self.infos.get(id);
        let name = self.name(id).to_string();
        let form = info.map_or(Form::Plain, |info| info.form);
        let how = How { form, most, spread: self.spread };
        push_lines(lines, 0, (name.clone(), name), (value, self.bounds(id)), how);
        for line in &mut lines[start..] {
            line.better = info.map_or(Better::Neither, |info| info.better);
            line.range = info.map_or("", |info| info.range.text);
        }
    }
}

/// Whether a value has a number for some label.
fn is_labelled(value: &Value) -> bool {
    matches!(value, Value::PerLabel(entries) if entries.iter().any(|(_, value)| value.reason().is_none()))
}

/// How much a table of labels has to say.
fn weight(table: &LabelTable) -> (usize, usize) {
    let defined = || table.columns.iter().filter(|column| column.is_defined());
    (defined().filter(|column| column.headline.is_some()).count(), defined().count())
}

/// The columns that are shown first: those that the metric table marks as headlines, else the first scores.
fn chosen(mut table: LabelTable) -> LabelTable {
    table.columns.retain(Column::is_defined);
    let names: BTreeSet<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    // A number that is given under two ids is shown once.
    let mut new = names;
    table.columns.retain(|column| new.remove(&column.name));
    if table.columns.iter().any(|column| column.headline.is_some()) {
        table.columns.retain(|column| column.headline.is_some());
        table.columns.sort_by_key(|column| column.headline);
        table.columns.truncate(MOST_FIRST);
    } else {
        table.columns.sort_by_key(|column| column.better == Better::Neither);
        table.columns.truncate(MOST_COLUMNS);
    }
    table
}

/// The table of labels that is shown first.
pub(crate) fn first_labels(report: &Report, infos: &[MetricInfo]) -> Option<LabelTable> {
    let layout = layout(report, infos, Amount::Headline, &Extent { gather: 1, most: 0 });
    layout.parts.into_iter().filter(|_| layout.is_first).find_map(|part| part.tables.into_iter().next())
}

/// The line below a table that does not show every number.
pub(crate) fn and_more(more: usize) -> String {
    format!("… and {more} more number{}: --all", if more == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const TERMINAL: Extent = Extent { gather: 3, most: 2 };

    #[test]
    fn groups_come_in_order_of_first_appearance() {
        let report = fixture::realistic();
        let layout = layout(&report, &fixture::infos(&report), Amount::Everything, &TERMINAL);
        let titles: Vec<_> = layout.parts.iter().map(|part| part.title).collect();
        assert_eq!(titles, ["Loss", "Prediction", "Trajectory", "Totals"]);
    }

    #[test]
    fn a_reason_shared_by_many_ids_is_said_once() {
        let report = fixture::realistic();
        let layout = layout(&report, &[], Amount::Everything, &TERMINAL);
        let gathered = vec!["best_of_size".into(), "best_of_approx_ratio".into(), "best_of_curve".into()];
        assert_eq!(layout.undefined, [("no samples given".to_string(), gathered)]);
        let lines = layout.parts.iter().flat_map(|part| &part.lines);
        let alone = |line: &&Line| matches!(&line.cell, Cell::Undefined(reason) if reason.contains("swap"));
        assert_eq!(lines.filter(alone).count(), 1);
    }

    #[test]
    fn more_values_than_fit_are_counted() {
        let mut report = fixture::small();
        let pairs = (0..5).map(|i| (format!("c{i}"), Value::Series(vec![]))).collect();
        report.metrics = vec![("segmentation.area".into(), Value::PerLabel(pairs))];
        let layout = layout(&report, &[], Amount::Everything, &TERMINAL);
        let last = layout.parts[0].lines.last().unwrap();
        assert!(matches!(last.cell, Cell::Omitted(3)));
        assert_eq!(layout.parts[0].lines[1].path, "area.c0");
    }

    #[test]
    fn what_is_shown_first_exists_and_comes_in_the_order_of_the_metric_table() {
        let mut report = fixture::realistic();
        let mut infos = fixture::infos(&report);
        for (place, name) in ["f1", "accuracy", "swap_size", "loss_bce"].iter().enumerate() {
            let id = format!("independent_set.{name}");
            if let Some(info) = infos.iter_mut().find(|info| info.id == id) {
                info.headline = Some(9 - place as u8);
            }
        }
        let names = |layout: &Layout| -> Vec<String> {
            layout.parts[0].lines.iter().map(|line| line.name.clone()).collect()
        };
        let first = layout(&report, &infos, Amount::Headline, &TERMINAL);
        assert_eq!(names(&first), ["loss_bce", "accuracy"]);
        assert_eq!(first.parts[0].tables[0].columns[0].name, "solved");
        assert_eq!(first.more, report.metrics.len() - 3);
        report.metrics.retain(|(id, _)| id.contains("best_of"));
        let nothing = layout(&report, &infos, Amount::Headline, &TERMINAL);
        assert_eq!((nothing.undefined.len(), nothing.more), (1, 0));
    }

    #[test]
    fn numbers_below_each_condition_are_columns() {
        let at = |bias: f64, count: i128| {
            Value::PerLabel(vec![("bias".into(), Value::Number(bias)), ("n".into(), Value::Count(count))])
        };
        let mut report = fixture::small();
        let curve = Value::PerLabel(vec![("0.1".into(), at(0.5, 1)), ("0.2".into(), at(2.0, 1))]);
        report.metrics = vec![("segmentation.curve".into(), curve)];
        let layout = layout(&report, &[], Amount::Headline, &TERMINAL);
        let table = &layout.parts[0].tables[0];
        assert_eq!(table.labels, ["0.1", "0.2"]);
        let texts: Vec<Vec<&str>> = table
            .columns
            .iter()
            .map(|column| column.entries.iter().map(|entry| entry.text.as_str()).collect())
            .collect();
        assert_eq!(texts, [["0.5000", "2.0000"], ["1", "1"]]);
    }
}
