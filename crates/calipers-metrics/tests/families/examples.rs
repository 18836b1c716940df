//! The worked examples of `spec/`: each file is run, and every metric's example is found in one of them.

use std::collections::BTreeMap;
use std::fs;

use calipers_core::Ledger;
use serde_json::Value as Json;

use crate::case::{assert_value, repository, value, warnings};
use crate::family::{Definition, FAMILIES, Family};

pub(crate) struct Example {
    pub(crate) input: Json,
    pub(crate) state: Box<dyn Ledger>,
    pub(crate) expect: Json,
}

/// The worked examples of a family by name.
pub(crate) fn examples(family: &Family) -> BTreeMap<String, Example> {
    let files = fs::read_dir(repository("spec").join(family.name)).expect("the folder of worked examples");
    let paths = files.map(|file| file.expect("a readable folder").path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a readable example");
            let [input, expect] = ["input", "expect"].map(|title| block(&name, &text, title));
            let state = (family.run)(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, Example { input, state, expect })
        })
        .collect()
}

fn block(name: &str, text: &str, title: &str) -> Json {
    let (_, after) =
        text.split_once(&format!("```json {title}\n")).unwrap_or_else(|| panic!("{name}: {title}"));
    let (json, _) = after.split_once("```").expect("a closed block");
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{name} {title}: {error}"))
}

#[test]
fn every_worked_example_comes_out_as_written() {
    for family in FAMILIES {
        let examples = examples(family);
        assert!(examples.len() >= 10, "{}", family.name);
        for (name, Example { input, state, expect }) in &examples {
            let report = state.report();
            for (path, expected) in expect["metrics"].as_object().unwrap() {
                assert_value(family, &report, path, expected, input, name);
            }
            for (path, reason) in expect["undefined"].as_object().unwrap() {
                assert_eq!(value(family, &report, path).reason(), reason.as_str(), "{name} {path}");
            }
            assert_eq!(Json::Object(warnings(&report)), expect["warnings"], "{name}");
            for (unit, words) in expect["units"].as_object().into_iter().flatten() {
                let said = state.explain_units();
                let said = said.iter().find(|(name, _)| name == unit).map(|(_, words)| words.as_str());
                assert_eq!(said, words.as_str(), "{name} {unit}");
            }
        }
    }
}

#[test]
fn every_metric_has_its_example_and_the_example_gives_its_value() {
    for family in FAMILIES {
        let examples = examples(family);
        for Definition { id, example: (name, text), .. } in (family.metrics)() {
            let expected: Json = serde_json::from_str(text).unwrap();
            let example = examples.get(name).unwrap_or_else(|| panic!("{id}: no example {name}"));
            assert_value(family, &example.state.report(), id, &expected, &example.input, name);
            assert_eq!(example.expect["metrics"][id], expected, "{id} is not written in {name}");
        }
    }
}
