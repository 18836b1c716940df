//! The menu of the site: the sections of its first page, and the pages that each links.

use std::collections::BTreeSet;

use super::pages::Page;
use crate::step::Outcome;

const FIRST: &str = "README.md";

/// The menu as YAML. A page that nothing lists is an error, unless it is below a folder whose first page is listed.
pub(super) fn menu(pages: &[Page]) -> Outcome<String> {
    let first = pages
        .iter()
        .find(|page| page.path == FIRST)
        .and_then(Page::text)
        .ok_or("the first page is not there")?;
    let mut menu = format!("  - {}: {FIRST}\n", quoted(&title(first)));
    let mut listed = BTreeSet::from([FIRST.to_owned()]);
    for section in first.split("\n## ").skip(1) {
        let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
        menu.push_str(&format!("  - {}:\n", quoted(heading)));
        for target in links(text) {
            if !listed.insert(target.to_owned()) {
                continue;
            }
            let page = find(pages, target).ok_or_else(|| format!("{FIRST}: no page {target}"))?;
            menu.push_str(&entry(4, page));
            if let Some(folder) = target.strip_suffix("/README.md") {
                below(pages, folder, 4, &mut menu, &mut listed);
            }
        }
    }
    let lost = pages.iter().filter(|page| page.text().is_some() && !listed.contains(&page.path));
    match lost.map(|page| page.path.as_str()).next() {
        None => Ok(menu),
        Some(path) => Err(format!("docs/{FIRST} does not link {path}")),
    }
}

/// The pages of a folder as a part of their own; a folder in it is again one.
fn below(pages: &[Page], folder: &str, indent: usize, menu: &mut String, listed: &mut BTreeSet<String>) {
    // The entry of the first page becomes the heading of the part.
    let line = menu.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let first = menu.split_off(line);
    let heading =
        first.trim_start_matches([' ', '-']).rsplit_once(": ").map_or("", |(heading, _)| heading).to_owned();
    menu.push_str(&format!("{}- {heading}:\n", " ".repeat(indent)));
    menu.push_str(&format!("{}- {folder}/README.md\n", " ".repeat(indent + 4)));
    for page in pages.iter().filter(|page| page.text().is_some()) {
        let Some(rest) = page.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) else {
            continue;
        };
        if !listed.insert(page.path.clone()) && rest != "README.md" {
            continue;
        }
        match rest.split_once('/') {
            None if rest != "README.md" => menu.push_str(&entry(indent + 4, page)),
            Some((inner, "README.md")) => {
                menu.push_str(&entry(indent + 4, page));
                below(pages, &format!("{folder}/{inner}"), indent + 4, menu, listed);
            }
            _ => {}
        }
    }
    // Folders without a first page of their own.
    for page in
        pages.iter().filter(|page| page.text().is_some() && page.path.starts_with(&format!("{folder}/")))
    {
        if listed.insert(page.path.clone()) {
            menu.push_str(&entry(indent + 4, page));
        }
    }
}

fn find<'p>(pages: &'p [Page], path: &str) -> Option<&'p Page> {
    pages.iter().find(|page| page.path == path)
}

fn entry(indent: usize, page: &Page) -> String {
    let title = page.text().map(title).unwrap_or_default();
    format!("{}- {}: {}\n", " ".repeat(indent), quoted(&title), page.path)
}

/// The first heading, without marks.
fn title(text: &str) -> String {
    let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("Calipers");
    let heading = heading.replace('`', "");
    // The menu of a metric group does not repeat its family.
    heading.split_once(": ").map_or(heading.clone(), |(before, after)| match before {
        before if before.starts_with("Metrics of") => before.trim_start_matches("Metrics of ").to_owned(),
        _ => after.to_owned(),
    })
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The targets of the links in a text, without their anchors.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| target.ends_with(".md") && !target.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Page {
        Page { path: path.into(), bytes: text.into() }
    }

    fn pages() -> Vec<Page> {
        vec![
            page(
                "README.md",
                "# Start\n\n## One\n\n[a](a.md), [again](a.md#x)\n\n## All\n\n[m](m/README.md)\n",
            ),
            page("a.md", "# A: `first` page\n"),
            page("m/README.md", "# Metrics\n"),
            page("m/f/README.md", "# Metrics of `f`: more\n"),
            page("m/f/g.md", "# F: group\n"),
            page("picture.svg", "<svg/>"),
        ]
    }

    #[test]
    fn the_menu_is_that_of_the_first_page_and_opens_folders() {
        let expected = "  - \"Start\": README.md\n  - \"One\":\n    - \"first page\": a.md\n  - \"All\":\n    - \"Metrics\":\n        \
                        - m/README.md\n        - \"f\":\n            - m/f/README.md\n            - \"group\": m/f/g.md\n";
        assert_eq!(menu(&pages()).unwrap(), expected);
    }

    #[test]
    fn a_page_that_nothing_links_is_an_error() {
        let mut pages = pages();
        pages.push(page("lost.md", "# Lost\n"));
        assert!(menu(&pages).unwrap_err().contains("lost.md"));
        pages.pop();
        pages.remove(1);
        assert!(menu(&pages).unwrap_err().contains("no page a.md"));
    }
}
