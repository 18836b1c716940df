//! ml4co packs from any bytes: an error, or numbers below the number of nodes.
//!
//! Covers: graph/ml4co.
#![no_main]

use calipers_io::graph::{lines, ml4co};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (line, range) in lines(None, bytes).unwrap_or_default() {
        if let Ok(graph) = ml4co::parse_line(&bytes[range], line) {
            let nodes = graph.nodes.expect("the reader says the number of nodes");
            assert!(graph.entries.iter().all(|(u, v)| u64::from(*u.max(v)) < nodes));
        }
    }
});
