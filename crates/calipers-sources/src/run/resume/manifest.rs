//! The lines of a manifest: JSON objects that end in the hash of what precedes it in the line.

use calipers_core::Digest;
use serde_json::Value as Json;

use crate::inputs::{ReadFile, Stamp};

/// What stands between the content of a line and its hash, and behind that.
const HASH: &str = ",\"line\":\"";
const END: &str = "\"}";

/// An object with at least one key as a line, its hash at the end.
pub(super) fn line(object: &Json) -> String {
    let text = object.to_string();
    let body = text.strip_suffix('}').unwrap_or(&text);
    format!("{body}{HASH}{}{END}\n", Digest::of(body.as_bytes()))
}

/// The object of a line; none of one that is cut or damaged.
pub(super) fn object(line: &str) -> Option<Json> {
    let (body, hash) = line.strip_suffix(END)?.rsplit_once(HASH)?;
    let hash: Digest = hash.parse().ok()?;
    if hash != Digest::of(body.as_bytes()) {
        return None;
    }
    serde_json::from_str(&format!("{body}}}")).ok()
}

/// What the manifest says of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Its file name.
    pub(super) part: String,
    /// The hash of its bytes.
    pub(super) blake3: String,
    /// The files that were read for its units, each once.
    pub(super) inputs: Vec<(String, Option<Stamp>)>,
    /// The units, each with the places of its files.
    pub(super) units: Vec<(String, Vec<usize>)>,
}

impl Entry {
    /// The entry of a part that was written.
    pub(super) fn of(part: &str, bytes: &[u8], units: &[(String, Vec<ReadFile>)]) -> Self {
        let mut inputs: Vec<(String, Option<Stamp>)> = Vec::new();
        let mut places = std::collections::BTreeMap::new();
        let mut place = |file: &ReadFile| {
            *places.entry(file.shown.clone()).or_insert_with(|| {
                inputs.push((file.shown.to_string(), file.stamp));
                inputs.len() - 1
            })
        };
        let units = units.iter().map(|(name, files)| (name.clone(), files.iter().map(&mut place).collect()));
        let units = units.collect();
        Self { part: part.into(), blake3: Digest::of(bytes).to_string(), inputs, units }
    }

    pub(super) fn to_json(&self) -> Json {
        let input = |(path, stamp): &(String, Option<Stamp>)| match stamp {
            Some(stamp) => serde_json::json!([path, stamp.bytes, stamp.modified]),
            None => serde_json::json!([path]),
        };
        serde_json::json!({
            "part": self.part,
            "blake3": self.blake3,
            "inputs": self.inputs.iter().map(input).collect::<Vec<_>>(),
            "units": self.units,
        })
    }

    /// The entry that an object is; none of an object that is something else.
    pub(super) fn from_json(object: &Json) -> Option<Self> {
        let text = |key: &str| object.get(key)?.as_str().map(str::to_owned);
        let input = |input: &Json| {
            let path = input.get(0)?.as_str()?.to_owned();
            let stamp = input.get(1).and_then(Json::as_u64).zip(input.get(2).and_then(Json::as_i64));
            Some((path, stamp.map(|(bytes, modified)| Stamp { bytes, modified })))
        };
        let inputs: Vec<_> = object.get("inputs")?.as_array()?.iter().map(input).collect::<Option<_>>()?;
        let units: Vec<(String, Vec<usize>)> = serde_json::from_value(object.get("units")?.clone()).ok()?;
        let known = units.iter().flat_map(|(_, places)| places).all(|place| *place < inputs.len());
        known.then_some(Self { part: text("part")?, blake3: text("blake3")?, inputs, units })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::{Input, Notes};

    #[test]
    fn an_entry_survives_its_line_and_a_line_cut_or_flipped_anywhere_does_not() {
        let file = |shown: &str, stamp| ReadFile {
            shown: shown.into(),
            input: Input { bytes: 3, blake3: Digest::of(b"x"), notes: Notes::default() },
            stamp,
        };
        let stamp = Some(Stamp { bytes: 3, modified: -7 });
        let units = [
            ("a\"}".to_owned(), vec![file("t/a", stamp), file("pack", None)]),
            ("b".to_owned(), vec![file("t/b", stamp), file("pack", None)]),
        ];
        let entry = Entry::of("part-000001.state", b"bytes", &units);
        assert_eq!(entry.units, [("a\"}".to_owned(), vec![0, 1]), ("b".to_owned(), vec![2, 1])]);
        let line = line(&entry.to_json());
        let whole = line.trim_end();
        assert_eq!(object(whole).as_ref().and_then(Entry::from_json), Some(entry));
        for at in 0..whole.len() {
            assert_eq!(object(&whole[..at]), None, "cut at {at}");
            let mut flipped = whole.as_bytes().to_vec();
            flipped[at] ^= 1;
            let flipped = String::from_utf8(flipped).unwrap();
            assert_eq!(object(&flipped), None, "flipped at {at}");
        }
    }
}
