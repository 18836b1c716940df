//! A report as sections of lines: what the terminal, Markdown and LaTeX tables have in common.

pub mod csv;
pub(crate) mod form;
pub mod grid;
pub mod latex;
pub mod markdown;
mod matrix;
pub mod terminal;

use std::collections::BTreeMap;

use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;
use calipers_core::resample::Bounds;
use calipers_core::{Better, Form, Report, Value};

use self::form::in_words;
use crate::leaf::{Leaf, children, leaf};
use crate::number::{rounded, rounded_count, shortest};
use crate::sparkline::sparkline;

/// The lines under one heading of the metric table.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<Line>,
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
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) better: Better,
    pub(crate) range: &'static str,
}

/// What stands in the value column.
pub(crate) enum Cell {
    /// A number or count, rounded for reading.
    Number(String),
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
    /// So many further values are left out.
    Omitted(usize),
}

/// A report laid out for a table.
pub(crate) struct Layout {
    pub(crate) title: Title,
    pub(crate) sections: Vec<Section>,
    /// Ids without a value that share a reason, by reason in report order.
    pub(crate) undefined: Vec<(String, Vec<String>)>,
}

/// What a table says above itself.
pub(crate) struct Title {
    pub(crate) protocol: String,
    /// What is measured, where the protocol has a label and a threshold for it.
    pub(crate) subject: Option<String>,
    pub(crate) preset: Option<String>,
    pub(crate) units: String,
}

/// How much a table shows.
pub(crate) struct Extent {
    /// From how many ids on a shared reason is said once below the table.
    pub(crate) gather: usize,
    /// The most values shown of one metric.
    pub(crate) most: usize,
}

/// Lays out a report; `infos` is its metric table.
pub(crate) fn layout(report: &Report, infos: &[MetricInfo], extent: &Extent) -> Layout {
    let text = |key: &str| report.protocol.get(key).and_then(|value| value.as_str()).map(String::from);
    let title = Title {
        protocol: text("name").unwrap_or_default(),
        subject: text("label")
            .zip(report.protocol.get("threshold").and_then(|value| value.as_f64()))
            .map(|(label, threshold)| format!("{}, threshold {}", printable(&label), shortest(threshold))),
        preset: text("preset"),
        units: format!("{} unit{}", report.units, if report.units == 1 { "" } else { "s" }),
    };
    let prefix = format!("{}.", title.protocol);
    let infos: BTreeMap<&str, &MetricInfo> = infos.iter().map(|info| (info.id.as_str(), info)).collect();
    let mut undefined = shared_reasons(report, &prefix);
    undefined.retain(|(_, names)| names.len() >= extent.gather);

    let mut sections: Vec<Section> = Vec::new();
    for (id, value) in &report.metrics {
        if value.reason().is_some_and(|reason| undefined.iter().any(|(gathered, _)| gathered == reason)) {
            continue;
        }
        let info = infos.get(id.as_str());
        let name = id.strip_prefix(&prefix).unwrap_or(id).to_string();
        let mut lines = Vec::new();
        let bounds = report.intervals.as_ref().and_then(|intervals| intervals.get(id));
        let form = info.map_or(Form::Plain, |info| info.form);
        push_lines(&mut lines, 0, (name.clone(), name), (value, bounds), (form, extent.most));
        for line in &mut lines {
            line.better = info.map_or(Better::Neither, |info| info.better);
            line.range = info.map_or("", |info| info.range.text);
        }
        let group = info.map_or("", |info| info.group);
        match sections.iter_mut().find(|section| section.title == group) {
            Some(section) => section.lines.extend(lines),
            None => sections.push(Section { title: group, lines }),
        }
    }
    Layout { title, sections, undefined }
}

/// The names of the metrics that are undefined as a whole, by reason.
fn shared_reasons(report: &Report, prefix: &str) -> Vec<(String, Vec<String>)> {
    let mut shared: Vec<(String, Vec<String>)> = Vec::new();
    for (id, value) in &report.metrics {
        let Some(reason) = value.reason().filter(|reason| !reason.is_empty()) else { continue };
        let name = id.strip_prefix(prefix).unwrap_or(id).to_string();
        match shared.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => shared.push((reason.into(), vec![name])),
        }
    }
    shared
}

fn push_lines(
    lines: &mut Vec<Line>,
    depth: usize,
    (name, path): (String, String),
    (value, bounds): (&Value, Option<&Bounds>),
    (form, most): (Form, usize),
) {
    let line = |depth: usize, name: String, path: String, cell: Cell| Line {
        depth,
        name,
        path,
        cell,
        interval: bounds.and_then(Bounds::single),
        better: Better::Neither,
        range: "",
    };
    let cell = cell(value, form);
    let nested = matches!(cell, Cell::Heading);
    lines.push(line(depth, name, path.clone(), cell));
    if nested {
        let below = children(value);
        let left_out = below.len().saturating_sub(most);
        for (key, child) in below.into_iter().take(most) {
            let below = bounds.and_then(|bounds| bounds.below(&key));
            let names = (key.clone(), format!("{path}.{key}"));
            push_lines(lines, depth + 1, names, (child, below), (form, most));
        }
        if left_out > 0 {
            lines.push(line(depth + 1, String::new(), path, Cell::Omitted(left_out)));
        }
    }
}

fn cell(value: &Value, form: Form) -> Cell {
    if let Some(words) = in_words(value, form) {
        return if form == Form::Interval { Cell::Interval(words) } else { Cell::Sweep(words) };
    }
    match (value, leaf(value)) {
        (_, Some(Leaf::Undefined(reason))) => Cell::Undefined(reason.into()),
        (_, Some(leaf)) => Cell::Number(short(leaf)),
        (Value::Series(values), None) => sparkline(values).map_or(Cell::Heading, |bars| Cell::Series {
            bars,
            ends: ends(values),
            length: values.len(),
        }),
        _ => Cell::Heading,
    }
}

fn ends(values: &[Value]) -> String {
    let end = |value: Option<&Value>| value.and_then(leaf).map(short).unwrap_or_default();
    match values.len() {
        0 => "empty".into(),
        1 => end(values.first()),
        _ => format!("{} … {}", end(values.first()), end(values.last())),
    }
}

fn short(leaf: Leaf<'_>) -> String {
    match leaf {
        Leaf::Number(x) => rounded(x),
        Leaf::Count(n) => rounded_count(n),
        Leaf::Undefined(_) => "–".into(),
    }
}

/// The interval in brackets, rounded for reading.
pub(crate) fn interval([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", rounded(low), rounded(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const TERMINAL: Extent = Extent { gather: 3, most: 2 };

    #[test]
    fn groups_come_in_order_of_first_appearance() {
        let report = fixture::realistic();
        let layout = layout(&report, &fixture::infos(&report), &TERMINAL);
        let titles: Vec<_> = layout.sections.iter().map(|section| section.title).collect();
        assert_eq!(titles, ["Loss", "Prediction", "Trajectory", "Totals"]);
    }

    #[test]
    fn a_reason_shared_by_many_ids_is_said_once() {
        let report = fixture::realistic();
        let layout = layout(&report, &[], &TERMINAL);
        let gathered = vec!["best_of_size".into(), "best_of_approx_ratio".into(), "best_of_curve".into()];
        assert_eq!(layout.undefined, [("no samples given".to_string(), gathered)]);
        let lines = layout.sections.iter().flat_map(|section| &section.lines);
        let alone = |line: &&Line| matches!(&line.cell, Cell::Undefined(reason) if reason.contains("swap"));
        assert_eq!(lines.filter(alone).count(), 1);
    }

    #[test]
    fn more_values_than_fit_are_counted() {
        let mut report = fixture::small();
        let labels = (0..5).map(|i| (format!("c{i}"), Value::Count(i))).collect();
        report.metrics = vec![("segmentation.area".into(), Value::PerLabel(labels))];
        let layout = layout(&report, &[], &TERMINAL);
        let last = layout.sections[0].lines.last().unwrap();
        assert!(matches!(last.cell, Cell::Omitted(3)));
        assert_eq!(layout.sections[0].lines[1].path, "area.c0");
    }
}
