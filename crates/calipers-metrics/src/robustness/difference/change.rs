//! What an attack did to the graph: edges added, kept and removed.

use std::cmp::Ordering;

use calipers_core::Digest;

use crate::robustness::unit::edges::Edge;
use crate::robustness::unit::matrix::Matrix;

/// What became of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::robustness) enum Change {
    Added,
    Kept,
    Removed,
}

/// Goes through the edges of both graphs in order.
pub(in crate::robustness) fn walk(clean: &[Edge], attacked: &[Edge], mut see: impl FnMut(Edge, Change)) {
    let (mut old, mut new) = (0, 0);
    while old < clean.len() || new < attacked.len() {
        let order = match (clean.get(old), attacked.get(new)) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        match order {
            Ordering::Less => see(clean[old], Change::Removed),
            Ordering::Equal => see(clean[old], Change::Kept),
            Ordering::Greater => see(attacked[new], Change::Added),
        }
        old += usize::from(order.is_le());
        new += usize::from(order.is_ge());
    }
}

/// Which nodes are an end of a flip.
pub(in crate::robustness) fn touched(clean: &[Edge], attacked: &[Edge], nodes: usize) -> Vec<bool> {
    let mut touched = vec![false; nodes];
    walk(clean, attacked, |(a, b), change| {
        if change != Change::Kept {
            touched[a as usize] = true;
            touched[b as usize] = true;
        }
    });
    touched
}

/// How many neighbours every node has.
pub(in crate::robustness) fn neighbours(edges: &[Edge], nodes: usize) -> Vec<u32> {
    let mut counts = vec![0; nodes];
    for &(a, b) in edges {
        counts[a as usize] += 1;
        counts[b as usize] += 1;
    }
    counts
}

/// A hash of a graph.
pub(in crate::robustness) fn graph_digest(edges: &[Edge]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = Vec::with_capacity(8 * 1024);
    for block in edges.chunks(1024) {
        bytes.clear();
        block.iter().for_each(|(a, b)| bytes.extend([a.to_le_bytes(), b.to_le_bytes()].as_flattened()));
        hasher.update(&bytes);
    }
    hasher.finalize().into()
}

/// A hash of the values of features, whatever type they are stored in.
pub(in crate::robustness) fn feature_digest(features: &Matrix<'_>) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let mut values = [0.0; 1024];
    let mut bytes = Vec::with_capacity(8 * 1024);
    let count = features.data.len();
    for start in (0..count).step_by(values.len()) {
        let block = &mut values[..(count - start).min(1024)];
        features.data.widen(start, block);
        bytes.clear();
        block.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::NumberSlice;

    #[test]
    fn every_edge_of_both_graphs_is_seen_once_in_order() {
        let mut seen = Vec::new();
        walk(&[(0, 1), (1, 2), (2, 3)], &[(0, 2), (1, 2), (3, 4)], |edge, change| seen.push((edge, change)));
        use Change::{Added, Kept, Removed};
        assert_eq!(
            seen,
            [((0, 1), Removed), ((0, 2), Added), ((1, 2), Kept), ((2, 3), Removed), ((3, 4), Added)]
        );
        assert_eq!(touched(&[(0, 1)], &[(0, 1), (2, 3)], 5), [false, false, true, true, false]);
        assert_eq!(neighbours(&[(0, 1), (0, 2)], 4), [2, 1, 1, 0]);
    }

    #[test]
    fn hashes_tell_graphs_and_features_apart_but_not_types() {
        assert_eq!(graph_digest(&[(0, 1)]), graph_digest(&[(0, 1)]));
        assert_ne!(graph_digest(&[(0, 1)]), graph_digest(&[(0, 2)]));
        let single = vec![1.5f32; 3000];
        let double = vec![1.5f64; 3000];
        let digest = |data| feature_digest(&Matrix::new(1000, 3, data).unwrap());
        assert_eq!(digest(NumberSlice::F32(&single)), digest(NumberSlice::F64(&double)));
        assert_ne!(digest(NumberSlice::F64(&vec![1.25; 3000])), digest(NumberSlice::F64(&double)));
    }
}
