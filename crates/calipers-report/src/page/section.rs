//! A report as a section: warnings on top, headline numbers, pictures, every number, what is
//! undefined and why, the units, the protocol, the inputs.

use calipers_core::metric::MetricInfo;
use calipers_core::{Better, Report, Table};
use serde_json::{Map, Value as Json};

use super::{Block, ByLabel, Figure, Section};
use crate::chart::Picture;
use crate::leaf::{Leaf, leaf, visit_leaves};
use crate::number::shortest;

/// How many numbers are read first where nobody has chosen.
const HEADLINES: usize = 6;

/// The section of a report; `infos` is its metric table, `units` those that a page can hold,
/// of so many. The headline is the first scores of the
/// table; [`Section::with_headline`] chooses others.
pub fn report_section(
    report: &Report,
    infos: &[MetricInfo],
    units: Option<(Table, usize)>,
    pictures: Vec<Picture>,
) -> Section {
    let text = |key: &str| report.protocol.get(key).and_then(Json::as_str);
    let family = text("name").unwrap_or("report");
    let figures: Vec<Figure> =
        report.metrics.iter().filter_map(|(id, _)| Figure::of(report, infos, id)).collect();
    let score = |figure: &&Figure| {
        figure.better() != Better::Neither
            && matches!(leaf(&figure.value), Some(Leaf::Number(_) | Leaf::Count(_)))
    };
    let mut blocks = vec![
        Block::Text(summary(report)),
        Block::Warnings(report.warnings.clone()),
        Block::Headline(figures.iter().filter(score).take(HEADLINES).cloned().collect()),
    ];
    blocks.extend(ByLabel::of(report, infos, family).map(Block::ByLabel));
    blocks.push(Block::Intervals(report.intervals.clone()));
    blocks.extend(pictures.into_iter().map(Block::Picture));
    let (defined, _): (Vec<Figure>, Vec<Figure>) =
        figures.into_iter().partition(|figure| figure.value.reason().is_none());
    blocks.push(Block::Metrics(defined));
    blocks.push(Block::Undefined(reasons(report, &format!("{family}."))));
    blocks.extend(units.map(|(table, all)| Block::Units { table, all }));
    let mut parameters = Vec::new();
    flatten("", &Json::Object(report.protocol.clone()), &mut parameters);
    flatten("reading", &report.reading, &mut parameters);
    blocks.push(Block::Protocol(parameters));
    blocks.push(Block::Inputs(report.inputs.clone()));
    let heading = match text("label") {
        Some(label) => format!("{}, {label}", family.replace('_', " ")),
        None => family.replace('_', " "),
    };
    Section { heading, slug: family.replace('_', "-"), blocks }
}

impl Section {
    /// The same with these metrics as its headline, in this order; those that have no number here are
    /// left out, and without any of them the headline stays.
    #[must_use]
    pub fn with_headline(mut self, report: &Report, infos: &[MetricInfo], ids: &[impl AsRef<str>]) -> Self {
        let chosen: Vec<Figure> = ids
            .iter()
            .filter_map(|id| Figure::of(report, infos, id.as_ref()))
            .filter(|figure| figure.value.reason().is_none())
            .collect();
        for block in &mut self.blocks {
            if let Block::Headline(figures) = block
                && !chosen.is_empty()
            {
                figures.clone_from(&chosen);
            }
        }
        self
    }
}

/// What was measured, in a line.
fn summary(report: &Report) -> String {
    let text = |key: &str| report.protocol.get(key).and_then(Json::as_str);
    let mut words = vec![format!("{} unit{}", report.units, if report.units == 1 { "" } else { "s" })];
    words.extend(text("preset").map(|preset| format!("preset {preset}")));
    words.extend(
        report.protocol.get("threshold").and_then(Json::as_f64).map(|x| format!("threshold {}", shortest(x))),
    );
    words.push(format!(
        "{} input file{}",
        report.inputs.len(),
        if report.inputs.len() == 1 { "" } else { "s" }
    ));
    words.push(format!("Calipers {}", report.version));
    words.join(" · ")
}

/// Every reason with the paths it concerns.
fn reasons(report: &Report, prefix: &str) -> Vec<(String, Vec<String>)> {
    let mut shared: Vec<(String, Vec<String>)> = Vec::new();
    for (id, value) in &report.metrics {
        visit_leaves(id, value, &mut |path, leaf| {
            let Leaf::Undefined(reason) = leaf else { return };
            if reason.is_empty() {
                return;
            }
            let name = path.strip_prefix(prefix).unwrap_or(path).to_string();
            match shared.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(name),
                None => shared.push((reason.into(), vec![name])),
            }
        });
    }
    shared
}

/// The parameters as paths and values; a list of plain values is one value.
pub(crate) fn flatten(path: &str, json: &Json, out: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    let simple = |json: &Json| !json.is_object() && !json.is_array();
    match json {
        Json::Object(entries) if numbered(entries) && entries.values().all(simple) => {
            let words: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}: {}", word(value))).collect();
            out.push((path.into(), words.join(", ")));
        }
        Json::Object(entries) => each(entries, &mut |key, value| flatten(&below(key), value, out)),
        Json::Array(values) if values.iter().all(simple) => {
            let words: Vec<String> = values.iter().map(word).collect();
            out.push((path.into(), if words.is_empty() { "none".into() } else { words.join(", ") }));
        }
        Json::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                flatten(&below(&i.to_string()), value, out);
            }
        }
        Json::Null if path == "reading" => {}
        plain => out.push((path.into(), word(plain))),
    }
}

/// Whether the keys are ids rather than names.
fn numbered(entries: &Map<String, Json>) -> bool {
    !entries.is_empty() && entries.keys().all(|key| key.parse::<i64>().is_ok())
}

fn each(entries: &Map<String, Json>, visit: &mut impl FnMut(&str, &Json)) {
    entries.iter().for_each(|(key, value)| visit(key, value));
}

fn word(json: &Json) -> String {
    match json {
        Json::Null => "not given".into(),
        Json::Bool(on) => if *on { "yes" } else { "no" }.into(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use serde_json::json;

    #[test]
    fn a_report_leads_with_what_is_wrong_and_ends_with_its_inputs() {
        let report = fixture::realistic();
        let section = report_section(&report, &fixture::infos(&report), None, Vec::new());
        assert_eq!((section.heading.as_str(), section.slug.as_str()), ("independent set", "independent-set"));
        assert!(matches!(section.blocks[1], Block::Warnings(ref all) if all.len() == 2));
        assert!(matches!(section.blocks.last(), Some(Block::Inputs(_))));
        let chosen =
            section.with_headline(&report, &[], &["independent_set.accuracy", "independent_set.none"]);
        let Block::Headline(figures) = &chosen.blocks[2] else { panic!() };
        assert_eq!(figures.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>(), ["accuracy"]);
    }

    #[test]
    fn every_parameter_has_a_line() {
        let mut lines = Vec::new();
        let protocol = json!({"a": 1, "b": {"c": [1, 2], "d": null}, "e": [{"f": true}], "g": [], "h": {"0": "sky", "255": null}});
        flatten("", &protocol, &mut lines);
        let expected = [
            ("a", "1"),
            ("b.c", "1, 2"),
            ("b.d", "not given"),
            ("e.0.f", "yes"),
            ("g", "none"),
            ("h", "0: sky, 255: not given"),
        ];
        assert_eq!(lines, expected.map(|(path, value)| (path.to_string(), value.to_string())));
    }

    #[test]
    fn reasons_are_said_once_with_every_path() {
        let reasons = reasons(&fixture::realistic(), "independent_set.");
        assert_eq!(reasons[0].0, "no samples given");
        assert_eq!(reasons[0].1.len(), 3);
        assert_eq!(reasons[2], ("graph has no nodes".into(), vec!["solved.large".into()]));
    }
}
