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
mod keeper;
mod manifest;

use std::collections::BTreeSet;
use std::path::Path;

use calipers_core::protocol::protocol_json;
use calipers_core::provenance::reading_json;
use calipers_core::state;
use calipers_core::{
    Accumulator, Digest, Error, Input, InputFiles, Ledger, Listing, Protocol, Reading, Result,
};
use serde_json::{Value as Json, json};

pub(crate) use self::folder::{Folder, Part};
pub(crate) use self::keeper::{Batch, Keeper};
use super::{Chosen, Progress, Shard};
use crate::inputs::{Inputs, recorded};

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
            rows.merge(kept)?;
            files.extend(paths.into_iter().filter_map(|path| Some((path.into(), read.get(path)?.clone()))));
            Ok(())
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

    /// Runs `run`, which hands over finished units; gives what it gives, and all rows that are kept.
    pub(super) fn while_running<T>(
        mut self,
        run: impl FnOnce(&Keeper<'_, Accumulator<P>>) -> T,
    ) -> Result<(T, Accumulator<P>)> {
        let protocol = self.rows.protocol().clone();
        let empty = || Accumulator::new(protocol.clone());
        let keeper = Keeper::new(&empty);
        let done = keeper.while_running(|part| self.close(part), || run(&keeper))?;
        Ok((done, self.rows))
    }

    /// Writes a part, whole, and then its line.
    fn close(&mut self, part: Batch<Accumulator<P>>) -> Result<()> {
        let Batch { content: mut rows, units } = part;
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
