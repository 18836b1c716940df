//! Settings of runs as YAML: an error, or keys with texts.

#![no_main]

use calipers_io::history::settings;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(found) = settings::read(bytes) {
        assert!(str::from_utf8(bytes).is_ok());
        assert!(found.keys().all(|key| key.len() < 4 << 10));
    }
});
