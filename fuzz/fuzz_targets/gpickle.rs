//! Pickled networkx graphs.
//!
//! Covers: graph/gpickle.

#![no_main]

use calipers_io::graph::gpickle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(graph) = gpickle::parse(bytes) {
        let nodes = graph.nodes.expect("the file says it");
        assert!(graph.entries.len() <= bytes.len());
        assert!(graph.entries.iter().all(|(u, v)| u <= v && u64::from(*v) < nodes));
        assert!(graph.labels.is_none_or(|labels| labels.len() as u64 == nodes));
    }
});
