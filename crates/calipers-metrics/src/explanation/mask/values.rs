//! The masks of a unit as plain numbers, for pictures.
use calipers_core::{Error, Result};

use crate::explanation::unit::{Array, Evidence};

/// The key of the edges that masks lie on, or whose ends they do. No number reads it.
pub(crate) const EDGE_INDEX: &str = "edge_index";

/// The masks of one node or edge type.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskValues {
    /// The type; empty where there is only one.
    pub kind: String,
    /// The importance of each element as given.
    pub pred: Vec<f64>,
    /// The true importance; the first truth where there are several.
    pub target: Option<Vec<f64>>,
}

/// The masks of a unit by type, in byte order; none without masks.
pub fn mask_values(evidence: &Evidence<'_>) -> Vec<MaskValues> {
    let of_type = |key: &'static str, kind: &str| {
        evidence.typed(key).find(|(name, _)| *name == kind).map(|(_, array)| array.clone())
    };
    let of_kind = |(kind, pred): (&str, &Array<'_>)| {
        let pred: Vec<f64> = values(pred);
        let target = of_type("target_mask", kind).or_else(|| of_type("target_masks", kind));
        let target = target.map(|target| values(&target).into_iter().take(pred.len()).collect());
        MaskValues { kind: kind.to_owned(), pred, target }
    };
    evidence.typed("pred_mask").map(of_kind).collect()
}

/// The edges that came with the masks, as pairs of nodes in the order given; none without `edge_index`.
pub fn mask_edges(evidence: &Evidence<'_>) -> Result<Option<Vec<(u32, u32)>>> {
    let Some(array) = evidence.plain(EDGE_INDEX)? else { return Ok(None) };
    let &[2, edges] = array.shape.as_slice() else {
        let found = format!("shape {:?}", array.shape);
        return Err(Error::value("`edge_index` holds no edges").found(found).allowed("[2, E]"));
    };
    let node = |position: usize| {
        let node = array.data.get(position);
        let is_node = node.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&node);
        let allowed = "whole numbers from 0";
        let error = || Error::value("`edge_index` holds no node").found(node).allowed(allowed);
        // In range and whole, so that nothing is cut off.
        is_node.then_some(node as u32).ok_or_else(error)
    };
    (0..edges).map(|edge| Ok((node(edge)?, node(edges + edge)?))).collect::<Result<_>>().map(Some)
}

fn values(array: &Array<'_>) -> Vec<f64> {
    (0..array.data.len()).map(|position| array.data.get(position)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::NumberSlice;

    #[test]
    fn masks_come_by_type_with_their_first_truth() {
        let mut evidence = Evidence::new();
        evidence.insert("pred_mask.a", Array::new([2], NumberSlice::F64(&[0.25, 0.5])).unwrap());
        evidence.insert("pred_mask.b", Array::new([1], NumberSlice::Bool(&[true])).unwrap());
        evidence.insert("target_masks.a", Array::new([2, 2], NumberSlice::Int(&[1, 0, 0, 1])).unwrap());
        let masks = mask_values(&evidence);
        assert_eq!(masks[0].pred, [0.25, 0.5]);
        assert_eq!(masks[0].target.as_deref(), Some(&[1.0, 0.0][..]));
        assert_eq!((masks[1].kind.as_str(), masks[1].target.as_ref()), ("b", None));
        assert!(mask_values(&Evidence::new()).is_empty());
    }

    #[test]
    fn edges_are_pairs_of_nodes() {
        let edges = |shape: &[usize], nodes: &[i64]| {
            let mut evidence = Evidence::new();
            evidence.insert("edge_index", Array::new(shape, NumberSlice::Int(nodes)).unwrap());
            mask_edges(&evidence)
        };
        assert_eq!(edges(&[2, 3], &[0, 1, 2, 1, 2, 0]).unwrap(), Some(vec![(0, 1), (1, 2), (2, 0)]));
        assert!(edges(&[3, 2], &[0; 6]).unwrap_err().to_string().contains("[3, 2]"));
        assert!(edges(&[2, 1], &[0, -1]).unwrap_err().to_string().contains("-1"));
        assert_eq!(mask_edges(&Evidence::new()).unwrap(), None);
    }
}
