//! The bytes of a state: one or more accumulators that can be shown and merged later.
//!
//! ```text
//! 0   8  magic "CALIPERS"
//! 8   4  format version, little endian
//! 12  4  number of sections
//! 16     sections: length (8 bytes), payload, BLAKE3 of the payload (32 bytes)
//! end-32 BLAKE3 of everything before
//! ```
//!
//! A payload is the postcard encoding of name, protocol (as JSON text), rows and provenance. Equal
//! states have equal bytes: maps are sorted, and bytes that would be written differently are
//! refused when read.
//!
//! Version 1 knew which shards it held but not of which listing, and nothing that was left out. It is
//! read as shards of a listing that is not known, and written no more.

pub mod join;
mod reader;
mod writer;

pub use self::reader::StateReader;
pub use self::writer::{Scratch, StateWriter};

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::accumulator::Accumulator;
use crate::check;
use crate::error::{Error, Result};
use crate::input_files::InputFiles;
use crate::listings::Listings;
use crate::protocol::{Protocol, from_text};
use crate::provenance::{Content, Fact, Provenance, Reading};
use crate::unit_id::UnitId;

const MAGIC: &[u8; 8] = b"CALIPERS";
const VERSION: u32 = 2;
/// The oldest version that is read.
const FIRST: u32 = 1;
const HEAD: usize = 16;
const HASH: usize = blake3::OUT_LEN;
/// The most sections of a state.
const SECTIONS: u32 = 64;
/// How many characters of a name a message shows.
const SHOWN: usize = 200;

/// One encoded accumulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    name: String,
    payload: Vec<u8>,
    /// The format version it is written in.
    version: u32,
}

#[derive(Serialize)]
struct PayloadRef<'a, R, V> {
    name: &'a str,
    protocol: &'a str,
    rows: R,
    provenance: &'a V,
}

#[derive(Deserialize)]
struct Payload<R, V> {
    name: String,
    protocol: String,
    rows: BTreeMap<UnitId, R>,
    provenance: V,
}

/// What version 1 recorded about a run.
#[derive(Serialize, Deserialize)]
struct FirstProvenance {
    inputs: InputFiles,
    readings: BTreeSet<Reading>,
    facts: BTreeSet<Fact>,
    contents: BTreeSet<Content>,
    shards: BTreeMap<u32, BTreeSet<u32>>,
}

impl From<FirstProvenance> for Provenance {
    fn from(first: FirstProvenance) -> Self {
        let FirstProvenance { inputs, readings, facts, contents, shards } = first;
        let mut listings = Listings::default();
        for (of, have) in shards {
            have.into_iter().for_each(|index| listings.insert(None, index, of));
        }
        Self { inputs, readings, facts, contents, listings, left_out: BTreeMap::new() }
    }
}

impl Section {
    /// The name of the protocol it holds.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Encodes an accumulator.
pub(crate) fn section<P: Protocol>(accumulator: &Accumulator<P>) -> Section {
    // Plain structs of maps, numbers and text always encode into a growing buffer.
    let payload = with_payload(accumulator, |payload| postcard::to_stdvec(payload).unwrap_or_default());
    Section { name: P::NAME.into(), payload, version: VERSION }
}

/// Writes the same section without holding it.
pub(crate) fn write_section<P: Protocol>(
    accumulator: &Accumulator<P>,
    out: &mut StateWriter<'_>,
) -> io::Result<()> {
    with_payload(accumulator, |payload| out.encoded(payload))
}

fn with_payload<P: Protocol, T>(
    accumulator: &Accumulator<P>,
    encode: impl FnOnce(&PayloadRef<'_, BTreeMap<&str, &P::Row>, Provenance>) -> T,
) -> T {
    let rows = accumulator.rows().named().collect();
    let protocol = serde_json::to_string(accumulator.protocol()).unwrap_or_default();
    encode(&PayloadRef { name: P::NAME, protocol: &protocol, rows, provenance: &accumulator.provenance })
}

/// The rows of an accumulator and their provenance, without the protocol. Such bytes may be put one after
/// another: a process that keeps every batch need not keep the protocol each time.
pub(crate) fn rows<P: Protocol>(accumulator: &Accumulator<P>) -> Vec<u8> {
    let rows: BTreeMap<&str, &P::Row> = accumulator.rows().named().collect();
    // Encodes as the payload of a section does.
    postcard::to_stdvec(&(rows, &accumulator.provenance)).unwrap_or_default()
}

/// Takes the first of several [`rows`] from these bytes.
pub(crate) fn first_rows<P: Protocol>(
    protocol: &P,
    bytes: &mut &[u8],
    source: &str,
) -> Result<Accumulator<P>> {
    type Rows<R> = (BTreeMap<UnitId, R>, Provenance);
    let ((rows, provenance), rest) = postcard::take_from_bytes::<Rows<P::Row>>(bytes)
        .map_err(|_| Error::format("rows do not decode").in_file(source))?;
    *bytes = rest;
    trusted(protocol, &rows).and_then(|()| provenance.check(&rows)).map_err(|error| error.in_file(source))?;
    Ok(Accumulator::from_parts(protocol.clone(), rows, provenance, source))
}

/// Decodes an accumulator of a known protocol; `source` names it in conflicts. This is the one way in: nothing
/// that was stored is used before its parameters, rows and provenance were checked.
pub fn accumulator<P: Protocol>(section: &Section, source: &str) -> Result<Accumulator<P>> {
    let decoded = match section.version {
        FIRST => decoded::<P, FirstProvenance>(section, source),
        _ => decoded::<P, Provenance>(section, source),
    };
    decoded.map_err(|error| error.at(format!("section {}", section.name)).in_file(source))
}

/// Decodes an accumulator whose provenance is written as `V`.
fn decoded<P, V>(section: &Section, source: &str) -> Result<Accumulator<P>>
where
    P: Protocol,
    V: Serialize + DeserializeOwned + Into<Provenance>,
{
    let unlike = |why: &str| Error::format("the state does not decode").found(why);
    let Payload { name, protocol: text, rows, provenance } =
        exactly::<Payload<P::Row, V>>(&section.payload).ok_or_else(|| unlike("rows of another version"))?;
    let protocol: P = from_text(&text)?;
    let again = serde_json::to_string(&protocol).unwrap_or_default();
    let again = PayloadRef { name: P::NAME, protocol: &again, rows: &rows, provenance: &provenance };
    if name != P::NAME || !reader::is_written_as(&again, &section.payload) {
        return Err(unlike("bytes that this version would write differently"));
    }
    trusted(&protocol, &rows)?;
    let provenance: Provenance = provenance.into();
    provenance.check(&rows)?;
    Ok(Accumulator::from_parts(protocol, rows, provenance, source))
}

/// Refuses rows that the protocol could not have measured.
fn trusted<P: Protocol>(protocol: &P, rows: &BTreeMap<UnitId, P::Row>) -> Result<()> {
    rows.iter().try_for_each(|(id, row)| trusted_row(protocol, id.as_str(), row))
}

/// Refuses a row that the protocol could not have measured, and a name that no unit has.
fn trusted_row<P: Protocol>(protocol: &P, name: &str, row: &P::Row) -> Result<()> {
    let checked = check::name("its name", name).and_then(|()| protocol.check_row(row));
    checked.map_err(|error| error.at(format!("unit {}", shortened(name))).as_format())
}

/// A name that fits into a message.
fn shortened(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

/// Decodes and requires that nothing is left over.
fn exactly<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

/// The bytes of a state with these sections, in this order.
pub fn encode(sections: &[Section]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    let version = sections.first().map_or(VERSION, |section| section.version);
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&(sections.len() as u32).to_le_bytes());
    for section in sections {
        out.extend_from_slice(&(section.payload.len() as u64).to_le_bytes());
        out.extend_from_slice(&section.payload);
        out.extend_from_slice(blake3::hash(&section.payload).as_bytes());
    }
    out.extend_from_slice(blake3::hash(&out).as_bytes());
    out
}

/// The sections of a state. Any damage is refused with its place.
pub fn decode(bytes: &[u8]) -> Result<Vec<Section>> {
    let fail = |what: &str, at: usize| Error::format(what).at(format!("byte {at}"));
    if !bytes.starts_with(MAGIC) {
        return Err(fail("not a Calipers state", 0).advice("states are written with --state"));
    }
    let version = word(bytes, 8).ok_or_else(|| fail("the state is cut short", bytes.len()))?;
    if !(FIRST..=VERSION).contains(&version) {
        let allowed = format!("{FIRST} to {VERSION}");
        return Err(fail("a state of another format version", 8).found(version).allowed(allowed));
    }
    let count = word(bytes, 12).ok_or_else(|| fail("the state is cut short", bytes.len()))?;
    if count > SECTIONS {
        let error = fail("a state of too many sections", 12).found(count);
        return Err(error.allowed(format!("up to {SECTIONS}")));
    }
    let mut sections = Vec::new();
    let mut at = HEAD;
    for number in 1..=count {
        let length = bytes
            .get(at..at + 8)
            .and_then(|field| field.try_into().ok())
            .map(u64::from_le_bytes)
            .ok_or_else(|| fail("the state is cut short", bytes.len()))?;
        let start = at + 8;
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| start.checked_add(length))
            .filter(|end| end.checked_add(HASH).is_some_and(|after| after <= bytes.len()))
            .ok_or_else(|| {
                fail("the state is cut short or its length field is damaged", at)
                    .found(format!("{length} bytes announced, {} left", bytes.len() - start.min(bytes.len())))
            })?;
        let (payload, hash) = (&bytes[start..end], &bytes[end..end + HASH]);
        if blake3::hash(payload).as_bytes() != hash {
            return Err(Error::format("the state is damaged: checksum does not match")
                .at(format!("section {number}, bytes {start} to {}", end + HASH))
                .advice("measure this shard again"));
        }
        let (name, _) = postcard::take_from_bytes::<String>(payload)
            .map_err(|_| fail("the section has no name", start))?;
        sections.push(Section { name, payload: payload.to_vec(), version });
        at = end + HASH;
    }
    match bytes.get(at..) {
        Some(rest) if rest.len() < HASH => Err(fail("the state is cut short", bytes.len())),
        Some(rest) if rest.len() > HASH => Err(fail("bytes after the end of the state", at + HASH)),
        Some(rest) if blake3::hash(&bytes[..at]).as_bytes() == rest => Ok(sections),
        _ => Err(fail("the state is damaged: checksum does not match", at)),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|field| field.try_into().ok()).map(u32::from_le_bytes)
}
