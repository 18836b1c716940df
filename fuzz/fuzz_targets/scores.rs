//! Every reader of scores, labels, names and optima on any bytes.
//!
//! Covers: score/lines, score/node-list, score/cover, score/csv, score/tsv, score/jsonl.
//! Covers: optimum/csv, optimum/json, optimum/jsonl.
#![no_main]

use calipers_io::score::json::{results, units};
use calipers_io::score::{cover, lines, names, node_list, optimum, table};
use libfuzzer_sys::fuzz_target;

const NODES: u64 = 8;

fuzz_target!(|bytes: &[u8]| {
    drop(lines::parse(bytes));
    drop(names::parse(bytes));
    for set in [node_list::parse(bytes, NODES), cover::parse(bytes, NODES)].into_iter().flatten() {
        assert_eq!(set.len() as u64, NODES);
    }
    drop(units::parse(bytes));
    drop(optimum::parse_csv(bytes));
    drop(optimum::parse_json(bytes));
    for found in results::parse(bytes).unwrap_or_default() {
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
