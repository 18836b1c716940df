//! What units are called, how batches are cut, and what `--metrics` prints.

use std::io::Write;

use serde_json::{Value as Json, json};

use crate::support::explanation::warnings;
use crate::support::{Bench, f64s, i64s, npz, texts};

fn mask(values: &[f64]) -> Vec<u8> {
    f64s(&[values.len()], values)
}

/// The names in the per-unit table of a run.
fn names(bench: &Bench, inputs: &str) -> Vec<String> {
    let said = bench.run(&format!("explanation {inputs} --per-unit units.csv --quiet"));
    assert_eq!(said.status, 0, "{}", said.stderr);
    bench.read("units.csv").lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect()
}

/// A safetensors file with one array of f32.
fn safetensors(key: &str, values: &[f32]) -> Vec<u8> {
    let bytes = values.len() * 4;
    let head =
        json!({key: {"dtype": "F32", "shape": [values.len()], "data_offsets": [0, bytes]}}).to_string();
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(head.as_bytes());
    file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    file
}

/// What `torch.save` writes for a dict with the mask (0, 1).
fn pt() -> Vec<u8> {
    let pickle = b"\x80\x02}X\x09\0\0\0pred_maskctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storage\
        ctorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x02tQK\0K\x02\x85K\x01\x85\x89\
        ccollections\nOrderedDict\n)RtRs.";
    let values: Vec<u8> = [0f32, 1.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in [("a/data.pkl", &pickle[..]), ("a/data/0", &values)] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn masks_of_a_hetero_data_are_those_of_its_types() {
    let bench = Bench::new();
    let fixture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../calipers-io/tests/fixtures/graphs/masks_hetero.pt");
    bench.write("a.pt", std::fs::read(fixture).unwrap());
    let f32s = |values: &[f32]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
    let keys = [
        ("paper", f32s(&[0.9, 0.2, 0.6]), &[1, 0, 1][..]),
        ("author", f32s(&[0.1, 0.8]), &[0, 1]),
        ("author__writes__paper", f32s(&[0.3, 0.7]), &[0, 1]),
    ]
    .map(|(kind, pred, target)| {
        let target = i64s(&[target.len()], target);
        [(format!("pred_mask.{kind}"), mask(&pred)), (format!("target_mask.{kind}"), target)]
    });
    let instances = [("y".to_owned(), i64s(&[2], &[1, 0])), ("y_hat".to_owned(), i64s(&[2], &[1, 1]))];
    let keys: Vec<_> = keys.into_iter().flatten().chain(instances).collect();
    let keys: Vec<_> = keys.iter().map(|(key, array)| (key.as_str(), array.clone())).collect();
    bench.write("b/a.npz", npz(&keys));
    let of_arrays = bench.report("explanation b");
    assert_eq!(bench.report("explanation a.pt")["metrics"], of_arrays["metrics"]);
}

#[test]
fn units_are_named_by_their_path_below_the_folder_or_by_themselves() {
    let bench = Bench::new();
    let one = npz(&[("pred_mask", mask(&[0.0, 1.0]))]);
    bench
        .write("runs/a.npz", &one)
        .write("runs/deep/b.v2.npz", &one)
        .write("runs/c.safetensors", safetensors("pred_mask", &[0.0, 1.0]))
        .write("runs/d.json", "{\"pred_mask\": [0, 1]}")
        .write("runs/e.json", "{\"unit\": \"named\", \"pred_mask\": [0, 1]}")
        .write("runs/f.jsonl", "{\"unit\": \"x/1\", \"pred_mask\": [0, 1]}\r\n")
        .write("runs/g.pt", pt())
        .write("runs/ignored.txt", "x");
    assert_eq!(names(&bench, "runs"), ["a", "c", "d", "deep/b.v2", "g", "named", "x/1"]);
    let table = bench.read("units.csv");
    let values: Vec<&str> = table.lines().skip(1).map(|row| row.split_once(',').unwrap().1).collect();
    assert!(values.iter().all(|row| *row == values[0]), "every format holds the same mask: {table}");
    assert_eq!(names(&bench, "runs/deep/b.v2.npz runs/d.json"), ["b.v2", "d"]);
}

#[test]
fn a_batch_gives_the_rows_of_its_units_written_alone() {
    let bench = Bench::new();
    let (y, y_hat, y_sub) = ([0, 1, 1], [0, 1, 0], [0, 0, 0]);
    let sweep = [0, 1, 1, 0, 0, 0];
    let (pred, target) = ([0.9, 0.1, 0.8, 0.7, 0.2], [1, 0, 1, 0, 0]);
    let truths: Vec<i64> = target.iter().copied().chain([0, 1, 0, 0, 1]).collect();
    let samples: Vec<f64> = pred.iter().map(|m| m / 2.0).chain(pred.iter().map(|m| 1.0 - m)).collect();
    let batch = |names: Option<&[&str]>| {
        let mut members = vec![
            ("ptr", i64s(&[3], &[0, 2, 3])),
            ("mask_ptr", i64s(&[3], &[0, 3, 5])),
            ("y", i64s(&[3], &y)),
            ("y_hat", i64s(&[3], &y_hat)),
            ("y_sub", i64s(&[3], &y_sub)),
            ("y_sub_sweep", i64s(&[2, 3], &sweep)),
            ("x", mask(&[0.5, 1.0])),
            ("pred_mask", mask(&pred)),
            ("target_masks", i64s(&[2, 5], &truths)),
            ("pred_mask_samples", f64s(&[2, 5], &samples)),
        ];
        members.extend(names.map(|names| ("unit", texts(names))));
        npz(&members)
    };
    let alone = |instances: std::ops::Range<usize>, elements: std::ops::Range<usize>| {
        let rows = |values: &[i64], whole: usize, part: &std::ops::Range<usize>| {
            let part: Vec<i64> = values.chunks(whole).flat_map(|row| row[part.clone()].to_vec()).collect();
            i64s(&[values.len() / whole, part.len() * whole / values.len()], &part)
        };
        let masks: Vec<f64> = samples.chunks(5).flat_map(|row| row[elements.clone()].to_vec()).collect();
        let labels = |values: &[i64; 3]| i64s(&[instances.len()], &values[instances.clone()]);
        npz(&[
            ("y", labels(&y)),
            ("y_hat", labels(&y_hat)),
            ("y_sub", labels(&y_sub)),
            ("y_sub_sweep", rows(&sweep, 3, &instances)),
            ("x", mask(&[0.5, 1.0])),
            ("pred_mask", mask(&pred[elements.clone()])),
            ("target_masks", rows(&truths, 5, &elements)),
            ("pred_mask_samples", f64s(&[2, elements.len()], &masks)),
        ])
    };
    bench
        .write("batch.npz", batch(Some(&["a", "b"])))
        .write("unnamed.npz", batch(None))
        .write("alone/a.npz", alone(0..2, 0..3))
        .write("alone/b.npz", alone(2..3, 3..5));
    let report = |input: &str| {
        let mut report = bench.report(&format!("explanation {input}"));
        report["inputs"] = Json::Null;
        report
    };
    assert_eq!(report("batch.npz"), report("alone"));
    assert_eq!(names(&bench, "unnamed.npz"), ["unnamed#0", "unnamed#1"]);
    let object =
        "{\"unit\": [\"a\", \"b\"], \"mask_ptr\": [0, 3, 5], \"pred_mask\": [0.9, 0.1, 0.8, 0.7, 0.2]}";
    bench.write("batch.json", object);
    assert_eq!(names(&bench, "batch.json"), ["a", "b"]);
}

#[test]
fn names_of_a_batch_are_padded_to_the_width_of_the_last() {
    let bench = Bench::new();
    bench.write("many.npz", npz(&[("mask_ptr", i64s(&[12], &[0; 12])), ("pred_mask", mask(&[]))]));
    let names = names(&bench, "many.npz");
    assert_eq!((names.len(), names[0].as_str(), names[10].as_str()), (11, "many#00", "many#10"));
}

#[test]
fn keys_that_nothing_uses_are_warned_of_whatever_they_hold() {
    let bench = Bench::new();
    bench.write("a.npz", npz(&[("pred_mask", mask(&[0.25, 1.0])), ("note", texts(&["hello"]))]));
    bench.write("b.json", "{\"pred_mask\": [0.25, 1], \"note\": {\"deep\": [null, \"x\"]}, \"more\": 1}");
    let report = bench.report("explanation a.npz b.json");
    assert_eq!(warnings(&report)["unknown_key"], json!(["a", "b"]));
    assert_eq!(bench.run("explanation a.npz --strict --quiet").status, 3);
}

#[test]
fn chosen_metrics_are_printed_and_the_state_keeps_everything() {
    let bench = Bench::new();
    bench.write("u.json", "{\"pred_mask\": [0.9, 0.2, 0.4], \"target_mask\": [1, 0, 1]}");
    let line = "explanation u.json --metrics explanation.auroc,recall --state u.state --per-unit u.csv";
    let report = bench.report(&format!("{line} --bootstrap 10"));
    let ids: Vec<&String> = report["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(ids, ["explanation.recall", "explanation.auroc"]);
    assert!(report["intervals"].as_object().unwrap().len() <= 2);
    assert_eq!(bench.read("u.csv"), "unit,recall,auroc\nu,0.5,1.0\n");
    let shown = bench.report("show u.state");
    assert_eq!(shown["metrics"], bench.report("explanation u.json")["metrics"]);
    bench.refuses("explanation u.json --metrics kl", 1, &["kl", "no unit has `y_hat`, `y_sub`"]);
}
