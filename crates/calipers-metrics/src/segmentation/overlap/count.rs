//! The confusion matrix: how often every pair of ids meets in two maps.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::segmentation::labels::ClassId;

/// Pixels that are compared at once: maps are mostly areas, and an area is one addition a block.
const BLOCK: usize = 64;
/// Pixels that are compared at once in a block with an edge.
const WORD: usize = 8;
/// Pixels that are either searched for areas or counted singly.
const STRIP: usize = 16 * BLOCK;
/// Strips that are counted singly after one without any area: noise is seldom alone.
const NOISE: u32 = 7;
/// The pairs of one true byte.
const ROW: usize = 1 << 8;
/// Every pair of bytes has a cell.
const CELLS: usize = ROW * ROW;
/// Pixels that cannot overflow a 32-bit cell.
const CHUNK: usize = 1 << 30;
/// Maps of up to so many pixels are asked which lines of a table they touch.
const SMALL: usize = CELLS;
/// Up to this many cells a table is faster than a tree.
const MOST_CELLS: usize = 1 << 22;

/// Pixels of every pair that occurs: (truth, prediction) -> pixels.
pub(crate) type Joint<T> = BTreeMap<(T, T), u64>;

/// Counts the pairs of two maps of equal length, ids as they are.
pub(crate) fn confusion_u8(truth: &[u8], pred: &[u8]) -> Joint<u8> {
    let mut joint = Joint::new();
    TABLE.with_borrow_mut(|table| {
        for (truth, pred) in truth.chunks(CHUNK).zip(pred.chunks(CHUNK)) {
            table.count(truth, pred);
            table.move_into(&mut joint, &lines(truth));
        }
    });
    joint
}

thread_local! {
    /// Without a pixel between two counts, so that small maps need not clear half a megabyte.
    static TABLE: RefCell<Table> = RefCell::new(Table::new());
}

/// The true bytes whose lines of a table may hold pixels: those of a small map, all for a large one.
fn lines(truth: &[u8]) -> [bool; ROW] {
    let mut lines = [truth.len() > SMALL; ROW];
    if truth.len() <= SMALL {
        truth.iter().for_each(|&truth| lines[usize::from(truth)] = true);
    }
    lines
}

/// Neighbours in areas are equal, and adding to one cell twice in a row waits for the first addition:
/// around areas, neighbours have tables of their own.
struct Table {
    even: Vec<u32>,
    odd: Vec<u32>,
}

impl Table {
    fn new() -> Self {
        Self { even: vec![0; CELLS], odd: vec![0; CELLS] }
    }

    /// Adds the pairs to a tree and forgets them.
    fn move_into(&mut self, joint: &mut Joint<u8>, lines: &[bool; ROW]) {
        let rows = self.even.chunks_exact_mut(ROW).zip(self.odd.chunks_exact_mut(ROW)).enumerate();
        for (truth, (even, odd)) in rows.filter(|(truth, _)| lines[*truth]) {
            if !has_pixels(even) & !has_pixels(odd) {
                continue;
            }
            for (pred, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
                let pixels = u64::from(std::mem::take(even)) + u64::from(std::mem::take(odd));
                if pixels != 0 {
                    *joint.entry((truth as u8, pred as u8)).or_default() += pixels;
                }
            }
        }
    }

    fn count(&mut self, truth: &[u8], pred: &[u8]) {
        // Slices of a length that the compiler knows need no check of their bounds.
        let (Some(even), Some(odd)) = (self.even.as_mut_array::<CELLS>(), self.odd.as_mut_array::<CELLS>())
        else {
            unreachable!("both tables have a cell for every pair");
        };
        let mut noisy = 0;
        for (truth, pred) in truth.chunks(STRIP).zip(pred.chunks(STRIP)) {
            if noisy > 0 {
                noisy -= 1;
                count_singly(even, truth, pred);
            } else if !count_areas(even, odd, truth, pred) {
                noisy = NOISE;
            }
        }
    }
}

/// Counts whole blocks and words where truth and prediction do not change; says whether there are any.
fn count_areas(even: &mut [u32; CELLS], odd: &mut [u32; CELLS], truth: &[u8], pred: &[u8]) -> bool {
    let (truth_blocks, truth_rest) = truth.as_chunks::<BLOCK>();
    let (pred_blocks, pred_rest) = pred.as_chunks::<BLOCK>();
    let mut found = false;
    for (truth, pred) in truth_blocks.iter().zip(pred_blocks) {
        if is_one_pair(truth, pred) {
            even[cell(truth[0], pred[0])] += BLOCK as u32;
            found = true;
            continue;
        }
        let (truth_words, pred_words) = (truth.as_chunks::<WORD>().0, pred.as_chunks::<WORD>().0);
        for (truth, pred) in truth_words.iter().zip(pred_words) {
            if is_one_byte(truth) & is_one_byte(pred) {
                even[cell(truth[0], pred[0])] += WORD as u32;
                found = true;
                continue;
            }
            for at in (0..WORD).step_by(2) {
                even[cell(truth[at], pred[at])] += 1;
                odd[cell(truth[at + 1], pred[at + 1])] += 1;
            }
        }
    }
    count_singly(even, truth_rest, pred_rest);
    found
}

/// Counts pixel by pixel, eight keys from two loads.
fn count_singly(cells: &mut [u32; CELLS], truth: &[u8], pred: &[u8]) {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let (truth_words, truth_rest) = truth.as_chunks::<WORD>();
    let (pred_words, pred_rest) = pred.as_chunks::<WORD>();
    for (&truth, &pred) in truth_words.iter().zip(pred_words) {
        let (truth, pred) = (u64::from_le_bytes(truth), u64::from_le_bytes(pred));
        for keys in [(truth & EVEN) << 8 | pred & EVEN, truth & !EVEN | pred >> 8 & EVEN] {
            cells[usize::from(keys as u16)] += 1;
            cells[usize::from((keys >> 16) as u16)] += 1;
            cells[usize::from((keys >> 32) as u16)] += 1;
            cells[usize::from((keys >> 48) as u16)] += 1;
        }
    }
    for (&truth, &pred) in truth_rest.iter().zip(pred_rest) {
        cells[cell(truth, pred)] += 1;
    }
}

/// Whether a row counted anything; without leaving early, which would be slower.
fn has_pixels(row: &[u32]) -> bool {
    row.iter().fold(0, |seen, &pixels| seen | pixels) != 0
}

fn cell(truth: u8, pred: u8) -> usize {
    usize::from(truth) << 8 | usize::from(pred)
}

fn is_one_pair(truth: &[u8; BLOCK], pred: &[u8; BLOCK]) -> bool {
    let (first_truth, first_pred) = (truth[0], pred[0]);
    let other = |(&truth, &pred): (&u8, &u8)| (truth ^ first_truth) | (pred ^ first_pred);
    truth.iter().zip(pred).map(other).fold(0, |any, other| any | other) == 0
}

fn is_one_byte(word: &[u8; WORD]) -> bool {
    u64::from_le_bytes(*word) == u64::from(word[0]) * 0x0101_0101_0101_0101
}

/// Counts the pairs of two class maps of equal length with at most `classes` classes.
pub(crate) trait CountPairs: ClassId {
    /// The pairs that occur, void ones included.
    fn count_pairs(truth: &[Self], pred: &[Self], classes: usize) -> Joint<Self>;
}

impl CountPairs for u8 {
    fn count_pairs(truth: &[Self], pred: &[Self], _classes: usize) -> Joint<Self> {
        confusion_u8(truth, pred)
    }
}

impl CountPairs for u16 {
    fn count_pairs(truth: &[Self], pred: &[Self], classes: usize) -> Joint<Self> {
        // One line more for "no prediction", one for void.
        let side = classes + 2;
        if side * side > MOST_CELLS { count_runs(truth, pred) } else { count_cells(truth, pred, side) }
    }
}

/// Every pair has a cell, void in the last line.
fn count_cells(truth: &[u16], pred: &[u16], side: usize) -> Joint<u16> {
    let mut cells = vec![0u64; side * side];
    let line = |id: u16| usize::from(id).min(side - 1);
    for (&truth, &pred) in truth.iter().zip(pred) {
        cells[line(truth) * side + line(pred)] += 1;
    }
    let id = |line: usize| if line == side - 1 { u16::VOID } else { u16::new(line) };
    let counted = cells.into_iter().enumerate().filter(|&(_, pixels)| pixels != 0);
    counted.map(|(cell, pixels)| ((id(cell / side), id(cell % side)), pixels)).collect()
}

/// One visit of the tree for every run of equal pairs.
fn count_runs(truth: &[u16], pred: &[u16]) -> Joint<u16> {
    let mut joint = Joint::new();
    let mut pairs = truth.iter().copied().zip(pred.iter().copied()).peekable();
    while let Some(pair) = pairs.next() {
        let mut pixels = 1;
        while pairs.next_if_eq(&pair).is_some() {
            pixels += 1;
        }
        *joint.entry(pair).or_default() += pixels;
    }
    joint
}

#[cfg(test)]
mod tests {
    use calipers_core::SplitMix64;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The obvious version.
    fn one_by_one<T: ClassId>(truth: &[T], pred: &[T]) -> Joint<T> {
        let mut joint = Joint::new();
        for (&truth, &pred) in truth.iter().zip(pred) {
            *joint.entry((truth, pred)).or_default() += 1;
        }
        joint
    }

    /// Runs of random lengths, so that whole blocks, whole words and single pixels all occur.
    fn runs() -> impl Strategy<Value = Vec<u8>> {
        let length = prop_oneof![1..4usize, 6..20usize, 60..300usize];
        let value = prop_oneof![0..3u8, Just(255), any::<u8>()];
        vec((value, length), 0..40).prop_map(|runs| {
            runs.into_iter().flat_map(|(value, length)| std::iter::repeat_n(value, length)).collect()
        })
    }

    /// Two maps of one length.
    fn maps() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        (runs(), runs()).prop_map(|(mut truth, mut pred)| {
            let length = truth.len().min(pred.len());
            truth.truncate(length);
            pred.truncate(length);
            (truth, pred)
        })
    }

    proptest! {
        #[test]
        fn blocks_and_words_count_what_single_pixels_count((truth, pred) in maps(), start in 0..70usize) {
            let (truth, pred) = (&truth[start.min(truth.len())..], &pred[start.min(pred.len())..]);
            prop_assert_eq!(confusion_u8(truth, pred), one_by_one(truth, pred));
        }

        #[test]
        fn cells_and_runs_count_what_single_pixels_count((truth, pred) in maps()) {
            let widen = |map: &[u8]| -> Vec<u16> {
                map.iter().map(|&id| if id == 255 { u16::VOID } else { u16::from(id) * 2 }).collect()
            };
            let (truth, pred) = (widen(&truth), widen(&pred));
            let expected = one_by_one(&truth, &pred);
            prop_assert_eq!(&u16::count_pairs(&truth, &pred, 509), &expected);
            prop_assert_eq!(&u16::count_pairs(&truth, &pred, 60_000), &expected);
        }
    }

    #[test]
    fn an_area_and_an_edge_are_counted_to_the_pixel() {
        let truth: Vec<u8> = (0..1000).map(|at| if at < 777 { 3 } else { 4 }).collect();
        let pred: Vec<u8> = (0..1000).map(|at| if at < 900 { 3 } else { 9 }).collect();
        let expected = Joint::from([((3, 3), 777), ((4, 3), 123), ((4, 9), 100)]);
        assert_eq!(confusion_u8(&truth, &pred), expected);
        assert_eq!(confusion_u8(&[], &[]), Joint::new());
    }

    #[test]
    fn noise_and_the_areas_within_it_are_counted_to_the_pixel() {
        let mut draws = SplitMix64::new(3);
        let mut noise =
            || -> Vec<u8> { (0..30 * STRIP + 77).map(|_| (draws.next_u64() % 19) as u8).collect() };
        let (mut truth, mut pred) = (noise(), noise());
        assert_eq!(confusion_u8(&truth, &pred), one_by_one(&truth, &pred));
        truth[9 * STRIP + 5..20 * STRIP].fill(255);
        pred[9 * STRIP + 5..14 * STRIP].fill(0);
        assert_eq!(confusion_u8(&truth, &pred), one_by_one(&truth, &pred));
    }

    #[test]
    fn a_block_that_ends_in_another_pixel_is_no_area() {
        for at in 0..BLOCK {
            let mut pred = [1u8; BLOCK];
            pred[at] = 2;
            assert_eq!(confusion_u8(&[0; BLOCK], &pred), Joint::from([((0, 1), 63), ((0, 2), 1)]), "{at}");
            assert_eq!(confusion_u8(&pred, &[0; BLOCK]), Joint::from([((1, 0), 63), ((2, 0), 1)]), "{at}");
        }
    }
}
