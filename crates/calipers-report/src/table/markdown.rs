//! A table to paste into a README.

use calipers_core::Report;
use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;

use super::labels::{Entry, LabelTable, Window};
use super::terminal::arrow;
use super::{Cell, Extent, Layout, Line, Part, Shown, and_more, layout};

const EXTENT: Extent = Extent { gather: 1, most: usize::MAX };
/// The most metrics side by side.
const COLUMNS: usize = 8;

/// The reports as Markdown tables. What is undefined is listed by reason below its table. `infos`
/// holds the metric table of each report.
pub fn write(reports: &[Report], infos: &[Vec<MetricInfo>], shown: impl Into<Shown>) -> String {
    let shown = shown.into();
    let tables = reports.iter().enumerate().map(|(i, report)| {
        let infos = infos.get(i).map_or(&[][..], Vec::as_slice);
        one(report, &layout(report, infos, shown, &EXTENT))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn one(report: &Report, layout: &Layout) -> String {
    let title = &layout.title;
    let preset = title.preset.as_ref().map(|preset| format!(", preset {}", name(preset))).unwrap_or_default();
    let subject = title.subject.as_ref().map(|subject| format!(", {}", escaped(subject))).unwrap_or_default();
    let mut text = format!("**{}**{subject}{preset}, {}\n", escaped(&title.protocol), title.units);
    for part in &layout.parts {
        if !part.title.is_empty() {
            text.push_str(&format!("\n**{}**\n", escaped(part.title)));
        }
        lines(&mut text, part, layout);
        part.tables.iter().for_each(|table| by_label(&mut text, table));
    }
    let reasons: Vec<String> =
        layout.parts.iter().flat_map(|part| &part.tables).flat_map(LabelTable::reasons).collect();
    let undefined = layout.undefined.iter().map(|(reason, names)| {
        let names: Vec<String> = names.iter().map(|id| name(id)).collect();
        format!("{}: {}", escaped(reason), names.join(", "))
    });
    list(&mut text, "Not defined here", undefined.chain(reasons.iter().map(|reason| escaped(reason))));
    let warnings = report.warnings.iter();
    let warnings = warnings.map(|warning| format!("{}: {}", name(&warning.code), escaped(&warning.message)));
    list(&mut text, "Warnings", warnings);
    let more = (layout.more > 0).then(|| and_more(layout.more));
    for said in layout.sampling.iter().chain(&more) {
        text.push_str(&format!("\n{}\n", escaped(said)));
    }
    text
}

fn list(text: &mut String, heading: &str, entries: impl Iterator<Item = String>) {
    for (i, entry) in entries.enumerate() {
        if i == 0 {
            text.push_str(&format!("\n{heading}:\n\n"));
        }
        text.push_str(&format!("- {entry}\n"));
    }
}

fn row(text: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().collect();
    text.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Metrics one below the other, with their intervals where there are any.
fn lines(text: &mut String, part: &Part, layout: &Layout) {
    let rows: Vec<(String, String, Option<String>)> = part.lines.iter().filter_map(shown).collect();
    if rows.is_empty() {
        return;
    }
    text.push('\n');
    let share = layout.share.as_ref().filter(|_| rows.iter().any(|(.., interval)| interval.is_some()));
    let interval = share.map(|share| format!("{share} % interval"));
    row(text, ["Metric".into(), "Value".into()].into_iter().chain(interval.clone()));
    row(text, [":--".into(), "--:".into()].into_iter().chain(interval.map(|_| ":--".into())));
    for (metric, value, interval) in rows {
        row(text, [metric, value].into_iter().chain(share.map(|_| interval.unwrap_or_default())));
    }
}

/// A line's name with its direction, its value and its interval; `None` for a line that only heads others.
fn shown(line: &Line) -> Option<(String, String, Option<String>)> {
    let (value, interval) = match &line.cell {
        Cell::Number(number, interval) => (number.clone(), interval.as_deref().map(escaped)),
        Cell::Interval(words) | Cell::Sweep(words) => (words.clone(), None),
        Cell::Series { ends, length, .. } => (format!("{ends} ({length} values)"), None),
        Cell::Undefined(reason) if reason.is_empty() => ("–".into(), None),
        Cell::Undefined(reason) => (format!("– ({})", escaped(reason)), None),
        Cell::Heading | Cell::Omitted(_) => return None,
    };
    Some((format!("{} {}", name(&line.path), arrow(line.better)).trim_end().to_owned(), value, interval))
}

/// Labels by metrics; metrics by labels where there are few labels and many metrics. Where labels are
/// alternatives the best of them is bold.
fn by_label(text: &mut String, table: &LabelTable) {
    let cell = |(entry, is_best): (&Entry, bool)| match (is_best, escaped(&entry.with_interval())) {
        (true, text) => format!("**{text}**"),
        (false, text) => text,
    };
    if table.is_tall(COLUMNS) {
        let whole = Window::of(table);
        heading(text, whole.labels.iter().map(|label| escaped(label)));
        for column in whole.columns {
            let first = format!("{} {}", name(&column.name), arrow(column.better));
            let cells = column.entries.iter().zip(column.are_best(table)).map(cell);
            row(text, std::iter::once(first.trim_end().to_owned()).chain(cells));
        }
        return;
    }
    for window in table.balanced(COLUMNS, usize::MAX) {
        heading(
            text,
            window.columns.iter().map(|column| {
                format!("{} {}", name(&column.name), arrow(column.better)).trim_end().to_owned()
            }),
        );
        let best: Vec<Vec<bool>> = window.columns.iter().map(|column| column.are_best(table)).collect();
        for (at, label, entries) in window.rows() {
            let best = best.iter().map(|column| column[at]);
            row(text, std::iter::once(escaped(label)).chain(entries.into_iter().zip(best).map(cell)));
        }
    }
}

fn heading(text: &mut String, names: impl Iterator<Item = String>) {
    let names: Vec<String> = names.collect();
    text.push('\n');
    let rules = names.iter().map(|_| "--:".into());
    let rules: Vec<String> = std::iter::once(":--".into()).chain(rules).collect();
    row(text, std::iter::once(String::new()).chain(names));
    row(text, rules);
}

/// A name as code where that needs no escape, else as text.
pub(crate) fn name(name: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    if !name.is_empty() && name.chars().all(simple) { format!("`{name}`") } else { escaped(name) }
}

/// Text that Markdown and HTML show as it is, on one line of a table.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in printable(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => safe.extend(['\\', c]),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::Amount;
    use super::*;
    use crate::fixture;
    use calipers_core::Value;

    #[test]
    fn a_report_reads_as_a_table_with_its_gaps_below() {
        let mut report = fixture::small();
        report.metrics.push(("segmentation.ece".into(), Value::undefined("not requested")));
        let mut intervals = fixture::intervals(&[("segmentation.miou", [0.4, 0.5])]);
        intervals.missing.clear();
        report.intervals = Some(intervals);
        let infos = vec![fixture::infos(&report)];
        let expected = r"**segmentation**, preset `strict`, 2 units

**Prediction**

| Metric | Value | 95 % interval |
| :-- | --: | :-- |
| `miou` ↑ | 0.436 | \[0.400, 0.500\] |
| `pixels` ↑ | 1.701e38 |  |
| `bins` ↑ | 1.0000 … – (2 values) |  |

|  | `iou` ↑ |
| :-- | --: |
| sky | 0.9100 |
| car | – |

Not defined here:

- not requested: `ece`
- class occurs in neither truth nor prediction: iou of car

Warnings:

- `one-class`: one class only

Intervals hold 95 % (expanded): 2000 resamples of 14 clusters, clusters by folder, seed 0.
";
        assert_eq!(write(&[report], &infos, Amount::Everything), expected);
    }

    #[test]
    fn many_metrics_of_few_labels_are_rows() {
        let mut report = fixture::small();
        let value = || Value::PerLabel(vec![("a".into(), Value::Count(1)), ("b".into(), Value::Count(2))]);
        report.metrics = (0..9).map(|i| (format!("segmentation.m{i}"), value())).collect();
        let text = write(&[report], &[], Amount::Everything);
        assert!(text.contains("|  | a | b |\n| :-- | --: | --: |\n| `m0` | 1 | 2 |\n"), "{text}");
    }

    #[test]
    fn hostile_text_is_neither_html_nor_a_cell_border() {
        assert_eq!(
            escaped("<img src=x onerror=y>|`a`\n[x](javascript:1)"),
            "&lt;img src=x onerror=y&gt;\\|\\`a\\`\\\\n\\[x\\](javascript:1)"
        );
        assert_eq!(name("a|b"), "a\\|b");
        assert_eq!(name("f1_micro"), "`f1_micro`");
    }
}
