//! The table that a notebook shows below a cell: markup without script.

use calipers_core::Report;
use calipers_core::metric::MetricInfo;

use super::labels::{Entry, LabelTable, Window};
use super::terminal::arrow;
use super::{Amount, Cell, Extent, Line, layout};
use crate::page::Markup;

const EXTENT: Extent = Extent { gather: 1, most: 0 };
/// The most metrics and labels of the table.
const COLUMNS: usize = 12;
const LABELS: usize = 40;

/// The numbers of a report that are shown first, and its warnings.
pub fn write(report: &Report, infos: &[MetricInfo]) -> String {
    let layout = layout(report, infos, Amount::Headline, &EXTENT);
    let mut html = Markup::new();
    let title = &layout.title;
    let subject = title.subject.as_ref().map(|subject| format!("{subject}, ")).unwrap_or_default();
    let title = format!("{}: {subject}{}", title.protocol, title.units);
    let lines: Vec<[String; 3]> =
        layout.parts.iter().flat_map(|part| &part.lines).filter_map(shown).collect();
    if lines.is_empty() {
        html.element("p", &[], &title);
    } else {
        html.raw("<table>");
        html.element("caption", &[], &title);
        let sure = layout.parts.iter().any(|part| part.has_intervals());
        row(&mut html, "th", ["metric", "value"].into_iter().chain(sure.then_some("interval")));
        for [name, value, interval] in &lines {
            row(&mut html, "td", [&**name, &**value].into_iter().chain(sure.then_some(&**interval)));
        }
        html.raw("</table>");
    }
    layout.parts.iter().flat_map(|part| &part.tables).for_each(|table| by_label(&mut html, table));
    if let Some(said) = &layout.sampling {
        html.element("p", &[], said);
    }
    if !report.warnings.is_empty() {
        html.raw("<ul>");
        for warning in &report.warnings {
            html.element("li", &[], &format!("{}: {}", warning.code, warning.message));
        }
        html.raw("</ul>");
    }
    if layout.more > 0 {
        html.element("p", &[], &format!("{} more: the report is a mapping of every number", layout.more));
    }
    html.finish()
}

fn row<'c>(html: &mut Markup, tag: &'static str, cells: impl IntoIterator<Item = &'c str>) {
    html.raw("<tr>");
    cells.into_iter().for_each(|cell| _ = html.element(tag, &[], cell));
    html.raw("</tr>");
}

/// A line's name, value and interval; `None` for what is no single number.
fn shown(line: &Line) -> Option<[String; 3]> {
    let (value, interval) = match &line.cell {
        Cell::Number(number, interval) => (number.clone(), interval.clone().unwrap_or_default()),
        Cell::Interval(words) | Cell::Sweep(words) => (words.clone(), String::new()),
        Cell::Undefined(reason) => (format!("undefined: {reason}"), String::new()),
        Cell::Series { ends, length, .. } => (format!("{ends} ({length} values)"), String::new()),
        Cell::Heading | Cell::Omitted(_) => return None,
    };
    Some([format!("{} {}", line.path, arrow(line.better)), value, interval])
}

fn by_label(html: &mut Markup, table: &LabelTable) {
    let Some(window) = table.cut(COLUMNS, LABELS).into_iter().next() else { return };
    let window: Window<'_> = window;
    html.raw("<table>");
    let names: Vec<String> =
        window.columns.iter().map(|column| format!("{} {}", column.name, arrow(column.better))).collect();
    row(html, "th", std::iter::once("").chain(names.iter().map(String::as_str)));
    for (_, label, entries) in window.rows() {
        let cells: Vec<String> = entries.into_iter().map(Entry::with_interval).collect();
        row(html, "td", std::iter::once(label).chain(cells.iter().map(String::as_str)));
    }
    html.raw("</table>");
    let hidden = table.labels.len().saturating_sub(LABELS);
    if hidden > 0 {
        html.element("p", &[], &format!("and {hidden} more rows"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_notebook_shows_numbers_labels_and_warnings_as_text() {
        let mut report = fixture::small();
        report.warnings[0].message = "<script>".into();
        report.metrics[1].1 =
            calipers_core::Value::PerLabel(vec![("<b>".into(), calipers_core::Value::Number(0.5))]);
        let mut infos = fixture::infos(&report);
        infos[0].headline = Some(1);
        let html = write(&report, &infos);
        assert!(html.contains("<td>miou ↑</td><td>0.4365</td>"), "{html}");
        assert!(html.contains("<td>&lt;b&gt;</td><td>0.5000</td>"), "{html}");
        assert!(html.contains("one-class: &lt;script&gt;") && !html.contains("<script"), "{html}");
        assert!(html.contains("2 more"), "{html}");
        // Without a single number there is no table of them.
        infos[0].headline = None;
        infos[1].headline = Some(1);
        let html = write(&report, &infos);
        assert!(html.starts_with("<p>segmentation: ") && !html.contains("<th>metric</th>"), "{html}");
    }
}
