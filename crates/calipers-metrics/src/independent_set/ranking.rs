//! The order of nodes by a key, ties to the lower number.

/// Nodes in the order of their keys, ties to the lower number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranking {
    /// Node numbers.
    pub(super) order: Vec<u32>,
    /// Nodes that share their key with another node.
    pub(super) tied: u64,
}

/// Ranks finite scores, highest first; 0.0 and -0.0 are the same score.
pub(super) fn rank(scores: &[f64]) -> Ranking {
    ascending(scores.iter().map(|&score| falling(score)).collect())
}

/// A number that falls as the score rises. It is symmetric about the middle, so that trailing zero
/// bits of single-precision scores stay zero and keys stay short.
fn falling(score: f64) -> u64 {
    const MIDDLE: u64 = 1 << 63;
    let size = score.abs().to_bits();
    if score < 0.0 { MIDDLE + size } else { MIDDLE - size }
}

/// Ranks keys, lowest first.
pub(super) fn ascending(keys: Vec<u64>) -> Ranking {
    let varying = keys.iter().fold(0, |bits, key| bits | (key ^ keys[0]));
    let (low, top) = (varying.trailing_zeros() % 64, 64 - varying.leading_zeros());
    let number = usize::BITS - keys.len().leading_zeros();
    if top - low.min(top) + number <= 64 {
        // Key and number in one word: half the memory, and a faster sort.
        let short = |key: u64| ((key & varying) >> low) << number;
        let mut words: Vec<u64> = (0..).zip(&keys).map(|(node, &key)| short(key) | node).collect();
        drop(keys);
        words.sort_unstable();
        let tied = tied(words.iter().map(|word| word >> number));
        Ranking { order: words.iter().map(|word| (word & ((1 << number) - 1)) as u32).collect(), tied }
    } else {
        let mut pairs: Vec<(u64, u32)> = keys.into_iter().zip(0..).collect();
        pairs.sort_unstable();
        let tied = tied(pairs.iter().map(|pair| pair.0));
        Ranking { order: pairs.iter().map(|pair| pair.1).collect(), tied }
    }
}

/// How many of the sorted keys equal one beside them.
fn tied(sorted: impl Iterator<Item = u64>) -> u64 {
    let (mut last, mut before_equal, mut tied) = (None, false, 0);
    for key in sorted {
        let equal = last == Some(key);
        // The first of a run is counted together with the second.
        tied += u64::from(equal) + u64::from(equal && !before_equal);
        before_equal = equal;
        last = Some(key);
    }
    tied
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(scores: &[f64]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap().then(a.cmp(&b)));
        order
    }

    proptest! {
        #[test]
        fn short_and_long_keys_rank_like_the_scores_themselves(
            scores in prop::collection::vec(
                prop_oneof![
                    -5i32..5,
                    any::<i32>(),
                ].prop_flat_map(|x| prop_oneof![
                    Just(f64::from(x)),
                    Just(f64::from(x) * 1e-300),
                    any::<f64>().prop_filter("finite", |x| x.is_finite()),
                    Just(-0.0),
                ]),
                0..300,
            ),
        ) {
            let ranking = rank(&scores);
            prop_assert_eq!(&ranking.order, &slow(&scores));
            let shared = |a: &f64| scores.iter().filter(|b| a.partial_cmp(b).unwrap().is_eq()).count() > 1;
            prop_assert_eq!(ranking.tied, scores.iter().filter(|a| shared(a)).count() as u64);
        }
    }

    #[test]
    fn keys_of_full_width_are_ranked_too() {
        let mut random = calipers_core::SplitMix64::new(7);
        let keys: Vec<u64> = (0..2_000).map(|_| random.next_u64()).collect();
        let ranking = ascending(keys.clone());
        assert!(ranking.order.windows(2).all(|w| keys[w[0] as usize] < keys[w[1] as usize]));
        assert_eq!(ranking.tied, 0);
    }
}
