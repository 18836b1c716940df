//! Flips of edges in npy files: an error, or pairs of two nodes of the graph, each once and in order.

#![no_main]

use calipers::io::array::npy;
use calipers::rung::files::attacked::of_given;
use calipers::rung::from_model::conditions::AttackFile;
use calipers::rung::model::Graph;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(array) = npy::parse(bytes) else { return };
    let clean = Graph::new(5, &[(0, 1), (2, 3)]).expect("two edges of five nodes");
    if let Ok(attacked) = of_given(&array, AttackFile::Flips, &clean) {
        let flips = attacked.flips.expect("the file holds them");
        assert!(flips.is_sorted() && flips.iter().all(|(u, v)| u < v && *v < 5));
    }
    let _ = of_given(&array, AttackFile::Graph, &clean);
});
