//! The worked examples of `spec/explanation`: each file is run, and every metric's example is found
//! in one of them.

use std::collections::BTreeMap;
use std::path::Path;

use calipers_core::{Protocol, Report, Value};
use calipers_metrics::explanation::Explanation;
use serde_json::{Map, Value as Json};

use crate::cases::{undefined, warnings};
use crate::run::{agrees, run, short, tolerance};

struct Example {
    input: Json,
    report: Report,
    expect: Json,
}

fn examples() -> BTreeMap<String, Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/explanation");
    let files = std::fs::read_dir(folder).expect("the folder of worked examples");
    files
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("a readable example");
            let input = block(&name, &text, "input");
            let state = run(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
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
    fn value(&self, id: &str) -> &Value {
        self.report.get(&format!("explanation.{id}")).unwrap_or_else(|| panic!("{id} is not reported"))
    }
}

#[test]
fn every_worked_example_comes_out_as_written() {
    let examples = examples();
    assert!(examples.len() >= 14);
    for (name, example) in &examples {
        for (id, expected) in example.expect["metrics"].as_object().unwrap() {
            let value = example.value(id);
            let close = agrees(value, expected, tolerance(id, &example.input));
            assert!(close, "{name} {id}: {value:?}, {expected}");
        }
        let reasons = undefined(&example.report);
        let reasons: Map<String, Json> = reasons
            .as_object()
            .unwrap()
            .iter()
            .map(|(id, reason)| (short(id).into(), reason.clone()))
            .collect();
        assert_eq!(Json::Object(reasons), example.expect["undefined"], "{name}");
        assert_eq!(warnings(&example.report), example.expect["warnings"], "{name}");
    }
}

#[test]
fn every_metric_has_its_example_and_the_example_gives_its_value() {
    let examples = examples();
    for metric in Explanation::METRICS {
        let (name, text) = metric.doc.example;
        let expected: Json = serde_json::from_str(text).unwrap();
        let example = examples.get(name).unwrap_or_else(|| panic!("{}: no example {name}", metric.id));
        let value = example.value(metric.id);
        let close = agrees(value, &expected, tolerance(metric.id, &example.input));
        assert!(close, "{} in {name}: {value:?}", metric.id);
        assert_eq!(example.expect["metrics"][metric.id], expected, "{} is not written in {name}", metric.id);
    }
}
