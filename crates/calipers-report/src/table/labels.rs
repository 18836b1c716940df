//! Numbers by class, group, type or condition as one table: labels by metrics.

use std::collections::BTreeMap;

use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;
use calipers_core::resample::Bounds;
use calipers_core::{Better, Form, Value};

use super::Spread;
use super::digits::Digits;
use super::form::in_words;
use crate::leaf::{Leaf, leaf};

/// Labels, and what every metric has for each of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelTable {
    /// Whether labels are alternatives, of which one is the best: groups of runs, not classes.
    pub(crate) is_choice: bool,
    pub(crate) labels: Vec<String>,
    pub(crate) columns: Vec<Column>,
}

/// A metric, or one of the numbers that a metric has for each label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// The id without its family, or the key below the label.
    pub(crate) name: String,
    pub(crate) better: Better,
    /// Its place among the numbers that are shown first.
    pub(crate) headline: Option<u8>,
    /// One for each label.
    pub(crate) entries: Vec<Entry>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) number: Option<f64>,
    pub(crate) interval: Option<String>,
    /// Why there is no number.
    pub(crate) reason: Option<String>,
}

impl Entry {
    /// The number and its interval.
    pub(crate) fn with_interval(&self) -> String {
        match &self.interval {
            Some(interval) => format!("{} {interval}", self.text),
            None => self.text.clone(),
        }
    }
}

impl Column {
    /// The best of the numbers, unless all are alike.
    fn best(&self) -> Option<f64> {
        let numbers = || self.entries.iter().filter_map(|entry| entry.number);
        let best = match self.better {
            Better::Higher => numbers().max_by(f64::total_cmp),
            Better::Lower => numbers().min_by(f64::total_cmp),
            Better::Neither => None,
        }?;
        numbers().any(|number| number.total_cmp(&best).is_ne()).then_some(best)
    }

    /// Whether each entry is the best of its column, where labels are alternatives.
    pub(crate) fn are_best(&self, table: &LabelTable) -> Vec<bool> {
        let best = self.best().filter(|_| table.is_choice);
        let is_best =
            |entry: &Entry| entry.number.zip(best).is_some_and(|(x, best)| x.total_cmp(&best).is_eq());
        self.entries.iter().map(is_best).collect()
    }

    pub(crate) fn is_defined(&self) -> bool {
        self.entries.iter().any(|entry| entry.reason.is_none())
    }
}

/// A metric's columns and their labels: one column, or one for each number that every label has. `None`
/// where labels hold something else. `line` finds the line of the metric table behind a name.
pub(crate) fn columns<'v>(
    name: &str,
    value: &'v Value,
    bounds: Option<&Bounds>,
    spread: Spread,
    line: &dyn Fn(&str) -> Option<&'v MetricInfo>,
) -> Option<(Vec<String>, Vec<Column>)> {
    let Value::PerLabel(labelled) = value else { return None };
    let (first, _) = labelled.first().zip(Some(()))?;
    let labels: Vec<String> = labelled.iter().map(|(label, _)| label.clone()).collect();
    let own = line(name);
    let form = own.map_or(Form::Plain, |info| info.form);
    let below = |label: &str| bounds.and_then(|bounds| bounds.below(label));
    let is_plain = |value: &Value| leaf(value).is_some() || in_words(value, form).is_some();
    if labelled.iter().all(|(_, value)| is_plain(value)) {
        let cells = labelled.iter().map(|(label, value)| (value, below(label).and_then(Bounds::single)));
        return Some((labels, vec![column(name, own, (form, spread), &cells.collect::<Vec<_>>())]));
    }
    let keys = keys(&first.1)?;
    let alike = |value: &Value| {
        self::keys(value).is_some_and(|other| other == keys)
            && matches!(value, Value::PerLabel(inner) if inner.iter().all(|(_, value)| leaf(value).is_some()))
    };
    if !labelled.iter().all(|(_, value)| alike(value)) {
        return None;
    }
    let turned = keys.iter().enumerate().map(|(k, key)| {
        let cell = |(label, value): &'v (String, Value)| {
            let Value::PerLabel(inner) = value else { return None };
            let bounds = below(label).and_then(|bounds| bounds.below(key)).and_then(Bounds::single);
            Some((&inner.get(k)?.1, bounds))
        };
        column(key, line(key), (form, spread), &labelled.iter().filter_map(cell).collect::<Vec<_>>())
    });
    Some((labels, turned.collect()))
}

fn keys(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::PerLabel(entries) => Some(entries.iter().map(|(key, _)| key.as_str()).collect()),
        _ => None,
    }
}

fn column(
    name: &str,
    info: Option<&MetricInfo>,
    (form, spread): (Form, Spread),
    cells: &[(&Value, Option<[f64; 2]>)],
) -> Column {
    let numbers = cells.iter().filter_map(|(value, bounds)| match leaf(value)? {
        Leaf::Number(x) => Some((x, *bounds)),
        _ => None,
    });
    let digits = Digits::of_column(numbers);
    let entry = |(value, bounds): &(&Value, Option<[f64; 2]>)| match leaf(value) {
        Some(found) => Entry {
            text: digits.leaf(found),
            number: (!matches!(found, Leaf::Undefined(_))).then(|| found.as_f64()),
            interval: bounds.map(|bounds| match found {
                Leaf::Count(_) => Digits::of_count(bounds).spread(spread, found.as_f64(), bounds),
                _ => digits.spread(spread, found.as_f64(), bounds),
            }),
            reason: match found {
                Leaf::Undefined(reason) => Some(reason.to_owned()),
                _ => None,
            },
        },
        None => {
            let text = in_words(value, form).unwrap_or_default();
            Entry { text, number: None, interval: None, reason: None }
        }
    };
    Column {
        name: name.to_owned(),
        better: info.map_or(Better::Neither, |info| info.better),
        headline: info.and_then(|info| info.headline),
        entries: cells.iter().map(entry).collect(),
    }
}

/// The columns of the same labels side by side, tables in order of their first column.
pub(crate) fn joined(columns: impl IntoIterator<Item = (Vec<String>, Vec<Column>)>) -> Vec<LabelTable> {
    let mut tables: Vec<LabelTable> = Vec::new();
    for (labels, columns) in columns {
        match tables.iter_mut().find(|table| table.labels == labels) {
            Some(table) => table.columns.extend(columns),
            None => tables.push(LabelTable { is_choice: false, labels, columns }),
        }
    }
    tables
}

impl LabelTable {
    pub(crate) fn has_intervals(&self) -> bool {
        self.columns.iter().any(|column| column.entries.iter().any(|entry| entry.interval.is_some()))
    }

    /// Whether metrics fit better as rows than as columns, of which at most this many stand side by side.
    pub(crate) fn is_tall(&self, columns: usize) -> bool {
        let labels = self.labels.len();
        labels <= columns && labels < self.columns.len() && (labels == 1 || self.columns.len() > columns)
    }

    /// Tables of at most so many columns, about as many in each.
    pub(crate) fn balanced(&self, columns: usize, labels: usize) -> Vec<Window<'_>> {
        let tables = self.columns.len().div_ceil(columns.max(1)).max(1);
        self.cut(self.columns.len().div_ceil(tables), labels)
    }

    /// Tables of at most this many columns and labels.
    pub(crate) fn cut(&self, columns: usize, labels: usize) -> Vec<Window<'_>> {
        let rows = (0..self.labels.len()).step_by(labels.max(1));
        rows.flat_map(|row| {
            let rows = row..(row + labels.max(1)).min(self.labels.len());
            self.columns.chunks(columns.max(1)).map(move |columns| Window {
                labels: &self.labels[rows.clone()],
                columns,
                first: rows.start,
            })
        })
        .collect()
    }

    /// Why there are dashes: each reason once, with the numbers it stands for.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, BTreeMap<usize, Vec<&str>>)> = Vec::new();
        for column in &self.columns {
            for (row, entry) in column.entries.iter().enumerate() {
                let Some(reason) = entry.reason.as_deref().filter(|reason| !reason.is_empty()) else {
                    continue;
                };
                let at = reasons.iter().position(|(known, _)| *known == reason).unwrap_or_else(|| {
                    reasons.push((reason, BTreeMap::new()));
                    reasons.len() - 1
                });
                reasons[at].1.entry(row).or_default().push(&column.name);
            }
        }
        reasons
            .into_iter()
            .map(|(reason, rows)| format!("{}: {}", printable(reason), self.named(&rows)))
            .collect()
    }

    /// The numbers of some labels in words; labels that lack the same numbers together.
    fn named(&self, rows: &BTreeMap<usize, Vec<&str>>) -> String {
        let mut alike: Vec<(&[&str], Vec<String>)> = Vec::new();
        for (row, names) in rows {
            let label = printable(&self.labels[*row]);
            match alike.iter_mut().find(|(known, _)| *known == names.as_slice()) {
                Some((_, labels)) => labels.push(label),
                None => alike.push((names, vec![label])),
            }
        }
        let words = alike
            .into_iter()
            .map(|(names, labels)| format!("{} of {}", printable(&names.join(", ")), labels.join(", ")));
        words.collect::<Vec<_>>().join("; ")
    }
}

/// A part of a table.
pub(crate) struct Window<'t> {
    pub(crate) labels: &'t [String],
    pub(crate) columns: &'t [Column],
    first: usize,
}

impl<'t> Window<'t> {
    /// All of a table.
    pub(crate) fn of(table: &'t LabelTable) -> Self {
        Self { labels: &table.labels, columns: &table.columns, first: 0 }
    }

    /// Whether it lies below at most this many labels.
    pub(crate) fn is_below(&self, labels: usize) -> bool {
        self.first >= labels
    }

    /// The place of each row in the whole table, its label and its cells.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &str, Vec<&Entry>)> {
        self.labels.iter().enumerate().map(|(row, label)| {
            (
                self.first + row,
                label.as_str(),
                self.columns.iter().map(|column| &column.entries[self.first + row]).collect(),
            )
        })
    }
}
