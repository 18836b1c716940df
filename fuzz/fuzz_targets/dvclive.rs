//! Run folders of DVCLive: the files of two metrics, with a zero byte between them.
//!
//! Covers: history/dvclive.

#![no_main]

use calipers_io::history::{Wanted, dvclive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0).chain([&b""[..]]);
    let mut part = || parts.next().unwrap_or_default();
    let files = [("val/acc", part()), ("loss", part())];
    let numbers = ["val/acc", "loss", "step"].map(String::from).to_vec();
    let wanted = Wanted { numbers, ..Wanted::default() };
    if let Ok(table) = dvclive::read(&files, &wanted) {
        assert!(table.numbers.iter().all(|column| column.rows.len() == column.values.len()));
    }
});
