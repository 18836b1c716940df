//! Every metric, and one metric in full: what `calipers list`, `calipers explain` and `docs/metrics/` say.

use calipers_core::Better;
use calipers_core::metric::MetricInfo;
use serde_json::{Value as Json, json};

use crate::markdown::{escaped, name};
use crate::terminal::{Style, arrow};
use crate::text::{Paint, columns, left, short, wrapped};

/// A family: its name, what it scores in a few words, and its metric table.
pub type Family<'a> = (&'a str, &'a str, Vec<MetricInfo>);

/// Every metric of every family, one per line under its group.
pub fn list(families: &[Family<'_>], style: Style) -> String {
    let mut blocks = Vec::new();
    for (family, summary, infos) in families {
        let mut text = format!("{}  {summary}\n", Paint::Bold.on(family, style.colour));
        let ids = infos.iter().map(|info| columns(&info.id)).max().unwrap_or(0);
        let room = style.width.saturating_sub(4 + ids + 2 + 1 + 2).max(20);
        for (group, infos) in grouped(infos) {
            text.push_str(&format!("\n  {}\n", Paint::Bold.on(group, style.colour)));
            for info in infos {
                let arrow = Paint::Green.on(&left(arrow(info.better), 1), style.colour);
                let measures = Paint::Dim.on(&short(&joined(info.measures), room), style.colour);
                text.push_str(&format!("    {}  {arrow}  {measures}\n", left(&info.id, ids)));
            }
        }
        blocks.push(text);
    }
    blocks.join("\n")
}

/// One metric's definition under fixed headings.
pub fn explain(info: &MetricInfo, style: Style) -> String {
    const HEADING: usize = 16;
    let mut text = format!("{}\n\n", Paint::Bold.on(&info.id, style.colour));
    let (example, value) = info.example;
    let example = (!example.is_empty()).then(|| ("Example", format!("{example}: {value}")));
    let entries = definition(info).map(|(heading, entry)| match heading {
        "Better" => (heading, format!("{entry} {}", arrow(info.better)).trim_end().to_owned()),
        _ => (heading, entry.to_owned()),
    });
    for (heading, entry) in entries.chain(example) {
        let room = style.width.saturating_sub(2 + HEADING).clamp(24, 100);
        for (i, line) in entry.lines().flat_map(|line| wrapped(line, room)).enumerate() {
            let heading = if i == 0 { heading } else { "" };
            let line = format!("  {}{line}", Paint::Dim.on(&left(heading, HEADING), style.colour && i == 0));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// What a definition says under its headings, without those that have nothing to say.
pub(crate) fn definition(info: &MetricInfo) -> impl Iterator<Item = (&'static str, &'static str)> {
    let better = match info.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither: a description, not a score",
    };
    let undefined = if info.undefined.is_empty() { "never" } else { info.undefined };
    let entries = [
        ("Measures", info.measures),
        ("Formula", info.formula),
        ("Range", info.range.text),
        ("Better", better),
        ("Undefined when", undefined),
        ("Differs from", info.differs),
        ("Reference", info.reference),
    ];
    entries.into_iter().filter(|(_, entry)| !entry.is_empty())
}

/// The metric tables of every family for `docs/metrics/`.
pub fn markdown_table(families: &[Family<'_>]) -> String {
    let mut blocks = Vec::new();
    for (family, summary, infos) in families {
        let mut text = format!("### {}: {}\n\n", name(family), escaped(summary));
        text.push_str("| Metric | Better | Range | Measures |\n|:--|:-:|:--|:--|\n");
        for (group, infos) in grouped(infos) {
            text.push_str(&format!("| **{}** | | | |\n", escaped(group)));
            for info in infos {
                let id = info.id.strip_prefix(&format!("{family}.")).unwrap_or(&info.id);
                let (range, measures) = (escaped(info.range.text), escaped(&joined(info.measures)));
                text.push_str(&format!("| {} | {} | {range} | {measures} |\n", name(id), arrow(info.better)));
            }
        }
        blocks.push(text);
    }
    blocks.join("\n")
}

/// Every definition in full, for programs: an array of families with their metrics.
pub fn json(families: &[Family<'_>]) -> String {
    let families = families.iter().map(|(family, summary, infos)| {
        let metrics: Vec<Json> = infos.iter().map(|info| in_full(family, info)).collect();
        json!({"family": family, "summary": summary, "metrics": metrics})
    });
    format!("{:#}\n", Json::Array(families.collect()))
}

fn in_full(family: &str, info: &MetricInfo) -> Json {
    let better = match info.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    };
    let (example, value) = info.example;
    json!({
        "id": info.id,
        "name": info.id.strip_prefix(&format!("{family}.")).unwrap_or(&info.id),
        "group": info.group,
        "better": better,
        "range": info.range.text,
        "headline": info.headline,
        "measures": info.measures,
        "formula": info.formula,
        "undefined": info.undefined,
        "differs": info.differs,
        "reference": info.reference,
        "example": {"name": example, "value": value},
    })
}

/// The lines of a metric table by group, groups in order of first appearance.
fn grouped(infos: &[MetricInfo]) -> Vec<(&str, Vec<&MetricInfo>)> {
    let mut groups: Vec<(&str, Vec<&MetricInfo>)> = Vec::new();
    for info in infos {
        match groups.iter_mut().find(|(group, _)| *group == info.group) {
            Some((_, members)) => members.push(info),
            None => groups.push((info.group, vec![info])),
        }
    }
    groups
}

/// Text of several lines as one.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::info;

    const STYLE: Style = Style { colour: false, width: 60 };

    fn families() -> Vec<Family<'static>> {
        let infos = vec![
            info("graphs.f1", "Agreement", Better::Higher),
            info("graphs.loss", "Loss", Better::Lower),
            info("graphs.nodes_total", "Agreement", Better::Neither),
        ];
        vec![("graphs", "sets of nodes", infos)]
    }

    #[test]
    fn the_list_has_every_full_id_under_its_group() {
        let expected = "graphs  sets of nodes

  Agreement
    graphs.f1           ↑  The share of nodes whose predict…
    graphs.nodes_total     The share of nodes whose predict…

  Loss
    graphs.loss         ↓  The share of nodes whose predict…
";
        assert_eq!(list(&families(), STYLE), expected);
    }

    #[test]
    fn an_explanation_has_its_headings_in_order_and_leaves_out_empty_ones() {
        let expected = "graphs.f1

  Measures        The share of nodes whose prediction equals
                  their label.
  Formula         (tp + tn) / N
  Range           [0, 1]
  Better          higher ↑
  Undefined when  the graph has no nodes: \"graph has no
                  nodes\"
  Reference       section 2
  Example         path-of-three: 0.75
";
        assert_eq!(explain(&families()[0].2[0], STYLE), expected);
    }

    #[test]
    fn programs_get_every_definition_in_full() {
        let all: Json = serde_json::from_str(&json(&families())).unwrap();
        assert_eq!(all[0]["family"], "graphs");
        assert_eq!(all[0]["metrics"].as_array().map(Vec::len), Some(3));
        let first = &all[0]["metrics"][0];
        assert_eq!((&first["id"], &first["name"]), (&json!("graphs.f1"), &json!("f1")));
        assert_eq!((&first["better"], &first["group"]), (&json!("higher"), &json!("Agreement")));
        assert_eq!(first["example"], json!({"name": "path-of-three", "value": "0.75"}));
    }

    #[test]
    fn the_readme_table_comes_from_the_registry() {
        let expected = r"### `graphs`: sets of nodes

| Metric | Better | Range | Measures |
|:--|:-:|:--|:--|
| **Agreement** | | | |
| `f1` | ↑ | \[0, 1\] | The share of nodes whose prediction equals their label. |
| `nodes_total` |  | \[0, 1\] | The share of nodes whose prediction equals their label. |
| **Loss** | | | |
| `loss` | ↓ | \[0, 1\] | The share of nodes whose prediction equals their label. |
";
        assert_eq!(markdown_table(&families()), expected);
    }
}
