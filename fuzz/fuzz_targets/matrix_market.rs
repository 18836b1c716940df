//! Matrix Market files.
//!
//! Covers: graph/mtx.

#![no_main]

use calipers_io::graph::StoredGraph;
use calipers_io::graph::sparse::matrix_market;
use libfuzzer_sys::fuzz_target;

fn check(graph: &StoredGraph) {
    let nodes = graph.nodes.expect("the file says it");
    assert!(graph.entries.iter().all(|(u, v)| u64::from(*u) < nodes && u64::from(*v) < nodes));
    assert!(graph.labels.as_ref().is_none_or(|labels| labels.len() as u64 == nodes));
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(graph) = matrix_market::parse(bytes) {
        check(&graph);
    }
});
