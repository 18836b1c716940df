//! Numbers by class, group, type or condition: labels by metrics, in one table.

use calipers_core::metric::MetricInfo;
use calipers_core::{Report, Value};

use super::data::Shelf;
use super::figure::Figure;
use super::markup::Markup;
use crate::table::first_labels;
use crate::table::labels::{Entry, LabelTable};

/// The most labels in the markup.
const MOST: usize = 1_000;
/// From so many labels on the table is scrolled within the page.
const TALL: usize = 25;

/// The table of labels that is shown first, as the terminal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ByLabel {
    table: LabelTable,
    /// What is told of each column.
    names: Vec<Figure>,
}

impl ByLabel {
    /// The table of a report; none where no number is by label.
    pub(crate) fn of(report: &Report, infos: &[MetricInfo], family: &str) -> Option<Self> {
        let table = first_labels(report, infos)?;
        let named = |name: &String| {
            let id = format!("{family}.{name}");
            let info = infos.iter().find(|info| info.id == id).cloned();
            Figure { id, name: name.clone(), value: Value::undefined(""), intervals: None, info }
        };
        let names = table.columns.iter().map(|column| named(&column.name)).collect();
        Some(Self { table, names })
    }

    /// The table: a row for each label, or for each metric where these are more.
    pub(crate) fn write(&self, html: &mut Markup, shelf: &mut Shelf) {
        let labels = &self.table.labels[..self.table.labels.len().min(MOST)];
        let class = if labels.len() > TALL { "scroll tall" } else { "scroll" };
        html.open(
            "div",
            &[("class", class), ("tabindex", "0"), ("role", "group"), ("aria-label", "Numbers by label")],
        );
        html.raw("<table class=\"side\"><thead><tr><td></td>");
        let is_down = labels.len() < self.names.len();
        if is_down {
            labels
                .iter()
                .for_each(|label| _ = html.element("th", &[("scope", "col"), ("class", "number")], label));
        } else {
            for name in &self.names {
                html.raw("<th scope=\"col\" class=\"number\">");
                name.write_name(html, shelf);
                html.raw("</th>");
            }
        }
        html.raw("</tr></thead><tbody>\n");
        if is_down {
            for (name, column) in self.names.iter().zip(&self.table.columns) {
                html.raw("<tr><th scope=\"row\">");
                name.write_name(html, shelf);
                html.raw("</th>");
                column.entries.iter().take(labels.len()).for_each(|entry| cell(html, entry));
                html.raw("</tr>\n");
            }
        } else {
            for (row, label) in labels.iter().enumerate() {
                html.raw("<tr>").element("th", &[("scope", "row")], label);
                self.table.columns.iter().for_each(|column| cell(html, &column.entries[row]));
                html.raw("</tr>\n");
            }
        }
        html.raw("</tbody></table></div>\n");
        let hidden = self.table.labels.len() - labels.len();
        if hidden > 0 {
            html.element("p", &[("class", "note")], &format!("and {hidden} more rows, below All numbers"));
        }
    }
}

/// A number with its interval below it, or why there is none.
fn cell(html: &mut Markup, entry: &Entry) {
    match &entry.reason {
        Some(reason) => {
            let reason = if reason.is_empty() { "undefined" } else { reason };
            html.element("td", &[("class", "number undefined"), ("title", reason)], &entry.text);
        }
        None => {
            html.raw("<td class=\"number\">").text(&entry.text);
            if let Some(interval) = &entry.interval {
                html.raw("<br>").element("span", &[("class", "interval")], interval);
            }
            html.raw("</td>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn labels_are_rows_unless_metrics_are_more() {
        let mut report = fixture::small();
        let value = |labels: usize| {
            Value::PerLabel((0..labels).map(|i| (format!("<{i}>"), Value::Number(0.5))).collect())
        };
        let mut written = |labels: usize| {
            report.metrics = (0..3).map(|i| (format!("segmentation.m{i}"), value(labels))).collect();
            let table = ByLabel::of(&report, &fixture::infos(&report), "segmentation").unwrap();
            let mut html = Markup::new();
            table.write(&mut html, &mut Shelf::new());
            html.finish()
        };
        let (few, many) = (written(2), written(30));
        assert_eq!((few.matches("<tr>").count(), many.matches("<tr>").count()), (4, 31));
        assert!(few.contains("&lt;1&gt;") && !few.contains("tall") && many.contains("scroll tall"), "{many}");
    }
}
