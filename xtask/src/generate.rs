//! What the program writes itself, so that nothing is listed twice by hand.

use std::fs;

use crate::step::{Outcome, announced, cargo, output_of, root};

const PAGES: &str = "docs/metrics";
const IDS: &str = "python/calipers/_report/metric_ids.py";
const NOTE: &str = "<!-- Written by `cargo xtask generate`. -->\n";

/// One generated file: its path and its text as it should be.
struct Generated {
    path: String,
    text: String,
}

impl Generated {
    /// A file that is not there yet is out of date.
    fn is_stale(&self) -> bool {
        fs::read_to_string(root().join(&self.path)).ok().as_ref() != Some(&self.text)
    }
}

/// Rewrites the generated files.
pub(crate) fn write() -> Outcome {
    announced("generated files", || {
        fs::create_dir_all(root().join(PAGES)).map_err(|error| format!("cannot make {PAGES}: {error}"))?;
        for file in all()?.iter().filter(|file| file.is_stale()) {
            println!("    rewriting {}", file.path);
            fs::write(root().join(&file.path), &file.text)
                .map_err(|error| format!("cannot write {}: {error}", file.path))?;
        }
        Ok(())
    })
}

/// Fails when a generated file is out of date.
pub(crate) fn compare() -> Outcome {
    announced("generated files are up to date", || match all()?.iter().find(|file| file.is_stale()) {
        None => Ok(()),
        Some(stale) => {
            Err(format!("the metrics in {} are out of date; run cargo xtask generate", stale.path))
        }
    })
}

fn all() -> Outcome<Vec<Generated>> {
    let table =
        output_of(&mut cargo("run --quiet --release --locked --package calipers-cli -- list --markdown"))?;
    let families = families(&table)?;
    let mut files: Vec<Generated> = families.iter().map(page).collect();
    files.push(index(&families));
    files.push(id_module(&families));
    Ok(files)
}

/// A family of the list: its name, what it is about, its table and the ids in that table.
struct Family<'a> {
    name: &'a str,
    summary: &'a str,
    table: &'a str,
}

impl<'a> Family<'a> {
    fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next())
    }
}

/// Cuts the list at its headings, ``### `NAME`: SUMMARY``.
fn families(list: &str) -> Outcome<Vec<Family<'_>>> {
    list.split("### ").filter(|section| !section.trim().is_empty()).map(family).collect()
}

fn family(section: &str) -> Outcome<Family<'_>> {
    let cut = || {
        let (heading, table) = section.split_once('\n')?;
        let (name, summary) = heading.strip_prefix('`')?.split_once("`: ")?;
        Some(Family { name, summary, table: table.trim() })
    };
    cut().ok_or_else(|| format!("this section of the list has no heading: {section}"))
}

/// The page of a family.
fn page(family: &Family<'_>) -> Generated {
    let Family { name, summary, table } = family;
    let guide = name.replace('_', "-");
    let text = format!(
        "{NOTE}\n# Metrics of `{name}`: {summary}\n\n\
         `calipers explain ID` prints the definition of one of them: formula, range, when it is undefined, and how it\n\
         differs from what others compute under that name. [How to measure them](../{guide}.md)\n\n{table}\n"
    );
    Generated { path: format!("{PAGES}/{name}.md"), text }
}

/// The page that lists the families.
fn index(families: &[Family<'_>]) -> Generated {
    let mut text = format!("{NOTE}\n# Metrics\n\n| family | metrics | |\n|:--|--:|:--|\n");
    for family in families {
        let (name, count) = (family.name, family.ids().count());
        text.push_str(&format!("| [`{name}`]({name}.md) | {count} | {} |\n", family.summary));
    }
    Generated { path: format!("{PAGES}/README.md"), text }
}

/// The Python module that lists every metric id for type checkers and editors.
fn id_module(families: &[Family<'_>]) -> Generated {
    let mut text = String::from(
        "\"\"\"Every metric id. Written by `cargo xtask generate`.\"\"\"\n\n\
         from typing import Literal, TypeAlias\n\nMetricId: TypeAlias = Literal[\n",
    );
    for family in families {
        for id in family.ids() {
            text.push_str(&format!("    \"{}.{id}\",\n", family.name));
        }
    }
    text.push_str("]\n");
    Generated { path: IDS.into(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "### `a_b`: one\n\n| Metric | |\n|:--|:-:|\n| **group** | |\n| `x` | up |\n\n### `c`: two\n\n| `y` | |\n";

    #[test]
    fn every_family_of_the_list_has_a_page_that_links_its_guide() {
        let families = families(LIST).unwrap();
        let pages: Vec<_> = families.iter().map(page).collect();
        assert_eq!(
            pages.iter().map(|page| &page.path).collect::<Vec<_>>(),
            ["docs/metrics/a_b.md", "docs/metrics/c.md"]
        );
        assert!(pages[0].text.contains("# Metrics of `a_b`: one\n"), "{}", pages[0].text);
        assert!(pages[0].text.contains("(../a-b.md)"), "{}", pages[0].text);
        assert!(pages[0].text.ends_with("| **group** | |\n| `x` | up |\n"), "{}", pages[0].text);
        assert!(pages[1].text.ends_with("\n\n| `y` | |\n"), "{}", pages[1].text);
    }

    #[test]
    fn the_index_counts_the_metrics_of_each_family() {
        let text = index(&families(LIST).unwrap()).text;
        assert!(text.ends_with("| [`a_b`](a_b.md) | 1 | one |\n| [`c`](c.md) | 1 | two |\n"), "{text}");
    }

    #[test]
    fn a_section_without_a_heading_is_an_error() {
        assert!(families("### nothing\n").err().unwrap().contains("no heading"));
    }

    #[test]
    fn ids_carry_the_family_under_whose_heading_they_stand() {
        let module = id_module(&families(LIST).unwrap()).text;
        assert!(module.ends_with("Literal[\n    \"a_b.x\",\n    \"c.y\",\n]\n"), "{module}");
    }
}
