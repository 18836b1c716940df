//! The contours of every class, matched within a radius.

use std::collections::BTreeMap;

use calipers_core::stop::Turns;
use multiversion::multiversion;

use crate::segmentation::boundary::BandRules;
use crate::segmentation::boundary::pixel_set::{Pixel, PixelSet};
use crate::segmentation::labels::ClassId;
use crate::segmentation::row::ContourCounts;

/// Matches the contours of `truth` and `pred`, for every class where one of them has any.
///
/// The contour of a class are its scored pixels with a scored pixel of another label above, below, left or
/// right. A pixel without prediction is of another label than every class. A contour pixel is matched
/// when the other map has one of the same class at dx² + dy² <= `radius_squared`. Of the rules only the
/// classes and the background matter: void is never scored.
pub fn contours<T: ClassId>(
    truth: &[T],
    pred: &[T],
    width: usize,
    height: usize,
    radius_squared: f64,
    rules: &BandRules,
) -> BTreeMap<u32, ContourCounts> {
    let truth_contours = find(truth, truth, width, rules);
    let pred_contours = find(truth, pred, width, rules);
    let mut matcher = Matcher::new(radius_squared, width, height);
    let mut counts = BTreeMap::new();
    for (class, (truth, pred)) in truth_contours.iter().zip(&pred_contours).enumerate() {
        if truth.is_empty() && pred.is_empty() {
            continue;
        }
        let matched = ContourCounts {
            pred_matched: matcher.matched(pred, truth),
            pred: pred.len() as u64,
            truth_matched: matcher.matched(truth, pred),
            truth: truth.len() as u64,
        };
        counts.insert(class as u32, matched);
    }
    counts
}

/// The contours of a map, by class.
fn find<T: ClassId>(truth: &[T], map: &[T], width: usize, rules: &BandRules) -> Vec<Vec<Pixel>> {
    let scored: Vec<T> = truth
        .iter()
        .zip(map)
        .map(|(&truth, &label)| if truth == T::VOID { T::VOID } else { label })
        .collect();
    let rows: Vec<&[T]> = scored.chunks_exact(width.max(1)).collect();
    let mut on_contour = vec![false; width];
    let mut contours = vec![Vec::new(); rules.classes];
    for (y, &row) in rows.iter().enumerate() {
        let above = rows[y.saturating_sub(1)];
        let below = rows[(y + 1).min(rows.len() - 1)];
        mark(row, above, below, &mut on_contour);
        for (x, _) in on_contour.iter().enumerate().filter(|&(_, &on_contour)| on_contour) {
            let class = row[x].index();
            if class < rules.classes && Some(class) != rules.background {
                contours[class].push(Pixel { x: x as u32, y: y as u32 });
            }
        }
    }
    contours
}

/// Marks the pixels of a row with a scored neighbour of another label. A row at the edge of the image is
/// its own neighbour.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn mark<T: ClassId>(row: &[T], above: &[T], below: &[T], on_contour: &mut [bool]) {
    on_contour.fill(false);
    mark_other(row, above, on_contour);
    mark_other(row, below, on_contour);
    mark_other(&row[1..], row, &mut on_contour[1..]);
    mark_other(row, &row[1..], on_contour);
}

#[inline(always)]
fn mark_other<T: ClassId>(row: &[T], neighbours: &[T], on_contour: &mut [bool]) {
    for ((on_contour, &label), &neighbour) in on_contour.iter_mut().zip(row).zip(neighbours) {
        *on_contour |= (neighbour != label) & (neighbour != T::VOID);
    }
}

/// Finds contour pixels with another contour nearby.
struct Matcher {
    /// The columns to both sides that lie within the radius, by the distance of their row.
    half_widths: Vec<usize>,
    width: usize,
    height: usize,
    others: PixelSet,
}

impl Matcher {
    fn new(radius_squared: f64, width: usize, height: usize) -> Self {
        // Squared distances are whole numbers, so that only the whole part of the radius matters.
        let limit = (radius_squared as u64).min((width * width + height * height) as u64);
        let rows = 0..=(limit.isqrt().min(height as u64));
        let half_widths = rows.map(|dy| (limit - dy * dy).isqrt() as usize).collect();
        Self { half_widths, width, height, others: PixelSet::new(width, height) }
    }

    /// How many of the pixels have one of the others within the radius.
    fn matched(&mut self, pixels: &[Pixel], others: &[Pixel]) -> u64 {
        if pixels.is_empty() || others.is_empty() {
            return 0;
        }
        self.others.insert(others);
        let mut turns = Turns::every(1024);
        let wanted = pixels.iter().take_while(|_| !turns.asked());
        let matched = wanted.filter(|&&pixel| self.has_other_near(pixel)).count();
        self.others.remove(others);
        matched as u64
    }

    fn has_other_near(&self, pixel: Pixel) -> bool {
        let (x, y) = (pixel.x as usize, pixel.y as usize);
        self.half_widths.iter().enumerate().any(|(dy, half_width)| {
            let columns = x.saturating_sub(*half_width)..=(x + half_width).min(self.width - 1);
            y >= dy && self.others.any(y - dy, columns.clone())
                || y + dy < self.height && self.others.any(y + dy, columns)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::segmentation::boundary::random_maps::{Maps, maps};

    fn fast(maps: &Maps, radius_squared: f64) -> BTreeMap<u32, ContourCounts> {
        contours(&maps.truth, &maps.pred, maps.width, maps.height, radius_squared, &maps.rules)
    }

    type Points = BTreeSet<(i64, i64)>;

    fn slow_contours(maps: &Maps, map: &[u8]) -> BTreeMap<u32, Points> {
        let mut contours = BTreeMap::<u32, Points>::new();
        for (x, y) in maps.pixels().filter(|&(x, y)| maps.scored(x, y)) {
            let label = map[y * maps.width + x];
            let mut neighbours = maps.window(x, y, 1).filter(|&(u, v)| u == x || v == y);
            let differs = |(u, v)| maps.scored(u, v) && map[v * maps.width + u] != label;
            if let Some(class) = maps.foreground(label).filter(|_| neighbours.any(differs)) {
                contours.entry(class).or_default().insert((x as i64, y as i64));
            }
        }
        contours
    }

    fn slow(maps: &Maps, radius_squared: f64) -> BTreeMap<u32, ContourCounts> {
        let truths = slow_contours(maps, &maps.truth);
        let preds = slow_contours(maps, &maps.pred);
        let near = |a: &(i64, i64), b: &(i64, i64)| {
            ((a.0 - b.0).pow(2) + (a.1 - b.1).pow(2)) as f64 <= radius_squared
        };
        let matched = |points: &Points, others: &Points| {
            points.iter().filter(|point| others.iter().any(|other| near(point, other))).count() as u64
        };
        let classes: BTreeSet<u32> = truths.keys().chain(preds.keys()).copied().collect();
        let none = Points::new();
        let counts = |class| {
            let truth = truths.get(&class).unwrap_or(&none);
            let pred = preds.get(&class).unwrap_or(&none);
            ContourCounts {
                pred_matched: matched(pred, truth),
                pred: pred.len() as u64,
                truth_matched: matched(truth, pred),
                truth: truth.len() as u64,
            }
        };
        classes.into_iter().map(|class| (class, counts(class))).collect()
    }

    proptest! {
        #[test]
        fn matches_are_those_of_the_definition(
            maps in maps(1..30, 1..30),
            radius_squared in prop_oneof![Just(0.0), 0.0..9.0, 0.0..1000.0],
        ) {
            prop_assert_eq!(fast(&maps, radius_squared), slow(&maps, radius_squared));
        }

        #[test]
        fn long_rows_match_as_the_definition_says(maps in maps(60..200, 1..4), radius in 0u32..150) {
            let radius_squared = f64::from(radius * radius);
            prop_assert_eq!(fast(&maps, radius_squared), slow(&maps, radius_squared));
        }

        #[test]
        fn labels_of_two_bytes_have_the_same_contours(maps in maps(1..30, 1..30), radius_squared in 0.0..20.0) {
            let (truth, pred) = maps.widened();
            let wide = contours(&truth, &pred, maps.width, maps.height, radius_squared, &maps.rules);
            prop_assert_eq!(wide, fast(&maps, radius_squared));
        }
    }

    #[test]
    fn the_radius_itself_matches_and_less_does_not() {
        let maps = Maps::drawn(2, "0011111", "0000011");
        let moved =
            |matched| ContourCounts { pred_matched: matched, pred: 1, truth_matched: matched, truth: 1 };
        assert_eq!(fast(&maps, 9.0), BTreeMap::from([(0, moved(1)), (1, moved(1))]));
        assert_eq!(fast(&maps, 9.0f64.next_down()), BTreeMap::from([(0, moved(0)), (1, moved(0))]));
    }

    #[test]
    fn neither_void_nor_the_edge_of_the_image_makes_a_contour() {
        let maps = Maps::drawn(2, "00.11 00.11", "00.11 00.11");
        assert_eq!(fast(&maps, 1.0), BTreeMap::new());
    }

    #[test]
    fn a_pixel_without_prediction_makes_a_contour_and_has_none() {
        let maps = Maps::drawn(1, "000", "00-");
        let counts = ContourCounts { pred_matched: 0, pred: 1, truth_matched: 0, truth: 0 };
        assert_eq!(fast(&maps, 1.0), BTreeMap::from([(0, counts)]));
    }

    #[test]
    fn an_endless_radius_matches_everything() {
        let maps = Maps::drawn(2, "0111111111", "1111111110");
        let counts = ContourCounts { pred_matched: 1, pred: 1, truth_matched: 1, truth: 1 };
        assert_eq!(fast(&maps, f64::INFINITY), BTreeMap::from([(0, counts), (1, counts)]));
    }

    #[test]
    fn an_image_without_pixels_has_no_contours() {
        let rules = Maps::drawn(1, "0", "0").rules;
        assert_eq!(contours::<u8>(&[], &[], 0, 0, 1.0, &rules), BTreeMap::new());
    }
}
