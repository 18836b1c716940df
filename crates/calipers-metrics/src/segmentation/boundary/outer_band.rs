//! The outer band of every class: the scored pixels around it that are not it.
//!
//! For each pixel, the classes in its window are gathered as a set of bits, 32 classes at a time; less the
//! pixel's own class, these are the classes whose band it lies in. So the time hardly depends on the
//! number of classes or on the thickness.

use std::collections::BTreeMap;
use std::ops::Range;

use multiversion::multiversion;

use crate::segmentation::boundary::BandRules;
use crate::segmentation::boundary::bit_tally::{BATCH, BitTally};
use crate::segmentation::boundary::window::{Rows, Union, join_along, join_down};
use crate::segmentation::labels::ClassId;
use crate::segmentation::row::BandCounts;

/// Bands are found for this many classes at once.
const GROUP: usize = u32::BITS as usize;

/// The code of a pixel that is scored, but of no class of the group.
const OTHER: u8 = GROUP as u8;

/// The code of a pixel that is not scored, or beyond the image.
const NOT_SCORED: u8 = u8::MAX;

/// Columns that are worked on at once, so that the rows of a window stay in the cache.
const STRIP: usize = 4 * BATCH;

/// Compares the outer bands of `truth` and `pred`, for every class where one of them has any pixel.
///
/// The band of a class are the scored pixels of another label with a scored pixel of the class at most
/// `thickness` columns and rows away. A pixel without prediction is of another label than every class.
pub fn outer_band<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    thickness: u32,
    rules: &BandRules,
) -> BTreeMap<u32, BandCounts> {
    let mut seen = vec![false; T::VOID.index() + 1];
    mark_seen(truth, &mut seen);
    if !rules.skip_absent {
        mark_seen(pred, &mut seen);
    }
    let classes: Vec<usize> =
        (0..rules.classes).filter(|&class| seen[class] && Some(class) != rules.background).collect();
    let mut bands = BTreeMap::new();
    for group in classes.chunks(GROUP) {
        let truth_codes = codes(truth, truth, width, group, rules);
        let pred_codes = codes(truth, pred, width, group, rules);
        let counts = compare(&truth_codes, &pred_codes, height, thickness as usize);
        for (&class, counts) in group.iter().zip(counts) {
            if counts != BandCounts::default() {
                bands.insert(class as u32, counts);
            }
        }
    }
    bands
}

fn mark_seen<T: ClassId>(map: &[T], seen: &mut [bool]) {
    let seen = &mut seen[..=T::VOID.index()];
    for label in map {
        seen[label.index()] = true;
    }
}

/// The labels of a map as positions in a group of classes, row by row; each row is filled up to a whole
/// number of batches with pixels that are not scored.
fn codes<T: ClassId>(truth: &[T], map: &[T], width: usize, group: &[usize], rules: &BandRules) -> Vec<u8> {
    let mut of_label = vec![OTHER; T::VOID.index() + 1];
    let of_label = &mut of_label[..=T::VOID.index()];
    for (code, &class) in group.iter().enumerate() {
        of_label[class] = code as u8;
    }
    // Whole batches need no loop for the rest of a row; what fills them is scored nowhere.
    let stride = width.next_multiple_of(BATCH);
    let mut codes = Vec::with_capacity(map.len() / width * stride);
    for (truth, row) in truth.chunks_exact(width).zip(map.chunks_exact(width)) {
        codes.extend(truth.iter().zip(row).map(|(&truth, &label)| {
            let scored = rules.keep_void || truth != T::VOID;
            if scored { of_label[label.index()] } else { NOT_SCORED }
        }));
        codes.resize(codes.len() + stride - width, NOT_SCORED);
    }
    codes
}

/// The set that holds the class of a code alone; empty for a pixel of no class of the group.
#[inline(always)]
fn alone(code: u8) -> u32 {
    1u32.checked_shl(code.into()).unwrap_or(0)
}

/// The classes whose band a pixel does not lie in, whatever is around it.
#[inline(always)]
fn barred(code: u8) -> u32 {
    if code == NOT_SCORED { u32::MAX } else { alone(code) }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn compare(truth: &[u8], pred: &[u8], height: usize, thickness: usize) -> [BandCounts; GROUP] {
    compare_strips(truth, pred, height, thickness)
}

#[inline(always)]
fn compare_strips(truth: &[u8], pred: &[u8], height: usize, thickness: usize) -> [BandCounts; GROUP] {
    let stride = truth.len() / height;
    let reach = thickness.min(stride);
    let mut counts = [BandCounts::default(); GROUP];
    for left in (0..stride).step_by(STRIP) {
        let mut strip = Strip::new(truth, pred, stride, left..stride.min(left + STRIP), reach);
        join_down::<u32, Union>(height, 2 * strip.columns.len(), thickness, &mut strip);
        strip.add_to(&mut counts);
    }
    counts
}

/// Some columns of both maps. A row of sets is that of the truth, then that of the prediction.
struct Strip<'a> {
    truth: &'a [u8],
    pred: &'a [u8],
    stride: usize,
    columns: Range<usize>,
    /// How far windows reach to both sides.
    reach: usize,
    /// The sets of a row from `reach` before the columns to `reach` after them.
    sets: Vec<u32>,
    spare: Vec<u32>,
    both: BitTally,
    in_truth: BitTally,
    in_pred: BitTally,
}

impl<'a> Strip<'a> {
    fn new(truth: &'a [u8], pred: &'a [u8], stride: usize, columns: Range<usize>, reach: usize) -> Self {
        let sets = vec![0; columns.len() + 2 * reach];
        let [both, in_truth, in_pred] = [const { BitTally::new() }; 3];
        Self { truth, pred, stride, columns, reach, spare: sets.clone(), sets, both, in_truth, in_pred }
    }

    /// Writes the classes within reach along a row of codes, for each pixel of the strip.
    #[inline(always)]
    fn gather(&mut self, codes: &[u8], near: &mut [u32]) {
        // Windows of a strip reach into its neighbours, but not beyond the image.
        let inside =
            self.columns.start.saturating_sub(self.reach)..self.stride.min(self.columns.end + self.reach);
        let outside = inside.start + self.reach - self.columns.start;
        let codes = &codes[inside];
        self.sets[..outside].fill(0);
        self.sets[outside + codes.len()..].fill(0);
        for (set, &code) in self.sets[outside..].iter_mut().zip(codes) {
            *set = alone(code);
        }
        join_along::<u32, Union>(&mut self.sets, &mut self.spare, 2 * self.reach + 1, near);
    }

    fn add_to(self, counts: &mut [BandCounts; GROUP]) {
        let (both, truth, pred) = (self.both.totals(), self.in_truth.totals(), self.in_pred.totals());
        for (code, counts) in counts.iter_mut().enumerate() {
            counts.both += both[code];
            counts.truth += truth[code];
            counts.pred += pred[code];
        }
    }
}

impl Rows<u32> for Strip<'_> {
    #[inline(always)]
    fn load(&mut self, y: usize, row: &mut [u32]) {
        let (truth_near, pred_near) = row.split_at_mut(self.columns.len());
        let codes = y * self.stride..(y + 1) * self.stride;
        let (truth, pred) = (self.truth, self.pred);
        self.gather(&truth[codes.clone()], truth_near);
        self.gather(&pred[codes], pred_near);
    }

    #[inline(always)]
    fn take(&mut self, y: usize, near: &[u32]) {
        let (truth_near, pred_near) = near.split_at(self.columns.len());
        let codes = y * self.stride + self.columns.start..y * self.stride + self.columns.end;
        let truth =
            self.truth[codes.clone()].as_chunks::<BATCH>().0.iter().zip(truth_near.as_chunks::<BATCH>().0);
        let pred = self.pred[codes].as_chunks::<BATCH>().0.iter().zip(pred_near.as_chunks::<BATCH>().0);
        for ((truth_codes, truth_near), (pred_codes, pred_near)) in truth.zip(pred) {
            let (mut truth, mut pred, mut both) = ([0; BATCH], [0; BATCH], [0; BATCH]);
            for i in 0..BATCH {
                truth[i] = truth_near[i] & !barred(truth_codes[i]);
                pred[i] = pred_near[i] & !barred(pred_codes[i]);
                both[i] = truth[i] & pred[i];
            }
            self.both.add(&both);
            self.in_truth.add(&truth);
            self.in_pred.add(&pred);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::segmentation::boundary::random_maps::{Maps, maps};

    fn fast(maps: &Maps, thickness: u32) -> BTreeMap<u32, BandCounts> {
        outer_band(&maps.truth, &maps.pred, maps.width, maps.height, thickness, &maps.rules)
    }

    fn slow(maps: &Maps, thickness: u32) -> BTreeMap<u32, BandCounts> {
        let takes_part = |x, y| maps.rules.keep_void || maps.scored(x, y);
        let bands_at = |map: &[u8], x: usize, y: usize| -> BTreeSet<u32> {
            let window = maps.window(x, y, thickness as usize).filter(|&(u, v)| takes_part(u, v));
            let mut near: BTreeSet<u32> =
                window.filter_map(|(u, v)| maps.foreground(map[v * maps.width + u])).collect();
            near.remove(&map[y * maps.width + x].into());
            if maps.rules.skip_absent {
                near.retain(|&class| maps.truth.contains(&(class as u8)));
            }
            near
        };
        let mut counts = BTreeMap::<u32, BandCounts>::new();
        for (x, y) in maps.pixels().filter(|&(x, y)| takes_part(x, y)) {
            let (truth, pred) = (bands_at(&maps.truth, x, y), bands_at(&maps.pred, x, y));
            truth.iter().for_each(|&class| counts.entry(class).or_default().truth += 1);
            pred.iter().for_each(|&class| counts.entry(class).or_default().pred += 1);
            truth.intersection(&pred).for_each(|&class| counts.entry(class).or_default().both += 1);
        }
        counts
    }

    proptest! {
        #[test]
        fn bands_are_those_of_the_definition(maps in maps(1..24, 1..24), thickness in 1u32..50) {
            prop_assert_eq!(fast(&maps, thickness), slow(&maps, thickness));
        }

        #[test]
        fn strips_do_not_change_bands(maps in maps(500..1100, 1..4), thickness in 1u32..5) {
            prop_assert_eq!(fast(&maps, thickness), slow(&maps, thickness));
        }

        #[test]
        fn labels_of_two_bytes_have_the_same_bands(maps in maps(1..30, 1..30), thickness in 1u32..6) {
            let (truth, pred) = maps.widened();
            let wide = outer_band(&truth, &pred, maps.width, maps.height, thickness, &maps.rules);
            prop_assert_eq!(wide, fast(&maps, thickness));
        }

        #[test]
        fn every_instruction_set_counts_the_same(maps in maps(1..200, 1..30), thickness in 1usize..9) {
            let group: Vec<usize> = (0..maps.rules.classes.min(GROUP)).collect();
            let truth = codes(&maps.truth, &maps.truth, maps.width, &group, &maps.rules);
            let pred = codes(&maps.truth, &maps.pred, maps.width, &group, &maps.rules);
            let plain = compare_strips(&truth, &pred, maps.height, thickness);
            prop_assert_eq!(compare(&truth, &pred, maps.height, thickness), plain);
        }
    }

    #[test]
    fn void_pixels_do_not_move_the_boundary() {
        let maps = Maps::drawn(2, "000..11", "000..11");
        assert_eq!(fast(&maps, 2), BTreeMap::new());
        let counts = BandCounts { both: 1, truth: 1, pred: 1 };
        assert_eq!(fast(&maps, 3), BTreeMap::from([(0, counts), (1, counts)]));
    }

    #[test]
    fn a_pixel_without_prediction_lies_in_bands_and_makes_none() {
        let maps = Maps::drawn(2, "0000", "00--");
        assert_eq!(fast(&maps, 1), BTreeMap::from([(0, BandCounts { both: 0, truth: 0, pred: 1 })]));
    }

    #[test]
    fn kept_void_lies_in_bands_as_no_class() {
        let mut maps = Maps::drawn(2, "00..", "0011");
        maps.rules.keep_void = true;
        let zero = BandCounts { both: 1, truth: 1, pred: 1 };
        let one = BandCounts { both: 0, truth: 0, pred: 1 };
        assert_eq!(fast(&maps, 1), BTreeMap::from([(0, zero), (1, one)]));
    }

    #[test]
    fn an_invented_class_counts_unless_absent_ones_are_skipped() {
        let mut maps = Maps::drawn(2, "0000 0000", "0001 0000");
        let zero = BandCounts { both: 0, truth: 0, pred: 1 };
        let one = BandCounts { both: 0, truth: 0, pred: 3 };
        assert_eq!(fast(&maps, 1), BTreeMap::from([(0, zero), (1, one)]));
        maps.rules.skip_absent = true;
        assert_eq!(fast(&maps, 1), BTreeMap::from([(0, zero)]));
    }

    #[test]
    fn one_pixel_has_a_band_as_wide_as_the_thickness() {
        let (width, height) = (2 * STRIP, 101);
        let mut truth = vec![0u8; width * height];
        truth[50 * width + STRIP] = 1;
        let rules = BandRules { classes: 2, background: Some(0), keep_void: false, skip_absent: false };
        for thickness in 1..=50 {
            let band = (2 * u64::from(thickness) + 1).pow(2) - 1;
            let counts = outer_band(&truth, &truth, width, height, thickness, &rules);
            assert_eq!(counts[&1], BandCounts { both: band, truth: band, pred: band }, "{thickness}");
        }
    }

    #[test]
    fn the_background_has_no_band() {
        let mut maps = Maps::drawn(2, "0001", "0001");
        maps.rules.background = Some(0);
        assert_eq!(fast(&maps, 2), BTreeMap::from([(1, BandCounts { both: 2, truth: 2, pred: 2 })]));
    }
}
