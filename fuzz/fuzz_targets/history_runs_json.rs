//! Per-run JSON documents from any bytes: an error, or a tree in which every key is found again.
#![no_main]

use calipers_io::history::json::{self, loose, loose::Loose};
use libfuzzer_sys::fuzz_target;

fn visit(tree: &Loose) {
    match tree {
        Loose::List(items) => items.iter().for_each(visit),
        Loose::Object(members) => {
            for (key, value) in members {
                assert!(tree.get(key).is_some_and(|found| std::ptr::eq(found, value)));
                visit(value);
            }
        }
        Loose::Number { value, .. } => {
            assert_eq!(tree.as_f64().map(f64::to_bits), Some(value.to_bits()));
        }
        Loose::Null | Loose::Bool(_) | Loose::Text(_) => {}
    }
}

fuzz_target!(|bytes: &[u8]| {
    let tree = loose::parse(bytes);
    assert_eq!(tree.is_ok(), json::check(bytes).is_ok());
    if let Ok(tree) = tree {
        visit(&tree);
    }
});
