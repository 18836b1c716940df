//! What one file, or one JSON object, holds: the arrays of a unit, or of a batch of units.

use std::borrow::Cow;
use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use calipers_metrics::explanation::Evidence;

use super::batch::Cuts;
use super::keys::{MASK_PTR, PTR, UNIT, role};
use super::stored::Stored;
use crate::array_file::numbered;

/// The arrays of one or more units, by key.
#[derive(Debug)]
pub(super) struct Record {
    arrays: BTreeMap<String, Stored>,
    unit: Unit,
    /// How the arrays are cut into units; one unit has the whole of them.
    cuts: Option<Cuts>,
}

/// What the key `unit` says.
#[derive(Debug, PartialEq)]
pub(super) enum Unit {
    /// It is not there.
    Unnamed,
    /// One name.
    One(String),
    /// A list of names: the mark of a batch.
    Several(Vec<String>),
}

impl Record {
    /// Checks the boundaries of a batch against its arrays.
    pub(super) fn new(mut arrays: BTreeMap<String, Stored>, unit: Unit) -> Result<Self> {
        let pointers = [PTR, MASK_PTR].map(|key| arrays.remove(key));
        let batched = matches!(unit, Unit::Several(_)) || pointers.iter().any(Option::is_some);
        let names = match &unit {
            Unit::Unnamed => None,
            Unit::One(_) => Some(1),
            Unit::Several(names) => Some(names.len()),
        };
        let cuts = if batched { Some(Cuts::new(names, pointers, &arrays)?) } else { None };
        Ok(Self { arrays, unit, cuts })
    }

    /// How many units there are.
    pub(super) fn units(&self) -> usize {
        self.cuts.as_ref().map_or(1, Cuts::units)
    }

    /// Whether the units are named inside.
    pub(super) fn is_named(&self) -> bool {
        self.unit != Unit::Unnamed
    }

    /// The name of a unit, made from that of the file where the record has none.
    pub(super) fn name(&self, number: usize, file: &str) -> String {
        match &self.unit {
            Unit::Several(names) => names[number].clone(),
            Unit::One(name) => name.clone(),
            Unit::Unnamed if self.cuts.is_some() => numbered(file, number, self.units()),
            Unit::Unnamed => file.to_owned(),
        }
    }

    /// Hands the evidence of a unit to `measure`.
    pub(super) fn with_unit<T>(
        &self,
        number: usize,
        measure: impl FnOnce(Evidence<'_>) -> Result<T>,
    ) -> Result<T> {
        let held = self.arrays.iter().map(|(key, array)| match &self.cuts {
            None => (key, Cow::Borrowed(array)),
            Some(cuts) => (key, Cow::Owned(cuts.part(key, array, number))),
        });
        let held: Vec<(&String, Cow<'_, Stored>)> = held.collect();
        let mut evidence = Evidence::new();
        for (key, array) in &held {
            evidence.insert(key, array.view()?);
        }
        measure(evidence)
    }
}

/// Whether a key says how a file is cut, and is no evidence itself.
pub(super) fn is_outline(key: &str) -> bool {
    [UNIT, PTR, MASK_PTR].contains(&key)
}

/// Whether the values of a key are needed.
pub(super) fn is_read(key: &str) -> bool {
    role(key).is_some() || [PTR, MASK_PTR].contains(&key)
}

/// The error of an array under its key.
pub(super) fn under(key: &str) -> impl Fn(Error) -> Error + '_ {
    move |error| error.at(format!("key {key}"))
}
