//! Sparse matrices of SciPy in npz files.
//!
//! Covers: graph/scipy.

#![no_main]

use std::sync::Arc;

use calipers_io::array::npz;
use calipers_io::graph::sparse::scipy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(arrays) = npz::open(Arc::new(bytes.to_vec())) else { return };
    if let Ok(graph) = scipy::parse(&arrays) {
        let nodes = graph.nodes.expect("the shape says it");
        assert!(graph.entries.iter().all(|(u, v)| u64::from(*u) < nodes && u64::from(*v) < nodes));
    }
});
