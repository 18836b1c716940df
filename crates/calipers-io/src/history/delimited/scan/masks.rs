//! Where the bytes that give a table its shape are, sixty-four bytes at a time.

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_set1_epi8,
};

/// How many bytes one set of masks covers.
pub(super) const BLOCK: usize = 64;

/// One bit for each byte of a block, the first byte lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// The bytes between cells.
    pub(super) delimiters: u64,
    /// The line feeds.
    pub(super) ends: u64,
    /// The quotation marks.
    pub(super) quotes: u64,
}

impl Masks {
    /// The masks of one block.
    #[inline(always)]
    pub(super) fn of(block: &[u8; BLOCK], delimiter: u8) -> Self {
        Self { delimiters: equal(block, delimiter), ends: equal(block, b'\n'), quotes: equal(block, b'"') }
    }

    /// The same with instructions that compare half a block at once.
    #[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn of_with_avx2(block: &[u8; BLOCK], delimiter: u8) -> Self {
        let [low, high] = halves(block);
        let equal = |byte: u8| {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            let bits = |half| u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, byte)).cast_unsigned());
            bits(low) | bits(high) << 32
        };
        Self { delimiters: equal(delimiter), ends: equal(b'\n'), quotes: equal(b'"') }
    }

    /// What is left of the masks behind the lowest `count` bits; `count` is at most 64.
    #[inline(always)]
    pub(super) fn past(self, count: u32) -> Self {
        let keep = u64::MAX.checked_shl(count).unwrap_or(0);
        Self { delimiters: self.delimiters & keep, ends: self.ends & keep, quotes: self.quotes & keep }
    }
}

/// The last bytes of a text, fewer than a block, as one that ends in zeros.
pub(super) fn filled_up(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// The lower and the upper bytes of a block. What looks like eight loads becomes two.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
#[target_feature(enable = "avx2")]
#[inline]
fn halves(block: &[u8; BLOCK]) -> [__m256i; 2] {
    let mut words = [0; BLOCK / 8];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = i64::from_le_bytes(*bytes);
    }
    let [a, b, c, d, e, f, g, h] = words;
    [_mm256_set_epi64x(d, c, b, a), _mm256_set_epi64x(h, g, f, e)]
}

/// Where a byte is in the block.
#[inline(always)]
fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    /// Multiplied with eight bytes of 0 or 1, leaves them as the bits of the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let found = block.map(|other| u8::from(other == byte));
    let mut mask = [0; BLOCK / 8];
    for (bits, word) in mask.iter_mut().zip(found.as_chunks().0) {
        *bits = (u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56) as u8;
    }
    u64::from_le_bytes(mask)
}

#[cfg(test)]
mod tests {
    use multiversion::multiversion;
    #[cfg(not(target_feature = "avx2"))]
    use multiversion::target::match_target;
    use proptest::prelude::*;

    use super::*;

    /// The masks as this machine finds them.
    #[multiversion(targets("x86_64+avx2"))]
    fn here(block: &[u8; BLOCK], delimiter: u8) -> Masks {
        #[cfg(target_feature = "avx2")]
        let here = Masks::of(block, delimiter);
        #[cfg(not(target_feature = "avx2"))]
        let here = match_target! {
            "x86_64+avx2" => Masks::of_with_avx2(block, delimiter),
            _ => Masks::of(block, delimiter),
        };
        here
    }

    /// One comparison per byte.
    fn one_by_one(block: &[u8; BLOCK], byte: u8) -> u64 {
        block.iter().enumerate().map(|(place, found)| u64::from(*found == byte) << place).sum()
    }

    proptest! {
        #[test]
        fn masks_are_those_of_one_comparison_per_byte(
            bytes in prop::collection::vec(prop::sample::select(&b",;\n\"\r\x00\x01\x80\xac0.-e"[..]), 0..=BLOCK),
            delimiter in prop::sample::select(&b",;\t"[..]),
        ) {
            let block = filled_up(&bytes);
            let masks = Masks {
                delimiters: one_by_one(&block, delimiter),
                ends: one_by_one(&block, b'\n'),
                quotes: one_by_one(&block, b'"'),
            };
            prop_assert_eq!(Masks::of(&block, delimiter), masks);
            prop_assert_eq!(here(&block, delimiter), masks);
        }
    }

    #[test]
    fn every_byte_of_a_block_has_its_bit() {
        for place in 0..BLOCK {
            let mut block = [b'0'; BLOCK];
            block[place] = b',';
            let masks = Masks { delimiters: 1 << place, ..Masks::default() };
            assert_eq!((Masks::of(&block, b','), here(&block, b',')), (masks, masks));
        }
    }

    #[test]
    fn passed_bits_are_gone() {
        let all = Masks { delimiters: u64::MAX, ends: u64::MAX, quotes: u64::MAX };
        assert_eq!(all.past(0), all);
        assert_eq!(all.past(63).ends, 1 << 63);
        assert_eq!(all.past(64), Masks::default());
    }
}
