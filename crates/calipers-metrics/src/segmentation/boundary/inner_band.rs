//! Cheng's inner band of every class: its pixels near anything else or near the edge of the image.
//!
//! A pixel lies inside its class, and in no band, when the smallest and the largest label in its window
//! are its own. The image is framed by pixels that no label agrees with. So the time hardly depends on the
//! distance and not at all on the number of classes.

use std::collections::BTreeMap;

use multiversion::multiversion;

use crate::segmentation::boundary::BandRules;
use crate::segmentation::boundary::window::{Rows, Smaller, join_along, join_down};
use crate::segmentation::labels::ClassId;
use crate::segmentation::row::BandCounts;

/// Compares the inner bands of `truth` and `pred`, for every class where one of them has any pixel.
///
/// The band of a class are its scored pixels with a scored pixel of another label, or the outside of the
/// image, at most `distance` columns and rows away. A pixel without prediction is of another label than
/// every class. Of the rules only the classes and the background matter: void is never scored.
pub fn inner_band<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    distance: u32,
    rules: &BandRules,
) -> BTreeMap<u32, BandCounts> {
    let counts = compare(truth, pred, width, height, distance as usize);
    let foreground = (0..rules.classes).filter(|&class| Some(class) != rules.background);
    foreground
        .map(|class| (class as u32, counts[class]))
        .filter(|&(_, counts)| counts != BandCounts::default())
        .collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn compare<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    distance: usize,
) -> Vec<BandCounts> {
    compare_maps(truth, pred, width, height, distance)
}

#[inline(always)]
fn compare_maps<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    distance: usize,
) -> Vec<BandCounts> {
    // From half the image on, every pixel is near its edge.
    let reach = distance.min(width.min(height).div_ceil(2));
    let padded = vec![T::VOID; width + 2 * reach];
    let mut maps = Maps {
        truth,
        pred,
        width,
        height,
        reach,
        spare: padded.clone(),
        padded,
        truth_band: vec![T::VOID; width],
        pred_band: vec![T::VOID; width],
        counts: vec![BandCounts::default(); T::VOID.index() + 1],
    };
    join_down::<T, Smaller>(height + 2, 4 * width, reach, &mut maps);
    maps.counts
}

/// Both maps. A row of the windows is four rows: the smallest label and the largest one, mirrored so that
/// it is the smallest too, in the truth and in the prediction.
struct Maps<'a, T> {
    truth: &'a [T],
    pred: &'a [T],
    width: usize,
    height: usize,
    reach: usize,
    padded: Vec<T>,
    spare: Vec<T>,
    truth_band: Vec<T>,
    pred_band: Vec<T>,
    counts: Vec<BandCounts>,
}

/// The label as far from the largest one as this one is from the smallest.
#[inline(always)]
fn mirrored<T: ClassId>(label: T) -> T {
    T::new(T::VOID.index() - label.index())
}

/// What a map holds at a pixel that may not be scored.
#[inline(always)]
fn scored<T: ClassId>(truth: T, label: T) -> T {
    if truth == T::VOID { T::VOID } else { label }
}

impl<T: ClassId> Maps<'_, T> {
    /// Writes the smallest label within reach along a row, for each of its pixels.
    #[inline(always)]
    fn gather(&mut self, truth: &[T], row: &[T], key: impl Fn(T) -> T, smallest: &mut [T]) {
        let frame = T::new(0);
        let inside = self.reach..self.reach + self.width;
        self.padded[..inside.start].fill(frame);
        self.padded[inside.end..].fill(frame);
        for ((padded, &truth), &label) in self.padded[inside].iter_mut().zip(truth).zip(row) {
            let label = scored(truth, label);
            *padded = if label == T::VOID { T::VOID } else { key(label) };
        }
        join_along::<T, Smaller>(&mut self.padded, &mut self.spare, 2 * self.reach + 1, smallest);
    }

    fn count(&mut self) {
        for (truth, pred) in self.truth_band.iter().zip(&self.pred_band) {
            self.counts[truth.index()].truth += 1;
            self.counts[pred.index()].pred += 1;
            self.counts[truth.index()].both += u64::from(truth == pred);
        }
    }
}

/// Writes the labels of a row where they lie in a band, void elsewhere.
#[inline(always)]
fn keep_band<T: ClassId>(truth: &[T], row: &[T], smallest: &[T], largest: &[T], band: &mut [T]) {
    let windows = smallest.iter().zip(largest);
    for (((band, &truth), &label), (&smallest, &largest)) in band.iter_mut().zip(truth).zip(row).zip(windows)
    {
        let inside = smallest == label && largest == mirrored(label);
        *band = if inside { T::VOID } else { scored(truth, label) };
    }
}

impl<T: ClassId> Rows<T> for Maps<'_, T> {
    #[inline(always)]
    fn load(&mut self, y: usize, row: &mut [T]) {
        if y == 0 || y > self.height {
            row.fill(T::new(0));
            return;
        }
        let pixels = (y - 1) * self.width..y * self.width;
        let (truth, pred) = (&self.truth[pixels.clone()], &self.pred[pixels]);
        let (of_truth, of_pred) = row.split_at_mut(2 * self.width);
        for (labels, row) in [(truth, of_truth), (pred, of_pred)] {
            let (smallest, largest) = row.split_at_mut(self.width);
            self.gather(truth, labels, |label| label, smallest);
            self.gather(truth, labels, mirrored, largest);
        }
    }

    #[inline(always)]
    fn take(&mut self, y: usize, joined: &[T]) {
        if y == 0 || y > self.height {
            return;
        }
        let pixels = (y - 1) * self.width..y * self.width;
        let (truth, pred) = (&self.truth[pixels.clone()], &self.pred[pixels]);
        let (of_truth, of_pred) = joined.split_at(2 * self.width);
        let (smallest, largest) = of_truth.split_at(self.width);
        keep_band(truth, truth, smallest, largest, &mut self.truth_band);
        let (smallest, largest) = of_pred.split_at(self.width);
        keep_band(truth, pred, smallest, largest, &mut self.pred_band);
        self.count();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::segmentation::boundary::random_maps::{Maps, maps};

    fn fast(maps: &Maps, distance: u32) -> BTreeMap<u32, BandCounts> {
        inner_band(&maps.truth, &maps.pred, maps.width, maps.height, distance, &maps.rules)
    }

    fn slow(maps: &Maps, distance: u32) -> BTreeMap<u32, BandCounts> {
        let distance = distance as usize;
        let (width, height) = (maps.width, maps.height);
        let band_at = |map: &[u8], x: usize, y: usize| -> Option<u32> {
            let label = map[y * width + x];
            let at_edge = x < distance || y < distance || x + distance >= width || y + distance >= height;
            let mut window = maps.window(x, y, distance);
            let in_band = at_edge || window.any(|(u, v)| maps.scored(u, v) && map[v * width + u] != label);
            maps.foreground(label).filter(|_| in_band)
        };
        let mut counts = BTreeMap::<u32, BandCounts>::new();
        for (x, y) in maps.pixels().filter(|&(x, y)| maps.scored(x, y)) {
            let (truth, pred) = (band_at(&maps.truth, x, y), band_at(&maps.pred, x, y));
            truth.iter().for_each(|&class| counts.entry(class).or_default().truth += 1);
            pred.iter().for_each(|&class| counts.entry(class).or_default().pred += 1);
            truth
                .iter()
                .filter(|_| truth == pred)
                .for_each(|&class| counts.entry(class).or_default().both += 1);
        }
        counts
    }

    proptest! {
        #[test]
        fn bands_are_those_of_the_definition(maps in maps(1..30, 1..30), distance in 1u32..50) {
            prop_assert_eq!(fast(&maps, distance), slow(&maps, distance));
        }

        #[test]
        fn bands_of_small_distances_are_those_of_the_definition(maps in maps(9..60, 9..60), distance in 1u32..5) {
            prop_assert_eq!(fast(&maps, distance), slow(&maps, distance));
        }

        #[test]
        fn labels_of_two_bytes_have_the_same_bands(maps in maps(1..30, 1..30), distance in 1u32..9) {
            let (truth, pred) = maps.widened();
            let wide = inner_band(&truth, &pred, maps.width, maps.height, distance, &maps.rules);
            prop_assert_eq!(wide, fast(&maps, distance));
        }

        #[test]
        fn every_instruction_set_counts_the_same(maps in maps(1..200, 1..30), distance in 1usize..9) {
            let vector = compare(&maps.truth, &maps.pred, maps.width, maps.height, distance);
            let plain = compare_maps(&maps.truth, &maps.pred, maps.width, maps.height, distance);
            prop_assert_eq!(vector, plain);
        }
    }

    #[test]
    fn the_edge_of_the_image_makes_a_band() {
        let maps = Maps::drawn(1, "00000 00000 00000 00000 00000", "00000 00000 00000 00000 00000");
        let edge = |pixels| BTreeMap::from([(0, BandCounts { both: pixels, truth: pixels, pred: pixels })]);
        assert_eq!(fast(&maps, 1), edge(16));
        assert_eq!(fast(&maps, 2), edge(24));
        assert_eq!(fast(&maps, 3), edge(25));
    }

    #[test]
    fn one_other_pixel_makes_a_band_as_wide_as_the_distance() {
        let (side, middle) = (101, 50 * 101 + 50);
        let mut truth = vec![0u8; side * side];
        truth[middle] = 1;
        let rules = BandRules { classes: 1, background: None, keep_void: false, skip_absent: false };
        for distance in 1..60 {
            let away_from_edge = side.saturating_sub(2 * distance);
            let near_middle = (2 * distance + 1).min(away_from_edge);
            let band = (side.pow(2) - away_from_edge.pow(2) + near_middle.pow(2) - 1) as u64;
            let counts = inner_band(&truth, &truth, side, side, distance as u32, &rules);
            assert_eq!(counts[&0], BandCounts { both: band, truth: band, pred: band }, "{distance}");
        }
    }

    #[test]
    fn void_pixels_make_no_band() {
        let maps = Maps::drawn(1, "00000 00000 00.00 00000 00000", "00000 00000 00.00 00000 00000");
        assert_eq!(fast(&maps, 1), BTreeMap::from([(0, BandCounts { both: 16, truth: 16, pred: 16 })]));
    }

    #[test]
    fn a_pixel_without_prediction_makes_a_band_and_has_none() {
        let maps = Maps::drawn(1, "00000 00000 00000 00000 00000", "00000 00000 00-00 00000 00000");
        assert_eq!(fast(&maps, 1), BTreeMap::from([(0, BandCounts { both: 16, truth: 16, pred: 24 })]));
    }
}
