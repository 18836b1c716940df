//! Where two protocols differ.

use serde_json::Value as Json;

use crate::error::{Error, ErrorKind};
use crate::protocol::{Protocol, protocol_json};

/// How many settings that differ a message names.
const SHOWN: usize = 5;

/// The refusal to merge states of different protocols, with the settings that differ.
pub(crate) fn mismatch<P: Protocol>(ours: &P, theirs: &P, our_source: &str, their_source: &str) -> Error {
    let [ours, theirs] = [ours, theirs].map(|protocol| Json::Object(protocol_json(protocol)));
    let differences: Vec<Difference> = differences(&ours, &theirs)
        .into_iter()
        .map(|(place, sides)| (format!("protocol.{place}"), sides))
        .collect();
    // Several, because the first may only follow from another: a cut-off from its penalty.
    let shown = &differences[..differences.len().min(SHOWN)];
    let places: Vec<&str> = shown.iter().map(|(place, _)| place.as_str()).collect();
    let more = match differences.len() - shown.len() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let found: Vec<String> = shown
        .iter()
        .map(|(_, (ours, theirs))| format!("{ours} in {our_source}, {theirs} in {their_source}"))
        .collect();
    Error::new(ErrorKind::ProtocolMismatch, "the states were made under different protocols")
        .at(format!("{}{more}", places.join("; ")))
        .found(found.join("; "))
        .advice("merge only states made with the same options")
}

/// A path at which two JSON values differ, with both sides.
type Difference = (String, (String, String));

/// The paths at which two JSON values differ, with both sides.
pub fn differences(a: &Json, b: &Json) -> Vec<Difference> {
    let mut out = Vec::new();
    difference("", a, b, &mut out);
    out
}

fn difference(path: &str, a: &Json, b: &Json, out: &mut Vec<Difference>) {
    match (a, b) {
        (Json::Object(x), Json::Object(y)) => {
            for key in x.keys().chain(y.keys().filter(|key| !x.contains_key(*key))) {
                let (left, right) = (x.get(key).unwrap_or(&Json::Null), y.get(key).unwrap_or(&Json::Null));
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                difference(&path, left, right, out);
            }
        }
        _ if a != b => out.push((path.into(), (a.to_string(), b.to_string()))),
        _ => {}
    }
}
