//! What the project is made of: licences, versions that occur twice, `unsafe` outside its named files, and known
//! vulnerabilities where `cargo-deny` is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::step::{Outcome, announced, cargo, is_there, output_of, root, step};

/// Licences that a program under MIT or Apache-2.0 may hold.
const ALLOWED: [&str; 14] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
    "bzip2-1.0.6",
];

/// Crates of which two versions are built, because those that need them have not met yet.
const TWICE: [&str; 11] = [
    "base64",
    "block-buffer",
    "crypto-common",
    "digest",
    "embedded-io",
    "getrandom",
    "hashbrown",
    "miniz_oxide",
    "r-efi",
    "syn",
    "windows-sys",
];

/// The files that may hold `unsafe`, below the root.
const UNSAFE: [&str; 3] = [
    "crates/calipers-py/src/families/published_explanation.rs",
    "crates/calipers-py/src/given/array.rs",
    "crates/calipers-py/src/given/tensor.rs",
];

/// Everything; fails with every finding of the first step that has one.
pub(crate) fn audit() -> Outcome {
    let metadata = output_of(&mut cargo("metadata --format-version 1 --locked"))?;
    let metadata: Json =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
    let packages: Vec<Package> =
        metadata["packages"].as_array().into_iter().flatten().map(Package::new).collect();
    announced("licences", || none("a licence that is not allowed", licences(&packages)))?;
    announced("duplicate versions", || none("two versions of a crate", duplicates(&packages)))?;
    announced("unsafe code", || none("unsafe code outside its files", unsafe_code(&root())))?;
    if is_there("cargo-deny", "--version") {
        return step("advisories", &mut cargo("deny check advisories"));
    }
    println!(
        "    cargo-deny is not installed: known vulnerabilities and unmaintained crates are not looked up"
    );
    Ok(())
}

struct Package {
    name: String,
    version: String,
    licence: String,
    is_ours: bool,
}

impl Package {
    fn new(package: &Json) -> Self {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            version: text("version"),
            licence: text("license"),
            is_ours: package["source"].is_null(),
        }
    }
}

fn none(what: &str, found: Vec<String>) -> Outcome {
    if found.is_empty() { Ok(()) } else { Err(format!("{what}:\n{}", found.join("\n"))) }
}

fn licences(packages: &[Package]) -> Vec<String> {
    let bad = packages.iter().filter(|package| !is_allowed(&package.licence));
    bad.map(|package| format!("{} {}: {:?}", package.name, package.version, package.licence)).collect()
}

/// Whether every part of an `AND` leaves a choice that is allowed.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|one| ALLOWED.contains(&one.trim())))
}

fn duplicates(packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages.iter().filter(|package| !package.is_ours) {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let twice = versions.into_iter().filter(|(name, versions)| versions.len() > 1 && !TWICE.contains(name));
    twice.map(|(name, versions)| format!("{name}: {versions:?}")).collect()
}

fn unsafe_code(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    search(&root.join("crates"), &mut |path, text| {
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let is_code = |line: &str| {
            let code = line.split("//").next().unwrap_or_default();
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|word| code.contains(word))
        };
        let lines = text.lines().enumerate().filter(|(_, line)| is_code(line));
        if !UNSAFE.contains(&shown.as_str()) {
            found.extend(lines.map(|(at, _)| format!("{shown}:{}", at + 1)));
        }
    });
    found
}

fn search(folder: &Path, each: &mut dyn FnMut(&Path, &str)) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            search(&path, each);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && let Ok(text) = fs::read_to_string(&path)
        {
            each(&path, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_licences_needs_one_that_is_allowed_and_a_sum_of_them_all() {
        for good in
            ["MIT", "MIT/Apache-2.0", "(MIT OR GPL-3.0) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
        {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1-or-later"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn unsafe_code_stands_in_its_files_alone() {
        assert_eq!(unsafe_code(&root()), Vec::<String>::new());
    }

    #[test]
    fn two_versions_are_told_unless_they_are_known() {
        let package = |name: &str, version: &str| Package {
            name: name.into(),
            version: version.into(),
            licence: "MIT".into(),
            is_ours: false,
        };
        let packages =
            [package("a", "1.0.0"), package("a", "2.0.0"), package("syn", "1.0.0"), package("syn", "2.0.0")];
        assert_eq!(duplicates(&packages).len(), 1);
    }
}
