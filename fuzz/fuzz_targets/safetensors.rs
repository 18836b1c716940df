//! safetensors files, with every array decoded; what is read with its metadata is written and read
//! again the same.
//!
//! Covers: array/safetensors.

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
    if let Ok((arrays, metadata)) = safetensors::open_with_metadata(Arc::new(bytes.to_vec())) {
        let decoded = arrays.keys().into_iter().map(|key| Some((key.clone(), arrays.get(&key).ok()??)));
        if let Some(tensors) = decoded.collect::<Option<Vec<_>>>() {
            let mut written = Vec::new();
            safetensors::write_to(&tensors, &metadata, &mut written).expect("memory takes every byte");
            let (again, same) = safetensors::open_with_metadata(Arc::new(written)).expect("we wrote it");
            assert_eq!(same, metadata);
            assert!(tensors.iter().all(|(key, array)| again.get(key).ok().flatten().as_ref() == Some(array)));
        }
    }
});
