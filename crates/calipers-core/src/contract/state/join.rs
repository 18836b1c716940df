//! States joined entry by entry, in the order of names: the memory is that of one entry per state, however
//! many units there are.
//!
//! ```text
//! state 1 ──┐  rows, inputs and contents,
//! state 2 ──┼─ each in sorted order  ──> scratch ──┐  counts, lengths and
//! ...       │                                      ├─ hashes are known now  ──> state
//! state k ──┘  readings, facts, listings, left out ┘
//! ```
//!
//! What is merged is what [`Accumulator::merge`](crate::Accumulator::merge) merges, with the same bytes in the end.
//! The number of entries stands before them, so that they wait in scratch files until it is known.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::io::{self, BufWriter, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::reader::StateReader;
use super::trusted_row;
use super::writer::{Piece, Scratch, StateWriter};
use crate::accumulator::different_rows;
use crate::differences::mismatch;
use crate::error::{Error, Result};
use crate::input_files::{self, Input};
use crate::listings::Listings;
use crate::protocol::Protocol;
use crate::provenance::{Content, Fact, Provenance, Reading};
use crate::unit_id::UnitId;

/// What came of joined states.
#[derive(Clone, Debug)]
pub struct Joined {
    /// How many units there are.
    pub units: u64,
    /// Which shards are here.
    pub listings: Listings,
    /// How many units were left out.
    pub left_out: usize,
}

/// Makes a scratch file.
pub type NewScratch<'s> = dyn FnMut() -> Result<Box<dyn Scratch>> + 's;

/// Joins the sections that the states have begun, and writes one of all their rows.
pub fn join<P: Protocol>(
    states: &mut [StateReader<'_>],
    scratch: &mut NewScratch<'_>,
    out: &mut StateWriter<'_>,
) -> Result<Joined> {
    let protocol = protocol::<P>(states)?;
    let mut rows = entries::<Row<P>, P>(states, &protocol, scratch()?)?;
    let mut inputs = entries::<File, P>(states, &protocol, scratch()?)?;
    let noticed = states.iter_mut().map(|state| Ok((state.take()?, state.take()?)));
    let noticed: Vec<(BTreeSet<Reading>, BTreeSet<Fact>)> = noticed.collect::<Result<_>>()?;
    let mut contents = entries::<Content, P>(states, &protocol, scratch()?)?;
    // Everything about the runs that is no list of files or units.
    let mut whole = Provenance::default();
    for (state, (readings, facts)) in states.iter_mut().zip(noticed) {
        let (listings, left_out) = (state.take()?, state.take()?);
        let part = Provenance { readings, facts, listings, left_out, ..Provenance::default() };
        let checked = part.check(&BTreeMap::<UnitId, ()>::new());
        checked.map_err(|error| state.impossible(error.in_one_line()))?;
        state.end()?;
        whole.merge(part, P::READING_IN_ROWS)?;
    }
    let Provenance { readings, facts, listings, mut left_out, .. } = whole;
    if !left_out.is_empty() {
        // Who was left out in one state and measured in another is measured.
        rows.each::<Row<P>>(|row| _ = left_out.remove(row.0.as_str()))?;
    }
    let text = serde_json::to_string(&protocol).unwrap_or_default();
    let head = encoded(&(P::NAME, &text, rows.count))?;
    let middle = [encoded(&inputs.count)?, encoded(&(&readings, &facts, contents.count))?];
    let tail = encoded(&(&listings, &left_out))?;
    let pieces = vec![
        Piece::Bytes(&head),
        Piece::Scratch(&mut *rows.scratch, rows.bytes),
        Piece::Bytes(&middle[0]),
        Piece::Scratch(&mut *inputs.scratch, inputs.bytes),
        Piece::Bytes(&middle[1]),
        Piece::Scratch(&mut *contents.scratch, contents.bytes),
        Piece::Bytes(&tail),
    ];
    out.section(pieces).map_err(|error| unwritable(&error))?;
    Ok(Joined { units: rows.count, listings, left_out: left_out.len() })
}

/// The protocol of all states, which must be one.
fn protocol<P: Protocol>(states: &mut [StateReader<'_>]) -> Result<P> {
    let mut first: Option<(P, String, String)> = None;
    for state in states {
        let text: String = state.take()?;
        if first.as_ref().is_some_and(|(_, known, _)| *known == text) {
            continue;
        }
        let protocol: P =
            serde_json::from_str(&text).map_err(|error| state.impossible(format!("protocol: {error}")))?;
        if serde_json::to_string(&protocol).is_ok_and(|again| again != text) {
            return Err(state.impossible("bytes that this version would write differently"));
        }
        protocol.check().map_err(|error| state.impossible(error.at("protocol").in_one_line()))?;
        match &first {
            None => first = Some((protocol, text, state.source().to_owned())),
            Some((ours, _, source)) if *ours != protocol => {
                return Err(mismatch(ours, &protocol, source, state.source()));
            }
            Some(_) => {}
        }
    }
    first.map(|(protocol, ..)| protocol).ok_or_else(|| Error::usage("no states to merge"))
}

/// An entry of a sorted list or map in a state.
trait Entry<P>: Serialize + DeserializeOwned {
    /// Where it stands in the order; no two of one state are equal.
    fn order(&self, other: &Self) -> Ordering;
    /// Refuses what no run has written.
    fn check(&self, _protocol: &P) -> std::result::Result<(), String> {
        Ok(())
    }
    /// Takes in the entry that another state has in this place, where their bytes differ. Says whether that
    /// changed anything.
    fn join(&mut self, other: Self, sources: (&str, &str)) -> Result<bool>;
}

/// The row of a unit, as a map of rows has it.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct Row<P: Protocol>(String, P::Row);

impl<P: Protocol> Entry<P> for Row<P> {
    fn order(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    fn check(&self, protocol: &P) -> std::result::Result<(), String> {
        trusted_row(protocol, &self.0, &self.1).map_err(|error| error.in_one_line())
    }

    fn join(&mut self, other: Self, (ours, theirs): (&str, &str)) -> Result<bool> {
        // Zeros of both signs are equal: the first stays.
        if self.1 == other.1 { Ok(false) } else { Err(different_rows(&self.0, ours, theirs)) }
    }
}

/// A file, as a map of inputs has it.
#[derive(Serialize, Deserialize)]
struct File(String, Input);

impl<P> Entry<P> for File {
    fn order(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    fn join(&mut self, other: Self, _: (&str, &str)) -> Result<bool> {
        self.1 = input_files::both(&self.0, &self.1, &other.1)?;
        Ok(true)
    }
}

impl<P> Entry<P> for Content {
    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn join(&mut self, _: Self, _: (&str, &str)) -> Result<bool> {
        Ok(false)
    }
}

/// Entries that wait for their number.
struct Entries {
    scratch: Box<dyn Scratch>,
    count: u64,
    bytes: u64,
}

impl Entries {
    /// Reads all of them again.
    fn each<T: Serialize + DeserializeOwned>(&mut self, mut seen: impl FnMut(T)) -> Result<()> {
        self.scratch.rewind().map_err(|error| unwritable(&error))?;
        let mut again = StateReader::of_entries(&mut *self.scratch, self.bytes);
        for _ in 0..self.count {
            seen(again.take()?);
        }
        Ok(())
    }
}

/// The next entry of a state. The smallest is the greatest of a heap.
struct Next<T> {
    entry: T,
    bytes: Vec<u8>,
    state: usize,
    order: fn(&T, &T) -> Ordering,
}

impl<T> Ord for Next<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.order)(&other.entry, &self.entry).then(other.state.cmp(&self.state))
    }
}

impl<T> PartialOrd for Next<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Next<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Next<T> {}

/// Joins the sorted entries that come next in every state.
fn entries<T: Entry<P>, P>(
    states: &mut [StateReader<'_>],
    protocol: &P,
    scratch: Box<dyn Scratch>,
) -> Result<Entries> {
    let mut left: Vec<u64> = states.iter_mut().map(StateReader::take).collect::<Result<_>>()?;
    let mut next =
        |states: &mut [StateReader<'_>], at: usize, before: Option<&T>| -> Result<Option<Next<T>>> {
            if left[at] == 0 {
                return Ok(None);
            }
            left[at] -= 1;
            let state = &mut states[at];
            let (entry, bytes) = state.take_with_bytes::<T>()?;
            if before.is_some_and(|before| before.order(&entry).is_ge()) {
                return Err(state.impossible("bytes that this version would write differently"));
            }
            entry.check(protocol).map_err(|why| state.impossible(why))?;
            Ok(Some(Next { entry, bytes, state: at, order: T::order }))
        };
    let mut heap = BinaryHeap::with_capacity(states.len());
    for at in 0..states.len() {
        heap.extend(next(states, at, None)?);
    }
    let mut waiting = BufWriter::with_capacity(1 << 18, scratch);
    let (mut count, mut bytes) = (0, 0);
    while let Some(mut first) = heap.pop() {
        heap.extend(next(states, first.state, Some(&first.entry))?);
        while heap.peek().is_some_and(|other| other.entry.order(&first.entry).is_eq()) {
            let Some(other) = heap.pop() else { break };
            heap.extend(next(states, other.state, Some(&other.entry))?);
            let sources = (states[first.state].source(), states[other.state].source());
            if other.bytes != first.bytes && first.entry.join(other.entry, sources)? {
                first.bytes = encoded(&first.entry)?;
            }
        }
        waiting.write_all(&first.bytes).map_err(|error| unwritable(&error))?;
        (count, bytes) = (count + 1, bytes + first.bytes.len() as u64);
    }
    let scratch = waiting.into_inner().map_err(|error| unwritable(error.error()))?;
    Ok(Entries { scratch, count, bytes })
}

fn encoded(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|error| Error::io(format!("a state does not encode: {error}")))
}

fn unwritable(error: &io::Error) -> Error {
    Error::io(format!("cannot write what is merged: {}", error.kind()))
}
