//! Where the bytes that give a table its shape are, sixty-four bytes at a time.

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
    /// The masks of the block that starts at byte `at`; beyond the end of the text nothing is set.
    #[inline]
    pub(super) fn of(text: &[u8], at: usize, delimiter: u8) -> Self {
        let rest = text.get(at..).unwrap_or_default();
        match rest.first_chunk() {
            Some(block) => Self::of_block(block, delimiter),
            None => {
                let mut block = [0; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                Self::of_block(&block, delimiter)
            }
        }
    }

    #[inline]
    fn of_block(block: &[u8; BLOCK], delimiter: u8) -> Self {
        Self { delimiters: equal(block, delimiter), ends: equal(block, b'\n'), quotes: equal(block, b'"') }
    }

    /// What is left of the masks behind the lowest `count` bits; `count` is at most 64.
    #[inline]
    pub(super) fn past(self, count: u32) -> Self {
        let keep = u64::MAX.checked_shl(count).unwrap_or(0);
        Self { delimiters: self.delimiters & keep, ends: self.ends & keep, quotes: self.quotes & keep }
    }
}

/// Where a byte is in the block.
#[inline]
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
    use proptest::prelude::*;

    use super::*;

    /// One comparison per byte.
    fn one_by_one(text: &[u8], at: usize, byte: u8) -> u64 {
        let block = text.iter().skip(at).take(BLOCK);
        block.enumerate().map(|(place, found)| u64::from(*found == byte) << place).sum()
    }

    proptest! {
        #[test]
        fn masks_are_those_of_one_comparison_per_byte(
            text in prop::collection::vec(prop::sample::select(&b",;\n\"\r\x00\x01\x80\xac0.-e"[..]), 0..200),
            at in 0_usize..220,
        ) {
            let masks = Masks::of(&text, at, b',');
            prop_assert_eq!(masks.delimiters, one_by_one(&text, at, b','));
            prop_assert_eq!(masks.ends, one_by_one(&text, at, b'\n'));
            prop_assert_eq!(masks.quotes, one_by_one(&text, at, b'"'));
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
