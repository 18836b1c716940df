//! MLflow histories: run folders and databases, whole, damaged and real.

mod database;
mod database_file;
mod folder;
mod real;

use calipers_io::history::{Table, Wanted};

/// The wanted keys by name.
fn wanted(numbers: &[&str], texts: &[&str]) -> Wanted {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    Wanted { numbers: owned(numbers), texts: owned(texts), ..Wanted::default() }
}

/// The values of a column that can be read.
fn values(table: &Table, key: &str) -> Vec<u64> {
    let column = table.number(key).expect("a wanted column");
    assert_eq!(column.unreadable, None);
    column.values.iter().map(|value| value.to_bits()).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The four runs of the golden cases: name, fold and values.
const CURVES: [(&str, &str, &[f64]); 4] = [
    ("cfgA_0", "0", &[0.5, 0.91, 0.95, 0.89, 0.96]),
    ("cfgA_1", "1", &[0.2, 0.4, 0.6, 0.7, 0.8]),
    ("cfgB_0", "0", &[0.93, 0.85, 0.97]),
    ("cfgB_1", "1", &[0.1, 0.92, 0.93, 0.94]),
];
