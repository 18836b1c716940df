//! Command lines, a word per line: refused with a reason, or understood. Nothing is run.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.split(|byte| *byte == b'\n').map(String::from_utf8_lossy).map(String::from);
    let _ = calipers_cli::is_understood(std::iter::once("calipers".to_owned()).chain(words));
});
