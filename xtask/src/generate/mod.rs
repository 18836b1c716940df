//! What the program writes itself, so that nothing is listed twice by hand.

mod benchmarks;
mod definitions;
mod figures;
mod metric_pages;

use std::fs;
use std::path::Path;

use crate::step::{Outcome, announced, cargo, root, step};
use definitions::Family;

const IDS: &str = "python/calipers/_report/metric_ids.py";
const PAGES: &str = "docs/metrics";
const TRUST: &str = "test --quiet --locked --package calipers-metrics --test families the_page_on_trust";

/// One generated file: its path and its bytes as they should be.
struct Generated {
    path: String,
    bytes: Vec<u8>,
}

impl Generated {
    fn new(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), bytes: text.into_bytes() }
    }

    /// A file that is not there yet is out of date.
    fn is_stale(&self) -> bool {
        fs::read(root().join(&self.path)).ok().as_ref() != Some(&self.bytes)
    }

    fn write(&self) -> Outcome {
        let path = root().join(&self.path);
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &self.bytes));
        written.map_err(|error| format!("cannot write {}: {error}", self.path))
    }
}

/// Rewrites the generated files, and removes pages of metric groups that are no more.
pub(crate) fn write() -> Outcome {
    announced("generated files", || {
        let files = all()?;
        for file in files.iter().filter(|file| file.is_stale()) {
            println!("    rewriting {}", file.path);
            file.write()?;
        }
        for path in left_over(&files)? {
            println!("    removing {path}");
            fs::remove_file(root().join(&path)).map_err(|error| format!("cannot remove {path}: {error}"))?;
        }
        Ok(())
    })?;
    // Counted by a test, which also says when the page is out of date.
    step("docs/trust.md", cargo(TRUST).env("CALIPERS_WRITE", "1"))
}

/// Fails when a generated file is out of date.
pub(crate) fn compare() -> Outcome {
    announced("generated files are up to date", || {
        let files = all()?;
        let stale = files.iter().find(|file| file.is_stale()).map(|file| file.path.clone());
        match stale.or_else(|| left_over(&files).ok()?.into_iter().next()) {
            None => Ok(()),
            Some(path) => Err(format!("{path} is out of date; run cargo xtask generate")),
        }
    })
}

fn all() -> Outcome<Vec<Generated>> {
    let families = definitions::families()?;
    let mut files = metric_pages::write(&families)?;
    files.push(id_module(&families));
    files.push(benchmarks::chart()?);
    files.extend(figures::drawn()?);
    Ok(files)
}

/// Pages below the folder of metrics that nothing generates.
fn left_over(files: &[Generated]) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    collect(&root(), PAGES, &mut found).map_err(|error| format!("cannot read {PAGES}: {error}"))?;
    found.retain(|path| files.iter().all(|file| file.path != *path));
    Ok(found)
}

fn collect(root: &Path, folder: &str, found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() { collect(root, &path, found)? } else { found.push(path) }
    }
    Ok(())
}

/// The Python module that lists every metric id for type checkers and editors.
fn id_module(families: &[Family]) -> Generated {
    let mut text = String::from(
        "\"\"\"Every metric id. Written by `cargo xtask generate`.\"\"\"\n\n\
         from typing import Literal, TypeAlias\n\nMetricId: TypeAlias = Literal[\n",
    );
    for (_, metrics) in families.iter().flat_map(Family::groups) {
        for metric in metrics {
            text.push_str(&format!("    \"{}\",\n", metric.id));
        }
    }
    text.push_str("]\n");
    Generated::new(IDS, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use definitions::read;

    #[test]
    fn the_python_module_has_every_full_id() {
        let families = read(definitions::SAMPLE).unwrap();
        let module = String::from_utf8(id_module(&families).bytes).unwrap();
        assert!(
            module.ends_with("Literal[\n    \"a_b.x\",\n    \"a_b.y_z\",\n    \"c.y\",\n]\n"),
            "{module}"
        );
    }
}
