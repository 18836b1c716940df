//! Every reader of scores, labels, names and optima on any bytes.
#![no_main]

use calipers_io::score::{cover, json_lines, lines, names, node_list, optimum, results_json, table};
use libfuzzer_sys::fuzz_target;

const NODES: u64 = 8;

fuzz_target!(|bytes: &[u8]| {
    drop(lines::parse(bytes));
    drop(names::parse(bytes));
    for set in [node_list::parse(bytes, NODES), cover::parse(bytes, NODES)].into_iter().flatten() {
        assert_eq!(set.len() as u64, NODES);
    }
    drop(json_lines::parse(bytes));
    drop(optimum::parse_csv(bytes));
    drop(optimum::parse_json(bytes));
    for found in results_json::parse(bytes).unwrap_or_default() {
        assert_eq!(found.set.len() as u64, found.vertices);
    }
    for delimiter in [b',', b'\t'] {
        for unit in table::parse(bytes, delimiter).unwrap_or_default() {
            let lengths =
                [&unit.logits, &unit.probs, &unit.labels].map(|column| column.as_ref().map(Vec::len));
            assert!(lengths.iter().flatten().all(|length| lengths.iter().flatten().next() == Some(length)));
        }
    }
});
