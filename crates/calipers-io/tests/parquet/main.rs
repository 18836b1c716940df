//! Parquet histories: every way of storing them, damaged files, and real ones.

mod by_hand;
mod columns;
mod damage;
mod real;
mod writer;

use calipers_io::history::{Table, Wanted};

/// The wanted keys by name.
fn wanted(numbers: &[&str], texts: &[&str]) -> Wanted {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    Wanted { numbers: owned(numbers), texts: owned(texts), ..Wanted::default() }
}

/// Row and bits of every logged value of a column that can be read.
fn cells(table: &Table, key: &str) -> Vec<(u32, u64)> {
    let column = table.number(key).expect("a wanted column");
    assert_eq!(column.unreadable, None);
    column.rows.iter().copied().zip(column.values.iter().map(|value| value.to_bits())).collect()
}

/// Row and name of every cell of a column of names.
fn names(table: &Table, key: &str) -> Vec<(u32, String)> {
    let column = table.text(key).expect("a wanted column");
    column.cells.iter().map(|(row, name)| (*row, column.names[*name as usize].clone())).collect()
}
