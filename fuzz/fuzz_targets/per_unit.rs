//! Per-unit files, by the first byte as CSV, JSON lines or parquet: an error, or units of a family.

#![no_main]

use std::path::Path;

use calipers::compare::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let name = match bytes.first() {
        Some(b'P') => "units.parquet",
        Some(b'{') => "units.jsonl",
        _ => "units.csv",
    };
    if let Ok(model) = Model::from_bytes("m", Path::new(name), bytes) {
        let _ = (model.units(), model.families());
    }
});
