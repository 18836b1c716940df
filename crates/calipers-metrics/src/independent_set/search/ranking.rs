//! The order of nodes by a key, ties to the lower number.

use multiversion::multiversion;

/// Nodes in the order of their keys, ties to the lower number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranking {
    /// Node numbers.
    pub(crate) order: Vec<u32>,
    /// Nodes that share their key with another node.
    pub(crate) tied: u64,
}

/// Ranks finite scores, highest first; 0.0 and -0.0 are the same score.
pub(crate) fn rank(scores: &[f64]) -> Ranking {
    let (lowest, highest) = extent(scores);
    let scale = f64::from(last_bucket(scores.len())) / (highest - lowest);
    let (top, scale) = if scale.is_finite() && scale > 0.0 { (highest, scale) } else { (0.0, 0.0) };
    // Rounding keeps the order of scores, so a higher score is never in a later bucket. A number
    // added to 2^52 stands rounded in the low bits.
    let bucket = |node: usize| ((top - scores[node]) * scale + TWO_TO_52).to_bits() as u16;
    // Scores that were stored in single precision have short keys.
    if scores.iter().fold(true, |all, &x| all & (f64::from(x as f32).to_bits() == x.to_bits())) {
        let key = |node: usize| falling_short(scores[node] as f32);
        by_short_keys(sorted(scores.len(), bucket, |node| u64::from(key(node)) << 32 | node as u64))
    } else {
        by_long_keys(sorted(scores.len(), bucket, |node| (falling(scores[node]), node as u32)))
    }
}

const TWO_TO_52: f64 = (1u64 << 52) as f64;

/// The lowest and the highest of finite numbers.
pub(crate) fn extent(numbers: &[f64]) -> (f64, f64) {
    let Some(&first) = numbers.first() else { return (0.0, 0.0) };
    // Four at a time, which become vector code.
    let (mut lowest, mut highest) = ([first; 4], [first; 4]);
    let (groups, rest) = numbers.as_chunks::<4>();
    for group in groups {
        lowest = std::array::from_fn(|lane| lower(group[lane], lowest[lane]));
        highest = std::array::from_fn(|lane| higher(group[lane], highest[lane]));
    }
    let lowest = lowest.into_iter().chain(rest.iter().copied()).fold(first, lower);
    (lowest, highest.into_iter().chain(rest.iter().copied()).fold(first, higher))
}

fn lower(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

fn higher(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// A number that falls as the score rises.
fn falling(score: f64) -> u64 {
    const MIDDLE: u64 = 1 << 63;
    let size = score.abs().to_bits();
    if score < 0.0 { MIDDLE + size } else { MIDDLE - size }
}

fn falling_short(score: f32) -> u32 {
    const MIDDLE: u32 = 1 << 31;
    let size = score.abs().to_bits();
    if score < 0.0 { MIDDLE + size } else { MIDDLE - size }
}

/// Ranks keys, lowest first.
pub(crate) fn ascending(keys: &[u64]) -> Ranking {
    let lowest = keys.iter().copied().min().unwrap_or(0);
    let bits = u64::BITS - keys.iter().fold(0, |bits, key| bits | (key - lowest)).leading_zeros();
    let shift = bits.saturating_sub(last_bucket(keys.len()).ilog2());
    let bucket = |node: usize| ((keys[node] - lowest) >> shift) as u16;
    if bits <= 32 {
        by_short_keys(sorted(keys.len(), bucket, |node| (keys[node] - lowest) << 32 | node as u64))
    } else {
        by_long_keys(sorted(keys.len(), bucket, |node| (keys[node], node as u32)))
    }
}

fn by_short_keys(words: Vec<u64>) -> Ranking {
    let tied = tied(words.iter().map(|word| word >> 32));
    Ranking { order: words.iter().map(|&word| word as u32).collect(), tied }
}

fn by_long_keys(words: Vec<(u64, u32)>) -> Ranking {
    let tied = tied(words.iter().map(|word| word.0));
    Ranking { order: words.iter().map(|word| word.1).collect(), tied }
}

/// The highest bucket number for so many words: a bucket a word, up to a limit beyond which the
/// buckets would not fit the cache.
fn last_bucket(words: usize) -> u32 {
    words.clamp(4, 1 << 16) as u32 - 1
}

/// Words of buckets up to this size are nearly in order.
const CROWD: u32 = 12;

/// Sorts words, of which none belongs before one of a lower bucket. Buckets of a few words each
/// are sorted faster than all at once.
fn sorted<W: Copy + Default + Ord>(
    count: usize,
    bucket: impl Fn(usize) -> u16,
    word: impl Fn(usize) -> W,
) -> Vec<W> {
    let mut places = vec![0u32; last_bucket(count) as usize + 1];
    let buckets: Vec<u16> = (0..count).map(bucket).collect();
    for &bucket in &buckets {
        places[bucket as usize] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    let mut words = vec![W::default(); count];
    for (i, &bucket) in buckets.iter().enumerate() {
        let place = &mut places[bucket as usize];
        words[*place as usize] = word(i);
        *place += 1;
    }
    let (mut start, mut largest) = (0, 0);
    for &end in &places {
        largest = largest.max(end - start);
        start = end;
    }
    if largest <= CROWD {
        exchange(&mut words, largest);
        return words;
    }
    let mut start = 0;
    for end in places {
        if end > start + 1 {
            words[start as usize..end as usize].sort_unstable();
        }
        start = end;
    }
    words
}

/// Sorts words that lie at most `crowd - 1` places from their own: in every round neighbours change
/// places when they must, by turns from the first word on and from the second. Without a branch, which
/// would often be mispredicted.
///
/// *Correctness.* Such rounds sort `crowd` words whichever turn comes first (odd-even transposition),
/// and across the ends of a bucket nothing moves.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn exchange<W: Copy + Ord>(words: &mut [W], crowd: u32) {
    for round in 0..crowd as usize {
        let from = words.len().min(round % 2);
        for pair in words[from..].as_chunks_mut::<2>().0 {
            *pair = [pair[0].min(pair[1]), pair[0].max(pair[1])];
        }
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
    fn more_scores_than_buckets_are_ranked_too() {
        let mut random = calipers_core::SplitMix64::new(3);
        let long: Vec<f64> = (0..150_000).map(|_| random.unit() - 0.5).collect();
        let short: Vec<f64> = long.iter().map(|&x| f64::from(x as f32)).collect();
        for scores in [long, short] {
            assert_eq!(rank(&scores).order, slow(&scores));
        }
    }

    #[test]
    fn keys_of_full_width_are_ranked_too() {
        assert_eq!(ascending(&[u64::MAX, 0]).order, [1, 0]);
        let mut random = calipers_core::SplitMix64::new(7);
        let keys: Vec<u64> = (0..2_000).map(|_| random.next_u64()).collect();
        let ranking = ascending(&keys);
        assert!(ranking.order.windows(2).all(|w| keys[w[0] as usize] < keys[w[1] as usize]));
        assert_eq!(ranking.tied, 0);
    }
}
