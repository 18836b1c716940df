//! MLflow databases in their files, one run at a time: every run with the metric and the tag of the
//! seeds.

#![no_main]

use std::fs;

use calipers_io::file::InputFile;
use calipers_io::history::Wanted;
use calipers_io::history::mlflow_sqlite::Database;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // One file for each process, since several may search at once.
    let path = std::env::temp_dir().join(format!("calipers-fuzz-{}.db", std::process::id()));
    fs::write(&path, bytes).expect("a file in the temporary folder");
    let file = InputFile::open(&path).expect("the file just written");
    let database = Database::open_file(&file, &path).map(|database| database.expect("a path like any other"));
    fs::remove_file(&path).expect("the file just written");
    let held = Database::open(bytes.to_vec());
    let Ok(database) = database else { return };
    let held = held.expect("a database that can be opened in its file");
    assert_eq!(database.runs(), held.runs());
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let wanted = Wanted {
        numbers: owned(&["val/F1", "step", "timestamp"]),
        texts: owned(&["config"]),
        ..Wanted::default()
    };
    for run in database.runs().unwrap_or_default() {
        // A damaged index can lead to as many wrong rows as there are right ones, so that what both
        // read may differ in its values but not in the run.
        if let Ok(table) = database.read(&run, &wanted) {
            assert!(table.numbers.iter().all(|column| column.rows.len() <= table.rows));
            assert_eq!(table.run.id.as_deref(), Some(run.as_str()));
            if let Ok(held) = held.read(&run, &wanted) {
                assert_eq!(table.run, held.run);
            }
        }
    }
});
