//! The settings that finished parts were made with, kept beside them for `--resume`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use calipers_core::input_files::{JOIN, ROLE};
use calipers_core::{Error, InputFiles, Result};
use calipers_sources::output;
use serde::{Deserialize, Serialize};

const FILE: &str = "settings.json";

/// Settings by name, as people write them.
pub type Settings = BTreeMap<String, String>;

/// What decides what the parts in a folder hold, beside what the names of their files say: the budget, the
/// split and the seed. More of those can be asked for later, and more penalties; what is there stays right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// What counts for every part.
    pub(super) all: Settings,
    /// What counts for the parts of a penalty, by the name of its folder.
    pub(super) penalties: BTreeMap<String, Settings>,
}

impl Record {
    /// What both hold, where the parts of this one serve whoever asks for the other.
    fn with(mut self, path: &Path, now: &Self) -> Result<Self> {
        same(path, &self.all, &now.all)?;
        let (before, after) = (self.forms(), now.forms());
        // Forms are compared with one another on one page, so that another one is never meant in silence.
        if !before.is_subset(&after) {
            let words = |forms: BTreeSet<&str>| forms.into_iter().collect::<Vec<_>>().join(",");
            return Err(other(path, "weights", &words(before), &words(after)));
        }
        for (folder, settings) in &now.penalties {
            if let Some(made) = self.penalties.get(folder) {
                same(path, made, settings).map_err(|error| error.at(folder))?;
            }
        }
        self.penalties.extend(now.penalties.clone());
        Ok(self)
    }

    /// The forms of the edge weights.
    fn forms(&self) -> BTreeSet<&str> {
        self.penalties.values().filter_map(|settings| settings.get("weights")).map(String::as_str).collect()
    }
}

/// What the files were read as, and what they hold: a file that was moved is the same.
pub fn of_files(files: &InputFiles) -> Settings {
    let mut settings = Settings::new();
    for (_, file) in files.iter() {
        let roles = file.notes.get(ROLE).map_or("input", String::as_str);
        for role in roles.split(JOIN) {
            settings.insert(format!("{role} file"), format!("blake3 {}", file.blake3));
        }
    }
    settings
}

/// Makes the folder and records the settings; or, to resume, compares them with those of the
/// finished parts. A folder that holds something is refused otherwise.
pub(super) fn claim(folder: &Path, record: &Record, resume: bool) -> Result<()> {
    let io = |what: &str, error: std::io::Error| {
        Error::io(format!("cannot {what}: {}", error.kind())).in_file(folder.display())
    };
    fs::create_dir_all(folder).map_err(|error| io("create the folder", error))?;
    let path = folder.join(FILE);
    let occupied = fs::read_dir(folder).map_err(|error| io("read the folder", error))?.next().is_some();
    let record = match (occupied, resume) {
        (false, _) => record.clone(),
        (true, false) => {
            return Err(Error::value("the output folder is not empty")
                .in_file(folder.display())
                .advice("name another folder, or go on with what is there: --resume"));
        }
        (true, true) => read(&path)?.with(&path, record)?,
    };
    let text = serde_json::to_string_pretty(&record)
        .map_err(|error| Error::io(format!("cannot write the settings: {error}")).in_file(path.display()))?;
    output::write(&path, format!("{text}\n").as_bytes())
}

fn read(path: &Path) -> Result<Record> {
    let unreadable = |why: String| {
        Error::value("the folder has parts, but no settings that they were made with")
            .in_file(path.display())
            .found(why)
            .advice("name another folder")
    };
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.kind().to_string()))?;
    serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

/// Refuses parts that were made with other settings than those that are asked for now.
pub fn same(file: &Path, made: &Settings, now: &Settings) -> Result<()> {
    let shown = |settings: &Settings, name: &str| settings.get(name).map_or("not set".into(), String::clone);
    for name in made.keys().chain(now.keys()) {
        let (before, after) = (shown(made, name), shown(now, name));
        if before != after {
            return Err(other(file, name, &before, &after));
        }
    }
    Ok(())
}

fn other(file: &Path, name: &str, made: &str, now: &str) -> Error {
    Error::value("the finished parts were made with another setting")
        .in_file(file.display())
        .at(name)
        .found(made)
        .allowed(now)
        .advice("give the setting of the finished parts, or name another folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> Settings {
        entries.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn record(epochs: &str, penalties: &[(&str, &str, &str)]) -> Record {
        let of = |(folder, weights, gamma): &(&str, &str, &str)| {
            ((*folder).to_owned(), map(&[("gamma", gamma), ("weights", weights)]))
        };
        Record {
            all: map(&[("epochs", epochs), ("graph file", "ab12")]),
            penalties: penalties.iter().map(of).collect(),
        }
    }

    const MCP: (&str, &str, &str) = ("mcp-exact", "exact", "6");

    #[test]
    fn a_folder_is_claimed_once_and_resumed_with_equal_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("figures");
        claim(&out, &record("300", &[MCP]), false).unwrap();
        let said = claim(&out, &record("300", &[MCP]), false).unwrap_err().to_string();
        assert!(said.contains("--resume"), "{said}");
        claim(&out, &record("300", &[MCP]), true).unwrap();
        let refused = |now: Record, parts: [&str; 3]| {
            let said = claim(&out, &now, true).unwrap_err().to_string();
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        };
        refused(record("20", &[MCP]), ["at: epochs", "found: 300", "allowed: 20"]);
        let other = ("mcp-exact", "exact", "5");
        refused(record("300", &[other]), ["at: mcp-exact, gamma", "found: 6", "allowed: 5"]);
        let other = ("mcp-legacy", "legacy", "6");
        refused(record("300", &[other]), ["at: weights", "found: exact", "allowed: legacy"]);
    }

    #[test]
    fn penalties_and_forms_are_added_to_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let scad = ("scad-exact", "exact", "3");
        let legacy = ("mcp-legacy", "legacy", "6");
        for now in [&[MCP][..], &[scad], &[MCP, legacy]] {
            claim(folder.path(), &record("300", now), true).unwrap();
        }
        let all = read(&folder.path().join(FILE)).unwrap();
        assert_eq!(all, record("300", &[MCP, scad, legacy]));
    }

    #[test]
    fn parts_without_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("other"), "x").unwrap();
        let said = claim(folder.path(), &record("1", &[]), true).unwrap_err().to_string();
        assert!(said.contains("no settings"), "{said}");
    }
}
