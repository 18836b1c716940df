//! Units of explanations as files, and reports compared with expected ones.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value as Json};

use crate::support::{Bench, Said, golden_cases, npy, npz};

/// The folder of real data, or a line that says the test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn real_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/explanation");
    if !folder.is_dir() {
        eprintln!("skipped: the folder of real data is not beside the project");
        return None;
    }
    Some(folder.canonicalize().unwrap())
}

/// The golden cases.
pub fn cases() -> Vec<Json> {
    golden_cases("explanation/cases.json")
}

/// A number, or the word for one that JSON does not have.
pub fn float(value: &Json) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// An array of a golden case as an npy file.
pub fn array(array: &Json) -> Vec<u8> {
    let shape: Vec<usize> =
        array["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let data = array["data"].as_array().unwrap();
    let whole = || data.iter().map(|value| value.as_i64().unwrap());
    let floats = || data.iter().map(float);
    let (descr, bytes): (&str, Vec<u8>) = match array["dtype"].as_str().unwrap() {
        "int64" => ("<i8", whole().flat_map(i64::to_le_bytes).collect()),
        "uint8" => ("|u1", whole().map(|value| value as u8).collect()),
        "bool" => ("|b1", whole().map(|value| value as u8).collect()),
        "float32" => ("<f4", floats().flat_map(|value| (value as f32).to_le_bytes()).collect()),
        "float64" => ("<f8", floats().flat_map(f64::to_le_bytes).collect()),
        "float16" => ("<f2", floats().flat_map(|value| half(value).to_le_bytes()).collect()),
        other => panic!("no {other} is written here"),
    };
    npy(descr, &shape, &bytes)
}

/// The bits of a half-precision number that holds the value exactly.
fn half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    match value {
        v if v.abs() < 2f64.powi(-14) => sign | (v.abs() * 2f64.powi(24)) as u16,
        _ => sign | ((exponent + 15) as u16) << 10 | (bits >> 42 & 0x3ff) as u16,
    }
}

/// The arrays of a unit as an npz file.
pub fn unit_file(unit: &Json) -> Vec<u8> {
    let members: Vec<(&str, Vec<u8>)> =
        unit.as_object().unwrap().iter().map(|(key, value)| (key.as_str(), array(value))).collect();
    npz(&members)
}

/// The command line of a case's parameters.
pub fn flags(case: &Json) -> String {
    let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let protocol = case["protocol"].as_object().unwrap().iter();
    protocol.map(|(key, value)| format!(" --{} {}", key.replace('_', "-"), word(value))).collect()
}

/// Runs the program with something on its standard input.
pub fn piped(bench: &Bench, line: &str, input: &[u8]) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(line.split_whitespace())
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its options does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    Said::from(child.wait_with_output().unwrap())
}

/// How far a number may be off.
#[derive(Clone, Copy, PartialEq)]
pub enum Tolerance {
    Exact,
    Mixed(f64),
    Absolute(f64),
    Relative(f64),
}

/// The tolerance of an id without its prefix; `single` when the report has one unit.
pub fn tolerance(id: &str, pyg: bool, single: bool) -> Tolerance {
    if pyg {
        return match id {
            "auroc" => Tolerance::Absolute(1e-6),
            "unfaithfulness" => Tolerance::Absolute(2e-6),
            "fidelity_curve_auc" => Tolerance::Relative(1e-6),
            _ => Tolerance::Exact,
        };
    }
    let fidelity = ["fid_plus", "fid_minus"].iter().any(|side| {
        ["_model", "_phenomenon", "_signed_phenomenon"].iter().any(|of| id == format!("{side}{of}"))
    });
    let quotient = ["accuracy", "recall", "precision", "f1_score", "sparsity", "zero_fraction"].contains(&id);
    let counted = ["_pooled", "_curve", "curve_x", "num_instances", "num_mask_elements"];
    if fidelity || counted.iter().any(|end| id.ends_with(end)) || (single && quotient) {
        Tolerance::Exact
    } else {
        Tolerance::Mixed(1e-12)
    }
}

/// Fails unless a value is the expected one.
pub fn assert_agrees(found: &Json, expected: &Json, tolerance: Tolerance, place: &str) {
    match (found, expected) {
        (Json::Null, Json::Null) => {}
        (Json::Array(a), Json::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).for_each(|(a, b)| assert_agrees(a, b, tolerance, place));
        }
        (Json::Object(a), Json::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{place}: {found} is not {expected}");
            a.iter().for_each(|(key, a)| assert_agrees(a, &b[key], tolerance, &format!("{place}.{key}")));
        }
        (Json::Number(a), Json::Number(b)) => {
            let (x, y) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            let close = match tolerance {
                Tolerance::Exact => x.to_bits() == y.to_bits(),
                Tolerance::Mixed(eps) => (x - y).abs() <= eps * y.abs().max(1.0),
                Tolerance::Absolute(eps) => (x - y).abs() <= eps,
                Tolerance::Relative(eps) => (x - y).abs() <= eps * y.abs(),
            };
            assert!(close, "{place}: {x} is not {y}");
        }
        _ => panic!("{place}: {found} is not {expected}"),
    }
}

/// Fails unless a report, its ids without prefix, has exactly the expected metrics, reasons and warnings.
pub fn assert_report(report: &Json, expected: &Json, name: &str) {
    let metrics = expected["metrics"].as_object().unwrap();
    let found = report["metrics"].as_object().unwrap();
    assert!(found.keys().eq(metrics.keys()), "{name}: {:?}", found.keys());
    let (pyg, single) = (report["protocol"]["preset"] == "pyg", report["units"] == 1);
    for (id, value) in metrics {
        assert_agrees(&found[id], value, tolerance(id, pyg, single), &format!("{name}: {id}"));
    }
    assert_eq!(report["undefined"], expected["undefined"], "{name}");
    assert_eq!(Json::Object(warnings(report)), expected["warnings"], "{name}");
}

/// The units of every warning by code.
pub fn warnings(report: &Json) -> Map<String, Json> {
    let all = report["warnings"].as_array().unwrap().iter();
    all.map(|warning| (warning["code"].as_str().unwrap().to_owned(), warning["units"].clone())).collect()
}
