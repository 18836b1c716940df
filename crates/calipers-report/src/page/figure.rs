//! One number of a report, with everything a page says about it.

use calipers_core::metric::MetricInfo;
use calipers_core::resample::Bounds;
use calipers_core::{Better, Form, Report, Value};
use serde_json::{Value as Json, json};

use super::data::Shelf;
use super::markup::Markup;
use crate::catalogue::definition;
use crate::leaf::{Leaf, children, leaf};
use crate::number::{rounded, rounded_count};
use crate::sparkline::sparkline;
use crate::table::form::in_words;
use crate::terminal::arrow;

/// The most values of one metric that are shown.
const MOST: usize = 400;
/// How deep values inside values are shown.
const DEEPEST: usize = 6;

/// A metric's value and its interval; what it means where it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The full id.
    pub id: String,
    /// The id without its family.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The intervals, in the shape of the value.
    pub intervals: Option<Bounds>,
    /// The line of the metric table.
    pub info: Option<MetricInfo>,
}

impl Figure {
    /// The metric of that id in a report.
    pub fn of(report: &Report, infos: &[MetricInfo], id: &str) -> Option<Self> {
        let family = report.protocol.get("name").and_then(Json::as_str).unwrap_or_default();
        let name = id.strip_prefix(family).and_then(|rest| rest.strip_prefix('.')).unwrap_or(id);
        Some(Self {
            id: id.into(),
            name: name.into(),
            value: report.get(id)?.clone(),
            intervals: report.intervals.as_ref().and_then(|intervals| intervals.get(id)).cloned(),
            info: infos.iter().find(|info| info.id == id).cloned(),
        })
    }

    pub(crate) fn better(&self) -> Better {
        self.info.as_ref().map_or(Better::Neither, |info| info.better)
    }

    /// The name; where it is defined, as a button that tells the definition.
    pub(crate) fn write_name(&self, html: &mut Markup, shelf: &mut Shelf) {
        match &self.info {
            Some(info) => {
                shelf.define(&self.id, || {
                    definition(info).map(|(heading, text)| json!([heading, text])).collect()
                });
                html.open("button", &[("type", "button"), ("class", "term"), ("data-metric", &self.id)]);
                html.words(&self.name).close("button");
            }
            None => _ = html.open("span", &[("class", "term-plain")]).words(&self.name).close("span"),
        }
        let (sign, said) = match self.better() {
            Better::Neither => return,
            better @ Better::Higher => (arrow(better), "higher is better"),
            better @ Better::Lower => (arrow(better), "lower is better"),
        };
        html.element(
            "span",
            &[("class", "arrow"), ("title", said), ("aria-label", said), ("role", "img")],
            sign,
        );
    }

    /// The value in a cell, everything below it folded.
    pub(crate) fn write_value(&self, html: &mut Markup) {
        let form = self.info.as_ref().map_or(Form::Plain, |info| info.form);
        write_value(html, &self.value, form, self.intervals.as_ref(), 0);
    }

    /// The interval in brackets.
    pub(crate) fn bounds(&self) -> Option<String> {
        match (self.intervals.as_ref()?.single()?, &self.value) {
            ([low, high], Value::Count(_)) if low.fract() == 0.0 && high.fract() == 0.0 => {
                Some(format!("{} – {}", rounded_count(low as i128), rounded_count(high as i128)))
            }
            (bounds, _) => Some(span(bounds)),
        }
    }
}

/// An interval for reading.
pub(crate) fn span([low, high]: [f64; 2]) -> String {
    format!("{} – {}", rounded(low), rounded(high))
}

fn write_value(html: &mut Markup, value: &Value, form: Form, intervals: Option<&Bounds>, depth: usize) {
    if let Some(words) = in_words(value, form) {
        html.element("span", &[("class", "words")], &words);
        return;
    }
    match leaf(value) {
        Some(Leaf::Undefined(reason)) => {
            let reason = if reason.is_empty() { "undefined" } else { reason };
            html.element("span", &[("class", "undefined"), ("title", reason)], "–");
        }
        Some(leaf) => _ = html.element("span", &[("class", "number")], &plain(leaf)),
        None => nested(html, value, form, intervals, depth),
    }
}

/// The values below a value: said in short, and all of them when opened.
fn nested(html: &mut Markup, value: &Value, form: Form, intervals: Option<&Bounds>, depth: usize) {
    let below = children(value);
    if let (Value::Series(values), true) = (value, below.len() > 40 || depth == 0)
        && let Some(bars) = sparkline(values)
    {
        html.element("span", &[("class", "bars"), ("aria-hidden", "true")], &bars);
    }
    let numbers: Vec<f64> = below.iter().filter_map(|(_, value)| value.as_f64()).collect();
    let range = match (
        numbers.iter().copied().min_by(f64::total_cmp),
        numbers.iter().copied().max_by(f64::total_cmp),
    ) {
        (Some(low), Some(high)) => format!("{} to {}, ", rounded(low), rounded(high)),
        _ => String::new(),
    };
    let count = below.len();
    html.open("details", &[("class", "values")]);
    html.element("summary", &[], &format!("{range}{count} {}", if count == 1 { "value" } else { "values" }));
    html.raw("<table>");
    for (key, child) in below.iter().take(MOST).filter(|_| depth < DEEPEST) {
        html.raw("<tr>").element("th", &[("scope", "row")], key).raw("<td>");
        let own = intervals.and_then(|intervals| intervals.below(key));
        write_value(html, child, form, own, depth + 1);
        html.raw("</td>");
        if intervals.is_some() {
            let bounds = own.and_then(Bounds::single).map(span).unwrap_or_default();
            html.element("td", &[("class", "interval")], &bounds);
        }
        html.raw("</tr>");
    }
    html.raw("</table>");
    if count > MOST {
        html.element("p", &[("class", "note")], &format!("and {} more, which --json holds", count - MOST));
    }
    html.raw("</details>");
}

/// A leaf rounded for reading.
pub(crate) fn plain(leaf: Leaf<'_>) -> String {
    match leaf {
        Leaf::Number(x) => rounded(x),
        Leaf::Count(n) => rounded_count(n),
        Leaf::Undefined(_) => "–".into(),
    }
}
