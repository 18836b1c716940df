//! Every golden case of explanations written to files, measured by the binary and compared number
//! by number.

use serde_json::{Map, Value as Json, json};

use crate::support::explanation::{assert_report, cases, flags, float, piped, unit_file};
use crate::support::{Bench, pinned};

fn files(case: &Json) -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("units")).unwrap();
    for (name, unit) in case["units"].as_object().unwrap() {
        bench.write(&format!("units/{name}.npz"), unit_file(unit));
    }
    bench
}

#[test]
fn the_binary_reproduces_every_golden_report_from_array_files() {
    let mut reports = 0;
    for case in cases().iter().filter(|case| case.get("expect").is_some()) {
        let name = case["name"].as_str().unwrap();
        let report = files(case).report(&format!("explanation units{}", flags(case)));
        assert_report(&pinned(&report, &case["pins"]), &case["expect"], name);
        for (key, value) in case["protocol"].as_object().unwrap() {
            let shown = &report["protocol"][key];
            assert!(shown == value || shown.as_f64() == value.as_f64(), "{name}: {key}");
        }
        reports += 1;
    }
    assert!(reports >= 122);
}

#[test]
fn the_binary_refuses_every_bad_golden_case_in_its_words() {
    let mut refused = 0;
    for case in cases().iter().filter(|case| case.get("refused").is_some()) {
        let name = case["name"].as_str().unwrap();
        let words = case["refused"][0].as_str().unwrap();
        let usage = name == "bad_threshold" || name.starts_with("bad_weights");
        let line = format!("explanation units{}", flags(case));
        match (usage, name) {
            (true, _) => files(case).refuses(&line, 2, &[words]),
            (false, "bad_no_units") => files(case).refuses(&line, 1, &[words, "units"]),
            (false, _) => files(case).refuses(&line, 1, &[words, "units/u.npz", "unit u"]),
        }
        refused += 1;
    }
    assert!(refused >= 45);
}

/// An array as nested lists, where JSON can say it.
fn nested(array: &Json) -> Option<Json> {
    let shape: Vec<usize> = array["shape"].as_array()?.iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let data = array["data"].as_array()?;
    let values: Option<Vec<Json>> = match array["dtype"].as_str()? {
        "int64" => Some(data.clone()),
        "bool" => Some(data.iter().map(|value| json!(value.as_i64() == Some(1))).collect()),
        "float64" => {
            let finite = |value: &Json| Some(float(value)).filter(|x| x.is_finite()).map(|x| json!(x));
            data.iter().map(finite).collect()
        }
        _ => None,
    };
    let mut values = values.filter(|values| !values.is_empty())?;
    for &axis in shape.iter().skip(1).rev() {
        values = values.chunks(axis).map(|part| Json::Array(part.to_vec())).collect();
    }
    Some(Json::Array(values))
}

/// A unit as a JSON object, types as nested objects.
fn object(name: &str, unit: &Json) -> Option<Json> {
    let mut object = Map::new();
    for (key, array) in unit.as_object()? {
        let array = nested(array)?;
        match key.split_once('.') {
            None => object.insert(key.clone(), array),
            Some((base, kind)) => {
                let types = object.entry(base).or_insert(json!({}));
                types.as_object_mut()?.insert(kind.into(), array)
            }
        };
    }
    object.insert("unit".into(), name.into());
    Some(Json::Object(object))
}

#[test]
fn json_in_every_form_gives_the_golden_reports_too() {
    let mut reports = 0;
    for case in cases().iter().filter(|case| case.get("expect").is_some()) {
        let name = case["name"].as_str().unwrap();
        let units = case["units"].as_object().unwrap();
        let Some(objects): Option<Vec<Json>> = units.iter().map(|(name, unit)| object(name, unit)).collect()
        else {
            continue;
        };
        let lines: String = objects.iter().map(|object| format!("{object}\n")).collect();
        let bench = Bench::new();
        bench.write("lines/all.jsonl", &lines).write("array.json", Json::Array(objects.clone()).to_string());
        objects.iter().enumerate().for_each(|(number, object)| {
            bench.write(&format!("each/{number}.json"), object.to_string());
        });
        for input in ["lines", "array.json", "each"] {
            let report = bench.report(&format!("explanation {input}{}", flags(case)));
            assert_report(&pinned(&report, &case["pins"]), &case["expect"], &format!("{name} from {input}"));
        }
        let said = piped(&bench, &format!("explanation - --json - --quiet{}", flags(case)), lines.as_bytes());
        assert_eq!(said.status, 0, "{name}: {}", said.stderr);
        let report = serde_json::from_str(&said.stdout).unwrap();
        assert_report(&pinned(&report, &case["pins"]), &case["expect"], name);
        reports += 1;
    }
    assert!(reports >= 60, "{reports} cases can be written as JSON");
}
