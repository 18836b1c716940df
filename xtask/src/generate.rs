//! What the program writes itself, so that nothing is listed twice by hand.

use std::fs;

use crate::step::{Outcome, announced, cargo, output_of, root};

const BEGIN: &str = "<!-- metrics:begin -->\n";
const END: &str = "<!-- metrics:end -->";
const DOCUMENT: &str = "README.md";
const IDS: &str = "python/calipers/_metric_ids.py";

/// One generated file: its path, its text on disk and its text as it should be.
struct Generated {
    path: &'static str,
    old: String,
    new: String,
}

/// Rewrites the generated parts.
pub(crate) fn write() -> Outcome {
    announced("generated files", || {
        for file in all()?.iter().filter(|file| file.old != file.new) {
            println!("    rewriting {}", file.path);
            fs::write(root().join(file.path), &file.new)
                .map_err(|error| format!("cannot write {}: {error}", file.path))?;
        }
        Ok(())
    })
}

/// Fails when a generated part is out of date.
pub(crate) fn compare() -> Outcome {
    announced("generated files are up to date", || match all()?.iter().find(|file| file.old != file.new) {
        None => Ok(()),
        Some(stale) => {
            Err(format!("the metrics in {} are out of date; run cargo xtask generate", stale.path))
        }
    })
}

fn all() -> Outcome<Vec<Generated>> {
    let table =
        output_of(&mut cargo("run --quiet --release --locked --package calipers-cli -- list --markdown"))?;
    let document = fs::read_to_string(root().join(DOCUMENT))
        .map_err(|error| format!("cannot read {DOCUMENT}: {error}"))?;
    let new = with_table(&document, &table)?;
    // A file that is not there yet is out of date.
    let ids = fs::read_to_string(root().join(IDS)).unwrap_or_default();
    Ok(vec![
        Generated { path: DOCUMENT, old: document, new },
        Generated { path: IDS, old: ids, new: id_module(&table) },
    ])
}

/// The Python module that lists every metric id for type checkers and editors.
fn id_module(table: &str) -> String {
    let mut text = String::from(
        "\"\"\"Every metric id. Written by `cargo xtask generate`.\"\"\"\n\n\
         from typing import Literal, TypeAlias\n\nMetricId: TypeAlias = Literal[\n",
    );
    let mut family = "";
    for line in table.lines() {
        if let Some(rest) = line.strip_prefix("### `") {
            family = rest.split('`').next().unwrap_or_default();
        } else if let Some(id) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) {
            text.push_str(&format!("    \"{family}.{id}\",\n"));
        }
    }
    text.push_str("]\n");
    text
}

/// The document with the text between the markers replaced.
fn with_table(document: &str, table: &str) -> Outcome<String> {
    let (before, rest) =
        document.split_once(BEGIN).ok_or_else(|| format!("{DOCUMENT} has no line {}", BEGIN.trim_end()))?;
    let (_, after) = rest
        .split_once(END)
        .ok_or_else(|| format!("{DOCUMENT} has no line {END} after {}", BEGIN.trim_end()))?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_between_the_markers_changes() {
        let old = format!("# Title\n{BEGIN}stale\n{END}\nrest\n");
        let new = with_table(&old, "| id |\n").unwrap();
        assert_eq!(new, format!("# Title\n{BEGIN}\n| id |\n\n{END}\nrest\n"));
    }

    #[test]
    fn generating_twice_changes_nothing() {
        let old = format!("{BEGIN}{END}");
        let once = with_table(&old, "table").unwrap();
        assert_eq!(with_table(&once, "table").unwrap(), once);
    }

    #[test]
    fn a_lost_marker_is_an_error() {
        assert!(with_table("nothing here", "t").unwrap_err().contains("metrics:begin"));
        assert!(with_table(BEGIN, "t").unwrap_err().contains("metrics:end"));
    }

    #[test]
    fn ids_carry_the_family_under_whose_heading_they_stand() {
        let module = id_module("### `a`: one\n\n| **group** | |\n| `x` | up |\n### `b`: two\n| `y` | |\n");
        assert!(module.ends_with("Literal[\n    \"a.x\",\n    \"b.y\",\n]\n"), "{module}");
    }
}
