//! npy files: the two ways of reading one must agree.
//!
//! Covers: array/npy, graph/arrays, score/arrays.

#![no_main]

use std::sync::Arc;

use calipers_io::array::npy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = npy::open(Arc::new(bytes.to_vec()));
    let Ok(array) = npy::parse(bytes) else {
        assert!(file.and_then(|file| file.read_all()).is_err());
        return;
    };
    let file = file.expect("the header is the same");
    assert!(file.read_all().is_ok_and(|whole| format!("{whole:?}") == format!("{array:?}")));
    drop(array.to_f64s());
    let values = array.to_i64s();
    if let (&[rows, columns @ 1..=4096], Ok(values)) = (array.shape(), values) {
        for (row, want) in (0..rows).zip(values.chunks(columns as usize)) {
            let mut out = vec![0; columns as usize];
            file.read_row(row, 0, &mut out).expect("the row is inside");
            assert_eq!(out, want);
        }
    }
});
