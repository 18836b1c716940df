//! TU data sets: the files follow each other, with a zero byte between them.
//!
//! Covers: graph/tu.

#![no_main]

use calipers_io::graph::tu;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.split(|byte| *byte == 0);
    let (edges, indicator) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let files = tu::Files { edges, indicator, labels: parts.next() };
    for graph in tu::parse(&files).unwrap_or_default() {
        let nodes = graph.nodes.expect("the indicator says it");
        assert!(graph.entries.iter().all(|(u, v)| u64::from(*u) < nodes && u64::from(*v) < nodes));
    }
});
