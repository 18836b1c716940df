//! Logs of tools whose files are not read: found, and reported.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use calipers_core::Error;
use calipers_io::history::{FORMATS, RUN_META, TRAINER_STATE};

use crate::tree::Tree;

/// A log that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    tool: &'static str,
    /// Where it is, as given.
    shown: String,
}

/// What can be done about it.
const ADVICE: &str = "export its runs as CSV";

/// Tools and the folders that they keep their logs in.
const FOLDERS: [(&str, &str); 2] = [(".aim", "Aim"), (".neptune", "Neptune")];
/// How much of the end of an archive is looked at.
const DIRECTORY: u64 = 64 << 10;
const CLEARML: &str = "ClearML";
/// What an offline session of ClearML holds beside its task.
const CLEARML_FILES: [&str; 2] = ["task.json", "metrics.jsonl"];

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a log of {} in {}, which is not read", self.tool, self.shown)
    }
}

/// The tool whose log a folder is.
pub(super) fn tool_of(folder: &Path, tree: &Tree) -> Option<&'static str> {
    let name = folder.file_name()?.to_str()?;
    let hidden = FOLDERS.iter().find(|(folder, _)| *folder == name).map(|(_, tool)| *tool);
    let holds = |file: &&str| tree.entries("").is_some_and(|top| top.files.iter().any(|name| name == file));
    hidden.or_else(|| CLEARML_FILES.iter().all(holds).then_some(CLEARML))
}

/// The error for such a log where nothing else was given.
pub(super) fn refused(tool: &str) -> Error {
    Error::value(format!("a log of {tool} is not read")).advice(ADVICE)
}

/// The logs among the entries of a folder: its files and its hidden names.
pub(super) fn among(files: &[String], hidden: &[String], folder: &Path, shown: &str) -> Vec<Unread> {
    let place = |name: &str| format!("{shown}/{name}");
    let hidden = FOLDERS.iter().filter(|(name, _)| hidden.iter().any(|folder| folder == name));
    let mut found: Vec<Unread> = hidden.map(|(name, tool)| Unread { tool, shown: place(name) }).collect();
    let archives = files.iter().filter(|name| name.ends_with(".zip") && is_session(&folder.join(name)));
    found.extend(archives.map(|name| Unread { tool: CLEARML, shown: place(name) }));
    found
}

/// What is looked for in a folder, as messages say it.
fn looked_for() -> String {
    format!(
        "files that end in {}, TensorBoard event files (*tfevents*), {TRAINER_STATE}, MLflow runs ({RUN_META} \
         beside metrics/), DVCLive runs (plots/metrics/)",
        FORMATS.endings().join(" ")
    )
}

/// No history is under a folder.
pub fn nothing_in(shown: &str, unread: &[Unread]) -> Error {
    let error = Error::value("no training history was found").in_file(shown);
    match unread.first() {
        Some(log) => error.found(log).allowed(looked_for()).advice(ADVICE),
        None => error.allowed(looked_for()).advice("check the folder; hidden files are passed over"),
    }
}

/// Whether an archive is an offline session of ClearML.
fn is_session(archive: &Path) -> bool {
    let Ok(mut file) = File::open(archive) else { return false };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let (mut head, mut tail) = ([0; 4], Vec::new());
    let read = file.read_exact(&mut head).is_ok()
        && file.seek(SeekFrom::Start(length.saturating_sub(DIRECTORY))).is_ok()
        && file.take(DIRECTORY).read_to_end(&mut tail).is_ok();
    let holds = |name: &str| tail.windows(name.len()).any(|window| window == name.as_bytes());
    // The names of all files stand in the directory at the end.
    read && head == *b"PK\x03\x04" && CLEARML_FILES.iter().all(|name| holds(name))
}
