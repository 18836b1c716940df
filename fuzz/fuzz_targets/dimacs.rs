//! DIMACS graphs from any bytes: an error, or numbers below the number of nodes.
//!
//! Covers: graph/dimacs.
#![no_main]

use calipers_io::graph::{GraphOptions, dimacs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for options in [(None, 0), (Some(8), 0), (None, 1)].map(|(nodes, index_base)| GraphOptions {
        nodes,
        scored: None,
        index_base,
    }) {
        if let Ok(graph) = dimacs::parse(bytes, &options) {
            let nodes = graph.nodes.expect("the reader says the number of nodes");
            assert!(graph.entries.iter().all(|(u, v)| u64::from(*u.max(v)) < nodes));
        }
    }
});
