//! MLflow run folders: a meta file, a metric and a tag, with zero bytes between them.
//!
//! Covers: history/mlflow.

#![no_main]

use calipers_io::history::{Wanted, mlflow};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(3, |byte| *byte == 0).chain([&b""[..], b""]);
    let mut part = || parts.next().unwrap_or_default();
    let files = [("meta.yaml", part()), ("metrics/val/F1", part()), ("tags/config", part())];
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let wanted = Wanted {
        numbers: owned(&["val/F1", "step", "timestamp"]),
        texts: owned(&["config"]),
        ..Wanted::default()
    };
    if let Ok(table) = mlflow::read(&files, &wanted) {
        assert!(table.numbers.iter().all(|column| column.values.len() == table.rows));
    }
    mlflow::is_active(files[0].1);
});
