//! What lies in the run folders of a study, as paths: checkpoints, tokenizers, records of emissions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use calipers_core::{Error, Result};

/// The files that make a folder that of a tokenizer.
const TOKENIZER: [&str; 5] =
    ["tokenizer.json", "tokenizer_config.json", "spiece.model", "vocab.json", "vocab.txt"];
/// The endings of checkpoints that are files.
const CHECKPOINTS: [&str; 3] = [".ckpt", ".pt", ".pth"];
/// What codecarbon writes.
const EMISSIONS: &str = "emissions.csv";

/// A file or folder below a given folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Below {
    /// Its path below the given folder, with `/`.
    pub(super) path: String,
    /// Which of the given folders that is.
    pub(super) root: usize,
}

/// The given folders and every file below them.
pub(super) struct Tree {
    roots: Vec<PathBuf>,
    /// In byte order of the paths.
    files: Vec<Below>,
}

impl Tree {
    /// Lists the files below these folders. Hidden files and links are passed over.
    pub(super) fn of(roots: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for (root, folder) in roots.iter().enumerate().filter(|(_, folder)| folder.is_dir()) {
            search(folder, "", &mut |path| files.push(Below { path, root }))?;
        }
        files.sort_unstable();
        Ok(Self { roots: roots.to_vec(), files })
    }

    /// Where something is.
    pub(super) fn place(&self, below: &Below) -> PathBuf {
        self.roots[below.root].join(&below.path)
    }

    /// The place of a path among the given folders, by the longest of them that it is in.
    pub(super) fn below(&self, path: &Path) -> Option<Below> {
        let inside = |(root, folder): (usize, &PathBuf)| {
            let rest = path.strip_prefix(folder).ok()?.to_str()?;
            Some(Below { path: rest.replace(std::path::MAIN_SEPARATOR, "/"), root })
        };
        self.roots.iter().enumerate().filter_map(inside).min_by_key(|below| below.path.len())
    }

    /// The files at or below a folder.
    fn at(&self, folder: &Below) -> impl Iterator<Item = &Below> {
        self.files.iter().filter(move |file| file.root == folder.root && is_below(&file.path, &folder.path))
    }
}

/// Who owns a file: the nearest run folder at or above it.
pub(super) struct Owners<'t> {
    tree: &'t Tree,
    runs: BTreeMap<Below, usize>,
}

impl<'t> Owners<'t> {
    /// The run folders, each with its run.
    pub(super) fn new(tree: &'t Tree, folders: impl IntoIterator<Item = (Below, usize)>) -> Self {
        Self { tree, runs: folders.into_iter().collect() }
    }

    /// The run that owns a file.
    pub(super) fn of(&self, file: &Below) -> Option<usize> {
        let mut folder = parent(&file.path);
        loop {
            let found = self.runs.get(&Below { path: folder.to_owned(), root: file.root });
            match found {
                Some(run) => return Some(*run),
                None if folder.is_empty() => return None,
                None => folder = parent(folder),
            }
        }
    }

    /// The files of one run, in byte order.
    pub(super) fn files(&self, run: usize) -> impl Iterator<Item = &'t Below> {
        self.tree.files.iter().filter(move |file| self.of(file) == Some(run))
    }

    /// The folders of a run.
    pub(super) fn folders(&self, run: usize) -> impl Iterator<Item = &Below> {
        self.runs.iter().filter(move |(_, owner)| **owner == run).map(|(folder, _)| folder)
    }

    /// The checkpoints of a run, in byte order: the path of each below the run folder, and itself.
    pub(super) fn checkpoints(&self, run: usize) -> Vec<(String, Below)> {
        let mut found: BTreeSet<(String, Below)> = BTreeSet::new();
        for file in self.files(run) {
            let Some(folder) = self.folders(run).filter(|folder| is_in(file, folder)).max() else { continue };
            let inside = relative(&file.path, &folder.path);
            let folders: Vec<&str> = inside.split('/').collect();
            match folders.iter().take(folders.len() - 1).position(|part| is_checkpoint(part)) {
                // What is inside a checkpoint's folder is a part of it.
                Some(at) => {
                    let path = folders[..=at].join("/");
                    let whole = Below { path: joined(&folder.path, &path), root: file.root };
                    found.insert((path, whole));
                }
                None if CHECKPOINTS.iter().any(|ending| inside.ends_with(ending)) => {
                    found.insert((inside.to_owned(), file.clone()));
                }
                None => {}
            }
        }
        found.into_iter().collect()
    }

    /// The first folder of a tokenizer at or below the folders of these runs, or the folder that holds
    /// just these.
    pub(super) fn tokenizer(&self, runs: &BTreeSet<usize>) -> Option<String> {
        let mut folders: Vec<Below> = runs.iter().flat_map(|run| self.folders(*run)).cloned().collect();
        folders.extend(self.common(&folders, runs));
        let mut tokenizers: BTreeSet<String> = BTreeSet::new();
        for folder in &folders {
            let named = |file: &&Below| TOKENIZER.contains(&name(&file.path));
            tokenizers.extend(self.tree.at(folder).filter(named).map(|file| parent(&file.path).to_owned()));
        }
        tokenizers.into_iter().next().map(|path| if path.is_empty() { ".".into() } else { path })
    }

    /// The deepest folder that holds all of these folders, where it holds no run but these.
    fn common(&self, folders: &[Below], runs: &BTreeSet<usize>) -> Option<Below> {
        let first = folders.first()?;
        let mut path = parent(&first.path);
        let holds =
            |path: &str| folders.iter().all(|other| other.root == first.root && is_below(&other.path, path));
        while !holds(path) {
            if path.is_empty() {
                return None;
            }
            path = parent(path);
        }
        let common = Below { path: path.to_owned(), root: first.root };
        let just_these = self.runs.iter().all(|(folder, run)| !is_in(folder, &common) || runs.contains(run));
        just_these.then_some(common)
    }

    /// The records of emissions, each with the run that owns it; none where it lies above the runs.
    pub(super) fn emissions(&self) -> impl Iterator<Item = (&'t Below, Option<usize>)> {
        let records = self.tree.files.iter().filter(|file| name(&file.path) == EMISSIONS);
        records.map(|file| (file, self.of(file)))
    }
}

fn search(folder: &Path, below: &str, found: &mut dyn FnMut(String)) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::io(format!("cannot read the folder: {}", error.kind())).in_file(folder.display())
    };
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(cannot)?);
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.') && !kind.is_symlink()) else {
            continue;
        };
        let path = joined(below, name);
        if kind.is_dir() { search(&entry.path(), &path, found)? } else { found(path) }
    }
    Ok(())
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folder of a path; empty for one without.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn relative<'p>(path: &'p str, folder: &str) -> &'p str {
    path.strip_prefix(folder).map_or(path, |rest| rest.trim_start_matches('/'))
}

fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_in(below: &Below, folder: &Below) -> bool {
    below.root == folder.root && is_below(&below.path, &folder.path)
}

/// Whether a folder of this name is a checkpoint.
pub(super) fn is_checkpoint(name: &str) -> bool {
    let number = name.strip_prefix("checkpoint-");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let tree = Tree::of(&[folder.path().to_owned()]).unwrap();
        (folder, tree)
    }

    fn folder(path: &str) -> Below {
        Below { path: path.into(), root: 0 }
    }

    #[test]
    fn a_run_owns_what_is_below_it_up_to_the_next_run() {
        let (_kept, tree) = tree(&[
            "cfg/f0/last.ckpt",
            "cfg/f0/checkpoint-20/model.pt",
            "cfg/f0/deep/a.pth",
            "cfg/f0/inner/b.pt",
            "cfg/tok/tokenizer.json",
            "cfg/f1/x.txt",
            "emissions.csv",
            "cfg/f1/emissions.csv",
        ]);
        let runs = [(folder("cfg/f0"), 0), (folder("cfg/f0/inner"), 1), (folder("cfg/f1"), 2)];
        let owners = Owners::new(&tree, runs);
        let paths = |run| owners.checkpoints(run).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(paths(0), ["checkpoint-20", "deep/a.pth", "last.ckpt"]);
        assert_eq!(paths(1), ["b.pt"]);
        assert!(paths(2).is_empty());
        let emissions: Vec<_> = owners.emissions().map(|(file, run)| (file.path.as_str(), run)).collect();
        assert_eq!(emissions, [("cfg/f1/emissions.csv", Some(2)), ("emissions.csv", None)]);
    }

    #[test]
    fn a_tokenizer_may_lie_beside_the_runs_of_its_group_alone() {
        let (_kept, tree) =
            tree(&["a/tok/vocab.txt", "a/f0/m.csv", "a/f1/m.csv", "b/f0/m.csv", "spiece.model"]);
        let runs = [(folder("a/f0"), 0), (folder("a/f1"), 1), (folder("b/f0"), 2)];
        let owners = Owners::new(&tree, runs);
        assert_eq!(owners.tokenizer(&BTreeSet::from([0, 1])).as_deref(), Some("a/tok"));
        assert_eq!(owners.tokenizer(&BTreeSet::from([2])), None);
        assert_eq!(owners.tokenizer(&BTreeSet::from([0, 1, 2])).as_deref(), Some("."));
    }

    #[test]
    fn only_numbered_folders_are_checkpoints() {
        assert!(is_checkpoint("checkpoint-12"));
        assert!(!is_checkpoint("checkpoint-best") && !is_checkpoint("checkpoint-"));
    }
}
