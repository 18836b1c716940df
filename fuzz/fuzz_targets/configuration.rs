//! Configurations of segmentations: an error, or a protocol that passes the checks of one that was stored.

#![no_main]

use calipers::core::Protocol;
use calipers::metrics::segmentation::config::Config;
use calipers::sources::config_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(config) = config_file::parse::<Config>(text) else { return };
    if let Ok(protocol) = config.resolve() {
        assert!(protocol.check().is_ok(), "{protocol:?}");
    }
});
