//! Rows that are kept in a folder while they are measured, so that a later run goes on from them.
//!
//! ```text
//! DIR/lock               held by the run that uses the folder
//! DIR/manifest.jsonl     what is measured, then a line per part
//! DIR/part-000001.state  at most 1,000 units, or what 5 seconds gave
//! ```
//!
//! A part is whole on the disk before its line is written, and a line is whole or not there. A run that
//! is killed at any moment leaves parts that count, and perhaps one that does not.

mod folder;
mod manifest;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use calipers_core::protocol::protocol_json;
use calipers_core::provenance::reading_json;
use calipers_core::{
    Accumulator, Digest, Error, Input, InputFiles, Ledger, Listing, Protocol, Reading, Result,
};
use calipers_core::{state, stop};
use serde_json::{Value as Json, json};

pub(crate) use self::folder::{Folder, Part};
use super::measure::Worker;
use super::{Chosen, Progress, Shard};
use crate::inputs::{Inputs, ReadFile, recorded};

/// How many units a part has at most, and how long it stays open after its first.
pub(crate) const UNITS: usize = 1000;
pub(crate) const OPEN_FOR: Duration = Duration::from_secs(5);
/// How soon a part is closed when the program is told to end.
const TICK: Duration = Duration::from_millis(100);

/// Rows of units that were measured, with the files that were read for each.
pub(super) struct Batch<P: Protocol> {
    pub(super) rows: Accumulator<P>,
    pub(super) units: Vec<(String, Vec<ReadFile>)>,
}

/// The workers of a run, and why it failed if it did.
type Run<P> = (Vec<Worker<P>>, Option<Error>);

/// The rows of earlier runs, and the folder that later ones go on from.
pub(super) struct Kept<P: Protocol> {
    rows: Accumulator<P>,
    folder: Folder,
    reading: Option<Reading>,
}

/// The first line of the manifest: what is measured, how, over which names, and what all units depend on.
pub(crate) fn head(
    protocol: Json,
    (listing, shard): (Listing, Shard),
    inputs: &Inputs,
    reading: Option<&Reading>,
) -> Json {
    json!({
        "calipers": env!("CARGO_PKG_VERSION"),
        "protocol": protocol,
        "reading": reading.map(reading_json),
        "shard": shard.to_string(),
        "names": listing.names,
        "listing": listing.blake3.to_string(),
        "inputs": Digest::from(inputs.digest()).to_string(),
    })
}

impl<P: Protocol> Kept<P> {
    /// Opens a folder and takes over the units that are still what they were.
    pub(super) fn open<U: super::Named>(
        path: &Path,
        protocol: &P,
        chosen: &Chosen<'_, U>,
        inputs: &Inputs,
        reading: Option<&Reading>,
        tell: &dyn Progress,
    ) -> Result<Self> {
        let of = (chosen.listing, chosen.shard);
        let head = head(Json::Object(protocol_json(protocol)), of, inputs, reading);
        let mut rows = Accumulator::new(protocol.clone());
        let mut files: Vec<(Box<str>, Input)> = Vec::new();
        let wanted: BTreeSet<&str> = chosen.units.iter().map(|unit| unit.name()).collect();
        let folder = Folder::open(path, &head, tell, |part: Part<'_>| {
            let mut kept = decoded(part.bytes, protocol)?;
            kept.retain(|name| part.fresh.contains_key(name) && wanted.contains(name));
            let read = std::mem::take(&mut kept.provenance.inputs);
            let of_kept = part.fresh.iter().filter(|(name, _)| wanted.contains(*name));
            let paths: BTreeSet<&str> = of_kept.flat_map(|(_, paths)| paths.iter().copied()).collect();
            files.extend(paths.into_iter().filter_map(|path| Some((path.into(), read.get(path)?.clone()))));
            rows.merge(kept)
        })?;
        rows.provenance.inputs = InputFiles::new(files)?;
        if !rows.is_empty() {
            let (kept, all) = (rows.len(), chosen.units.len());
            tell.note(&format!("{kept} of {all} units are measured already, in {}", path.display()));
        }
        Ok(Self { rows, folder, reading: reading.cloned() })
    }

    /// Whether a unit is measured already.
    pub(super) fn has(&self, name: &str) -> bool {
        self.rows.has(name)
    }

    /// Stores what workers hand over while they run; gives workers, failure, and all rows that are kept.
    pub(super) fn while_running(
        self,
        run: impl FnOnce(Option<Sender<Batch<P>>>) -> Run<P>,
    ) -> Result<(Run<P>, Accumulator<P>)> {
        let (send, receive) = channel();
        std::thread::scope(|scope| {
            let storing = scope.spawn(move || self.store(&receive));
            let (mut workers, failure) = run(Some(send.clone()));
            for rest in workers.iter_mut().filter_map(Worker::rest) {
                // Nothing is received any more only when the storing side has failed, which is reported below.
                let _ = send.send(rest);
            }
            drop(send);
            let stopped = |_| Error::io("a worker stopped while storing what was measured");
            Ok(((workers, failure), storing.join().map_err(stopped)??))
        })
    }

    fn store(mut self, batches: &Receiver<Batch<P>>) -> Result<Accumulator<P>> {
        let mut open: Option<(Batch<P>, Instant)> = None;
        loop {
            match batches.recv_timeout(TICK) {
                Ok(batch) => {
                    let full =
                        |(open, _): &mut (Batch<P>, Instant)| open.units.len() + batch.units.len() > UNITS;
                    if let Some((full, _)) = open.take_if(full) {
                        self.close(full)?;
                    }
                    match &mut open {
                        None => open = Some((batch, Instant::now())),
                        Some((open, _)) => {
                            open.rows.merge(batch.rows)?;
                            open.units.extend(batch.units);
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let due = |(_, since): &mut (Batch<P>, Instant)| since.elapsed() >= OPEN_FOR || stop::is_ending();
            if let Some((due, _)) = open.take_if(due) {
                self.close(due)?;
            }
        }
        if let Some((last, _)) = open {
            self.close(last)?;
        }
        Ok(self.rows)
    }

    /// Writes a part, whole, and then its line.
    fn close(&mut self, part: Batch<P>) -> Result<()> {
        let Batch { mut rows, units } = part;
        if units.is_empty() {
            return Ok(());
        }
        let read = units.iter().flat_map(|(_, files)| files.iter().cloned()).collect();
        rows.provenance.inputs = recorded(read)?;
        rows.provenance.readings.extend(self.reading.clone());
        self.folder.add(&state::encode(&[rows.section()]), &units)?;
        // The record of all files has them already.
        rows.provenance.inputs = InputFiles::default();
        self.rows.merge(rows)
    }
}

fn decoded<P: Protocol>(bytes: &[u8], protocol: &P) -> Result<Accumulator<P>> {
    let sections = state::decode(bytes)?;
    let [section] = sections.as_slice() else {
        return Err(Error::format("a part holds one protocol").found(sections.len()));
    };
    let rows = state::accumulator::<P>(section, "a part")?;
    if rows.protocol() == protocol { Ok(rows) } else { Err(Error::format("a part of another protocol")) }
}
