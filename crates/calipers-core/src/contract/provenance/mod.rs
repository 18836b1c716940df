//! Where rows came from: files, how they were read, what was noticed while reading, which shards of
//! which listing, and what was left out.

pub mod input_files;
pub mod ledger;
pub mod listings;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::check;
use crate::error::{Error, ErrorKind, Result};
use crate::input_files::InputFiles;
use crate::listings::Listings;
use crate::unit_id::UnitId;

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
    /// Which shards are here, of which lists of names.
    pub listings: Listings,
    /// The units that could not be measured, and why. They are in no row.
    pub left_out: BTreeMap<UnitId, String>,
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
        self.listings.merge(other.listings);
        for (unit, reason) in other.left_out {
            let ours = self.left_out.entry(unit).or_insert_with(|| reason.clone());
            // Of two reasons one is kept, in whatever order they arrive.
            *ours = std::mem::take(ours).min(reason);
        }
        Ok(())
    }

    /// Refuses what no run would have recorded beside these rows.
    pub(crate) fn check<R>(&self, rows: &BTreeMap<UnitId, R>) -> Result<()> {
        for (unit, reason) in &self.left_out {
            check::name("left_out", unit.as_str())?;
            let said = format!("'{unit}'");
            check::keep(!rows.contains_key(unit), "left_out", &said, "units without a row")?;
            check::keep(!reason.is_empty(), format_args!("left_out {said}"), "no reason", "a reason")?;
        }
        for Fact { code, unit, .. } in &self.facts {
            check::name("facts", code)?;
            check::keep(unit.len() <= check::NAME, "facts", unit.len(), "names of up to 4096 bytes")?;
        }
        self.contents.iter().try_for_each(|content| check::name("contents", content.unit.as_str()))?;
        self.listings.check()
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

/// How all inputs were read; a list only where they were read in several ways.
pub(crate) fn readings_json(provenance: &Provenance) -> Json {
    let mut all: Vec<Json> = provenance.readings.iter().map(reading_json).collect();
    match all.len() {
        0 => Json::Null,
        1 => all.remove(0),
        _ => Json::Array(all),
    }
}

/// How inputs were read, as the report prints it.
pub fn reading_json(reading: &Reading) -> Json {
    Json::Object(reading.iter().map(|(key, setting)| (key.clone(), setting_json(setting))).collect())
}

fn setting_json(setting: &Setting) -> Json {
    match setting {
        Setting::Unset => Json::Null,
        Setting::Flag(on) => (*on).into(),
        Setting::Number(n) => (*n).into(),
        Setting::Text(text) => text.as_str().into(),
        Setting::List(words) => words.clone().into(),
    }
}
