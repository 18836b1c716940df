//! Groups side by side: where every metric has a value for each of the same few labels, the labels
//! are columns.

use std::collections::BTreeMap;

use calipers_core::error::printable;

use super::{Cell, Layout, Line};
use crate::text::{columns, left, right, short};

/// The columns of such a table.
pub(crate) struct Matrix {
    labels: Vec<String>,
    name: usize,
    value: usize,
}

/// A metric and its values by label.
pub(crate) struct Block<'a> {
    pub(crate) head: &'a Line,
    pub(crate) below: &'a [Line],
}

const LABEL: usize = 24;
const NARROWEST: usize = 8;
const GAP: usize = 2;
const INDENT: usize = 4;
const ARROW: usize = 3;

impl Matrix {
    /// The columns, if every metric is given by label and a line has room for all labels.
    pub(crate) fn fit(layout: &Layout, width: usize) -> Option<Self> {
        let blocks: Vec<Block<'_>> =
            layout.sections.iter().flat_map(|section| blocks(&section.lines)).collect();
        if blocks.iter().any(|block| !matches!(block.head.cell, Cell::Heading)) {
            return None;
        }
        let plain: Vec<&Block<'_>> = blocks.iter().filter(|block| block.is_plain()).collect();
        let labels: Vec<String> = plain.first()?.labels().map(String::from).collect();
        if plain.iter().any(|block| !block.labels().eq(labels.iter().map(String::as_str))) {
            return None;
        }
        let cells = plain.iter().flat_map(|block| block.below).map(|line| columns(&text(line)));
        let heads = labels.iter().map(|label| columns(&short(label, LABEL)));
        let value = cells.chain(heads).max()?.max(NARROWEST);
        let name = blocks.iter().map(|block| columns(&block.head.name)).max()?;
        let whole = INDENT + name + 1 + ARROW + labels.len() * (value + GAP);
        (whole <= width).then_some(Self { labels, name, value })
    }

    /// The names of the columns.
    pub(crate) fn heading(&self) -> String {
        let mut line = " ".repeat(INDENT + self.name + 1 + ARROW);
        for label in &self.labels {
            line.push_str(&" ".repeat(GAP));
            line.push_str(&right(&short(label, LABEL), self.value));
        }
        line
    }

    /// A metric's name, and its values; nothing where it has others than the table's labels.
    pub(crate) fn line(&self, block: &Block<'_>) -> Option<(String, String)> {
        let name = left(&format!("{}{}", " ".repeat(INDENT), block.head.name), INDENT + self.name + 1);
        let mut values = String::new();
        for line in block.below.iter().filter(|_| block.is_plain()) {
            values.push_str(&" ".repeat(GAP));
            values.push_str(&right(&text(line), self.value));
        }
        block.is_plain().then_some((name, values))
    }
}

impl<'a> Block<'a> {
    /// Whether there is one number, or a reason, by label.
    fn is_plain(&self) -> bool {
        !self.below.is_empty()
            && self.below.iter().all(|line| {
                let plain = matches!(line.cell, Cell::Number(_) | Cell::Interval(_) | Cell::Undefined(_));
                line.depth == 1 && plain
            })
    }

    fn labels(&self) -> impl Iterator<Item = &'a str> {
        self.below.iter().map(|line| line.name.as_str())
    }
}

/// The metrics among the lines, each with what stands below it.
pub(crate) fn blocks(lines: &[Line]) -> Vec<Block<'_>> {
    let starts: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].depth == 0).collect();
    let end = |k: usize| starts.get(k + 1).copied().unwrap_or(lines.len());
    starts.iter().enumerate().map(|(k, i)| Block { head: &lines[*i], below: &lines[i + 1..end(k)] }).collect()
}

/// Why there are dashes: each reason once, with the values it stands for.
pub(crate) fn reasons(layout: &Layout) -> Vec<String> {
    let mut reasons: Vec<(&str, BTreeMap<&str, Vec<&str>>)> = Vec::new();
    for block in layout.sections.iter().flat_map(|section| blocks(&section.lines)) {
        for line in block.below {
            let Cell::Undefined(reason) = &line.cell else { continue };
            let at = reasons.iter().position(|(known, _)| known == reason).unwrap_or_else(|| {
                reasons.push((reason, BTreeMap::new()));
                reasons.len() - 1
            });
            reasons[at].1.entry(&line.name).or_default().push(&block.head.name);
        }
    }
    let sentence = |(reason, labels): (&str, BTreeMap<&str, Vec<&str>>)| {
        let named =
            labels.iter().map(|(label, names)| format!("{} of {}", names.join(", "), printable(label)));
        format!("{}: {}", printable(reason), named.collect::<Vec<_>>().join("; "))
    };
    reasons.into_iter().map(sentence).collect()
}

fn text(line: &Line) -> String {
    match &line.cell {
        Cell::Number(text) | Cell::Interval(text) => text.clone(),
        _ => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::terminal::{Style, write};
    use calipers_core::{Report, Value};

    fn report(metrics: &[(&str, [Value; 2])]) -> Report {
        let labelled = |values: &[Value; 2]| {
            let labels = ["a", "b"].map(String::from);
            Value::PerLabel(labels.into_iter().zip(values.iter().cloned()).collect())
        };
        let metrics = metrics.iter().map(|(id, values)| (format!("segmentation.{id}"), labelled(values)));
        Report { metrics: metrics.collect(), warnings: Vec::new(), ..fixture::small() }
    }

    fn two() -> Report {
        report(&[
            ("speed", [Value::Number(2.0), Value::undefined("too few")]),
            ("count", [Value::Count(3), Value::Count(4)]),
        ])
    }

    #[test]
    fn labels_shared_by_every_metric_are_columns_and_reasons_stand_below() {
        let text = write(&[two()], &[], Style { colour: false, width: 60 });
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let expected = [
            "                      a         b",
            "",
            "    speed           2.0         –",
            "    count             3         4",
            "",
            "  – too few: speed of b",
        ];
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn where_columns_do_not_fit_or_labels_differ_values_stand_under_their_metric() {
        let narrow = write(&[two()], &[], Style { colour: false, width: 24 });
        assert!(narrow.lines().any(|line| line.trim_start().starts_with("a ")), "{narrow}");
        let mut other = two();
        other.metrics.push(("segmentation.whole".into(), Value::Number(1.0)));
        let listed = write(&[other], &[], Style { colour: false, width: 80 });
        assert!(listed.lines().any(|line| line.trim_start().starts_with("a ")), "{listed}");
    }
}
