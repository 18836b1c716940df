//! Archives as folders, every member opened.
//!
//! Covers: archive/zip, archive/tar, archive/tar.gz.

#![no_main]

use std::sync::Arc;

use calipers_io::archive::FORMATS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in FORMATS.iter() {
        let Ok(members) = (format.reader)(Arc::new(bytes.to_vec())) else { continue };
        for path in members.paths() {
            assert!(!path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != ".."));
            if let Ok(file) = members.open(path) {
                assert_eq!(file.map(|file| file.size()), members.size(path));
            }
        }
    }
});
