//! Gathers the pages of the site: those of `docs/` at its root, others of the repository below `repository/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::write;
use crate::step::Outcome;

/// Pages outside of `docs/` that belong to the site, and folders of them.
const OTHERS: [&str; 7] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benches/README.md",
    "oracles",
    "spec",
    "examples",
];
/// What the pages of `docs/` show and what the site looks like.
const SHOWN: [&str; 4] = ["svg", "png", "css", "ico"];

/// A file of the site.
pub(super) struct Page {
    /// Its place in the site.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl Page {
    pub(super) fn write(&self, folder: &Path) -> Outcome {
        write(&folder.join(&self.path), &self.bytes)
    }

    /// Its text, if it is a page.
    pub(super) fn text(&self) -> Option<&str> {
        self.path.ends_with(".md").then(|| std::str::from_utf8(&self.bytes).ok()).flatten()
    }
}

/// Every file of the site, with the links of its pages pointing to where the files are there.
pub(super) fn gather(root: &Path) -> Outcome<Vec<Page>> {
    let mut files = Vec::new();
    collect(
        root,
        "docs",
        &|name| is_page(name) || SHOWN.iter().any(|ending| name.ends_with(ending)),
        &mut files,
    )?;
    for other in OTHERS {
        if root.join(other).is_file() {
            files.push(other.to_owned());
        } else {
            collect(root, other, &is_page, &mut files)?;
        }
    }
    let known: BTreeSet<String> = files.iter().cloned().collect();
    let page = |file: String| {
        let bytes = fs::read(root.join(&file)).map_err(|error| format!("cannot read {file}: {error}"))?;
        let bytes = match String::from_utf8(bytes) {
            Ok(text) if is_page(&file) => relinked(&file, &text, &known).into_bytes(),
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        Ok(Page { path: place(&file), bytes })
    };
    files.into_iter().map(page).collect()
}

fn is_page(name: &str) -> bool {
    name.ends_with(".md")
}

fn collect(root: &Path, folder: &str, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<String>) -> Outcome {
    let entries =
        fs::read_dir(root.join(folder)).map_err(|error| format!("cannot read {folder}: {error}"))?;
    let mut paths: Vec<String> =
        entries.flatten().map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())).collect();
    paths.sort();
    for path in paths {
        if root.join(&path).is_dir() {
            collect(root, &path, wanted, found)?;
        } else if wanted(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Where a file of the repository is in the site.
fn place(file: &str) -> String {
    file.strip_prefix("docs/").map_or_else(|| format!("repository/{file}"), str::to_owned)
}

/// The text with its links pointing into the site. What is not part of the site is no link there.
fn relinked(page: &str, text: &str, known: &BTreeSet<String>) -> String {
    let mut out = String::new();
    let mut code = false;
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        if code || fence {
            out.push_str(line)
        } else {
            out.push_str(&relinked_line(page, line, known))
        }
        out.push('\n');
    }
    out
}

fn relinked_line(page: &str, line: &str, known: &BTreeSet<String>) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, tail)) = after.split_once(')') else { break };
        let whole = if target.contains("://") || target.starts_with('#') {
            Some(target.to_owned())
        } else {
            linked(page, target, known)
        };
        match whole {
            Some(target) => out.push_str(&format!("{before}]({target})")),
            // Without its target the words stay, and the bracket before them goes.
            None => match before.rsplit_once('[') {
                Some((before, words)) => out.push_str(&format!("{before}{words}")),
                None => out.push_str(before),
            },
        }
        rest = tail;
    }
    out + rest
}

/// The target of a link, from the place of the page to the place of the target.
fn linked(page: &str, target: &str, known: &BTreeSet<String>) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let file = plain(&folder.join(path));
    let file = if known.contains(&file) { file } else { format!("{}/README.md", file.trim_end_matches('/')) };
    if !known.contains(&file) {
        return None;
    }
    let from = place(page);
    let from = Path::new(&from).parent().unwrap_or(Path::new("")).components().count();
    let target = format!("{}{}", "../".repeat(from), place(&file));
    Some(anchor.map_or_else(|| target.clone(), |anchor| format!("{target}#{anchor}")))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeSet<String> {
        ["docs/a.md", "docs/b/c.md", "spec/x/y.md", "oracles/README.md"].map(str::to_owned).into()
    }

    #[test]
    fn links_lead_to_the_same_file_in_the_site() {
        let line = |page: &str, line: &str| relinked_line(page, line, &known());
        assert_eq!(
            line("docs/a.md", "see [y](../spec/x/y.md#z), [c](b/c.md)"),
            "see [y](repository/spec/x/y.md#z), [c](b/c.md)"
        );
        assert_eq!(line("docs/b/c.md", "[a](../a.md)"), "[a](../a.md)");
        assert_eq!(line("spec/x/y.md", "[a](../../docs/a.md)"), "[a](../../../a.md)");
        assert_eq!(
            line("docs/a.md", "[here](#top) and [there](https://x.y)"),
            "[here](#top) and [there](https://x.y)"
        );
        assert_eq!(line("docs/a.md", "[o](../oracles)"), "[o](repository/oracles/README.md)");
    }

    #[test]
    fn what_is_not_in_the_site_is_no_link_there() {
        assert_eq!(
            relinked_line("docs/a.md", "the [sources](../crates) of [a](a.md)", &known()),
            "the sources of [a](a.md)"
        );
    }

    #[test]
    fn code_is_left_alone() {
        let text = "```\n[x](nowhere.md)\n```\n[x](nowhere.md)\n";
        assert_eq!(relinked("docs/a.md", text, &known()), "```\n[x](nowhere.md)\n```\nx\n");
    }
}
