//! The worked examples of `spec/segmentation`: each file is run, and every metric's example is found
//! in one of them.

use std::collections::BTreeMap;
use std::path::Path;

use calipers_core::{Protocol, Report, Value};
use calipers_metrics::segmentation::Segmentation;
use serde_json::{Map, Value as Json};

use crate::run::{Width, agrees, run, tolerance};

struct Example {
    input: Json,
    report: Report,
    expect: Json,
}

fn examples() -> BTreeMap<String, Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/segmentation");
    let files = std::fs::read_dir(folder).expect("the folder of worked examples");
    files
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("a readable example");
            let input = block(&name, &text, "input");
            let state = run(&input, Width::One).unwrap_or_else(|error| panic!("{name}: {error}"));
            let expect = block(&name, &text, "expect");
            (name, Example { input, report: state.finish(), expect })
        })
        .collect()
}

fn block(name: &str, text: &str, title: &str) -> Json {
    let (_, after) =
        text.split_once(&format!("```json {title}\n")).unwrap_or_else(|| panic!("{name}: {title}"));
    let (json, _) = after.split_once("```").expect("a closed block");
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{name} {title}: {error}"))
}

impl Example {
    /// The value at an id, or at an id, a dot and a class.
    fn value(&self, path: &str) -> &Value {
        let (id, class) = path.split_once('.').map_or((path, None), |(id, class)| (id, Some(class)));
        let value = self.report.get(&format!("segmentation.{id}"));
        match (value, class) {
            (Some(value), None) => value,
            (Some(Value::PerLabel(entries)), Some(class)) => {
                &entries.iter().find(|(name, _)| name == class).unwrap_or_else(|| panic!("{path}")).1
            }
            _ => panic!("{path} is not reported"),
        }
    }

    fn warnings(&self) -> Json {
        let found = self.report.warnings.iter();
        Json::Object(
            found.map(|warning| (warning.code.clone(), warning.units.clone().into())).collect::<Map<_, _>>(),
        )
    }
}

#[test]
fn every_worked_example_comes_out_as_written() {
    let examples = examples();
    assert!(examples.len() >= 12);
    for (name, example) in &examples {
        for (id, expected) in example.expect["metrics"].as_object().unwrap() {
            let value = example.value(id);
            let close = agrees(value, expected, tolerance(id, &example.input));
            assert!(close, "{name} {id}: {value:?}, {expected}");
        }
        for (path, reason) in example.expect["undefined"].as_object().unwrap() {
            assert_eq!(example.value(path).reason(), reason.as_str(), "{name} {path}");
        }
        assert_eq!(example.warnings(), example.expect["warnings"], "{name}");
    }
}

#[test]
fn every_metric_has_its_example_and_the_example_gives_its_value() {
    let examples = examples();
    for metric in Segmentation::METRICS {
        let (name, text) = metric.doc.example;
        let expected: Json = serde_json::from_str(text).unwrap();
        let example = examples.get(name).unwrap_or_else(|| panic!("{}: no example {name}", metric.id));
        let value = example.value(metric.id);
        let close = agrees(value, &expected, tolerance(metric.id, &example.input));
        assert!(close, "{} in {name}: {value:?}", metric.id);
        assert_eq!(example.expect["metrics"][metric.id], expected, "{} is not written in {name}", metric.id);
    }
}
