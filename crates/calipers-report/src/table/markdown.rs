//! A table to paste into a README.

use calipers_core::Report;
use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;

use super::{Cell, Extent, Line, interval, layout};
use crate::terminal::arrow;

const EXTENT: Extent = Extent { gather: 1, most: usize::MAX };

/// The reports as Markdown tables. What is undefined is listed by reason below its table. `infos`
/// holds the metric table of each report.
pub fn write(reports: &[Report], infos: &[Vec<MetricInfo>]) -> String {
    let tables = reports
        .iter()
        .enumerate()
        .map(|(i, report)| one(report, infos.get(i).map_or(&[][..], Vec::as_slice)));
    tables.collect::<Vec<_>>().join("\n")
}

fn one(report: &Report, infos: &[MetricInfo]) -> String {
    let layout = layout(report, infos, &EXTENT);
    let title = &layout.title;
    let preset = title.preset.as_ref().map(|preset| format!(", preset {}", name(preset))).unwrap_or_default();
    let mut text = format!("**{}**{preset}, {}\n\n", escaped(&title.protocol), title.units);
    text.push_str("| Metric | Value | Better | Range |\n|:--|--:|:-:|:--|\n");
    for section in &layout.sections {
        if layout.sections.len() > 1 && !section.title.is_empty() {
            text.push_str(&format!("| **{}** | | | |\n", escaped(section.title)));
        }
        for line in &section.lines {
            if let Some(value) = value(line) {
                let range = escaped(line.range);
                text.push_str(&format!(
                    "| {} | {value} | {} | {range} |\n",
                    name(&line.path),
                    arrow(line.better)
                ));
            }
        }
    }
    if !layout.undefined.is_empty() {
        text.push_str("\nNot defined here:\n\n");
    }
    for (reason, names) in &layout.undefined {
        let names: Vec<String> = names.iter().map(|id| name(id)).collect();
        text.push_str(&format!("- {}: {}\n", escaped(reason), names.join(", ")));
    }
    if !report.warnings.is_empty() {
        text.push_str("\nWarnings:\n\n");
    }
    for warning in &report.warnings {
        text.push_str(&format!("- {}: {}\n", name(&warning.code), escaped(&warning.message)));
    }
    text
}

/// The value column; `None` for a line that only heads others.
fn value(line: &Line) -> Option<String> {
    Some(match &line.cell {
        Cell::Number(number) => match line.interval {
            Some(bounds) => format!("{number} {}", escaped(&interval(bounds))),
            None => number.clone(),
        },
        Cell::Interval(words) | Cell::Sweep(words) => words.clone(),
        Cell::Series { ends, length, .. } => format!("{ends} ({length} values)"),
        Cell::Undefined(reason) if reason.is_empty() => "–".into(),
        Cell::Undefined(reason) => format!("– ({})", escaped(reason)),
        Cell::Heading | Cell::Omitted(_) => return None,
    })
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
    use super::*;
    use crate::fixture;
    use calipers_core::Value;

    #[test]
    fn a_report_reads_as_a_table_with_its_gaps_below() {
        let mut report = fixture::small();
        report.metrics.push(("segmentation.ece".into(), Value::undefined("not requested")));
        report.intervals = Some(fixture::intervals(&[("segmentation.miou", [0.4, 0.5])]));
        let infos = vec![fixture::infos(&report)];
        let expected = r"**segmentation**, preset `strict`, 2 units

| Metric | Value | Better | Range |
|:--|--:|:-:|:--|
| `miou` | 0.4365 \[0.4000, 0.5000\] | ↑ | \[0, 1\] |
| `iou.sky` | 0.9100 | ↑ | \[0, 1\] |
| `iou.car` | – (class occurs in neither truth nor prediction) | ↑ | \[0, 1\] |
| `pixels` | 1.701e38 | ↑ | \[0, 1\] |
| `bins` | 1.0 … – (2 values) | ↑ | \[0, 1\] |

Not defined here:

- not requested: `ece`

Warnings:

- `one-class`: one class only
";
        assert_eq!(write(&[report], &infos), expected);
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
