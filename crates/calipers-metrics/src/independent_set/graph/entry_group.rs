//! Stored entries checked a group at a time: whether they ascend, where the tail changes, and which
//! of them stand for an edge.

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi32,
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32,
    _mm256_extracti128_si256, _mm256_movemask_epi8, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi32, _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_slli_epi32,
    _mm256_srli_epi64, _mm256_sub_epi64, _mm256_testz_si256,
};

use super::short_edges::word;

/// How many entries are looked at together.
pub(super) const GROUP: usize = 64;

/// How many entries one instruction takes.
const LANES: usize = 8;

/// Stands for the node before the first; as a signed number it is below all others.
pub(super) const NONE: u32 = u32::MAX;

/// Which node numbers are good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// The stored number of the first node.
    pub(super) first: i64,
    /// How many there are; no more than 2^31 - 1.
    pub(super) nodes: u32,
}

/// Some entries, their nodes numbered from 0.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) tails: [u32; GROUP],
    pub(super) heads: [u32; GROUP],
    /// A bit for each entry whose tail is not that of the entry before it, the first entry's lowest.
    pub(super) changes: u64,
    /// Whether the next two are wanted.
    lists_edges: bool,
    /// The entries whose head is larger than their tail, one word each, and then others.
    pub(super) edges: [u32; GROUP + LANES],
    /// How many these are.
    pub(super) edge_count: usize,
}

impl Group {
    pub(super) const fn new(lists_edges: bool) -> Self {
        Self {
            tails: [0; GROUP],
            heads: [0; GROUP],
            changes: 0,
            lists_edges,
            edges: [0; GROUP + LANES],
            edge_count: 0,
        }
    }

    /// Reads at most a group of entries that follow `last`; false, and nothing of use is kept, unless
    /// they ascend, are no loops and have good node numbers.
    #[inline(always)]
    pub(super) fn read(&mut self, tails: &[i64], heads: &[i64], range: Range, last: (u32, u32)) -> bool {
        let (mut tail_before, mut head_before) = (last.0 as i32, last.1 as i32);
        let (mut proper, mut bits) = (true, 0);
        (self.changes, self.edge_count) = (0, 0);
        for (i, (tail, head)) in tails.iter().zip(heads).enumerate().take(GROUP) {
            let (tail, head) = (tail.wrapping_sub(range.first), head.wrapping_sub(range.first));
            bits |= tail | head;
            let (tail, head) = (tail as i32, head as i32);
            let ascends = (tail_before < tail) | ((tail_before == tail) & (head_before < head));
            proper &= ascends & (tail != head) & (head < range.nodes as i32);
            self.changes |= u64::from(tail != tail_before) << i;
            (self.tails[i], self.heads[i]) = (tail as u32, head as u32);
            if self.lists_edges {
                self.edges[self.edge_count] = word(tail as u32, head as u32);
                self.edge_count += usize::from(tail < head);
            }
            (tail_before, head_before) = (tail, head);
        }
        // Tails ascend: the last is the largest.
        proper && bits >> 31 == 0 && tail_before < range.nodes as i32
    }

    /// The same for a whole group, with instructions that take eight entries at once.
    #[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn read_with_avx2(
        &mut self,
        tails: &[i64; GROUP],
        heads: &[i64; GROUP],
        range: Range,
        last: (u32, u32),
    ) -> bool {
        let first = _mm256_set1_epi64x(range.first);
        let nodes = _mm256_set1_epi32(range.nodes.cast_signed());
        let turn = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
        // Eights turned by one place, so that their last entry lies where the next eight want it.
        let mut tails_before = _mm256_set1_epi32(last.0.cast_signed());
        let mut heads_before = _mm256_set1_epi32(last.1.cast_signed());
        let mut proper = _mm256_set1_epi32(-1);
        let mut bits = _mm256_setzero_si256();
        (self.changes, self.edge_count) = (0, 0);
        let kept = self.tails.as_chunks_mut().0.iter_mut().zip(self.heads.as_chunks_mut().0);
        let read = tails.as_chunks().0.iter().zip(heads.as_chunks().0);
        for (i, ((tails, heads), (kept_tails, kept_heads))) in read.zip(kept).enumerate() {
            let (tails, tail_bits) = numbered_from(first, tails);
            let (heads, head_bits) = numbered_from(first, heads);
            bits = _mm256_or_si256(bits, _mm256_or_si256(tail_bits, head_bits));
            let turned_tails = _mm256_permutevar8x32_epi32(tails, turn);
            let turned_heads = _mm256_permutevar8x32_epi32(heads, turn);
            tails_before = _mm256_blend_epi32::<1>(turned_tails, tails_before);
            heads_before = _mm256_blend_epi32::<1>(turned_heads, heads_before);
            let same_tail = _mm256_cmpeq_epi32(tails, tails_before);
            let ascends = _mm256_or_si256(
                _mm256_cmpgt_epi32(tails, tails_before),
                _mm256_and_si256(same_tail, _mm256_cmpgt_epi32(heads, heads_before)),
            );
            let good =
                _mm256_andnot_si256(_mm256_cmpeq_epi32(tails, heads), _mm256_cmpgt_epi32(nodes, heads));
            proper = _mm256_and_si256(proper, _mm256_and_si256(ascends, good));
            let changes = !_mm256_movemask_ps(_mm256_castsi256_ps(same_tail)) as u8;
            self.changes |= u64::from(changes) << (8 * i);
            *kept_tails = numbers(tails);
            *kept_heads = numbers(heads);
            if self.lists_edges
                && let Some(room) = self.edges[self.edge_count..].first_chunk_mut()
            {
                let larger = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(heads, tails))) as u8;
                let words = _mm256_or_si256(_mm256_slli_epi32::<16>(tails), heads);
                *room = numbers(_mm256_permutevar8x32_epi32(words, places(larger)));
                self.edge_count += larger.count_ones() as usize;
            }
            (tails_before, heads_before) = (turned_tails, turned_heads);
        }
        let too_long = _mm256_srli_epi64::<31>(bits);
        _mm256_movemask_epi8(proper) == -1
            && _mm256_testz_si256(too_long, too_long) == 1
            && self.tails[GROUP - 1] < range.nodes
    }
}

/// Short node numbers counted from the first, and all bits that the long ones have.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
#[target_feature(enable = "avx2")]
#[inline]
fn numbered_from(first: __m256i, stored: &[i64; LANES]) -> (__m256i, __m256i) {
    let &[a, b, c, d, e, f, g, h] = stored;
    let low = _mm256_sub_epi64(_mm256_setr_epi64x(a, b, c, d), first);
    let high = _mm256_sub_epi64(_mm256_setr_epi64x(e, f, g, h), first);
    let short = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    (_mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(short)), _mm256_or_si256(low, high))
}

/// The places of the bits that are set, in order, and then others.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
#[target_feature(enable = "avx2")]
#[inline]
fn places(bits: u8) -> __m256i {
    static PLACES: [[i32; LANES]; 256] = {
        let mut places = [[0; LANES]; 256];
        let mut bits = 0;
        while bits < 256 {
            let (mut place, mut count) = (0, 0);
            while place < LANES {
                places[bits][count] = place as i32;
                count += bits >> place & 1;
                place += 1;
            }
            bits += 1;
        }
        places
    };
    let [a, b, c, d, e, f, g, h] = PLACES[bits as usize];
    _mm256_setr_epi32(a, b, c, d, e, f, g, h)
}

/// What a register holds. What looks like four moves becomes one.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
#[target_feature(enable = "avx2")]
#[inline]
fn numbers(register: __m256i) -> [u32; LANES] {
    let (low, high) = (_mm256_castsi256_si128(register), _mm256_extracti128_si256::<1>(register));
    let pairs = [
        _mm_cvtsi128_si64(low),
        _mm_extract_epi64::<1>(low),
        _mm_cvtsi128_si64(high),
        _mm_extract_epi64::<1>(high),
    ];
    std::array::from_fn(|i| (pairs[i / 2] >> (32 * (i % 2))) as u32)
}

#[cfg(test)]
mod tests {
    use multiversion::multiversion;
    #[cfg(not(target_feature = "avx2"))]
    use multiversion::target::match_target;
    use proptest::prelude::*;

    use super::*;

    /// Reads a group as this machine does.
    #[multiversion(targets("x86_64+avx2+popcnt"))]
    fn here(
        group: &mut Group,
        tails: &[i64; GROUP],
        heads: &[i64; GROUP],
        range: Range,
        last: (u32, u32),
    ) -> bool {
        #[cfg(target_feature = "avx2")]
        let here = group.read(tails, heads, range, last);
        #[cfg(not(target_feature = "avx2"))]
        let here = match_target! {
            "x86_64+avx2+popcnt" => group.read_with_avx2(tails, heads, range, last),
            _ => group.read(tails, heads, range, last),
        };
        here
    }

    /// Numbers that are out of order or out of range in a way of their own.
    fn oddity() -> impl Strategy<Value = i64> {
        prop_oneof![
            -2i64..40,
            Just(1 << 31),
            Just((1 << 32) + 3),
            Just(i64::from(i32::MAX)),
            Just(i64::MIN),
            Just(i64::MAX),
        ]
    }

    proptest! {
        #[test]
        fn groups_are_those_of_one_comparison_per_entry(
            picks in prop::collection::btree_set((0i64..40, 0i64..40), GROUP + 1..400),
            first in prop_oneof![Just(0i64), Just(70), Just(-5), Just(1 << 40)],
            odd in prop::option::of((0..GROUP, oddity(), any::<bool>())),
            begins in any::<bool>(),
        ) {
            let mut pairs: Vec<(i64, i64)> = picks.into_iter().filter(|(u, v)| u != v).collect();
            prop_assume!(pairs.len() > GROUP);
            if let Some((at, number, tail)) = odd {
                *(if tail { &mut pairs[at + 1].0 } else { &mut pairs[at + 1].1 }) = number;
            }
            let last = if begins { (NONE, NONE) } else { (pairs[0].0 as u32, pairs[0].1 as u32) };
            let stored: Vec<(i64, i64)> =
                pairs[1..=GROUP].iter().map(|(u, v)| (u.wrapping_add(first), v.wrapping_add(first))).collect();
            let tails: [i64; GROUP] = std::array::from_fn(|i| stored[i].0);
            let heads: [i64; GROUP] = std::array::from_fn(|i| stored[i].1);
            let good = |v: i64| (0..40).contains(&v);
            let before = |i: usize| if i == 0 && begins { (-1, -1) } else { pairs[i] };
            let expected = (0..GROUP).all(|i| {
                let (u, v) = pairs[i + 1];
                good(u) && good(v) && u != v && before(i) < (u, v)
            });
            let range = Range { first, nodes: 40 };
            let (mut group, mut slow) = (Group::new(true), Group::new(true));
            prop_assert_eq!(here(&mut group, &tails, &heads, range, last), expected);
            prop_assert_eq!(slow.read(&tails, &heads, range, last), expected);
            if expected {
                let changes = (0..GROUP).map(|i| u64::from(before(i).0 != pairs[i + 1].0) << i).sum::<u64>();
                let edges: Vec<u32> = pairs[1..=GROUP]
                    .iter()
                    .filter(|(u, v)| u < v)
                    .map(|&(u, v)| word(u as u32, v as u32))
                    .collect();
                for group in [&group, &slow] {
                    prop_assert_eq!(group.changes, changes);
                    prop_assert_eq!(&group.edges[..group.edge_count], &edges[..]);
                    for i in 0..GROUP {
                        let kept = (i64::from(group.tails[i]), i64::from(group.heads[i]));
                        prop_assert_eq!(kept, pairs[i + 1]);
                    }
                }
            }
        }
    }
}
