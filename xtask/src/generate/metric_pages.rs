//! The pages of all metrics: one per family and group, an anchor for each metric.

use std::collections::BTreeSet;
use std::fs;

use super::definitions::{Family, Metric};
use super::{Generated, PAGES};
use crate::step::{Outcome, root};

const NOTE: &str = "<!-- Written by `cargo xtask generate`. -->\n";

/// Every page, and the index.
pub(super) fn write(families: &[Family]) -> Outcome<Vec<Generated>> {
    let differences = differences()?;
    let mut files = vec![index(families)];
    for family in families {
        files.push(overview(family));
        for (group, metrics) in family.groups() {
            files.push(page(family, group, &metrics, &differences));
        }
    }
    Ok(files)
}

/// The name of a group in an address.
fn slug(group: &str) -> String {
    group.replace(' ', "-")
}

/// The page that lists the families and their groups.
fn index(families: &[Family]) -> Generated {
    let mut text = format!("{NOTE}\n# Metrics\n\n");
    text.push_str(
        "`calipers explain ID` prints any of these definitions, and `calipers list --json` all of them.\n",
    );
    for family in families {
        let (name, count) = (&family.name, family.metrics.len());
        text.push_str(&format!(
            "\n## [`{name}`]({name}/README.md)\n\n{}: {count} numbers.\n\n",
            capital(&family.summary)
        ));
        text.push_str("| group | numbers |\n|:--|:--|\n");
        for (group, metrics) in family.groups() {
            let page = format!("{name}/{}.md", slug(group));
            let links = metrics.iter().map(|metric| format!("[`{0}`]({page}#{0})", metric.name));
            text.push_str(&format!("| [{group}]({page}) | {} |\n", links.collect::<Vec<_>>().join(" ")));
        }
    }
    Generated::new(format!("{PAGES}/README.md"), text)
}

/// The page of a family: every number in one table.
fn overview(family: &Family) -> Generated {
    let Family { name, summary, .. } = family;
    let guide = name.replace('_', "-");
    let mut text = format!(
        "{NOTE}\n# Metrics of `{name}`: {summary}\n\n[How to measure them](../../{guide}.md)\n\n\
         | metric | better | range | measures |\n|:--|:-:|:--|:--|\n"
    );
    for (group, metrics) in family.groups() {
        let page = format!("{}.md", slug(group));
        text.push_str(&format!("| **[{group}]({page})** | | | |\n"));
        for metric in metrics {
            let Metric { name, .. } = metric;
            let (range, measures) = (escaped(&metric.range), escaped(&joined(&metric.measures)));
            text.push_str(&format!(
                "| [`{name}`]({page}#{name}) | {} | {range} | {measures} |\n",
                arrow(metric)
            ));
        }
    }
    Generated::new(format!("{PAGES}/{name}/README.md"), text)
}

/// The page of a group: every definition in full.
fn page(family: &Family, group: &str, metrics: &[&Metric], differences: &[Difference]) -> Generated {
    let Family { name, .. } = family;
    let mut text = format!("{NOTE}\n# {}: {group}\n\n", capital(&name.replace('_', " ")));
    text.push_str(&wrapped(&format!(
        "[All numbers of this family](README.md) · [how to measure them](../../{}.md) · [why trust them](../../trust.md#{})",
        name.replace('_', "-"),
        name,
    )));
    for metric in metrics {
        text.push_str(&definition(name, metric));
    }
    let names: BTreeSet<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let others: Vec<_> = differences.iter().filter(|row| row.is_about(name, &names)).collect();
    if !others.is_empty() {
        text.push_str("\n## Who computes it otherwise\n\nWhere the drop-ins of `calipers.compat` differ on purpose:\n\n");
        text.push_str("| library | name | when | theirs | ours |\n|:--|:--|:--|:--|:--|\n");
        for row in others {
            text.push_str(&format!("| {} |\n", row.cells[..5].join(" | ")));
        }
    }
    Generated::new(format!("{PAGES}/{name}/{}.md", slug(group)), text)
}

/// One metric under its anchor.
fn definition(family: &str, metric: &Metric) -> String {
    let mut text = format!("\n## `{}`\n\n{}", metric.name, wrapped(&escaped(&joined(&metric.measures))));
    text.push('\n');
    let better = match metric.better.as_str() {
        "neither" => "a description, not a score",
        "higher" => "higher is better",
        _ => "lower is better",
    };
    let undefined = if metric.undefined.is_empty() { "never" } else { &metric.undefined };
    let (example, value) = &metric.example;
    let source = format!("../../../spec/{family}/{example}.md");
    let entries = [
        ("Formula", escaped(&joined(&metric.formula))),
        ("Range", format!("{}; {better}", escaped(&metric.range))),
        ("Undefined when", escaped(&joined(undefined))),
        ("Differs from", escaped(&joined(&metric.differs))),
        ("Reference", escaped(&joined(&metric.reference))),
        ("Worked example", format!("[{example}]({source}) gives `{value}`")),
    ];
    for (heading, entry) in entries.into_iter().filter(|(_, entry)| !entry.is_empty()) {
        text.push_str(&wrapped_item(&format!("**{heading}:** {entry}")));
    }
    text
}

fn arrow(metric: &Metric) -> &'static str {
    match metric.better.as_str() {
        "higher" => "↑",
        "lower" => "↓",
        _ => "",
    }
}

/// Text of several lines as one.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '$') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A paragraph of at most 120 columns.
fn wrapped(text: &str) -> String {
    fold(text, "", "")
}

/// An item of a list of at most 120 columns.
fn wrapped_item(text: &str) -> String {
    fold(text, "* ", "  ")
}

fn fold(text: &str, first: &str, rest: &str) -> String {
    const WIDTH: usize = 120;
    let (mut out, mut line) = (String::new(), first.to_owned());
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&format!("{line}\n"));
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        // A sign that opens a list at the start of a line is a word here.
        if empty && line == rest && matches!(word, "-" | "+") {
            line.push('\\');
        }
        line.push_str(word);
        empty = false;
    }
    format!("{out}{line}\n")
}

/// A row of the table of deliberate differences: where a drop-in gives another number than its library.
struct Difference {
    cells: Vec<String>,
    /// The ids that the row is about.
    ids: Vec<String>,
}

impl Difference {
    fn is_about(&self, family: &str, names: &BTreeSet<&str>) -> bool {
        let mut own = self.ids.iter().filter_map(|id| id.strip_prefix(family)?.strip_prefix('.'));
        own.any(|name| names.contains(name))
    }
}

/// The table, which a test holds equal to `calipers.compat.differences()`, with the ids of `NUMBERS`.
fn differences() -> Outcome<Vec<Difference>> {
    let read = |path: &str| {
        fs::read_to_string(root().join(path)).map_err(|error| format!("cannot read {path}: {error}"))
    };
    let (page, source) = (read("docs/drop-ins.md")?, read("python/calipers/compat/_differences.py")?);
    let table = page.split_once("## Deliberate differences").map_or("", |(_, after)| after);
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows = rows.map(|line| {
        let cells: Vec<String> = line.trim_matches(['|', ' ']).split(" | ").map(str::to_owned).collect();
        let ids = numbers(&source, &cells);
        Difference { cells, ids }
    });
    Ok(rows.collect())
}

/// The ids beside the words that a name of a library is known by, from the table `NUMBERS`.
fn numbers(source: &str, cells: &[String]) -> Vec<String> {
    let table = source
        .split_once("NUMBERS = {")
        .and_then(|(_, after)| after.split_once("\n}"))
        .map_or("", |(table, _)| table);
    let mut found = Vec::new();
    for line in table.lines() {
        let mut quoted = line.split('"').skip(1).step_by(2);
        if quoted.next().is_some_and(|word| cells.get(1).is_some_and(|name| name.contains(word))) {
            found.extend(quoted.map(str::to_owned));
        }
    }
    found
}
