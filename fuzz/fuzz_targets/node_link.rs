//! Node-link JSON.
//!
//! Covers: graph/node-link.

#![no_main]

use calipers_io::graph::StoredGraph;
use calipers_io::graph::named::node_link;
use libfuzzer_sys::fuzz_target;

fn check(graph: &StoredGraph) {
    let nodes = graph.nodes.expect("the file says it");
    assert!(graph.entries.iter().all(|(u, v)| u64::from(*u) < nodes && u64::from(*v) < nodes));
    assert!(graph.labels.as_ref().is_none_or(|labels| labels.len() as u64 == nodes));
}

fuzz_target!(|bytes: &[u8]| {
    for graph in node_link::parse(bytes).unwrap_or_default() {
        check(&graph);
    }
});
