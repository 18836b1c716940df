//! ml4co packs from any bytes: an error, or numbers below the number of nodes.
#![no_main]

use calipers_io::graph::{GraphFormat, pack_lines, parse_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (line, range) in pack_lines(GraphFormat::Ml4co, bytes).unwrap_or_default() {
        if let Ok(graph) = parse_line(GraphFormat::Ml4co, &bytes[range], line) {
            let nodes = graph.nodes.expect("the reader says the number of nodes");
            assert!(graph.entries.iter().all(|(u, v)| u64::from(*u.max(v)) < nodes));
        }
    }
});
