//! The outer band of every class: the scored pixels around it that are not it.
//!
//! The image is cut into tiles. Most of a label map is flat: where a tile and its surroundings hold one label in both
//! maps there is no band to look for. Elsewhere every class that occurs is made a mask of bits in each map, dilated,
//! and counted, 8 pixels per byte.

use std::collections::BTreeMap;
use std::ops::Range;

use calipers_core::stop::Turns;
use multiversion::multiversion;

use crate::segmentation::boundary::BandRules;
use crate::segmentation::boundary::tile::{Frame, LANES, Mask, ROWS, count, dilate};
use crate::segmentation::labels::ClassId;
use crate::segmentation::row::BandCounts;

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
    let counts = compare(truth, pred, width, height, thickness as usize, rules);
    let counted = (0u32..).zip(counts).filter(|(_, counts)| *counts != BandCounts::default());
    counted.collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn compare<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    thickness: usize,
    rules: &BandRules,
) -> Vec<BandCounts> {
    compare_tiles(truth, pred, width, height, thickness, rules)
}

#[inline(always)]
fn compare_tiles<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    thickness: usize,
    rules: &BandRules,
) -> Vec<BandCounts> {
    let mut counts = vec![BandCounts::default(); rules.classes];
    if truth.is_empty() {
        return counts;
    }
    let has_band = classes_with_bands(truth, rules);
    let maps = Maps { truth, pred, width };
    let tiling = Tiling::new(width, height, thickness);
    let mut tile = Tile::new(&tiling.frame);
    let mut turns = Turns::every(4);
    for top in (0..height).step_by(tiling.rows) {
        if turns.asked() {
            break;
        }
        for left in (0..width).step_by(tiling.columns) {
            let place = tiling.place(left, top, width, height);
            if !maps.is_flat(&place) {
                tile.load(&maps, &place, rules.keep_void);
                tile.compare(&has_band, &mut counts);
            }
        }
    }
    counts
}

/// Whether each class has bands: not the background, nor a class that the truth lacks where such are skipped.
fn classes_with_bands<T: ClassId>(truth: &[T], rules: &BandRules) -> Vec<bool> {
    let mut has_band = vec![!rules.skip_absent; rules.classes];
    if rules.skip_absent {
        for label in truth {
            if let Some(seen) = has_band.get_mut(label.index()) {
                *seen = true;
            }
        }
    }
    if let Some(background) = rules.background.and_then(|class| has_band.get_mut(class)) {
        *background = false;
    }
    has_band
}

/// Both maps of an image.
struct Maps<'a, T> {
    truth: &'a [T],
    pred: &'a [T],
    width: usize,
}

impl<T: ClassId> Maps<'_, T> {
    /// Whether a tile and its surroundings hold one label in each map.
    #[inline(always)]
    fn is_flat(&self, place: &Place) -> bool {
        let one_label = |map: &[T]| {
            let first = map[place.near_rows.start * self.width + place.near_columns.start];
            // Without leaving a row early, which would be slower.
            let is_other = |any: bool, label: &T| any | (*label != first);
            place.near_rows.clone().all(|y| {
                let row = &map[y * self.width..][place.near_columns.clone()];
                !row.iter().fold(false, is_other)
            })
        };
        one_label(self.truth) && one_label(self.pred)
    }
}

/// How an image is cut.
struct Tiling {
    frame: Frame,
    /// Columns of a tile, without its surroundings.
    columns: usize,
    rows: usize,
}

/// A tile, and the part of the image that its bands depend on.
struct Place {
    columns: Range<usize>,
    rows: Range<usize>,
    near_columns: Range<usize>,
    near_rows: Range<usize>,
}

impl Tiling {
    /// The masks of one tile stay in the cache, and most of what they hold is the tile itself. For thick bands they
    /// grow, at most to the size of the image.
    fn new(width: usize, height: usize, thickness: usize) -> Self {
        const COLUMNS: usize = 128;
        const GROUPS: usize = 8;
        let (across, down) = (thickness.min(width - 1), thickness.min(height - 1));
        let groups = height.div_ceil(ROWS).min(GROUPS.max(down));
        let stride = (width + across).min(COLUMNS.max(12 * across)).next_multiple_of(LANES);
        // A tile with surroundings on both sides, and columns that are no pixels.
        let columns = if width + across <= stride { width } else { stride - 3 * across };
        let rows = if height <= groups * ROWS { height } else { groups * ROWS - 2 * down };
        Self { frame: Frame { stride, groups, across, down }, columns, rows }
    }

    fn place(&self, left: usize, top: usize, width: usize, height: usize) -> Place {
        let columns = left..width.min(left + self.columns);
        let rows = top..height.min(top + self.rows);
        let Frame { across, down, .. } = self.frame;
        Place {
            near_columns: left.saturating_sub(across)..width.min(columns.end + across),
            near_rows: top.saturating_sub(down)..height.min(rows.end + down),
            columns,
            rows,
        }
    }
}

/// One map of a tile.
struct Side<T> {
    /// The labels, row by row, void beside the pixels.
    labels: Vec<T>,
    /// The pixels whose label has not been looked at.
    pending: Mask,
    /// The pixels of one class, and what is within reach of them.
    own: Mask,
    wide: Mask,
}

impl<T: ClassId> Side<T> {
    fn new(frame: &Frame) -> Self {
        let labels = vec![T::VOID; frame.groups * ROWS * frame.stride];
        Self { labels, pending: frame.empty(), own: frame.empty(), wide: frame.empty() }
    }

    #[inline(always)]
    fn load(&mut self, map: &[T], width: usize, place: &Place, stride: usize) {
        let rows = self.labels.chunks_exact_mut(stride);
        for (row, y) in rows.zip(place.near_rows.clone()) {
            let pixels = &map[y * width..][place.near_columns.clone()];
            row[..pixels.len()].copy_from_slice(pixels);
        }
    }

    /// Finds the pixels of a label and, where it has a band, those within reach of them.
    #[inline(always)]
    fn look(&mut self, label: T, has_band: bool, scored: &Mask, frame: &Frame, spare: &mut Mask) {
        self.own.mark(&self.labels, frame.stride, scored, |at| at == label);
        self.pending.remove(&self.own);
        if has_band {
            dilate(&self.own, frame, &mut self.wide, spare);
        }
    }
}

/// What bands are counted with, used again for every tile.
struct Tile<T> {
    frame: Frame,
    truth: Side<T>,
    pred: Side<T>,
    scored: Mask,
    /// The scored pixels of the tile itself.
    counted: Mask,
    spare: Mask,
}

impl<T: ClassId> Tile<T> {
    fn new(frame: &Frame) -> Self {
        let [scored, counted, spare] = [(); 3].map(|()| frame.empty());
        Self { frame: *frame, truth: Side::new(frame), pred: Side::new(frame), scored, counted, spare }
    }

    #[inline(always)]
    fn load(&mut self, maps: &Maps<'_, T>, place: &Place, keep_void: bool) {
        let stride = self.frame.stride;
        self.truth.load(maps.truth, maps.width, place, stride);
        self.pred.load(maps.pred, maps.width, place, stride);
        self.scored.fill(stride, 0..place.near_columns.len(), 0..place.near_rows.len());
        if !keep_void {
            self.truth.own.mark(&self.truth.labels, stride, &self.scored, |label| label == T::VOID);
            self.scored.remove(&self.truth.own);
        }
        let within =
            |part: &Range<usize>, near: &Range<usize>| part.start - near.start..part.end - near.start;
        let columns = within(&place.columns, &place.near_columns);
        self.counted.fill(stride, columns, within(&place.rows, &place.near_rows));
        self.counted.keep(&self.scored);
        self.truth.pending.copy(&self.scored);
        self.pred.pending.copy(&self.scored);
    }

    #[inline(always)]
    fn compare(&mut self, has_band: &[bool], counts: &mut [BandCounts]) {
        let Self { frame, truth, pred, scored, counted, spare } = self;
        let (mut of_truth, mut of_pred) = (0, 0);
        loop {
            let next = truth.pending.first(frame.stride, &mut of_truth).map(|place| (&truth.labels, place));
            let next = next.or_else(|| Some((&pred.labels, pred.pending.first(frame.stride, &mut of_pred)?)));
            let Some((labels, (x, y))) = next else { break };
            let label = labels[y * frame.stride + x];
            let has_band = has_band.get(label.index()).is_some_and(|has_band| *has_band);
            truth.look(label, has_band, scored, frame, spare);
            pred.look(label, has_band, scored, frame, spare);
            if has_band {
                let [both, in_truth, in_pred] =
                    count([&truth.wide, &truth.own], [&pred.wide, &pred.own], counted);
                let counts = &mut counts[label.index()];
                counts.both += both;
                counts.truth += in_truth;
                counts.pred += in_pred;
            }
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
        fn narrow_maps_of_many_tiles_have_the_bands_of_the_definition(
            maps in prop_oneof![maps(500..1100, 1..4), maps(1..4, 200..500)],
            thickness in 1u32..20,
        ) {
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
            let Maps { truth, pred, width, height, rules } = &maps;
            let plain = compare_tiles(truth, pred, *width, *height, thickness, rules);
            prop_assert_eq!(compare(truth, pred, *width, *height, thickness, rules), plain);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn flat_tiles_and_their_neighbours_have_the_bands_of_the_definition(
            maps in maps(100..300, 50..150),
            thickness in prop_oneof![1u32..4, Just(9u32)],
        ) {
            prop_assert_eq!(fast(&maps, thickness), slow(&maps, thickness));
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
        let (width, height) = (1024, 101);
        let mut truth = vec![0u8; width * height];
        truth[50 * width + 512] = 1;
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
