//! State files: accumulators written for later, read back and merged.

pub mod large;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use calipers_core::state::StateWriter;
use calipers_core::{Error, ErrorKind, Ledger, Result, state};
use calipers_io::file::InputFile;

use crate::resample::affordable;
use crate::{output, registry};

/// The bytes of a state file that holds these accumulators.
pub fn to_bytes(ledgers: &[Box<dyn Ledger>]) -> Vec<u8> {
    state::encode(&ledgers.iter().map(|ledger| ledger.section()).collect::<Vec<_>>())
}

/// Writes the same bytes without holding them: beside many rows they would be as much again.
pub fn write_to(ledgers: &[Box<dyn Ledger>], out: &mut dyn Write) -> io::Result<()> {
    let mut state = StateWriter::new(out, ledgers.len() as u32)?;
    ledgers.iter().try_for_each(|ledger| ledger.write_section(&mut state))?;
    state.finish()
}

/// Writes accumulators to a state file, whole or not at all.
pub fn write(path: &Path, ledgers: &[Box<dyn Ledger>]) -> Result<()> {
    output::write_with(path, |out| write_to(ledgers, out))
}

/// The accumulators in the bytes of a state; `source` names them in messages. Whoever made the state, reports
/// can be made of them: nothing in it is other than a run stores, and there is memory for what it asks for.
pub fn from_bytes(bytes: &[u8], source: &str) -> Result<Vec<Box<dyn Ledger>>> {
    let open = |section: &state::Section| {
        let ledger = registry::open(section, source)?;
        affordable(&*ledger, None, 1).map_err(Error::as_value)?;
        Ok(ledger)
    };
    state::decode(bytes)
        .and_then(|sections| sections.iter().map(open).collect())
        .map_err(|error| error.in_file(source))
}

/// Reads a state file.
pub fn read(path: &Path) -> Result<Vec<Box<dyn Ledger>>> {
    let bytes = InputFile::open(path)?.read_all().map_err(|error| error.in_file(path.display()))?;
    from_bytes(&bytes, &path.display().to_string())
}

/// Whether bytes begin like a state.
pub fn is_state(bytes: &[u8]) -> bool {
    bytes.starts_with(b"CALIPERS")
}

/// Refuses accumulators of which shards are missing.
pub fn require_whole(ledgers: &[Box<dyn Ledger>]) -> Result<()> {
    ledgers.iter().try_for_each(|ledger| ledger.provenance().listings.require_whole())
}

/// What there is to say about shards that are missing, in sentences; nothing about whole states.
pub fn unfinished(ledgers: &[Box<dyn Ledger>]) -> BTreeSet<String> {
    let warnings = ledgers.iter().flat_map(|ledger| ledger.provenance().listings.warnings());
    warnings.map(|warning| format!("warning[{}]: {}", warning.code, warning.message)).collect()
}

/// Merges states, in any order, each read when it is its turn; none without any. Two merged states are of
/// about one size, so that joining k states of n units in all takes O(n log k), not O(n k).
pub fn merge_all(
    states: impl IntoIterator<Item = Result<Vec<Box<dyn Ledger>>>>,
) -> Result<Option<Vec<Box<dyn Ledger>>>> {
    // Like the digits of a binary counter: at each place none, or what that many states have become.
    let mut merged: Vec<(u32, Vec<Box<dyn Ledger>>)> = Vec::new();
    for state in states {
        let (mut level, mut state) = (0, state?);
        while let Some((_, mut earlier)) = merged.pop_if(|(known, _)| *known == level) {
            merge(&mut earlier, state)?;
            (level, state) = (level + 1, earlier);
        }
        merged.push((level, state));
    }
    let mut rest = merged.into_iter().rev().map(|(_, state)| state);
    let Some(mut whole) = rest.next() else { return Ok(None) };
    for mut larger in rest {
        merge(&mut larger, whole)?;
        whole = larger;
    }
    Ok(Some(whole))
}

/// Merges one state into another. Both must hold the same protocols in the same order.
pub fn merge(into: &mut Vec<Box<dyn Ledger>>, other: Vec<Box<dyn Ledger>>) -> Result<()> {
    let names = |ledgers: &[Box<dyn Ledger>]| {
        ledgers.iter().map(|ledger| ledger.name()).collect::<Vec<_>>().join(", ")
    };
    if names(into) != names(&other) {
        return Err(Error::new(ErrorKind::ProtocolMismatch, "the states hold different protocols")
            .found(format!("{} and {}", names(into), names(&other)))
            .advice("merge states of one command, its protocols in the same order"));
    }
    for (ours, theirs) in into.iter_mut().zip(other) {
        ours.merge(theirs)?;
    }
    Ok(())
}
