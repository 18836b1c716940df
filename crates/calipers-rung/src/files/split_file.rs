//! Files of splits: index lists or masks in arrays, or JSON.

use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::array::{Arrays, Reader};
use calipers_metrics::robustness::{NumberSlice, Repeats, nodes_of_index, nodes_of_mask};
use calipers_sources::array_file;
use calipers_sources::array_file::{axis, shape};
use calipers_sources::inputs::Inputs;
use serde_json::Value as Json;

use super::graph_file::{one_file, with_cells};
use super::splits::NodeSplit;

/// The splits of a file that is read as `word`.
pub(crate) fn from_file(path: &Path, word: &str, nodes: usize, inputs: &Inputs) -> Result<Vec<NodeSplit>> {
    let found = one_file(path, word)?;
    let read = || {
        if let Some(Reader::Named(open)) = array_file::reader(&found.name) {
            let arrays = open(inputs.open_found(&found)?)?;
            let splits = of_arrays(&arrays, nodes)?;
            return splits.ok_or_else(|| {
                Error::value("no split in the file")
                    .found(arrays.keys().join(", "))
                    .allowed("train_idx, val_idx, test_idx, or train_masks, val_masks, test_masks")
            });
        }
        of_json(&inputs.read_found(&found)?, nodes)
    };
    read().map_err(|error| error.in_file(&found.shown))
}

/// The splits in arrays: index lists, masks, or several masks in one array.
pub(super) fn of_arrays(arrays: &Arrays, nodes: usize) -> Result<Option<Vec<NodeSplit>>> {
    let [train, val, test] = ["train", "val", "test"].map(|name| sets(arrays, name, nodes));
    let (train, val, test) = (train?, val?, test?);
    let counts: Vec<usize> = [&train, &val, &test].into_iter().flatten().map(Vec::len).collect();
    let Some(&count) = counts.first() else { return Ok(None) };
    if counts.iter().any(|other| *other != count) {
        return Err(Error::value("train, val and test come from different numbers of splits")
            .found(format!("{counts:?}")));
    }
    let at = |sets: &Option<Vec<Vec<u32>>>, place: usize| sets.as_ref().map(|sets| sets[place].clone());
    let split = |place| NodeSplit { train: at(&train, place), val: at(&val, place), test: at(&test, place) };
    Ok(Some((0..count).map(split).collect()))
}

fn sets(arrays: &Arrays, name: &str, nodes: usize) -> Result<Option<Vec<Vec<u32>>>> {
    let keys =
        [format!("{name}_masks"), format!("{name}_mask"), format!("{name}_idx"), format!("idx_{name}")];
    let present = arrays.keys();
    let given: Vec<&String> = keys.iter().filter(|key| present.contains(*key)).collect();
    let [key] = given[..] else {
        return match given[..] {
            [] => Ok(None),
            _ => Err(Error::value("a set of nodes is given twice")
                .found(format!("{given:?}"))
                .advice("keep one of them")),
        };
    };
    let Some(array) = arrays.get(key)? else { return Ok(None) };
    let read = || match (array.shape(), key.contains("mask")) {
        ([_], true) => Ok(vec![with_cells(&array, |cells| nodes_of_mask(cells, nodes))?]),
        ([_], false) => Ok(vec![with_cells(&array, |cells| nodes_of_index(cells, nodes, Repeats::Refused))?]),
        ([_, columns], true) => {
            let (columns, values) = (axis(*columns)?, array.to_f64s()?);
            if columns != nodes {
                return Err(Error::value("masks for another number of nodes")
                    .found(shape(&array))
                    .allowed(format!("(splits, {nodes})")));
            }
            let mask = |(split, mask): (usize, &[f64])| {
                nodes_of_mask(NumberSlice::F64(mask), nodes)
                    .map_err(|error| error.at(format!("split {split}")))
            };
            values.chunks(nodes.max(1)).enumerate().map(mask).collect()
        }
        _ => Err(Error::value("a set of nodes has one axis, several masks have two").found(shape(&array))),
    };
    read().map(Some).map_err(|error| error.at(format!("key {key}")))
}

/// The splits of a JSON document: one object, or a list of them.
pub(super) fn of_json(bytes: &[u8], nodes: usize) -> Result<Vec<NodeSplit>> {
    let document: Json = serde_json::from_slice(bytes).map_err(|error| {
        Error::format("not a JSON document").at(format!("line {}", error.line())).found(error)
    })?;
    let allowed = "an object with train, val and test, or a list of such objects";
    match &document {
        Json::Object(_) => Ok(vec![json_split(&document, nodes)?]),
        Json::Array(entries) if !entries.is_empty() => {
            let split = |(place, entry)| {
                json_split(entry, nodes).map_err(|error: Error| error.at(format!("entry {place}")))
            };
            entries.iter().enumerate().map(split).collect()
        }
        _ => Err(Error::value("no splits in the document").allowed(allowed)),
    }
}

fn json_split(entry: &Json, nodes: usize) -> Result<NodeSplit> {
    let object = entry.as_object().ok_or_else(|| {
        Error::value("a split is an object")
            .found(kind(entry))
            .allowed("lists train, val and test of node numbers")
    })?;
    let set = |name: &str| -> Result<Option<Vec<u32>>> {
        let keys = [name.to_owned(), format!("idx_{name}"), format!("{name}_idx")];
        let mut given = keys.iter().filter_map(|key| object.get(key).map(|value| (key, value)));
        let (first, second) = (given.next(), given.next());
        match (first, second) {
            (None, _) => Ok(None),
            (Some(_), Some((key, _))) => {
                Err(Error::value("a set of nodes is given twice").at(format!("key {key}")))
            }
            (Some((key, value)), None) => {
                json_nodes(value, nodes).map(Some).map_err(|error| error.at(format!("key {key}")))
            }
        }
    };
    let split = NodeSplit { train: set("train")?, val: set("val")?, test: set("test")? };
    if split == NodeSplit::default() {
        let found: Vec<&str> = object.keys().map(String::as_str).collect();
        return Err(Error::value("no set of nodes in the split")
            .found(found.join(", "))
            .allowed("train, val, test"));
    }
    Ok(split)
}

fn json_nodes(value: &Json, nodes: usize) -> Result<Vec<u32>> {
    let listed = value
        .as_array()
        .ok_or_else(|| Error::value("a list of node numbers is expected").found(kind(value)))?;
    let number = |(position, value): (usize, &Json)| {
        value.as_f64().ok_or_else(|| {
            Error::value("not a node number")
                .at(format!("position {position}"))
                .found(value.to_string().chars().take(80).collect::<String>())
        })
    };
    let numbers = listed.iter().enumerate().map(number).collect::<Result<Vec<f64>>>()?;
    nodes_of_index(NumberSlice::F64(&numbers), nodes, Repeats::Refused)
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use calipers_io::array::Array;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_a_split_within_the_graph_or_an_error(text in r#"[\[\]{}:," 0-9a-e.-]{0,40}|\{"(train|test)": \[[0-9, .-]{0,12}\]\}"#) {
            if let Ok(splits) = of_json(text.as_bytes(), 4) {
                let nodes = splits.iter().flat_map(|split| [&split.train, &split.val, &split.test]).flatten().flatten();
                prop_assert!(nodes.clone().all(|node| *node < 4));
            }
        }
    }

    fn said(text: &str) -> String {
        of_json(text.as_bytes(), 4).unwrap_err().to_string()
    }

    #[test]
    fn an_object_a_list_and_other_names_are_the_same_split() {
        let split = NodeSplit { train: Some(vec![0]), val: Some(vec![]), test: Some(vec![3, 2]) };
        for text in [
            r#"{"train": [0], "val": [], "test": [3, 2], "seed": 5}"#,
            r#"[{"idx_train": [0], "val": [], "idx_test": [3, 2.0]}]"#,
            r#"{"train_idx": [0], "val_idx": [], "test_idx": [3, 2]}"#,
        ] {
            assert_eq!(of_json(text.as_bytes(), 4).unwrap(), std::slice::from_ref(&split), "{text}");
        }
        assert_eq!(of_json(br#"{"train": [1]}"#, 4).unwrap()[0].test, None);
    }

    #[test]
    fn a_bad_node_is_named_with_its_entry_key_and_position() {
        let text = said(r#"[{"train": [0]}, {"train": [1, 4]}]"#);
        for part in ["entry 1, key train, position 1", "found: 4", "0 to 3"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(said(r#"{"test": [1, 1]}"#).contains("twice"));
        assert!(said(r#"{"test": [-1]}"#).contains("found: -1"));
        assert!(said(r#"{"test": [0.5]}"#).contains("found: 0.5"));
        assert!(said(r#"{"test": ["0"]}"#).contains("position 0"));
        assert!(said(r#"{"test": 3}"#).contains("a number"));
        assert!(said(r#"{"fold": [3]}"#).contains("fold"));
        assert!(said(r#"{"test": [1], "idx_test": [1]}"#).contains("twice"));
        assert!(said("[]").contains("a list of such objects"));
        assert!(said("[3]").contains("entry 0"));
        assert!(said("{").contains("line 1"));
    }

    #[test]
    fn masks_have_a_line_for_each_split() {
        let masks = |values: &[u8]| Array::of_elements(&[values.len() / 4, 4], values).unwrap();
        let arrays = |test: &[u8]| {
            Arrays::of([
                ("train_masks".to_owned(), masks(&[1, 0, 0, 0, 0, 1, 0, 0])),
                ("test_masks".to_owned(), masks(test)),
            ])
        };
        let splits = of_arrays(&arrays(&[0, 0, 1, 1, 1, 0, 0, 0]), 4).unwrap().unwrap();
        assert_eq!(splits[1], NodeSplit { train: Some(vec![1]), val: None, test: Some(vec![0]) });
        assert!(of_arrays(&arrays(&[0, 0, 1, 1]), 4).unwrap_err().to_string().contains("[2, 1]"));
        let text = of_arrays(&arrays(&[0, 0, 2, 1, 1, 0, 0, 0]), 4).unwrap_err().to_string();
        assert!(text.contains("key test_masks, split 0, node 2"), "{text}");
        assert!(of_arrays(&arrays(&[0; 8]), 5).unwrap_err().to_string().contains("(splits, 5)"));
        assert_eq!(of_arrays(&Arrays::of([]), 4).unwrap(), None);
    }

    #[test]
    fn index_lists_in_arrays_are_one_split() {
        let index = Array::of_elements(&[2], &[3i64, 0]).unwrap();
        let arrays = Arrays::of([("test_idx".to_owned(), index.clone())]);
        assert_eq!(of_arrays(&arrays, 4).unwrap().unwrap()[0].test.as_deref(), Some(&[3, 0][..]));
        let twice = Arrays::of([("test_idx".to_owned(), index.clone()), ("test_mask".to_owned(), index)]);
        assert!(of_arrays(&twice, 4).unwrap_err().to_string().contains("twice"));
    }
}
