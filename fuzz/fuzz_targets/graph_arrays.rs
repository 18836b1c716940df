//! Graphs with features, labels and masks in npz files, as compressed sparse rows among other forms: an error, or a
//! graph that is ready for a model.

#![no_main]

use std::sync::Arc;

use calipers::io::array::{Array, npz};
use calipers::metrics::robustness::Prepare;
use calipers::rung::files::dataset::{Dataset, GivenGraph};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = npz::open(Arc::new(bytes.to_vec())) else { return };
    let named = |key: String| Some((key.clone(), file.get(&key).ok()??));
    let arrays: Vec<(String, Array)> = file.keys().into_iter().filter_map(named).collect();
    for prepare in [Prepare::None, Prepare::Rung] {
        let given = GivenGraph { arrays: arrays.clone(), nodes: None };
        if let Ok(dataset) = Dataset::of_given(&given, prepare) {
            let nodes = dataset.graph.nodes();
            assert!(dataset.labels.is_none_or(|labels| labels.len() == nodes));
        }
    }
});
