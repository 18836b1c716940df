//! Rules of the documents that are cheap to check.

use std::fs;
use std::path::{Path, PathBuf};

const README_LINES: usize = 150;
const ARCHITECTURE_WORDS: usize = 2_000;
const DECISION_LINES: usize = 50;
const WIDTH: usize = 120;

/// The folders that hold documents for people, besides the pages at the root.
const FOLDERS: &[&str] = &["benches", "docs", "examples", "oracles", "spec"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Markdown page, by its path from the root.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    collect(&root(), "", false, &mut found);
    for folder in FOLDERS.iter().filter(|folder| root().join(folder).is_dir()) {
        collect(&root().join(folder), folder, true, &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, name: &str, deep: bool, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let file = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        let below = if name.is_empty() { file } else { format!("{name}/{file}") };
        if path.is_dir() && deep {
            collect(&path, &below, true, found);
        } else if below.ends_with(".md") {
            found.push(below);
        }
    }
}

/// The lines outside of code blocks, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The targets of the links in a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|(_, line)| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

/// Links that lead nowhere: to a file that is not there, or to a heading that its page does not have.
fn broken(page: &str, text: &str) -> Vec<String> {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let leads_nowhere = |link: &&str| {
        let (path, heading) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { PathBuf::from(page) } else { folder.join(path) };
        match fs::read_to_string(root().join(&target)) {
            Ok(text) if !heading.is_empty() => !anchors(&text).contains(&heading.to_owned()),
            Ok(_) => false,
            Err(_) => !root().join(target).exists(),
        }
    };
    let relative = links(text).filter(|link| !link.contains("://"));
    relative.filter(leads_nowhere).map(|link| format!("{page}: {link}")).collect()
}

/// The names by which a page's headings are linked.
fn anchors(text: &str) -> Vec<String> {
    let heading = |(_, line): (usize, &str)| {
        line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim().to_lowercase())
    };
    let name = |heading: String| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    prose(text).filter_map(heading).map(name).collect()
}

/// Lines of running text that are wider than a page. Tables and headings have no place to break.
fn wide(page: &str, text: &str) -> Vec<String> {
    let breakable = |line: &str| !line.trim_start().starts_with('|') && !line.starts_with('#');
    let lines = prose(text).filter(|(_, line)| breakable(line) && line.chars().count() > WIDTH);
    lines.map(|(number, _)| format!("{page}:{number}")).collect()
}

/// What a decision lacks: a number and a short name, a title, a date, and the three sections in their order.
fn malformed(name: &str, text: &str) -> Option<&'static str> {
    let (number, title) = name.split_once('-').unwrap_or((name, ""));
    let is_date = |date: &str| {
        let digits = |(i, c): (usize, char)| if matches!(i, 4 | 7) { c == '-' } else { c.is_ascii_digit() };
        date.len() == 10 && date.chars().enumerate().all(digits)
    };
    let headings: Vec<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
    let mut lines = text.lines();
    let [first, second, third] = [(); 3].map(|()| lines.next().unwrap_or(""));
    let checks = [
        (number.len() == 3 && number.chars().all(|c| c.is_ascii_digit()), "a number of three digits"),
        (title.ends_with(".md") && title == title.to_lowercase(), "a name in lower case"),
        (first.starts_with("# ") && second.is_empty(), "a title"),
        (third.strip_prefix("Date: ").is_some_and(is_date), "a line `Date: YYYY-MM-DD` below the title"),
        (headings == ["## Question", "## Answer", "## Numbers"], "the sections Question, Answer and Numbers"),
        (text.lines().count() <= DECISION_LINES, "half a page"),
    ];
    checks.into_iter().find(|(holds, _)| !holds).map(|(_, lacking)| lacking)
}

#[test]
fn the_readme_is_one_screen() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines, {README_LINES} are allowed");
}

#[test]
fn the_citation_has_the_version_and_the_licences_of_the_program() {
    let (citation, manifest) = (read("CITATION.cff"), read("Cargo.toml"));
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key).map(str::trim).map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {key}")).trim_matches('"').to_owned()
    };
    assert_eq!(value(&citation, "version:"), value(&manifest, "version ="));
    for key in ["cff-version:", "message:", "title:", "type:", "authors:"] {
        value(&citation, key);
    }
    let licences: Vec<_> =
        value(&manifest, "license =").split(" OR ").map(|name| format!("  - {name}\n")).collect();
    assert!(citation.contains(&format!("license:\n{}", licences.concat())), "{licences:?}");
}

#[test]
fn the_architecture_is_a_map() {
    let words = read("ARCHITECTURE.md").split_whitespace().count();
    assert!(
        words <= ARCHITECTURE_WORDS,
        "ARCHITECTURE.md has {words} words, {ARCHITECTURE_WORDS} are allowed"
    );
}

#[test]
fn every_relative_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.iter().any(|page| page == "docs/README.md"), "the documents were not found");
    let broken: Vec<_> = pages.iter().flat_map(|page| broken(page, &read(page))).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn running_text_wraps() {
    let wide: Vec<_> = pages().iter().flat_map(|page| wide(page, &read(page))).collect();
    assert_eq!(wide, Vec::<String>::new(), "wider than {WIDTH} characters");
}

#[test]
fn every_page_of_the_documents_is_listed() {
    let index = read("docs/README.md");
    let unlisted = |page: &String| {
        let name = page.strip_prefix("docs/").filter(|name| !name.contains('/') && *name != "README.md");
        name.is_some_and(|name| !index.contains(&format!("({name})")))
    };
    assert_eq!(pages().into_iter().filter(unlisted).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn every_decision_has_its_form_and_is_listed() {
    let index = read("docs/decisions/README.md");
    let decisions = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/decisions/") && !page.ends_with("README.md"));
    let mut expected = 1;
    for page in decisions {
        let name = page.rsplit('/').next().unwrap_or(&page);
        assert_eq!(malformed(name, &read(&page)), None, "{page} lacks it");
        assert!(name.starts_with(&format!("{expected:03}-")), "{page}: number {expected:03} comes next");
        assert!(index.contains(&format!("({name})")), "{page} is not in docs/decisions/README.md");
        expected += 1;
    }
    assert!(expected > 1, "the decisions were not found");
}

#[test]
fn the_rules_can_be_broken() {
    let fine = "# Title\n\nDate: 2026-11-15\n\n## Question\n\n## Answer\n\n## Numbers\n";
    assert_eq!(malformed("001-rows.md", fine), None);
    assert_eq!(malformed("1-rows.md", fine), Some("a number of three digits"));
    assert_eq!(malformed("rows.md", fine), Some("a number of three digits"));
    assert_eq!(malformed("001-rows.md", ""), Some("a title"));
    assert_eq!(
        malformed("001-rows.md", &fine.replace("2026-11-15", "today")),
        Some("a line `Date: YYYY-MM-DD` below the title")
    );
    assert_eq!(
        malformed("001-rows.md", &fine.replace("## Answer\n", "")),
        Some("the sections Question, Answer and Numbers")
    );
    let page = "see [a](no/such.md), [b](README.md#what-it-promises) and [c](README.md#no-heading)\n```\n[d](code.md)\n```\n";
    assert_eq!(broken("page.md", page), ["page.md: no/such.md", "page.md: README.md#no-heading"]);
    let long = "x".repeat(WIDTH + 1);
    assert_eq!(wide("page.md", &format!("{long}\n| {long} |\n```\n{long}\n```\n")), ["page.md:1"]);
}
