//! Confusion matrices as JSON lines: a line that is listed is read or refused, never misread.
//!
//! Covers: confusion/jsonl.

#![no_main]

use calipers_io::score::json::confusion;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for unit in confusion::index(bytes).unwrap_or_default() {
        if let Ok(matrix) = confusion::matrix(&bytes[unit.bytes], unit.line) {
            assert_eq!(matrix.rows * matrix.columns, matrix.counts.len());
        }
    }
});
