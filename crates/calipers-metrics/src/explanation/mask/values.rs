//! The masks of a unit as plain numbers, for pictures.
use crate::explanation::unit::{Array, Evidence};

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
}
