//! Histories that are kept while others are read, so that a later run goes on from them.
//!
//! What a run is called is known when all histories were read. A part therefore holds histories with
//! their runs as they were measured, before they are units.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use calipers_core::protocol::protocol_json;
use calipers_core::{Error, InputFiles, Listing, Result};
use calipers_metrics::training::Training;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::assemble::Part;
use super::discover::History;
use super::options::Options;
use super::runs::resolve::Pending;
use crate::inputs::{Inputs, recorded};
use crate::run::resume::{self, Batch, Folder, Keeper};
use crate::run::{Shard, Work};

/// A history that was read, and what came of it.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    history: String,
    /// Whether there was anything in it.
    seen: bool,
    found: usize,
    /// The conditions whose key some run knows.
    met: BTreeSet<usize>,
    runs: Vec<Pending>,
    inputs: InputFiles,
}

/// The histories of earlier runs, and the folder that later ones go on from.
pub(super) struct Kept {
    stored: Mutex<BTreeMap<String, Stored>>,
    folder: Mutex<Folder>,
}

/// Histories that are kept while others are read.
pub(super) type Finished<'e> = Keeper<'e, Vec<Stored>>;

impl Kept {
    /// Opens a folder and takes over the histories whose files are still what they were.
    pub(super) fn open(
        path: &Path,
        options: &Options,
        protocols: &[Training],
        histories: &[History],
        (inputs, work): (&Inputs, &Work<'_>),
    ) -> Result<Self> {
        if options.points {
            return Err(Error::usage("--resume keeps rows, not the points of runs")
                .advice("leave it out where runs are read"));
        }
        let protocols: Vec<Json> = protocols.iter().map(|one| Json::Object(protocol_json(one))).collect();
        let protocol = json!({ "metrics": protocols, "endings": options.endings });
        let listing = Listing::of(histories.iter().map(|history| history.shown.as_str()));
        let of = (listing, work.shard.unwrap_or(Shard::WHOLE));
        let head = resume::head(protocol, of, inputs, Some(&options.reading()));
        let mut stored = BTreeMap::new();
        let folder = Folder::open(path, &head, work.progress, |part| {
            let histories: Vec<Stored> =
                postcard::from_bytes(part.bytes).map_err(|_| Error::format("the part does not decode"))?;
            let fresh = histories.into_iter().filter(|one| part.fresh.contains_key(one.history.as_str()));
            stored.extend(fresh.map(|one| (one.history.clone(), one)));
            Ok(())
        })?;
        if !stored.is_empty() {
            let (kept, all) = (stored.len(), histories.len());
            let said = format!("{kept} of {all} histories are read already, in {}", path.display());
            work.progress.note(&said);
        }
        Ok(Self { stored: Mutex::new(stored), folder: Mutex::new(folder) })
    }

    /// What came of a history in an earlier run; `job` is its place in this one.
    pub(super) fn take(&self, job: usize, history: &History, inputs: &Inputs) -> Option<Part> {
        let Stored { seen, found, met, mut runs, inputs: read, .. } =
            self.stored.lock().unwrap_or_else(PoisonError::into_inner).remove(&history.shown)?;
        runs.iter_mut().for_each(|run| run.claim.place.0 = job);
        inputs.adopt_recorded(&read);
        Some(Part { runs, found, met, seen: seen.then_some(history.input).into_iter().collect() })
    }

    /// Runs `run`, which hands over histories that were read.
    pub(super) fn while_running<T>(&self, run: impl FnOnce(&Finished<'_>) -> T) -> Result<T> {
        let keeper = Keeper::new(&Vec::new);
        keeper.while_running(|part| self.close(part), || run(&keeper))
    }

    /// Writes a part, whole, and then its line.
    fn close(&self, part: Batch<Vec<Stored>>) -> Result<()> {
        let Batch { content: histories, units } = part;
        let bytes = postcard::to_stdvec(&histories)
            .map_err(|error| Error::format("histories do not encode").found(error))?;
        self.folder.lock().unwrap_or_else(PoisonError::into_inner).add(&bytes, &units)
    }
}

/// Keeps what came of a history.
pub(super) fn keep(finished: &Finished<'_>, history: &History, part: &Part, inputs: &Inputs) -> Result<()> {
    let read = inputs.remarked();
    let stored = Stored {
        history: history.shown.clone(),
        seen: !part.seen.is_empty(),
        found: part.found,
        met: part.met.clone(),
        runs: part.runs.clone(),
        inputs: recorded(read.clone())?,
    };
    finished.add(&history.shown, read, |histories| {
        histories.push(stored);
        Ok(())
    })
}
