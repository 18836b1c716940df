//! Reports, states and options that nobody wrote with this program: refused with the place (rules R1, R2, R10).

use crate::support::{Bench, two_runs};

#[test]
fn r2_an_edited_report_names_the_parameter_in_every_command() {
    let bench = Bench::new();
    assert_eq!(bench.run("demo --out d").status, 0);
    let text = bench.read("d/report.json");
    assert!(text.contains("\"background\": null"), "{text:.600}");
    bench.write("forged.json", text.replacen("\"background\": null", "\"background\": 7", 1));
    for line in
        ["verify forged.json", "show forged.json", "plot forged.json", "show forged.json --html p.html"]
    {
        bench.refuses(line, 1, &["forged.json", "labels.background", "7"]);
    }
    assert!(!bench.path("p.html").exists());
}

#[test]
fn r10_verify_compares_every_leaf_of_a_report() {
    let bench = two_runs();
    let text = bench.read("x.json");
    let good: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(bench.run("verify x.json").status, 0);
    let mut places = Vec::new();
    leaves(&good, String::new(), &mut places);
    for place in places {
        for change in [Change::Other, Change::Away] {
            let mut edited = good.clone();
            if !change.apply(&mut edited, &place) || edited == good {
                continue;
            }
            bench.write("edited.json", serde_json::to_string_pretty(&edited).unwrap());
            let said = bench.run("verify edited.json");
            assert!([1, 3].contains(&said.status), "{place}: {}{}", said.stdout, said.stderr);
        }
    }
    bench.write("extra.json", text.replacen("\"units\"", "\"extra\": 1,\n  \"units\"", 1));
    bench.refuses("verify extra.json", 1, &["extra"]);
    let said = bench.run_on("verify -", serde_json::to_string(&good).unwrap().as_bytes());
    assert!(
        said.status == 3 && said.stdout.contains("written differently"),
        "{}{}",
        said.stdout,
        said.stderr
    );
}

#[test]
fn r10_another_spelling_of_the_folder_below_is_a_difference() {
    let bench = two_runs();
    let text = bench.read("x.json");
    assert!(text.contains("\"below\": \"in\""), "{text}");
    for below in ["in/", "./in", "in//", "in/.", "elsewhere", ""] {
        let edited = text.replace("\"below\": \"in\"", &format!("\"below\": \"{below}\""));
        bench.write("edited.json", edited);
        let said = bench.run("verify edited.json");
        assert!([1, 3].contains(&said.status), "{below}: {}{}", said.stdout, said.stderr);
    }
    let whole = bench.path("in").display().to_string();
    assert_eq!(bench.run(&format!("independent-set {whole} --json abs.json -q")).status, 0);
    assert_eq!(bench.run("verify abs.json").status, 0);
    let text = bench.read("abs.json");
    for below in [format!("{whole}/"), format!("/{whole}"), bench.path("").display().to_string()] {
        let edited = text.replace(&format!("\"below\": \"{whole}\""), &format!("\"below\": \"{below}\""));
        assert_ne!(edited, text);
        bench.write("edited.json", edited);
        let said = bench.run("verify edited.json");
        assert!([1, 3].contains(&said.status), "{below}: {}{}", said.stdout, said.stderr);
    }
}

#[test]
fn r1_more_resamples_than_fit_into_memory_are_wrong_usage_before_the_work() {
    let bench = two_runs();
    bench.refuses("independent-set nothing-here --bootstrap 4294967295", 2, &["--bootstrap", "4294967295"]);
    bench.refuses("show x.state --bootstrap 4294967295", 2, &["--bootstrap"]);
}

#[test]
fn row_66_a_key_twice_is_an_error_in_reports_and_histories() {
    let bench = two_runs();
    let text = bench.read("x.json");
    bench.write("twice.json", text.replacen("\"units\": 2", "\"units\": 2,\n  \"units\": 2", 1));
    bench.refuses("show twice.json", 1, &["units"]);
    bench.write("h.json", r#"[{"step": 1, "f": 0.5, "f": 0.9}, {"step": 2, "f": 0.7}]"#);
    bench.refuses("training h.json --metric f", 1, &["f"]);
    bench.write("h.jsonl", "{\"step\": 1, \"f\": 0.5, \"f\": 0.6, \"g\": 2}\n{\"step\": 2, \"f\": 0.7}\n");
    bench.refuses("training h.jsonl --metric f", 1, &["`f`", "line 1"]);
}

enum Change {
    Other,
    Away,
}

impl Change {
    /// Whether there was something to change at the place.
    fn apply(&self, report: &mut serde_json::Value, place: &str) -> bool {
        use serde_json::{Value as Json, json};
        match self {
            Self::Other => {
                let Some(value) = report.pointer_mut(place) else { return false };
                *value = match &*value {
                    Json::Null => json!(1),
                    Json::Bool(on) => json!(!*on),
                    Json::Number(number) if number.is_f64() => json!(number.as_f64().unwrap() + 0.5),
                    Json::Number(number) => json!(number.as_i64().unwrap_or(1) + 1),
                    Json::String(text) => json!(format!("{text}x")),
                    Json::Array(_) => json!([1]),
                    Json::Object(_) => json!({"other": 1}),
                };
                true
            }
            Self::Away => {
                let Some((parent, key)) = place.rsplit_once('/') else { return false };
                match report.pointer_mut(parent) {
                    Some(Json::Object(entries)) => {
                        entries.shift_remove(&key.replace("~1", "/").replace("~0", "~")).is_some()
                    }
                    _ => false,
                }
            }
        }
    }
}

/// Every place below the root, as JSON pointers.
fn leaves(value: &serde_json::Value, place: String, places: &mut Vec<String>) {
    if !place.is_empty() {
        places.push(place.clone());
    }
    match value {
        serde_json::Value::Object(entries) => {
            for (key, value) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                leaves(value, format!("{place}/{key}"), places);
            }
        }
        serde_json::Value::Array(entries) => {
            entries.iter().enumerate().for_each(|(at, value)| leaves(value, format!("{place}/{at}"), places));
        }
        _ => {}
    }
}
