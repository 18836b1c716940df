//! Which histories a path on the command line stands for, and what the runs in them are called.

mod folder;
mod input_folder;
mod parts;
mod unread;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use calipers_core::{Error, Result};
use calipers_io::history::mlflow_server::{Address, Store, store};
use calipers_io::history::{Format, RUN_META, TRAINER_STATE, of_folder};
use calipers_io::place::{self, Kind};

use self::folder::Folder;
use self::input_folder::{name_folders, names_checkpoint, own_name, parent, within};
pub use self::unread::{Unread, nothing_in};
use self::walk::Walk;
use crate::inputs::Inputs;
use crate::tree::Tree;

/// A file or folder that holds one run, or a table of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The run name that its place gives.
    pub name: String,
    /// Its path as given on the command line, with `/`.
    pub shown: String,
    /// The files to read.
    pub content: Content,
    /// Which path of the command line it was found under.
    pub input: usize,
    /// Whether it was named itself, not found in a folder.
    pub named: bool,
    /// What the rule `folder` makes of a run name without a folder.
    pub folder: Option<String>,
    /// Whether several inputs were taken as this one run.
    pub joined: bool,
}

/// What is under the given paths.
#[derive(Debug, Default)]
pub struct Found {
    /// The histories.
    pub histories: Vec<History>,
    /// Logs of tools whose files are not read.
    pub unread: Vec<Unread>,
}

/// The files of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A file whose content says what it is.
    File(Place),
    /// The offline logs of one run of W&B, in the order in which they were begun.
    Wandb(Vec<Place>),
    /// The event files of a folder, in order of their names.
    Events(Vec<Place>),
    /// A table and event files that two loggers wrote of one run.
    Loggers {
        /// The table.
        table: Place,
        /// The event files.
        events: Vec<Place>,
    },
    /// A run folder of DVCLive: the key of each of its files, and where that is.
    Dvclive(Vec<(String, Place)>),
    /// The states of a folder and of the checkpoints in it.
    TrainerStates(Vec<Place>),
    /// A run folder of MLflow: the path of each file below it, and where that is.
    Mlflow(Vec<(String, Place)>),
    /// A tracking server of MLflow.
    Server(Address),
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub path: PathBuf,
    /// Its path as given on the command line, with `/`.
    pub shown: String,
}

impl Content {
    /// Its files.
    pub fn places(&self) -> Vec<&Place> {
        match self {
            Self::File(place) => vec![place],
            Self::Wandb(places) | Self::Events(places) | Self::TrainerStates(places) => {
                places.iter().collect()
            }
            Self::Loggers { table, events } => std::iter::once(table).chain(events).collect(),
            Self::Mlflow(files) | Self::Dvclive(files) => files.iter().map(|(_, place)| place).collect(),
            Self::Server(_) => Vec::new(),
        }
    }
}

/// Every history under the given paths, in the order of the paths and within a folder in byte
/// order of names. A format narrows the search in folders to files that can have it.
///
/// What folders hold beside histories is counted in `record`.
pub fn histories(inputs: &[PathBuf], format: Option<&'static Format>, record: &Inputs) -> Result<Found> {
    let mut found = Found::default();
    // Event files of one folder are one run, however they were named.
    let mut event_folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let of_mlflow = format.is_some_and(|format| format.name == "mlflow");
    for (input, path) in inputs.iter().enumerate() {
        let path = &match store(text(path)?, of_mlflow)? {
            None => path.clone(),
            Some(Store::Path(path)) => path,
            Some(Store::Server(address)) => {
                found.histories.push(served(address, input));
                continue;
            }
        };
        let shown = place::shown(text(path)?);
        record.come_from(path);
        if place::kind(path).map_err(|error| error.in_file(&shown))? == Kind::Folder {
            let root = if shown == "/" { "" } else { shown.trim_end_matches('/') };
            let tree = Tree::read(path, record)?;
            if let Some(tool) = unread::tool_of(path, &tree) {
                return Err(unread::refused(tool).in_file(&shown));
            }
            let walk = Walk { own: own_name(path)?, input, format, within: within(path)?, tree: &tree };
            let folder = Folder { path: path.clone(), shown: root.into(), below: String::new() };
            let before = found.histories.len();
            walk.search(&folder, &mut found)?;
            let read = found.histories[before..].iter().flat_map(|history| history.content.places());
            let read: BTreeSet<&str> = read.map(|place| place.shown.as_str()).collect();
            let others: Vec<String> =
                tree.files().filter(|file| !read.contains(format!("{root}/{file}").as_str())).collect();
            tree.pass_over(others.iter().map(String::as_str), record);
            if found.histories.len() == before {
                return Err(nothing_in(&shown, &found.unread));
            }
        } else {
            let place = Place { path: path.clone(), shown };
            let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
            match event_folders.get(&folder).filter(|_| is_events(file_name(&place))) {
                Some(at) => {
                    if let Content::Events(files) = &mut found.histories[*at].content {
                        if !files.contains(&place) {
                            files.push(place);
                        }
                        files.sort_by(|a, b| file_name(a).cmp(file_name(b)));
                    }
                }
                None => {
                    let history = named_file(place, input)?;
                    if matches!(history.content, Content::Events(_)) {
                        event_folders.insert(folder, found.histories.len());
                    }
                    found.histories.push(history);
                }
            }
        }
    }
    if inputs.len() > 1 {
        parts::each_once(&mut found.histories);
        parts::join_checkpoints(&mut found.histories);
        name_folders(&mut found.histories, inputs)?;
    }
    parts::join_wandb(&mut found.histories);
    Ok(found)
}

/// A tracking server, whose runs it names itself.
fn served(address: Address, input: usize) -> History {
    let shown = address.shown().to_owned();
    History {
        name: shown.clone(),
        shown,
        content: Content::Server(address),
        input,
        named: true,
        folder: None,
        joined: false,
    }
}

/// A file that was named itself.
fn named_file(place: Place, input: usize) -> Result<History> {
    let name = file_name(&place);
    let by_folder = name.eq_ignore_ascii_case("metrics.csv") || name == TRAINER_STATE || is_events(name);
    let folder = place.path.parent().unwrap_or(Path::new(""));
    let run = if name == TRAINER_STATE && names_checkpoint(folder) {
        own_name(&parent(folder))?
    } else if by_folder {
        own_name(folder)?
    } else {
        stem(name).to_owned()
    };
    let (shown, label) = (place.shown.clone(), within(&place.path)?);
    let content = match name {
        TRAINER_STATE => Content::TrainerStates(vec![place]),
        name if is_events(name) => Content::Events(vec![place]),
        _ => Content::File(place),
    };
    Ok(History { name: run, shown, content, input, named: true, folder: label, joined: false })
}

/// Whether a file is one of several that are one run together, by its name.
fn is_events(name: &str) -> bool {
    ![RUN_META, TRAINER_STATE].contains(&name) && of_folder(name).is_some()
}

/// Whether a folder of this name is a checkpoint of the Hugging Face trainer.
pub(super) fn is_checkpoint(name: &str) -> bool {
    name.starts_with("checkpoint-")
}

fn joined(below: &str, name: &str) -> String {
    if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") }
}

/// A file name without its last extension, and without that of a compression.
fn stem(name: &str) -> &str {
    let name = calipers_io::compress::FORMATS.stem(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// The last part of a shown path.
pub fn file_name(place: &Place) -> &str {
    place.shown.rsplit('/').next().unwrap_or("")
}

/// A path as text.
pub(super) fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::io("a file name is not UTF-8").in_file(path.display()).advice("rename the file")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use calipers_io::history::FORMATS;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join("in").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        folder
    }

    fn names(folder: &tempfile::TempDir, format: Option<&'static Format>) -> Vec<String> {
        let found = histories(&[folder.path().join("in")], format, &Inputs::default()).unwrap().histories;
        found.into_iter().map(|history| history.name).collect()
    }

    #[test]
    fn every_layout_gives_its_run_name() {
        let folder = tree(&[
            "metrics.csv",
            "a/b.c.csv",
            "light/version_0/metrics.csv",
            "tb/run1/events.out.tfevents.2",
            "tb/run1/events.out.tfevents.1",
            "hf/checkpoint-10/trainer_state.json",
            "hf/checkpoint-20/trainer_state.json",
            "mlruns/1/meta.yaml",
            "mlruns/1/r1/meta.yaml",
            "mlruns/1/r1/metrics/val/F1",
            "mlruns/1/models/m-1/meta.yaml",
            "mlruns/1/models/m-1/metrics/loss",
            "notes.md",
            ".hidden.csv",
        ]);
        assert_eq!(names(&folder, None), ["in", "a/b.c", "hf", "light/version_0", "mlruns/1/r1", "tb/run1"]);
        assert_eq!(names(&folder, FORMATS.called("tensorboard")), ["tb/run1"]);
        let found = histories(&[folder.path().join("in/tb")], None, &Inputs::default()).unwrap().histories;
        let Content::Events(files) = &found[0].content else { panic!("{found:?}") };
        assert!(files[0].shown.ends_with("tfevents.1"), "{files:?}");
    }

    #[test]
    fn a_named_file_is_called_by_its_stem_or_its_folder() {
        let folder = tree(&["x/metrics.csv", "x/a.b.csv", "tb/e.tfevents.2", "tb/e.tfevents.1"]);
        let path = |name: &str| folder.path().join("in").join(name);
        let given =
            [path("x/metrics.csv"), path("x/a.b.csv"), path("tb/e.tfevents.2"), path("tb/e.tfevents.1")];
        let found = histories(&given, None, &Inputs::default()).unwrap().histories;
        let names: Vec<&str> = found.iter().map(|history| history.name.as_str()).collect();
        assert_eq!(names, ["x", "a.b", "tb"], "event files of one folder are one run");
    }

    #[test]
    fn an_empty_folder_says_what_was_looked_for() {
        let folder = tree(&["readme.md"]);
        let read = |name: &str| histories(&[folder.path().join(name)], None, &Inputs::default());
        let error = read("in").unwrap_err().to_string();
        assert!(error.contains("tfevents") && error.contains("/in"), "{error}");
        assert!(read("none").is_err());
    }
}
