//! `results.json` of the mis-benchmark-framework: an object of found sets by graph.

use calipers_core::Error;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::units::repeated;
use super::{Keys, Skipped, refused};
use crate::score::names::check;
use crate::text::without_mark;

/// What a solver found for one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSet {
    /// The graph's name.
    pub unit: String,
    /// The chosen nodes, from 0, none twice; empty when nothing was found.
    pub set: Vec<u64>,
    /// How many nodes the file says were chosen.
    pub vertices: u64,
    /// Whether the solver found a set.
    pub found: bool,
}

/// Reads the object graph -> {`mis` or `mwis`, `found_mis` or `mwis_found`, `vertices` or
/// `mwis_vertices`}; other keys are ignored.
///
/// Some solvers leave out whether they found a set, or the number of nodes: then the list decides.
pub fn parse(bytes: &[u8]) -> Result<Vec<FoundSet>, Error> {
    let entries: Entries = serde_json::from_slice(without_mark(bytes)).map_err(|error| refused(&error, 1))?;
    entries.0.into_iter().map(|(unit, entry)| found_set(unit, entry)).collect()
}

fn found_set(unit: String, entry: Entry) -> Result<FoundSet, Error> {
    let place = format!("unit {unit}");
    check(&unit)?;
    if entry.found == Some(false) {
        return Ok(FoundSet { unit, set: Vec::new(), vertices: 0, found: false });
    }
    let Some(set) = entry.set else {
        let error =
            Error::format("no found set").at(place).found("no list").allowed("a list `mis` or `mwis`");
        return Err(error.advice("a graph without a set needs `found_mis` or `mwis_found` false"));
    };
    let listed = set.len() as u64;
    let vertices = entry.vertices.unwrap_or(listed);
    if vertices != listed {
        let error = Error::value("the number of vertices differs from the list").at(place);
        let error = error.found(format_args!("vertices {vertices}, {listed} nodes in the list"));
        return Err(error.allowed("one number").advice("the list is cut, or the number is of another run"));
    }
    if let Some(node) = repeated(&set) {
        let error = Error::value("a node is listed twice").at(place).found(node);
        return Err(error.allowed("every node once").advice("take the second one away"));
    }
    Ok(FoundSet { unit, set, vertices, found: true })
}

struct Entries(Vec<(String, Entry)>);

#[derive(Default)]
struct Entry {
    set: Option<Vec<u64>>,
    found: Option<bool>,
    vertices: Option<u64>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Graphs)
    }
}

struct Graphs;

impl<'de> Visitor<'de> for Graphs {
    type Value = Entries;

    crate::expecting!("an object of results by graph");

    fn visit_map<A: MapAccess<'de>>(self, mut graphs: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        let mut keys = Keys::default();
        while let Some(unit) = graphs.next_key::<String>()? {
            keys.once(&unit)?;
            entries.push((unit, graphs.next_value()?));
        }
        Ok(Entries(entries))
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Entry;

    crate::expecting!("an object with `mis` or `mwis`");

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Entry, A::Error> {
        let mut entry = Entry::default();
        let mut keys = Keys::default();
        while let Some(key) = fields.next_key::<String>()? {
            keys.once(&key)?;
            match key.as_str() {
                "mis" | "mwis" => once(&mut entry.set, fields.next_value()?, "mis and mwis")?,
                "found_mis" | "mwis_found" => {
                    once(&mut entry.found, fields.next_value()?, "found_mis and mwis_found")?
                }
                "vertices" | "mwis_vertices" => {
                    once(&mut entry.vertices, fields.next_value()?, "vertices and mwis_vertices")?;
                }
                _ => {
                    let Skipped = fields.next_value()?;
                }
            }
        }
        Ok(entry)
    }
}

fn once<T, E: de::Error>(place: &mut Option<T>, value: T, both: &str) -> Result<(), E> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::custom(format_args!("the keys {both} are both there"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn both_spellings_are_read_and_not_found_is_the_empty_set() {
        let text = r#"{
            "a": {"found_mis": true, "mis": [3, 0], "vertices": 2, "total_time": 1.5},
            "b": {"mwis_found": true, "mwis": [1], "mwis_vertices": 1, "mwis_weight": 1.0},
            "c": {"found_mis": false, "total_solutions": 0},
            "d": {"mwis": [], "mwis_vertices": 0, "gurobi_status": "Optimal"}
        }"#;
        let found: Vec<_> = parse(text.as_bytes())
            .unwrap()
            .into_iter()
            .map(|f| (f.unit, f.set, f.vertices, f.found))
            .collect();
        let expected = [
            ("a", vec![3, 0], 2, true),
            ("b", vec![1], 1, true),
            ("c", vec![], 0, false),
            ("d", vec![], 0, true),
        ];
        assert_eq!(
            found,
            expected.map(|(unit, set, vertices, found)| (unit.to_owned(), set, vertices, found))
        );
    }

    #[test]
    fn contradictions_name_the_unit_and_both_numbers() {
        for (text, words) in [
            (r#"{"a": {"mis": [1], "vertices": 2}}"#, ["unit a", "vertices 2, 1 nodes"]),
            (r#"{"a": {"mis": [1, 1], "vertices": 2}}"#, ["unit a", "twice"]),
            (r#"{"a": {"found_mis": true, "vertices": 2}}"#, ["unit a", "`mwis`"]),
            (r#"{"a": {"mis": [1], "mwis": [1]}}"#, ["mis and mwis", "line 1"]),
            (r#"{"a": {"mis": [1]}, "a": {"mis": [1]}}"#, ["`a` occurs twice", "line 1"]),
            (r#"{"a": {"mis": [-1]}}"#, ["-1", "line 1"]),
            (r#"{"a": [1]}"#, ["`mis` or `mwis`", "line 1"]),
            (r#"{"a": {"mis": [1]}"#, ["not valid JSON", "line 1"]),
        ] {
            let error = refusal(text);
            assert!(words.iter().all(|word| error.contains(word)), "{text}: {error}");
        }
    }
}
