//! Every golden case of attacked models written to files, measured by the binary and compared
//! number by number.

use serde_json::{Value as Json, json};

use crate::support::Bench;
use crate::support::robustness::{assert_report, cases, flags, members, run_file};

/// The report of a case whose files were written; files of a named attack go through states.
fn report(bench: &Bench, case: &Json, ending: &str) -> Json {
    let files = case["files"].as_array().unwrap();
    let flags = flags(case);
    if !files.iter().any(|file| file.get("attack").is_some()) {
        return bench.report(&format!("robustness runs{flags}"));
    }
    let mut states = String::new();
    for file in files {
        let (name, attack) = (file["name"].as_str().unwrap(), file["attack"].as_str().unwrap());
        let line = format!("robustness runs/{name}{ending} --attack {attack} --state {name}.state --quiet");
        let said = bench.run(&format!("{line}{flags}"));
        assert_eq!(said.status, 0, "{}", said.stderr);
        states.push_str(&format!(" {name}.state"));
    }
    bench.report(&format!("merge{states} -o all.state"))
}

#[test]
fn the_binary_reproduces_every_golden_report_from_npz() {
    let cases = cases();
    for case in &cases {
        let bench = Bench::new();
        for file in case["files"].as_array().unwrap() {
            bench.write(&format!("runs/{}.npz", file["name"].as_str().unwrap()), run_file(file));
        }
        let report = report(&bench, case, ".npz");
        assert_report(&report, case, case["name"].as_str().unwrap());
        for (key, value) in case["params"].as_object().unwrap() {
            let shown = &report["protocol"][key];
            assert!(shown == value || shown.as_f64() == value.as_f64(), "{key} is {shown}");
        }
    }
}

/// The members of an npz as a safetensors file.
fn safetensors(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut head, mut data) = (serde_json::Map::new(), Vec::new());
    for (key, npy) in members {
        let end = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
        let text = std::str::from_utf8(&npy[10..end]).unwrap();
        let between = |from: &str, to: &str| text.split_once(from).unwrap().1.split_once(to).unwrap().0;
        let dtype = match between("'descr': '", "'") {
            "<f8" => "F64",
            "<f4" => "F32",
            "<i8" => "I64",
            "|b1" => "BOOL",
            other => panic!("no {other} is written here"),
        };
        let axes = between("'shape': (", ")").split(',').filter(|axis| !axis.trim().is_empty());
        let shape: Vec<u64> = axes.map(|axis| axis.trim().parse().unwrap()).collect();
        let start = data.len();
        data.extend_from_slice(&npy[end..]);
        let tensor = json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]});
        head.insert((*key).to_owned(), tensor);
    }
    let head = Json::Object(head).to_string();
    [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &data].concat()
}

#[test]
fn safetensors_give_the_golden_reports_too() {
    for case in &cases() {
        let bench = Bench::new();
        for file in case["files"].as_array().unwrap() {
            let name = format!("runs/{}.safetensors", file["name"].as_str().unwrap());
            bench.write(&name, safetensors(&members(file)));
        }
        assert_report(&report(&bench, case, ".safetensors"), case, case["name"].as_str().unwrap());
    }
}
