//! Where rows came from: files, how they were read, what was noticed while reading, which shard.

pub mod input_files;
pub mod ledger;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::accumulator::UnitId;
use crate::error::{Error, ErrorKind, Result};
use crate::input_files::InputFiles;

/// Everything about a run that is neither protocol nor row but belongs in its report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The files read, by path as given.
    pub inputs: InputFiles,
    /// How the inputs were found and read; several when states of different readings were merged.
    pub readings: BTreeSet<Reading>,
    /// What was noticed in files and cannot be seen in rows.
    pub facts: BTreeSet<Fact>,
    /// What the truth of units was, so that one truth under two names is found.
    pub contents: BTreeSet<Content>,
    /// Which shards are here, by the number of shards of the split.
    pub shards: BTreeMap<u32, BTreeSet<u32>>,
}

/// The options that say how inputs are found, paired and read, with every default.
pub type Reading = BTreeMap<String, Setting>;

/// The value of one reading option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Setting {
    /// Not given.
    Unset,
    /// A switch.
    Flag(bool),
    /// A whole number.
    Number(u64),
    /// A word or a path suffix.
    Text(String),
    /// Several words in order.
    List(Vec<String>),
}

/// Something noticed while reading a file: the evidence behind a file warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fact {
    /// The warning code it supports.
    pub code: String,
    /// The unit it concerns.
    pub unit: String,
    /// What was seen, in words.
    pub detail: String,
}

/// What the truth of a unit was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Content {
    /// The unit.
    pub unit: UnitId,
    /// The first half of the BLAKE3 hash: enough to tell contents apart.
    pub truth: [u8; 16],
}

impl Provenance {
    /// Adds what another run recorded. Refuses a path with two contents and readings that differ
    /// in a key of `in_rows`; then nothing has changed.
    pub(crate) fn merge(&mut self, mut other: Self, in_rows: &[&str]) -> Result<()> {
        for theirs in &other.readings {
            for ours in &self.readings {
                if let Some(key) = in_rows.iter().find(|key| ours.get(**key) != theirs.get(**key)) {
                    return Err(Error::new(ErrorKind::ProtocolMismatch, "the inputs were read differently")
                        .at(format!("reading.{key}"))
                        .found(format!("{} and {}", shown(ours.get(*key)), shown(theirs.get(*key))))
                        .advice("read all shards with the same options"));
                }
            }
        }
        self.inputs = self.inputs.merged(&other.inputs)?;
        self.readings.extend(other.readings);
        self.facts.extend(other.facts);
        if are_many(other.contents.len(), self.contents.len()) {
            self.contents.append(&mut other.contents);
        } else {
            self.contents.extend(other.contents);
        }
        for (of, have) in other.shards {
            self.shards.entry(of).or_default().extend(have);
        }
        Ok(())
    }

    /// A sentence for every split of which several shards were merged, but not all. A single shard
    /// on its own is meant to be one.
    pub(crate) fn missing_shards(&self) -> impl Iterator<Item = String> + '_ {
        const NAMED: usize = 20;
        self.shards.iter().filter(|(of, have)| have.len() > 1 && have.len() < **of as usize).map(
            |(of, have)| {
                let missing = *of as usize - have.len();
                let named = (1..=*of).filter(|i| !have.contains(i)).take(NAMED);
                let mut named = named.map(|i| format!("{i}/{of}")).collect::<Vec<_>>().join(", ");
                if missing > NAMED {
                    named.push_str(&format!(" and {} more", missing - NAMED));
                }
                format!("expected {of} shards, have {}, missing {named}", have.len())
            },
        )
    }
}

/// Whether so many entries join ours faster by going through all of both in order than one by one.
pub(crate) fn are_many(theirs: usize, ours: usize) -> bool {
    theirs >= ours / 8
}

fn shown(setting: Option<&Setting>) -> String {
    match setting {
        None | Some(Setting::Unset) => "not given".into(),
        Some(Setting::Flag(on)) => on.to_string(),
        Some(Setting::Number(n)) => n.to_string(),
        Some(Setting::Text(text)) => text.clone(),
        Some(Setting::List(words)) => words.join(","),
    }
}
