//! Explanations of trained models with known answers, where the data folder exists beside the
//! project.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::explanation::{Tolerance, assert_agrees, assert_report, real_data, tolerance};
use crate::support::{Bench, npy, npz, pinned};

fn expected(data: &Path, name: &str) -> Json {
    serde_json::from_slice(&std::fs::read(data.join("expected").join(name)).unwrap()).unwrap()
}

#[test]
fn the_strict_reports_are_the_computed_ones() {
    let Some(data) = real_data() else { return };
    let bench = Bench::new();
    for (line, expected) in expected(&data, "expected_strict.json").as_object().unwrap() {
        let report = bench.report(&format!("explanation {}/{line}", data.display()));
        // Ids that came after the expected file was written are nobody's concern here.
        let ids = expected["metrics"].as_object().unwrap().keys();
        let pins = ids.map(|id| id.trim_start_matches("explanation.")).collect();
        assert_report(&pinned(&report, &pins), &pinned(expected, &pins), line);
    }
}

#[test]
fn threads_and_shards_do_not_change_a_byte() {
    let Some(data) = real_data() else { return };
    let bench = Bench::new();
    for (input, outputs) in [("mutag.npz", 3), ("alkane_carbonyl", 7)] {
        let line = format!("explanation {}/{input} --scores logits --quiet", data.display());
        let run = |rest: &str| {
            let said = bench.run(&format!("{line} {rest}"));
            assert_eq!(said.status, 0, "{}", said.stderr);
        };
        run("--threads 1 --json one.json --per-unit one.csv --state one.state");
        run("--threads 2 --json two.json --per-unit two.csv --state two.state");
        let mut shards = String::new();
        for shard in (1..=outputs).rev() {
            run(&format!("--threads 2 --shard {shard}/{outputs} --state {shard}.state"));
            shards.push_str(&format!(" {shard}.state"));
        }
        let merged = bench.run(&format!("merge{shards} 1.state -o all.state --json all.json --quiet"));
        assert_eq!(merged.status, 0, "{}", merged.stderr);
        bench.run("show all.state --per-unit all.csv --quiet");
        for name in ["two", "all"] {
            for ending in ["json", "csv"] {
                assert_eq!(
                    bench.read(&format!("one.{ending}")),
                    bench.read(&format!("{name}.{ending}")),
                    "{input}, {name}.{ending}"
                );
            }
        }
        assert_eq!(bench.bytes("one.state"), bench.bytes("two.state"));
    }
}

/// The per-unit table under the published code, by unit and column.
fn published(bench: &Bench, input: &str, scores: &str) -> BTreeMap<String, Json> {
    let line = format!("explanation {input} --scores {scores} --preset pyg --per-unit table.jsonl --quiet");
    let said = bench.run(&line);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let rows = bench.read("table.jsonl");
    rows.lines()
        .map(|line| {
            let row: Json = serde_json::from_str(line).unwrap();
            (row["unit"].as_str().unwrap().to_owned(), row)
        })
        .collect()
}

fn assert_number(row: &Json, id: &str, expected: &Json) {
    assert_agrees(&row[id], expected, tolerance(id, true, true), &format!("{} {id}", row["unit"]));
}

fn assert_fidelity(row: &Json, known: &Json, kind: &str) {
    let pair = &known[format!("fidelity_{kind}")];
    assert_number(row, &format!("fid_plus_{kind}"), &pair[0]);
    assert_number(row, &format!("fid_minus_{kind}"), &pair[1]);
}

#[test]
fn the_preset_pyg_returns_what_the_published_functions_returned() {
    let Some(data) = real_data() else { return };
    let bench = Bench::new();
    let known = expected(&data, "known_pyg.json");
    for (scores, known) in known["karate"].as_object().unwrap() {
        let input = data.join(format!("karate_{scores}.npz")).display().to_string();
        for row in published(&bench, &input, scores).values() {
            assert_fidelity(row, known, "model");
            assert_fidelity(row, known, "phenomenon");
            assert_number(row, "unfaithfulness", &known["unfaithfulness"]);
        }
    }
    let rows = published(&bench, &data.join("mutag.npz").display().to_string(), "logits");
    assert_eq!(rows.len(), 188);
    for (unit, known) in known["mutag"].as_object().unwrap() {
        let row = &rows[unit];
        assert_fidelity(row, known, "model");
        assert_fidelity(row, known, "phenomenon");
        assert_number(row, "unfaithfulness", &known["unfaithfulness"]);
        for (id, value) in known["groundtruth"].as_object().unwrap() {
            assert_number(row, id, value);
        }
    }
}

/// The members of an npz file without the ending of their names.
fn members(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    (0..archive.len())
        .map(|number| {
            let mut member = archive.by_index(number).unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            (member.name().unwrap().trim_end_matches(".npy").to_owned(), bytes)
        })
        .collect()
}

/// The values of an npy file of bytes.
fn values(file: &[u8]) -> &[u8] {
    &file[10 + usize::from(u16::from_le_bytes([file[8], file[9]]))..]
}

#[test]
fn each_of_several_truths_agrees_with_the_published_functions() {
    let Some(data) = real_data() else { return };
    let known = expected(&data, "known_pyg.json");
    for truth in 0..3 {
        let bench = Bench::new();
        for (unit, known) in known["alkane_carbonyl"].as_object().unwrap() {
            if known["groundtruth_by_truth"].get(truth).is_none() {
                continue;
            }
            let mut members = members(&data.join(format!("alkane_carbonyl/{unit}.npz")));
            let elements = values(&members["pred_mask"]).len() / 4;
            let truths = members.remove("target_masks").unwrap();
            let chosen = &values(&truths)[truth * elements..(truth + 1) * elements];
            members.insert("target_mask".into(), npy("|u1", &[elements], chosen));
            let members: Vec<(&str, Vec<u8>)> =
                members.iter().map(|(key, bytes)| (key.as_str(), bytes.clone())).collect();
            bench.write(&format!("units/{unit}.npz"), npz(&members));
        }
        for (unit, row) in published(&bench, "units", "logits") {
            let known = &known["alkane_carbonyl"][&unit];
            assert_fidelity(&row, known, "model");
            assert_number(&row, "unfaithfulness", &known["unfaithfulness"]);
            for (id, value) in known["groundtruth_by_truth"][truth].as_object().unwrap() {
                assert_number(&row, id, value);
            }
        }
    }
}

#[test]
fn one_model_output_gives_one_answer_however_it_is_written() {
    let Some(data) = real_data() else { return };
    let bench = Bench::new();
    let report = |scores: &str| {
        let report =
            bench.report(&format!("explanation {}/karate_{scores}.npz --scores {scores}", data.display()));
        report["metrics"].clone()
    };
    let (logits, probs, log_probs) = (report("logits"), report("probs"), report("log_probs"));
    assert_agrees(&probs, &logits, Tolerance::Absolute(1e-7), "probs");
    assert_agrees(&log_probs, &logits, Tolerance::Absolute(1e-7), "log_probs");
    assert_eq!(logits["explanation.fid_plus_model"], json!(13.0 / 34.0));
}
