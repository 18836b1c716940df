//! The page that lists each promise, its test and what the last campaign found.

use std::fs;

use super::promises::By;
use super::{Kept, PROMISES};
use crate::step::{Outcome, root};

const HEAD: &str = "\
# What is promised, and what was measured

`cargo xtask campaign` writes this page: each promise, the test that holds it, and the figure of the last campaign. A
promise that is missed fails the campaign.

| id | promise | test | last figure |
|---|---|---|---|
";

/// Writes `docs/reliability.md`.
pub(super) fn write(kept: &[Kept], hours: Option<f64>) -> Outcome {
    let mut text = HEAD.to_owned();
    for Kept { promise, holds, figure } in kept {
        let word = if *holds { "kept" } else { "**missed**" };
        text.push_str(&format!(
            "| {} | {} | {} | {word}: {figure} |\n",
            promise.id,
            promise.words,
            shown(promise.by)
        ));
    }
    let asked = hours.map_or("a minute".to_owned(), |hours| format!("{hours} hours"));
    text.push_str(&format!("\n{} promises; the campaign was asked for {asked}.\n", PROMISES.len()));
    let path = root().join("docs/reliability.md");
    fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn shown(by: By) -> String {
    match by {
        By::Test { package, name: "", .. } => format!("`{package}`"),
        By::Test { package, name, .. } => format!("`{package}`: `{name}`"),
        By::Fuzzing => "`cargo xtask fuzz`".into(),
        By::Audit => "`cargo xtask audit`".into(),
    }
}
