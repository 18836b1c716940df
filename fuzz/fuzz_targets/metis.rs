//! METIS graphs from any bytes: an error, or numbers below the number of nodes.
//!
//! Covers: graph/metis.
#![no_main]

use calipers_io::graph::metis;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(graph) = metis::parse(bytes) {
        let nodes = graph.nodes.expect("the reader says the number of nodes");
        assert!(graph.entries.iter().all(|(u, v)| u64::from(*u.max(v)) < nodes));
    }
});
