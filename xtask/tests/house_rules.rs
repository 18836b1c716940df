//! Rules of the source tree that are cheap to check.

use std::collections::BTreeMap;
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

/// The source without raw strings, which hold the JSON of worked examples.
fn without_raw_strings(text: &str) -> String {
    let mut pieces = text.split("r#\"");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |kept, piece| kept + piece.split_once("\"#").map_or("", |(_, after)| after))
}

/// The source without its comments and its tests, and the names of the modules that are tests alone.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let (mut kept, mut modules) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // The item after it: a line that ends, or a block up to its brace at the margin.
            let item = lines.next().unwrap_or_default();
            if item.ends_with(';') {
                modules.extend(item.trim_end_matches(';').rsplit(' ').next().map(str::to_owned));
            } else {
                let _ = lines.find(|line| *line == "}");
            }
        } else if !line.trim_start().starts_with("//") {
            kept.extend(line.split_whitespace());
        }
    }
    (without_raw_strings(&kept), modules)
}

/// The non-test sources below a folder, as paths from there.
fn sources_without_tests(files: &[(String, String)]) -> Vec<(&str, String)> {
    let (mut sources, mut of_tests) = (Vec::new(), Vec::new());
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let (kept, modules) = without_tests(text);
        let folder = match path.strip_suffix("mod.rs").or_else(|| path.strip_suffix("lib.rs")) {
            Some(folder) => folder.to_owned(),
            None => format!("{}/", path.trim_end_matches(".rs")),
        };
        of_tests.extend(modules.into_iter().map(|module| format!("{folder}{module}")));
        sources.push((path.as_str(), kept));
    }
    let is_test = |path: &str| {
        of_tests
            .iter()
            .any(|test| path.strip_prefix(test.as_str()).is_some_and(|rest| rest.starts_with(['.', '/'])))
    };
    sources.retain(|(path, _)| !is_test(path));
    sources
}

/// The ids of every family, from the module that is generated from the metric tables.
fn metric_ids(module: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut ids: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in module.lines() {
        let id = line.trim().strip_prefix('"').and_then(|line| line.strip_suffix("\","));
        if let Some((family, id)) = id.and_then(|id| id.split_once('.')) {
            ids.entry(family).or_default().push(id);
        }
    }
    ids
}

/// Every id that stands in more than one place of its family's sources, and in how many.
fn repeated_ids<'i>(family: &str, ids: &[&'i str], sources: &[(&str, String)]) -> Vec<(&'i str, usize)> {
    let other_family = |path: &str| path.contains('/') && !path.starts_with(&format!("{family}/"));
    let own = || sources.iter().filter(|(path, _)| !other_family(path));
    // A group of metrics, a section of a document and a worked example may have the word of an id as their name.
    let names = ["", "group:", "document!(", "example:("];
    let places = |id: &str| -> usize {
        let count = |before: &str| -> usize {
            own().map(|(_, text)| text.matches(&format!("{before}\"{id}\"")).count()).sum()
        };
        let [all, groups, sections, examples] = names.map(count);
        all - groups - sections - examples
    };
    ids.iter().map(|id| (*id, places(id))).filter(|(_, places)| *places > 1).collect()
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
fn a_metric_id_is_written_once() {
    let files = texts(&root().join("crates/calipers-metrics/src"));
    let sources = sources_without_tests(&files);
    let module = fs::read_to_string(root().join("python/calipers/_report/metric_ids.py")).unwrap();
    let ids = metric_ids(&module);
    assert_eq!(ids.len(), 5, "the families were not found");
    let repeated: Vec<String> = ids
        .iter()
        .flat_map(|(family, ids)| {
            let repeated = repeated_ids(family, ids, &sources).into_iter();
            repeated.map(move |(id, places)| format!("{family}.{id} stands in {places} places"))
        })
        .collect();
    assert!(repeated.is_empty(), "{} ids:\n{}", repeated.len(), repeated.join("\n"));
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
    let own = "mod tables;\n#[cfg(test)]\nmod oracle;\n// \"iou\"\nconst IOU: &str = \"iou\";\n\
        #[cfg(test)]\nmod tests {\n    const IOU: &str = \"iou\";\n}\nfn again() { \"iou\" }\n\
        fn others() { (r#\"{\"iou\": 1}\"#, document!(\"iou\")) }\n";
    let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let sources = [
        source("a/mod.rs", own),
        source("a/oracle.rs", "\"iou\""),
        source("b/mod.rs", "\"iou\""),
        source("reading.rs", "\"miou\""),
    ];
    let ids = metric_ids("    \"a.iou\",\n    \"a.miou\",\n    \"b.iou\",\n");
    let sources = sources_without_tests(&sources);
    assert_eq!(repeated_ids("a", &ids["a"], &sources), [("iou", 2)]);
    assert_eq!(repeated_ids("b", &ids["b"], &sources), []);
    let target = [("npy.rs".to_owned(), String::new()), ("png.rs".to_owned(), String::new())];
    assert_eq!(unlisted(&target, "path = \"fuzz_targets/npy.rs\""), ["png"]);
}
