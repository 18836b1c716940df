//! MLflow databases: every run with the metric and the tag of the seeds.
//!
//! Covers: history/mlflow-sqlite.

#![no_main]

use calipers_io::history::Wanted;
use calipers_io::history::mlflow_sqlite::Database;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(database) = Database::open(bytes.to_vec()) else { return };
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let wanted = Wanted {
        numbers: owned(&["val/F1", "step", "timestamp"]),
        texts: owned(&["config"]),
        ..Wanted::default()
    };
    for run in database.runs().unwrap_or_default() {
        if let Ok(table) = database.read(&run, &wanted) {
            assert!(table.numbers.iter().all(|column| column.rows.len() <= table.rows));
        }
    }
});
