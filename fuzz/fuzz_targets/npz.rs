//! npz files, with every array decoded.
//!
//! Covers: array/npz.

#![no_main]

use std::sync::Arc;

use calipers_io::array::npz;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(arrays) = npz::open(Arc::new(bytes.to_vec())) {
        for key in arrays.keys() {
            if let Ok(Some(array)) = arrays.get(&key) {
                drop(array.to_f64s());
            }
        }
    }
});
