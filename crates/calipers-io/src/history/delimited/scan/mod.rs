//! Rows without quotes: their cells counted and some delimiters located, a block at a time.
//!
//! Most cells of a wide table are only counted, and this is the loop that sees every byte of them.

mod masks;

use multiversion::multiversion;
#[cfg(not(target_feature = "avx2"))]
use multiversion::target::match_target;

use self::masks::{BLOCK, Masks, filled_up};

/// Walks over the rows of a text as long as they have no quotes.
pub(super) struct Scan<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// Which delimiters of a row are to be located, counted from 1, ascending.
    borders: Vec<usize>,
    /// Where those of the row passed last are, as far as it has them.
    found: Vec<usize>,
    /// Where the next block starts, and what of the one before it has not been passed.
    next_block: usize,
    masks: Masks,
}

impl<'a> Scan<'a> {
    /// Before the row that starts at byte `start`.
    pub(super) fn new(text: &'a [u8], delimiter: u8, borders: Vec<usize>, start: usize) -> Self {
        let found = Vec::with_capacity(borders.len());
        Self { text, delimiter, borders, found, next_block: start, masks: Masks::default() }
    }

    /// Goes to the row that starts at byte `start`.
    pub(super) fn move_to(&mut self, start: usize) {
        (self.next_block, self.masks) = (start, Masks::default());
    }

    /// Passes over the next row: how many cells it has and the byte behind the last. None when a
    /// quote occurs in it, and then the scan must be moved.
    #[inline]
    pub(super) fn row(&mut self) -> Option<(usize, usize)> {
        pass_row(self)
    }

    /// Where the delimiters to be located are in the row passed last.
    #[inline]
    pub(super) fn found(&self) -> &[usize] {
        &self.found
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
fn pass_row(scan: &mut Scan<'_>) -> Option<(usize, usize)> {
    let Scan { text, delimiter, borders, found, next_block, masks } = scan;
    found.clear();
    let mut delimiters_before = 0;
    loop {
        let end = masks.ends.trailing_zeros();
        let row = u64::MAX.checked_shl(end).map_or(u64::MAX, |beyond| !beyond);
        if masks.quotes & row != 0 {
            return None;
        }
        let mut delimiters = masks.delimiters & row;
        let seen = delimiters_before + delimiters.count_ones() as usize;
        let mut passed = delimiters_before;
        while let Some(border) = borders.get(found.len()).filter(|border| **border <= seen) {
            while passed + 1 < *border {
                delimiters &= delimiters - 1;
                passed += 1;
            }
            found.push(*next_block - BLOCK + delimiters.trailing_zeros() as usize);
        }
        if end < BLOCK as u32 {
            *masks = masks.past(end + 1);
            return Some((seen + 1, *next_block - BLOCK + end as usize));
        }
        let rest = text.get(*next_block..).unwrap_or_default();
        if rest.is_empty() {
            *masks = Masks::default();
            return Some((seen + 1, text.len()));
        }
        delimiters_before = seen;
        *next_block += BLOCK;
        let last;
        let block = match rest.first_chunk() {
            Some(block) => block,
            None => {
                last = filled_up(rest);
                &last
            }
        };
        // A build for machines that have AVX2 makes plain versions only, from which its functions cannot be called.
        #[cfg(target_feature = "avx2")]
        let found = Masks::of(block, *delimiter);
        #[cfg(not(target_feature = "avx2"))]
        let found = match_target! {
            "x86_64+avx2+bmi1+bmi2+popcnt" => Masks::of_with_avx2(block, *delimiter),
            _ => Masks::of(block, *delimiter),
        };
        *masks = found;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Cells, end and located delimiters of the row that starts at byte `start`, byte after byte;
    /// none when it has a quote.
    fn one_by_one(text: &[u8], borders: &[usize], start: usize) -> Option<(usize, usize, Vec<usize>)> {
        let length = text[start..].iter().take_while(|byte| **byte != b'\n').count();
        let row = start..start + length;
        let places: Vec<usize> = row.clone().filter(|place| text[*place] == b',').collect();
        let found = borders.iter().filter_map(|border| places.get(border - 1).copied()).collect();
        (!text[row.clone()].contains(&b'"')).then_some((places.len() + 1, row.end, found))
    }

    proptest! {
        #[test]
        fn rows_are_passed_as_byte_after_byte(
            // Rows from much shorter to much longer than a block, few of them with quotes.
            bytes in prop::collection::vec(
                prop_oneof![
                    20 => Just(b','), 20 => prop::sample::select(&b"0.-\r\x00\xc3"[..]), 2 => Just(b'\n'), 1 => Just(b'"'),
                ],
                0..700,
            ),
            short: bool,
            start in 0_usize..70,
            borders in prop::collection::btree_set(1_usize..90, 0..6),
        ) {
            let mut text = bytes;
            if short {
                text.iter_mut().step_by(5).for_each(|byte| *byte = b'\n');
            }
            let mut start = start.min(text.len());
            let borders: Vec<usize> = borders.into_iter().collect();
            let mut scan = Scan::new(&text, b',', borders.clone(), start);
            while start < text.len() {
                let expected = one_by_one(&text, &borders, start);
                let row = scan.row().map(|(width, end)| (width, end, scan.found().to_vec()));
                prop_assert_eq!(&row, &expected);
                match expected {
                    Some((_, end, _)) => start = end + 1,
                    None => {
                        start += 1 + text[start..].iter().position(|byte| *byte == b'"').unwrap();
                        scan.move_to(start);
                    }
                }
            }
        }
    }
}
