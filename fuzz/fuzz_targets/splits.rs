//! Splits of nodes in npz files, and in JSON as a run reads it from a file: an error, or nodes of the graph.

#![no_main]

use std::fs;
use std::sync::Arc;

use calipers::inputs::Inputs;
use calipers::io::array::{Array, npz};
use calipers::metrics::robustness::Prepare;
use calipers::rung::files::dataset::{Dataset, GivenGraph};
use calipers::rung::files::splits::{SHARES, SplitSource, Splits, of_given};
use libfuzzer_sys::fuzz_target;

const NODES: usize = 6;

fn graph() -> Dataset {
    let edges = Array::of_elements(&[2, 2], &[0i64, 1, 1, 0]).expect("four numbers");
    let features = Array::of_elements(&[NODES, 1], &[0.5f64; NODES]).expect("a number per node");
    let arrays = vec![("edge_index".to_owned(), edges), ("features".to_owned(), features)];
    Dataset::of_given(&GivenGraph { arrays, nodes: Some(NODES) }, Prepare::None).expect("a graph")
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(arrays) = npz::open(Arc::new(bytes.to_vec())) {
        let named = |key: String| Some((key.clone(), arrays.get(&key).ok()??));
        let sets: Vec<(String, Array)> = arrays.keys().into_iter().filter_map(named).collect();
        if let Ok(split) = of_given(&sets, NODES) {
            let all = [split.train, split.val, split.test].into_iter().flatten().flatten();
            all.for_each(|node| assert!((node as usize) < NODES));
        }
        return;
    }
    let path = std::env::temp_dir().join(format!("calipers-fuzz-{}-splits.json", std::process::id()));
    fs::write(&path, bytes).expect("a folder for temporary files");
    let splits = Splits { source: SplitSource::File(path.clone()), seeds: None, shares: SHARES };
    for split in splits.load(&graph(), &Inputs::default()).unwrap_or_default() {
        let all = [split.train, split.val, split.test].into_iter().flatten().flatten();
        all.for_each(|node| assert!((node as usize) < NODES));
    }
    fs::remove_file(&path).expect("it was written just now");
});
