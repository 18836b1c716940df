//! graph6 packs from any bytes: an error, or numbers below the number of nodes.
//!
//! Covers: graph/graph6.
#![no_main]

use calipers_io::graph::{graph6, lines};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (line, range) in lines(Some(">>graph6<<"), bytes).unwrap_or_default() {
        if let Ok(graph) = graph6::parse_line(&bytes[range], line) {
            let nodes = graph.nodes.expect("the reader says the number of nodes");
            assert!(graph.entries.iter().all(|(u, v)| u64::from(*u.max(v)) < nodes));
        }
    }
});
