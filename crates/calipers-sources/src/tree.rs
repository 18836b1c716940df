//! A folder read to the bottom: every file in it, links followed, each folder entered once.
//!
//! Real folders are entered first, then links to folders in byte order of their paths. A link to a
//! folder that was entered adds nothing; one that leads back to a parent would never end and is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use calipers_core::{Error, Result};
use calipers_io::place;

use crate::inputs::Inputs;
use crate::walk::text;

/// The names directly in a folder, in byte order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Files, and links to files.
    pub(crate) files: Vec<String>,
    /// Folders, and links to folders that were not entered elsewhere.
    pub(crate) folders: Vec<String>,
    /// Names that begin with a dot.
    pub(crate) hidden: Vec<String>,
}

/// Everything below a folder, by the path of each folder in it, with `/`; that of the folder itself is
/// empty.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    folders: BTreeMap<String, Entries>,
    /// Links to folders that were entered under another name, and where they lead.
    again: Vec<String>,
}

/// What listings have found and no family reads.
#[derive(Debug, Default)]
pub(crate) struct PassedOver {
    hidden: usize,
    /// Files by their ending; without one under nothing.
    endings: BTreeMap<String, usize>,
    links: Vec<String>,
}

impl PassedOver {
    pub(crate) fn add(&mut self, more: Self) {
        self.hidden += more.hidden;
        for (ending, count) in more.endings {
            *self.endings.entry(ending).or_default() += count;
        }
        self.links.extend(more.links);
    }

    /// One line about all files, and one per link.
    pub(crate) fn lines(&self) -> Vec<String> {
        let hidden = (self.hidden > 0).then(|| format!("{} hidden", self.hidden));
        let named = self.endings.iter().filter(|(ending, _)| !ending.is_empty());
        let named = named.map(|(ending, count)| format!("{count} {ending}"));
        let bare = self.endings.get("").map(|count| format!("{count} without an ending"));
        let all: Vec<String> = hidden.into_iter().chain(named).chain(bare).collect();
        let counted = (!all.is_empty()).then(|| format!("passed over: {}", all.join(", ")));
        counted.into_iter().chain(self.links.iter().cloned()).collect()
    }
}

/// What a name in a folder turned out to be.
enum Kind {
    File,
    Folder,
    /// A link to the folder at this path.
    Link(PathBuf),
}

/// A tree that is being read.
struct Reading<'r> {
    tree: Tree,
    root: &'r Path,
    inputs: &'r Inputs,
    /// The real paths of the folders that were entered.
    entered: BTreeSet<PathBuf>,
    /// Links to folders by their paths below the root, and where they lead.
    links: BTreeMap<String, PathBuf>,
}

impl Tree {
    /// Reads a folder to the bottom. What cannot be read is an error, or left out where `inputs` goes on.
    pub(crate) fn read(root: &Path, inputs: &Inputs) -> Result<Self> {
        if let Some(files) = place::listing(root)? {
            return Ok(Self::of_files(&files));
        }
        let (entered, links) = (BTreeSet::new(), BTreeMap::new());
        let mut reading = Reading { tree: Self::default(), root, inputs, entered, links };
        let real = fs::canonicalize(root).map_err(|error| cannot_read(root, &error))?;
        reading.enter("", real)?;
        while let Some((below, target)) = reading.links.pop_first() {
            reading.follow(&below, target)?;
        }
        Ok(reading.tree)
    }

    /// The tree of files by their paths: what an archive holds.
    fn of_files(files: &[String]) -> Self {
        let mut folders: BTreeMap<String, Entries> = BTreeMap::from([(String::new(), Entries::default())]);
        let add = |names: &mut Vec<String>, name: &str| {
            if let Err(at) = names.binary_search_by(|known| known.as_str().cmp(name)) {
                names.insert(at, name.to_owned());
            }
        };
        for path in files {
            let (mut below, mut rest) = (String::new(), path.as_str());
            loop {
                let entries = folders.entry(below.clone()).or_default();
                let (name, inner) =
                    rest.split_once('/').map_or((rest, None), |(name, rest)| (name, Some(rest)));
                // What macOS packs beside the files is hidden where it was packed.
                if name.starts_with('.') || name == "__MACOSX" && below.is_empty() {
                    add(&mut entries.hidden, name);
                    break;
                }
                let Some(inner) = inner else {
                    add(&mut entries.files, name);
                    break;
                };
                add(&mut entries.folders, name);
                (below, rest) = (joined(&below, name), inner);
            }
        }
        Self { folders, again: Vec::new() }
    }

    /// What is directly in a folder, by its path below the given one.
    pub(crate) fn entries(&self, below: &str) -> Option<&Entries> {
        self.folders.get(below)
    }

    /// The paths of all files, in byte order.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> {
        let path = |below: &str, name: &String| joined(below, name);
        let of_folder = |(below, entries): (&String, &Entries)| {
            entries.files.iter().map(|name| path(below, name)).collect()
        };
        let mut files: Vec<String> =
            self.folders.iter().flat_map(|folder| -> Vec<String> { of_folder(folder) }).collect();
        files.sort_unstable();
        files.into_iter()
    }

    /// Counts hidden names, links that add nothing, and these files, which are not read.
    pub(crate) fn pass_over<'p>(&self, files: impl Iterator<Item = &'p str>, inputs: &Inputs) {
        let hidden = self.folders.values().map(|entries| entries.hidden.len()).sum();
        let mut passed_over = PassedOver { hidden, links: self.again.clone(), ..PassedOver::default() };
        for file in files {
            let name = file.rsplit('/').next().unwrap_or(file);
            let ending = name.rfind('.').filter(|at| *at > 0).map_or("", |at| &name[at..]);
            *passed_over.endings.entry(ending.to_owned()).or_default() += 1;
        }
        inputs.pass_over(passed_over);
    }
}

impl Reading<'_> {
    /// Reads a folder, and the real folders in it.
    fn enter(&mut self, below: &str, real: PathBuf) -> Result<()> {
        self.entered.insert(real.clone());
        let path = self.root.join(below);
        let Some(names) = self.unless_left_out(&path, names(&path))? else { return Ok(()) };
        let (mut entries, mut inner) = (Entries::default(), Vec::new());
        for (name, kind) in names {
            if name.starts_with('.') {
                entries.hidden.push(name);
                continue;
            }
            let below = joined(below, &name);
            match self.unless_left_out(&path.join(&name), kind.and_then(|kind| self.kind(kind, &below)))? {
                None => {}
                Some(Kind::File) => entries.files.push(name),
                Some(Kind::Folder) => {
                    inner.push((below, real.join(&name)));
                    entries.folders.push(name);
                }
                Some(Kind::Link(target)) => _ = self.links.insert(below, target),
            }
        }
        self.tree.folders.insert(below.to_owned(), entries);
        inner.into_iter().try_for_each(|(below, real)| self.enter(&below, real))
    }

    /// Enters the folder that a link leads to, unless it was entered before.
    fn follow(&mut self, below: &str, target: PathBuf) -> Result<()> {
        let (folder, name) = below.rsplit_once('/').unwrap_or(("", below));
        let link = self.root.join(below);
        let holder = fs::canonicalize(self.root.join(folder)).map_err(|error| cannot_read(&link, &error))?;
        if holder.starts_with(&target) {
            let error = Error::io("a link leads back to a folder that it lies in")
                .in_file(link.display())
                .found(target.display())
                .advice("remove the link");
            return self.unless_left_out::<()>(&link, Err(error)).map(drop);
        }
        if self.entered.contains(&target) {
            let said = format!("{} leads to {}, which is read already", link.display(), target.display());
            self.tree.again.push(said);
            return Ok(());
        }
        if let Some(entries) = self.tree.folders.get_mut(folder) {
            let at = entries.folders.partition_point(|known| known.as_str() < name);
            entries.folders.insert(at, name.to_owned());
        }
        self.enter(below, target)
    }

    fn kind(&self, kind: fs::FileType, below: &str) -> Result<Kind> {
        let path = self.root.join(below);
        if kind.is_file() {
            return Ok(Kind::File);
        }
        if kind.is_dir() {
            return Ok(Kind::Folder);
        }
        if !kind.is_symlink() {
            return Err(Error::io("neither a file nor a folder")
                .in_file(path.display())
                .found("a pipe, a socket or a device")
                .advice("move it out of the folder"));
        }
        let target = fs::metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::io("a link leads to nothing")
                .in_file(path.display())
                .found(fs::read_link(&path).unwrap_or_default().display())
                .advice("remove the link, or bring back what it leads to"),
            kind => Error::io(format!("a link cannot be followed: {kind}"))
                .in_file(path.display())
                .advice("remove the link"),
        })?;
        if target.is_dir() {
            return fs::canonicalize(&path).map(Kind::Link).map_err(|error| cannot_read(&path, &error));
        }
        if target.is_file() {
            return Ok(Kind::File);
        }
        Err(Error::io("a link leads to neither a file nor a folder")
            .in_file(path.display())
            .found("a pipe, a socket or a device")
            .advice("remove the link"))
    }

    fn unless_left_out<T>(&self, path: &Path, done: Result<T>) -> Result<Option<T>> {
        if done.is_err() && self.inputs.is_again() {
            // What could not be read is among no recorded inputs.
            return Ok(None);
        }
        self.inputs.unless_left_out(&path.display().to_string().replace(std::path::MAIN_SEPARATOR, "/"), done)
    }
}

/// The names in a folder, in byte order, and what each is.
fn names(folder: &Path) -> Result<Vec<(String, Result<fs::FileType>)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))? {
        let entry = entry.map_err(|error| cannot_read(folder, &error))?;
        let name = entry.file_name();
        let name = text(Path::new(&name)).map_err(|error| error.in_file(folder.display()))?;
        let kind = entry.file_type().map_err(|error| cannot_read(&entry.path(), &error));
        names.push((name.to_owned(), kind));
    }
    names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::io(format!("cannot read the folder: {}", error.kind()))
        .in_file(path.display())
        .advice("check who may read it")
}

fn joined(below: &str, name: &str) -> String {
    if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        folder
    }

    fn files(root: &Path) -> Vec<String> {
        Tree::read(root, &Inputs::default()).unwrap().files().collect()
    }

    #[test]
    fn what_an_archive_holds_is_a_tree_without_hidden_names() {
        let files =
            ["__MACOSX/gt/._1", "gt/.DS_Store", "gt/.x/1", "gt/1", "gt/val/2", "top"].map(String::from);
        let tree = Tree::of_files(&files);
        assert_eq!(tree.files().collect::<Vec<_>>(), ["gt/1", "gt/val/2", "top"]);
        let top = tree.entries("").unwrap();
        assert_eq!((&top.folders[..], &top.hidden[..]), (&["gt".into()][..], &["__MACOSX".into()][..]));
        assert_eq!(tree.entries("gt").unwrap().hidden, [".DS_Store", ".x"]);
    }

    #[test]
    fn links_to_files_count_under_their_own_names() {
        let folder = folder(&["in/a", "blobs/x"]);
        for name in ["in/b", "in/c"] {
            symlink("../blobs/x", folder.path().join(name)).unwrap();
        }
        assert_eq!(files(&folder.path().join("in")), ["a", "b", "c"]);
    }

    #[test]
    fn a_folder_is_entered_once_and_real_paths_come_first() {
        let folder = folder(&["in/run-2/log", "far/deep/log"]);
        let path = |name: &str| folder.path().join(name);
        symlink("run-2", path("in/latest-run")).unwrap();
        symlink("../far", path("in/b")).unwrap();
        symlink("../far/deep", path("in/c")).unwrap();
        let (inputs, root) = (Inputs::default(), path("in"));
        let tree = Tree::read(&root, &inputs).unwrap();
        assert_eq!(tree.files().collect::<Vec<_>>(), ["b/deep/log", "run-2/log"]);
        assert_eq!(tree.entries("").unwrap().folders, ["b", "run-2"]);
        tree.pass_over(std::iter::empty(), &inputs);
        let said = inputs.passed_over();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("in/c leads to") && said[0].ends_with("far/deep, which is read already"));
        assert!(said[1].contains("in/latest-run leads to"), "{said:?}");
    }

    #[test]
    fn what_cannot_be_read_is_an_error_or_left_out_by_its_path() {
        for (name, words) in [
            ("up", "leads back to a folder that it lies in"),
            ("above", "leads back to a folder that it lies in"),
            ("nothing", "a link leads to nothing"),
            ("round", "a link cannot be followed: filesystem loop"),
            ("pipe", "neither a file nor a folder"),
            ("to-pipe", "neither a file nor a folder"),
        ] {
            let folder = folder(&["in/sub/a", "in/z"]);
            let path = folder.path().join("in/sub").join(name);
            match name {
                "up" => symlink("../sub", &path).unwrap(),
                "above" => symlink("../..", &path).unwrap(),
                "nothing" => symlink("gone", &path).unwrap(),
                "round" => symlink("round", &path).unwrap(),
                "to-pipe" => symlink("/dev/null", &path).unwrap(),
                _ => assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success()),
            }
            let root = folder.path().join("in");
            let error = Tree::read(&root, &Inputs::default()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(&path.display().to_string()), "{error}");
            let inputs = Inputs::default().keep_going(true);
            assert_eq!(Tree::read(&root, &inputs).unwrap().files().collect::<Vec<_>>(), ["sub/a", "z"]);
            let left_out: Vec<String> = inputs.left_out().into_keys().collect();
            assert_eq!(left_out, [path.display().to_string()]);
        }
    }
}
