//! Whether models may be compared: the same units, the same truth, the same thing measured.

use std::collections::BTreeMap;

use calipers_core::{Error, ErrorKind, Result};
use serde_json::{Map, Value as Json};

use super::model::Side;

/// How many units a message names.
const NAMED: usize = 20;
/// How many parameters a message names.
const SHOWN: usize = 5;

/// Refuses sides that cannot be compared with the first.
pub(super) fn check(sides: &[Side<'_>]) -> Result<()> {
    let Some((first, others)) = sides.split_first() else { return Ok(()) };
    others.iter().try_for_each(|other| {
        same_protocol(first, other)?;
        same_units(first, other)?;
        same_truth(first, other)
    })
}

fn same_protocol(first: &Side<'_>, other: &Side<'_>) -> Result<()> {
    let (Some(ours), Some(theirs)) = (&first.ledger, &other.ledger) else { return Ok(()) };
    if ours.name() != theirs.name() {
        return Err(Error::new(ErrorKind::ProtocolMismatch, "the models are of different families")
            .found(format!("{} in {}, {} in {}", ours.name(), first.source, theirs.name(), other.source)));
    }
    let mut differences = Vec::new();
    let (ours, theirs) = (measured(first), measured(other));
    difference("protocol", &Json::Object(ours), &Json::Object(theirs), &mut differences);
    if differences.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = differences
        .iter()
        .take(SHOWN)
        .map(|(path, ours, theirs)| {
            format!("{path} is {ours} in {}, {theirs} in {}", first.source, other.source)
        })
        .collect();
    let more = match differences.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let reading = first.ledger.as_ref().map_or(&[][..], |ledger| ledger.reading_parameters());
    Err(Error::new(ErrorKind::ProtocolMismatch, "the models were not measured alike")
        .found(format!("{}{more}", shown.join("; ")))
        .allowed(format!("differences in how a prediction is read: {}", reading.join(", ")))
        .advice("measure both with the same options"))
}

/// The parameters that say what is measured.
fn measured(side: &Side<'_>) -> Map<String, Json> {
    let mut protocol = side.protocol();
    let reading = side.ledger.as_ref().map_or(&[][..], |ledger| ledger.reading_parameters());
    protocol.retain(|key, _| !reading.contains(&key.as_str()));
    protocol
}

/// The parameters that say how the predictions of this side are read.
pub(super) fn reading(side: &Side<'_>) -> Map<String, Json> {
    let mut protocol = side.protocol();
    let reading = side.ledger.as_ref().map_or(&[][..], |ledger| ledger.reading_parameters());
    protocol.retain(|key, _| reading.contains(&key.as_str()));
    protocol
}

/// Collects the paths at which two JSON values differ, with both sides.
fn difference(path: &str, a: &Json, b: &Json, out: &mut Vec<(String, String, String)>) {
    match (a, b) {
        (Json::Object(x), Json::Object(y)) => {
            for key in x.keys().chain(y.keys().filter(|key| !x.contains_key(*key))) {
                let (left, right) = (x.get(key).unwrap_or(&Json::Null), y.get(key).unwrap_or(&Json::Null));
                difference(&format!("{path}.{key}"), left, right, out);
            }
        }
        _ if a != b => out.push((path.into(), a.to_string(), b.to_string())),
        _ => {}
    }
}

fn same_units(first: &Side<'_>, other: &Side<'_>) -> Result<()> {
    let (ours, theirs) = (first.units(), other.units());
    if ours == theirs {
        return if ours.is_empty() { Err(Error::value("the models have no units")) } else { Ok(()) };
    }
    let only = |these: &[&str], those: &[&str], source: &str| -> Option<String> {
        let alone: Vec<&str> =
            these.iter().filter(|unit| those.binary_search(unit).is_err()).copied().collect();
        let more = match alone.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = alone.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        (!alone.is_empty()).then(|| format!("{} only in {source}: {named}{more}", alone.len()))
    };
    let parts = [only(&ours, &theirs, first.source), only(&theirs, &ours, other.source)];
    Err(Error::value("the models were measured over different units")
        .found(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
        .advice("compare models over the same units: measure the missing ones, or both without them"))
}

/// Refuses units whose truth was another one, where both runs recorded it.
fn same_truth(first: &Side<'_>, other: &Side<'_>) -> Result<()> {
    let (Some(ours), Some(theirs)) = (&first.ledger, &other.ledger) else { return Ok(()) };
    let known: BTreeMap<&str, &[u8; 16]> =
        ours.provenance().contents.iter().map(|content| (content.unit.as_str(), &content.truth)).collect();
    let changed: Vec<&str> = theirs
        .provenance()
        .contents
        .iter()
        .filter(|content| known.get(content.unit.as_str()).is_some_and(|truth| **truth != content.truth))
        .map(|content| content.unit.as_str())
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let named = changed.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = match changed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Error::value("units have another truth in one model than in the other")
        .found(format!("{} units: {named}{more}", changed.len()))
        .at(format!("{} and {}", first.source, other.source))
        .advice("measure both models against the same truth"))
}
