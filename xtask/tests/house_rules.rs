//! Rules of the source tree that are cheap to check.

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 500;
const NOT_OURS: &[&str] = &["target", ".git", ".venv", "fixtures", "corpus", "node_modules", "__pycache__"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below the folder that people write, as a path from there and its text.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read");
            let name = entry.file_name();
            if NOT_OURS.iter().any(|skipped| name == *skipped) {
                continue;
            }
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                let path = entry.path();
                let path = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

fn too_long(files: &[(String, String)]) -> Vec<&str> {
    let sources = files.iter().filter(|(path, _)| path.ends_with(".rs"));
    sources.filter(|(_, text)| text.lines().count() > LONGEST_FILE).map(|(path, _)| path.as_str()).collect()
}

fn machine_paths(files: &[(String, String)]) -> Vec<String> {
    // Written in two pieces, so that this file does not accuse itself.
    let homes = ["work", "root", "home", "Users"].map(|folder| format!("/{folder}/"));
    let mut found = Vec::new();
    for (path, text) in files {
        for (number, line) in (1..).zip(text.lines()) {
            if homes.iter().any(|home| line.contains(home)) {
                found.push(format!("{path}:{number}: {line}"));
            }
        }
    }
    found
}

fn unlisted<'a>(sources: &'a [(String, String)], manifest: &str) -> Vec<&'a str> {
    let names = sources.iter().filter_map(|(path, _)| path.strip_suffix(".rs"));
    names.filter(|name| !manifest.contains(&format!("fuzz_targets/{name}.rs\""))).collect()
}

#[test]
fn no_source_file_holds_two_ideas() {
    let files = texts(&root());
    assert!(files.iter().any(|(path, _)| path == "xtask/tests/house_rules.rs"), "the sources were not found");
    assert_eq!(too_long(&files), Vec::<&str>::new(), "longer than {LONGEST_FILE} lines");
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    assert_eq!(machine_paths(&texts(&root())), Vec::<String>::new());
}

#[test]
fn every_fuzz_target_is_listed_and_has_seeds() {
    let fuzz = root().join("fuzz");
    let sources = texts(&fuzz.join("fuzz_targets"));
    assert!(!sources.is_empty());
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    assert_eq!(unlisted(&sources, &manifest), Vec::<&str>::new(), "missing from fuzz/Cargo.toml");
    for name in sources.iter().filter_map(|(path, _)| path.strip_suffix(".rs")) {
        let seeds = fs::read_dir(fuzz.join("corpus").join(name)).map(Iterator::count).unwrap_or(0);
        assert!(seeds > 0, "fuzz/corpus/{name} has no seeds");
    }
}

#[test]
fn the_rules_can_be_broken() {
    let long = ("src/long.rs".to_owned(), "\n".repeat(LONGEST_FILE + 1));
    let lost = ("notes.md".to_owned(), format!("see /{}/someone/data", "home"));
    let fine = ("src/fine.rs".to_owned(), "fn fine() {}\n".to_owned());
    let files = [long, lost, fine];
    assert_eq!(too_long(&files), ["src/long.rs"]);
    assert_eq!(machine_paths(&files), [format!("notes.md:1: see /{}/someone/data", "home")]);
    let target = [("npy.rs".to_owned(), String::new()), ("png.rs".to_owned(), String::new())];
    assert_eq!(unlisted(&target, "path = \"fuzz_targets/npy.rs\""), ["png"]);
}
