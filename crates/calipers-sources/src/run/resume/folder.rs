//! The folder of a run that can be resumed: its lock, its manifest and its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use calipers_core::differences::differences;
use calipers_core::stop::Keeping;
use calipers_core::{Digest, Error, ErrorKind, Result};
use serde_json::Value as Json;

use super::manifest::{self, Entry};
use crate::inputs::{ReadFile, Stamp};
use crate::output;
use crate::run::Progress;

const LOCK: &str = "lock";
const MANIFEST: &str = "manifest.jsonl";
/// The keys of the first line that may be others in a run that goes on: names come and go, and what all
/// units depend on decides whether parts still count.
const MAY_CHANGE: [&str; 3] = ["names", "listing", "inputs"];
/// How many differences a message shows.
const SHOWN: usize = 5;

/// A folder that this run alone uses.
pub(crate) struct Folder {
    path: PathBuf,
    /// Held as long as this lives.
    _lock: File,
    manifest: File,
    /// The number of the next part.
    next: u32,
    /// What workers have finished becomes a part also where the program is told to end.
    _keeping: Keeping,
}

/// A part of an earlier run.
pub(crate) struct Part<'p> {
    /// Its bytes, which are those that were written.
    pub(crate) bytes: &'p [u8],
    /// The units whose files are what they were, with the paths of these.
    pub(crate) fresh: BTreeMap<&'p str, Vec<&'p str>>,
}

impl Folder {
    /// Opens a folder for a run with this first line, and gives every part that counts to `take`. A part
    /// that is damaged, or that `take` refuses, is removed. A folder of another run is refused, and
    /// nothing in it is touched.
    pub(crate) fn open(
        path: &Path,
        head: &Json,
        tell: &dyn Progress,
        mut take: impl FnMut(Part<'_>) -> Result<()>,
    ) -> Result<Self> {
        output::is_local(path)?;
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(path, "make the folder", &error).advice("its parent must exist"));
            }
            _ => {}
        }
        let lock = locked(path)?;
        let place = path.join(MANIFEST);
        let text = match fs::read_to_string(&place) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(&place, "read the manifest", &error)),
        };
        let mut lines = text.split_inclusive('\n');
        let known = match lines.next() {
            None => None,
            Some(line) => Some(manifest::object(line.trim_end_matches('\n')).ok_or_else(|| {
                Error::format("the first line of the manifest is damaged")
                    .in_file(place.display())
                    .advice("name another folder, or remove this one")
            })?),
        };
        if let Some(known) = &known {
            same_run(known, head).map_err(|error| error.in_file(place.display()))?;
        }
        let counts = known.as_ref().is_some_and(|known| known.get("inputs") == head.get("inputs"));
        let mut kept = manifest::line(head);
        let (mut parts, mut stamps) = (BTreeSet::new(), BTreeMap::new());
        for line in lines.filter(|_| counts) {
            let whole = line.strip_suffix('\n').and_then(manifest::object);
            let Some(entry) = whole.as_ref().and_then(Entry::from_json) else { continue };
            let Ok(bytes) = fs::read(path.join(&entry.part)) else { continue };
            let fresh = fresh(&entry, &mut stamps);
            let part = Part { bytes: &bytes, fresh };
            if Digest::of(&bytes).to_string() == entry.blake3 && !part.fresh.is_empty() && take(part).is_ok()
            {
                kept.push_str(line);
                parts.insert(entry.part);
            }
        }
        let next = remove_others(path, &parts, tell)?;
        if kept != text {
            output::keep(&place, kept.as_bytes())?;
        }
        let manifest = OpenOptions::new().append(true).open(&place);
        let manifest = manifest.map_err(|error| failed(&place, "open the manifest", &error))?;
        Ok(Self { path: path.to_owned(), _lock: lock, manifest, next, _keeping: Keeping::begin() })
    }

    /// Writes a part and then, when it is safe on the disk, its line.
    pub(crate) fn add(&mut self, bytes: &[u8], units: &[(String, Vec<ReadFile>)]) -> Result<()> {
        let name = part_name(self.next);
        self.next += 1;
        output::keep(&self.path.join(&name), bytes)?;
        let line = manifest::line(&Entry::of(&name, bytes, units).to_json());
        let written = self.manifest.write_all(line.as_bytes()).and_then(|()| self.manifest.sync_data());
        written.map_err(|error| failed(&self.path.join(MANIFEST), "write the manifest", &error))
    }
}

/// Takes the folder for this run, or names the one that has it.
fn locked(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut lock = lock.map_err(|error| failed(&path, "open the lock", &error))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Who it is only helps.
            let _ = lock.read_to_string(&mut holder);
            return Err(Error::io("another run uses the folder")
                .in_file(folder.display())
                .found(format!("process {}", holder.trim()))
                .advice("wait for it, or name another folder"));
        }
        Err(TryLockError::Error(error)) => return Err(failed(&path, "lock the folder", &error)),
    }
    let written = lock.set_len(0).and_then(|()| lock.rewind());
    let written = written.and_then(|()| writeln!(lock, "{}", std::process::id()));
    written.map_err(|error| failed(&path, "write the lock", &error))?;
    Ok(lock)
}

/// Refuses a folder whose first line is that of another run.
fn same_run(known: &Json, head: &Json) -> Result<()> {
    let (mut known, mut head) = (known.clone(), head.clone());
    for object in [&mut known, &mut head].into_iter().filter_map(Json::as_object_mut) {
        MAY_CHANGE.iter().for_each(|key| _ = object.shift_remove(*key));
    }
    let differing = differences(&known, &head);
    if differing.is_empty() {
        return Ok(());
    }
    let shown = &differing[..differing.len().min(SHOWN)];
    let places: Vec<&str> = shown.iter().map(|(place, _)| place.as_str()).collect();
    let found: Vec<String> =
        shown.iter().map(|(_, (kept, now))| format!("{kept} in the folder, {now} now")).collect();
    Err(Error::new(ErrorKind::ProtocolMismatch, "the folder holds parts of another run")
        .at(places.join("; "))
        .found(found.join("; "))
        .advice("name a folder of its own for each run, or give the same options again"))
}

/// The units of a part whose files have the size and the time that they had.
fn fresh<'e>(
    entry: &'e Entry,
    stamps: &mut BTreeMap<String, Option<Stamp>>,
) -> BTreeMap<&'e str, Vec<&'e str>> {
    let mut same = |(path, stamp): &(String, Option<Stamp>)| {
        let now = match stamps.get(path) {
            Some(now) => *now,
            None => *stamps.entry(path.clone()).or_insert_with(|| Stamp::at(path)),
        };
        stamp.is_some() && *stamp == now
    };
    let same: Vec<bool> = entry.inputs.iter().map(&mut same).collect();
    let units = entry.units.iter().filter(|(_, places)| places.iter().all(|place| same[*place]));
    let paths = |places: &'e [usize]| places.iter().map(|place| entry.inputs[*place].0.as_str()).collect();
    units.map(|(name, places)| (name.as_str(), paths(places))).collect()
}

/// Removes the parts that do not count; gives a number that no part has had.
fn remove_others(folder: &Path, parts: &BTreeSet<String>, tell: &dyn Progress) -> Result<u32> {
    let (mut next, mut removed) = (1, 0);
    let read = fs::read_dir(folder).map_err(|error| failed(folder, "read the folder", &error))?;
    for entry in read {
        let entry = entry.map_err(|error| failed(folder, "read the folder", &error))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // What a killed run was writing.
        let left_over = name.starts_with(".part-") && name.ends_with(".tmp")
            || name.starts_with(&format!(".{MANIFEST}.")) && name.ends_with(".tmp");
        let number = number_of(&name);
        next = next.max(number.map_or(1, |number| number + 1));
        if left_over || number.is_some() && !parts.contains(&*name) {
            fs::remove_file(entry.path()).map_err(|error| failed(&entry.path(), "remove", &error))?;
            removed += usize::from(!left_over);
        }
    }
    if removed > 0 {
        let parts = if removed == 1 { "1 part that does".into() } else { format!("{removed} parts that do") };
        tell.note(&format!(
            "{}: removed {parts} not count any more; its units are measured again",
            folder.display()
        ));
    }
    Ok(next)
}

fn part_name(number: u32) -> String {
    format!("part-{number:06}.state")
}

/// The number of a part by its name.
fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("part-")?.strip_suffix(".state")?.parse().ok()?;
    (part_name(number) == name).then_some(number)
}

fn failed(path: &Path, step: &str, error: &io::Error) -> Error {
    Error::io(format!("cannot {step}: {error}")).in_file(path.display())
}
