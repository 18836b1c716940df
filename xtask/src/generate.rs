//! The parts of documents that the program writes itself, so that nothing is listed twice by hand.

use std::fs;

use crate::step::{Outcome, announced, cargo, output_of, root};

const BEGIN: &str = "<!-- metrics:begin -->\n";
const END: &str = "<!-- metrics:end -->";
const DOCUMENT: &str = "README.md";

/// Rewrites the generated parts.
pub(crate) fn write() -> Outcome {
    announced("generated documents", || {
        let (old, new) = both()?;
        if old == new {
            return Ok(());
        }
        println!("    rewriting {DOCUMENT}");
        fs::write(root().join(DOCUMENT), new).map_err(|error| format!("cannot write {DOCUMENT}: {error}"))
    })
}

/// Fails when a generated part is out of date.
pub(crate) fn compare() -> Outcome {
    announced("generated documents are up to date", || {
        let (old, new) = both()?;
        if old == new {
            Ok(())
        } else {
            Err(format!("the metric table in {DOCUMENT} is out of date; run cargo xtask generate"))
        }
    })
}

fn both() -> Outcome<(String, String)> {
    let old = fs::read_to_string(root().join(DOCUMENT))
        .map_err(|error| format!("cannot read {DOCUMENT}: {error}"))?;
    let table =
        output_of(&mut cargo("run --quiet --release --locked --package calipers-cli -- list --markdown"))?;
    let new = with_table(&old, &table)?;
    Ok((old, new))
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
}
