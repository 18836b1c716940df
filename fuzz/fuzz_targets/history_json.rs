//! JSON histories from any bytes: an error, or columns that fit their table.
//!
//! Covers: history/json-rows, history/json-columns, history/trainer-state, history/jsonl.
//! Covers: history/json-split, history/json-table, history/json-nested.
#![no_main]

use std::collections::BTreeSet;

use calipers_io::history::Wanted;
use calipers_io::history::json::{self, Layout};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let keys = || ["val_F1", "epoch", "step", "a", "a.b", ""].map(str::to_owned).to_vec();
    let wanted = Wanted { numbers: keys(), texts: keys(), ..Wanted::default() };
    drop(json::global_step(bytes));
    let found = json::layout(bytes);
    for layout in [
        Layout::Rows,
        Layout::Lines,
        Layout::Columns,
        Layout::State,
        Layout::Split,
        Layout::Table,
        Layout::Nested,
    ] {
        let Ok(table) = json::read(bytes, layout, &wanted) else { continue };
        assert!(layout == Layout::Lines || json::check(bytes).is_ok());
        assert!(table.rows == 0 || found.is_some() || layout != Layout::Rows);
        assert_eq!(table.keys.iter().collect::<BTreeSet<_>>().len(), table.keys.len());
        for column in &table.numbers {
            assert_eq!(column.rows.len(), column.values.len());
            assert!(column.rows.is_sorted_by(|a, b| a < b));
            assert!(column.rows.iter().all(|row| (*row as usize) < table.rows));
        }
        for column in &table.texts {
            assert!(column.cells.is_sorted_by(|a, b| a.0 < b.0));
            let fits = |(row, name): &(u32, u32)| {
                (*row as usize) < table.rows && (*name as usize) < column.names.len()
            };
            assert!(column.cells.iter().all(fits));
        }
    }
});
