//! How far two masks of zeros and ones overlap: the counts behind one-hot drop-ins for other libraries.

/// Elements that are counted before the sums are widened.
const BLOCK: usize = 128;

/// Elements that are 1 in two masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskCounts {
    /// In both.
    pub both: u64,
    /// In the prediction.
    pub pred: u64,
    /// In the truth.
    pub truth: u64,
}

/// Counts two masks of one length; `None` where an element is neither `zero` nor `one`.
pub fn mask_counts<T: Copy + PartialEq>(pred: &[T], truth: &[T], zero: T, one: T) -> Option<MaskCounts> {
    let mut counts = MaskCounts::default();
    for (pred, truth) in pred.chunks(BLOCK).zip(truth.chunks(BLOCK)) {
        // Without leaving early and in bytes, so that the compiler does many elements at once.
        let (mut both, mut in_pred, mut in_truth, mut known) = (0u8, 0u8, 0u8, true);
        for (&pred, &truth) in pred.iter().zip(truth) {
            let (p, t) = (pred == one, truth == one);
            both += u8::from(p & t);
            in_pred += u8::from(p);
            in_truth += u8::from(t);
            known &= (p | (pred == zero)) & (t | (truth == zero));
        }
        if !known {
            return None;
        }
        counts.both += u64::from(both);
        counts.pred += u64::from(in_pred);
        counts.truth += u64::from(in_truth);
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn masks_are_counted_as_one_by_one(
            pairs in vec((0..2u8, 0..2u8), 0..400),
            spoilt in prop::option::of((0..400usize, any::<bool>())),
        ) {
            let (mut pred, mut truth): (Vec<f32>, Vec<f32>) =
                pairs.iter().map(|&(p, t)| (f32::from(p), f32::from(t))).unzip();
            let count = |of: fn(&(u8, u8)) -> bool| pairs.iter().filter(|pair| of(pair)).count() as u64;
            let expected = MaskCounts {
                both: count(|pair| *pair == (1, 1)),
                pred: count(|pair| pair.0 == 1),
                truth: count(|pair| pair.1 == 1),
            };
            prop_assert_eq!(mask_counts(&pred, &truth, 0.0, 1.0), Some(expected));
            if let Some((at, in_pred)) = spoilt.filter(|(at, _)| *at < pairs.len()) {
                (if in_pred { &mut pred } else { &mut truth })[at] = 0.5;
                prop_assert_eq!(mask_counts(&pred, &truth, 0.0, 1.0), None);
            }
        }
    }
}
