//! The reports and states below a folder, by id. Files are opened by id alone, never by a path that
//! somebody sent.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use calipers::compare::Model;
use calipers::core::{Digest, fault};
use calipers::io::file::InputFile;
use calipers::io::memory;
use calipers::{Error, Ledger, Report, Result, pages, registry, reports, states};

use serde::Serialize;

use crate::emit::written_table;

/// The most files that are listed.
const MOST_FILES: usize = 10_000;
/// How deep folders are searched.
const MOST_DEPTH: usize = 16;
/// The largest file that is opened where it is no state: logs may lie beside reports.
const MOST_BYTES: u64 = 1 << 30;
/// How many numbers of a file are listed.
const HEADLINE: usize = 4;
/// Where a report of this project names itself.
const BEGINNING: usize = 256;

/// A folder of reports and states.
pub struct Library {
    folder: PathBuf,
    known: Mutex<BTreeMap<String, Known>>,
}

/// A file as it was when last looked at, and what it is; nothing where it is neither.
struct Known {
    bytes: u64,
    modified: Option<SystemTime>,
    entry: Option<Entry>,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// What it is asked for by.
    pub id: String,
    /// Its path below the folder, with `/`.
    pub path: String,
    /// `report`, `state`, `per-unit` or `damaged`.
    pub kind: &'static str,
    /// Its families, in order.
    pub families: Vec<String>,
    /// The first numbers of its first report, by their ids without the family.
    pub headline: Vec<(String, f64)>,
    /// How many units it has.
    pub units: u64,
    /// How many warnings.
    pub warnings: usize,
    /// Its length.
    pub bytes: u64,
    /// When it was written, in seconds since 1970.
    pub modified: u64,
    /// Why nothing can be shown of it, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a file holds.
pub enum Content {
    /// Reports.
    Reports(Vec<Report>),
    /// Accumulators.
    State(Vec<Box<dyn Ledger>>),
    /// The numbers of units, as `--per-unit` writes them.
    Table(Model),
}

impl Library {
    /// A folder; fails where there is none.
    pub fn open(folder: &Path) -> Result<Self> {
        let cannot = |error: std::io::Error| {
            Error::io(format!("cannot open the folder: {}", error.kind())).in_file(folder.display())
        };
        let whole = folder.canonicalize().map_err(cannot)?;
        fs::read_dir(&whole).map_err(cannot)?;
        Ok(Self { folder: whole, known: Mutex::default() })
    }

    /// What is there now, in byte order of the paths. Files that did not change are not read again.
    pub fn list(&self) -> Vec<Entry> {
        let mut found = Vec::new();
        search(&self.folder, "", 0, &mut found);
        found.sort();
        // Whoever broke while the list was made left it whole: each file is added at once.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|path, _| found.binary_search(path).is_ok());
        for path in found {
            let Ok(metadata) = fs::symlink_metadata(self.folder.join(&path)) else { continue };
            let (bytes, modified) = (metadata.len(), metadata.modified().ok());
            let same = |file: &Known| file.bytes == bytes && file.modified == modified;
            if !known.get(&path).is_some_and(same) {
                let entry = self.look(&path, bytes, modified);
                known.insert(path, Known { bytes, modified, entry });
            }
        }
        known.values().filter_map(|file| file.entry.clone()).collect()
    }

    /// The bytes of the file of that id, with its line of the list.
    pub fn read(&self, id: &str) -> Option<Result<(Entry, Vec<u8>)>> {
        let entry = self.list().into_iter().find(|entry| entry.id == id)?;
        Some(self.bytes(&entry.path).map(|bytes| (entry, bytes)))
    }

    fn look(&self, path: &str, bytes: u64, modified: Option<SystemTime>) -> Option<Entry> {
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or(0, |since| since.as_secs());
        let entry = Entry {
            id: Digest::of(path.as_bytes()).to_string()[..16].to_owned(),
            path: path.to_owned(),
            kind: "damaged",
            families: Vec::new(),
            headline: Vec::new(),
            units: 0,
            warnings: 0,
            bytes,
            modified,
            error: None,
        };
        // One file that cannot be shown is one line of the list that says why.
        match fault::caught(|| self.filled(path, &entry)) {
            Ok(entry) => entry,
            Err(error) => Some(Entry { error: Some(error.in_one_line()), ..entry }),
        }
    }

    /// The line of a file with what it holds; none where it is no file of this project.
    fn filled(&self, path: &str, entry: &Entry) -> Result<Option<Entry>> {
        let is_state = path.ends_with(".state");
        if !is_state && entry.bytes > MOST_BYTES {
            return Ok(None);
        }
        let most = memory::allowed();
        if is_state && entry.bytes > most {
            let error = Error::io("the file is too large").found(format!("{} bytes", entry.bytes));
            return Err(error.allowed(format!("{most} bytes")).advice("allow more with --memory SIZE"));
        }
        let bytes = self.bytes(path)?;
        if !is_ours(path, &bytes) {
            return Ok(None);
        }
        let content = match content(path, &bytes) {
            // Any table may lie in a folder.
            Err(_) if written_table(path).is_some() => return Ok(None),
            content => content?,
        };
        let (kind, reports) = match &content {
            Content::Reports(reports) => ("report", reports.clone()),
            Content::State(ledgers) => ("state", ledgers.iter().map(|ledger| ledger.report()).collect()),
            Content::Table(_) => ("per-unit", Vec::new()),
        };
        let (families, units) = match &content {
            Content::Table(model) => {
                let families = model.families()?;
                (families.into_iter().map(str::to_owned).collect(), model.units() as u64)
            }
            _ => {
                let units = reports.iter().map(|report| report.units).fold(0, u64::saturating_add);
                (reports.iter().filter_map(family).collect(), units)
            }
        };
        Ok(Some(Entry {
            kind,
            families,
            headline: reports.first().map(headline).unwrap_or_default(),
            units,
            warnings: reports.iter().map(|report| report.warnings.len()).sum(),
            ..entry.clone()
        }))
    }

    /// Reads a file of the list; a link that was put in its place is not followed out of the folder.
    fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        let whole = self.folder.join(path);
        let inside = whole.canonicalize().is_ok_and(|real| real.starts_with(&self.folder));
        if !inside {
            return Err(Error::io("the file is no longer in the folder").in_file(path));
        }
        InputFile::open(&whole)?.read_all().map_err(|error| error.in_file(path))
    }
}

fn family(report: &Report) -> Option<String> {
    report.protocol.get("name")?.as_str().map(str::to_owned)
}

/// The first numbers of a report that are single and defined.
fn headline(report: &Report) -> Vec<(String, f64)> {
    let infos = registry::metrics_of(&report.protocol);
    let number = |id: &str| {
        let name = id.split_once('.').map_or(id, |(_, name)| name);
        Some((name.to_owned(), report.get(id)?.as_f64().filter(|x| x.is_finite())?))
    };
    pages::headlines(&infos).into_iter().filter_map(number).take(HEADLINE).collect()
}

/// What bytes hold; `path` names them in messages.
pub fn content(path: &str, bytes: &[u8]) -> Result<Content> {
    if states::is_state(bytes) {
        return states::from_bytes(bytes, path).map(Content::State);
    }
    if written_table(path).is_some() {
        return Model::from_bytes(path, Path::new(path), bytes).map(Content::Table);
    }
    if !is_ours(path, bytes) {
        return Err(Error::format("neither a report nor a state").in_file(path));
    }
    reports::read(bytes, path).map(Content::Reports)
}

/// Whether a file may be one of this project; other JSON is passed over before it is read as a whole.
fn is_ours(path: &str, bytes: &[u8]) -> bool {
    let begins = bytes.get(..BEGINNING).unwrap_or(bytes);
    let is_report = begins.windows(10).any(|part| part == b"\"calipers\"");
    states::is_state(bytes) || written_table(path).is_some() || is_report
}

/// The files that may be reports or states. Hidden ones and links are passed over, and so is what
/// cannot be read.
fn search(folder: &Path, below: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
        if name.starts_with('.') || found.len() >= MOST_FILES {
            continue;
        }
        let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        if kind.is_dir() && depth < MOST_DEPTH {
            search(&entry.path(), &path, depth + 1, found);
        } else if kind.is_file()
            && (name.ends_with(".json") || name.ends_with(".state") || written_table(name).is_some())
        {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"calipers": "0.1.0", "protocol": {"name": "training"}, "units": 3, "metrics": {},
        "undefined": {}, "warnings": [], "inputs": []}"#;

    fn names(library: &Library) -> Vec<String> {
        library.list().into_iter().map(|entry| entry.path).collect()
    }

    #[test]
    fn reports_are_found_and_everything_else_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("deep/er")).unwrap();
        for name in ["a.json", "deep/er/b.json", ".hidden.json", "notes.txt"] {
            fs::write(path(name), REPORT).unwrap();
        }
        fs::write(path("other.json"), "{\"a\": 1}").unwrap();
        fs::write(path("broken.json"), &REPORT[..60]).unwrap();
        fs::write(path("broken.state"), "CALIPERSxxxx").unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.json"), REPORT).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path().join("secret.json"), path("link.json")).unwrap();
        let library = Library::open(folder.path()).unwrap();
        assert_eq!(names(&library), ["a.json", "broken.json", "broken.state", "deep/er/b.json"]);
        let broken: Vec<Entry> = library.list().into_iter().filter(|entry| entry.error.is_some()).collect();
        assert_eq!(broken.len(), 2, "each line says why");
        assert!(broken.iter().all(|entry| entry.kind == "damaged"));
        let entry = &library.list()[0];
        assert_eq!((entry.kind, entry.units, entry.families.join(",")), ("report", 3, "training".into()));
        assert!(library.read("../../etc/passwd").is_none());
    }

    #[test]
    fn the_list_follows_the_folder_and_a_link_in_place_of_a_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        fs::write(&file, REPORT).unwrap();
        let library = Library::open(folder.path()).unwrap();
        let id = library.list()[0].id.clone();
        assert_eq!(library.read(&id).unwrap().unwrap().1, REPORT.as_bytes());
        fs::write(&file, REPORT.replace("3", "12")).unwrap();
        assert_eq!(library.list()[0].units, 12);
        fs::remove_file(&file).unwrap();
        assert!(library.read(&id).is_none());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/hostname", &file).unwrap();
            assert!(library.read(&id).is_none());
            assert!(library.bytes("a.json").is_err());
        }
        assert!(Library::open(&folder.path().join("none")).is_err());
    }
}
