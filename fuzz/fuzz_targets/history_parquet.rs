//! Parquet tables: every column as numbers and as names, as many cells as rows at most.
//!
//! Covers: history/parquet.

#![no_main]

use std::sync::Once;

use calipers_io::history::{Wanted, parquet};
use libfuzzer_sys::fuzz_target;

static QUIET: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    // The reader turns a panic of the decoder into an error; only one that escapes it counts.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let Ok(table) = parquet::read(bytes, &Wanted::default()) else { return };
    for key in table.keys.into_iter().take(8) {
        let key = vec![key];
        if let Ok(table) =
            parquet::read(bytes, &Wanted { numbers: key.clone(), texts: Vec::new(), ..Wanted::default() })
        {
            assert!(table.numbers.iter().all(|column| column.rows.len() <= table.rows));
        }
        drop(parquet::read(bytes, &Wanted { numbers: Vec::new(), texts: key, ..Wanted::default() }));
    }
});
