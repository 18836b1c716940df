//! safetensors files, with every array decoded.

#![no_main]

use std::sync::Arc;

use calipers_io::array::safetensors;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(arrays) = safetensors::open(Arc::new(bytes.to_vec())) {
        for key in arrays.keys() {
            if let Ok(Some(array)) = arrays.get(&key) {
                drop(array.to_f64s());
            }
        }
    }
});
