//! Columns of parquet files as units: every cell of every column.
//!
//! Covers: column.

#![no_main]

use std::sync::{Arc, Once};

use calipers_io::column::{Cell, Table};
use libfuzzer_sys::fuzz_target;

static QUIET: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    // The reader turns a panic of the decoder into an error; only one that escapes it counts.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let Ok(table) = Table::open(Arc::new(bytes.to_vec())) else { return };
    if let Ok(names) = table.unit_names() {
        assert_eq!(names.len() as u64, table.rows());
    }
    for column in table.columns().iter().take(8).filter_map(|name| table.column(name).ok()) {
        for row in 0..table.rows().min(64) {
            if let Ok(Some(Cell::Array(array))) = column.cell(row) {
                assert_eq!(array.shape().iter().product::<u64>(), array.len() as u64);
            }
        }
    }
});
