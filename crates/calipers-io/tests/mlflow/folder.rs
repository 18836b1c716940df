//! Run folders of the file store.

use std::path::Path;

use calipers_core::Result;
use calipers_io::history::{Origin, Table, mlflow};

use crate::{CURVES, bits, values, wanted};

/// All files of a run folder with their paths below it, in byte order.
pub(crate) fn files(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![(run.to_owned(), String::new())];
    while let Some((folder, below)) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{below}{}", entry.file_name().to_str().expect("a name in UTF-8"));
            match entry.path().is_dir() {
                true => folders.push((entry.path(), format!("{name}/"))),
                false => found.push((name, std::fs::read(entry.path()).expect("a file"))),
            }
        }
    }
    found.sort();
    found
}

/// Reads a run folder.
pub(crate) fn read(run: &Path, numbers: &[&str], texts: &[&str]) -> Result<Table> {
    let files = files(run);
    let views: Vec<(&str, &[u8])> =
        files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    mlflow::read(&views, &wanted(numbers, texts))
}

#[test]
fn the_golden_folders_hold_the_golden_curves() {
    for (number, (name, fold, curve)) in CURVES.into_iter().enumerate() {
        let id = format!("{:032}", number + 1);
        let run =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/training/formats/mlruns/1").join(&id);
        let table = read(&run, &["val/F1", "step", "timestamp"], &["config", "fold"]).unwrap();
        assert_eq!((table.origin, table.rows, table.keys.len()), (Origin::Mlflow, curve.len(), 1));
        assert_eq!(values(&table, "val/F1"), bits(curve), "{name}");
        let steps: Vec<f64> = (0..curve.len()).map(|step| step as f64).collect();
        assert_eq!(values(&table, "step"), bits(&steps));
        assert_eq!(table.run.name.as_deref(), Some(name));
        assert_eq!(table.run.id, Some(id));
        assert_eq!(table.run.labels["config"], name[..4]);
        assert_eq!(table.run.labels["fold"], fold);
    }
}

#[test]
fn a_metric_cut_at_any_byte_or_with_a_flipped_bit_never_panics() {
    let lines = b"1700000000000 0.5 0\n1700000000001 nan 1\n1700000000002 0.95 2";
    let read = |bytes: &[u8]| {
        let table = mlflow::read(&[("metrics/a", bytes)], &wanted(&["a", "step"], &[])).unwrap();
        let column = table.number("a").unwrap();
        assert_eq!((column.rows.len(), column.values.len()), (table.rows, table.rows));
        table
    };
    for length in 0..lines.len() {
        let cut = read(&lines[..length]);
        let whole = lines[..length].iter().filter(|byte| **byte == b'\n').count();
        assert!(cut.rows >= whole, "{length}");
        assert_eq!(
            values(&read(lines), "step")[..whole],
            cut.number("step").map(|steps| bits(&steps.values)).unwrap()[..whole]
        );
    }
    for bit in 0..8 * lines.len() {
        let mut bytes = lines.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        read(&bytes);
    }
}

#[test]
fn a_damaged_meta_file_never_panics() {
    let meta = "run_id: 'abc'\nrun_name: \"a\\u00e9\\tb\"\n  folded\nlifecycle_stage: active\n".as_bytes();
    for length in 0..meta.len() {
        drop(mlflow::read(&[("meta.yaml", &meta[..length])], &wanted(&[], &[])));
    }
    for bit in 0..8 * meta.len() {
        let mut meta = meta.to_vec();
        meta[bit / 8] ^= 1 << (bit % 8);
        drop(mlflow::read(&[("meta.yaml", &meta)], &wanted(&[], &[])));
        let _ = mlflow::is_active(&meta);
    }
}
