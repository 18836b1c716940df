//! Panels of pixels: classes as colours, what went wrong, and the bands along boundaries.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use calipers_metrics::segmentation::labels::ClassMaps;
use calipers_report::chart::{Colour, Image};

use super::class_colours::ClassColours;
use super::photo::Photo;

/// The most classes that a legend names.
const MOST_NAMED: usize = 20;
/// The longest side of a panel.
const LONGEST: usize = 480;
const VOID: [u8; 3] = [236, 238, 242];
const NOTHING: [u8; 3] = [32, 34, 40];
const WRONG: [u8; 3] = [214, 39, 60];
const TRUTH_BAND: [u8; 3] = [39, 99, 176];
const PRED_BAND: [u8; 3] = [224, 86, 47];
/// Distances from small to large: darker and redder.
const STEPS: [[u8; 3]; 4] = [[60, 66, 78], [233, 170, 24], [224, 86, 47], [150, 12, 60]];
const BOTH_BANDS: [u8; 3] = [60, 66, 78];

/// An image in colours, one for each pixel.
pub(super) struct Painting {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// The classes of a map.
pub(super) fn classes(maps: &ClassMaps, map: &[Option<u16>], colours: &ClassColours) -> Painting {
    let colour = |(class, truth): (&Option<u16>, &Option<u16>)| match (class, truth) {
        (Some(class), _) => colours.of(usize::from(*class)),
        (None, Some(_)) => NOTHING,
        (None, None) => VOID,
    };
    painted(maps, map.iter().zip(&maps.truth).map(colour).collect())
}

/// Wrong pixels over pale classes.
pub(super) fn errors(maps: &ClassMaps, colours: &ClassColours) -> Painting {
    let colour = |(truth, pred): (&Option<u16>, &Option<u16>)| match (truth, pred) {
        (None, _) => VOID,
        (Some(truth), Some(pred)) if truth == pred => pale(colours.of(usize::from(*truth))),
        (Some(_), Some(_)) => WRONG,
        (Some(_), None) => NOTHING,
    };
    painted(maps, maps.truth.iter().zip(&maps.prediction).map(colour).collect())
}

/// The surface of a class over pale classes, its elements in the colour of their distance.
pub(super) fn surface(
    maps: &ClassMaps,
    elements: &[(usize, f64)],
    largest: f64,
    colours: &ClassColours,
) -> Painting {
    let below = |truth: &Option<u16>| truth.map_or(VOID, |class| pale(colours.of(usize::from(class))));
    let mut pixels: Vec<[u8; 3]> = maps.truth.iter().map(below).collect();
    for (at, distance) in elements {
        if let Some(pixel) = pixels.get_mut(*at) {
            *pixel = STEPS[step(*distance, largest)];
        }
    }
    painted(maps, pixels)
}

/// The step of a distance: quarters of the largest.
fn step(distance: f64, largest: f64) -> usize {
    let share = if largest > 0.0 { distance / largest } else { 0.0 };
    ((share * STEPS.len() as f64) as usize).min(STEPS.len() - 1)
}

/// What the colours of distances mean; the largest has three digits.
pub(super) fn legend_of_distances(largest: f64, unit: &str) -> Vec<(Colour, String)> {
    let decimals = (2.0 - largest.max(f64::MIN_POSITIVE).log10().floor()).clamp(0.0, 9.0) as usize;
    let end = |k: usize| format!("{:.decimals$}", largest * k as f64 / STEPS.len() as f64);
    let entry = |(k, colour): (usize, &[u8; 3])| {
        (Colour::Fixed(*colour), format!("{} to {} {unit}", end(k), end(k + 1)))
    };
    STEPS.iter().enumerate().map(entry).collect()
}

/// The outer bands of truth and prediction over pale classes.
pub(super) fn bands(
    maps: &ClassMaps,
    thickness: usize,
    background: Option<usize>,
    colours: &ClassColours,
) -> Painting {
    let foreground = |map: &[Option<u16>]| -> Vec<Option<u16>> {
        map.iter().map(|class| class.filter(|class| Some(usize::from(*class)) != background)).collect()
    };
    let band = |map: &[Option<u16>]| {
        let near = nearby(&foreground(map), maps.width, thickness);
        let own = map.iter().zip(near).zip(&maps.truth);
        own.map(|((own, near), truth)| {
            let other = near.is_some_and(|(low, high)| Some(low) != *own || Some(high) != *own);
            truth.is_some() && other
        })
        .collect::<Vec<bool>>()
    };
    let (truth, pred) = (band(&maps.truth), band(&maps.prediction));
    let colour = |i: usize| match (maps.truth[i], truth[i], pred[i]) {
        (None, _, _) => VOID,
        (_, true, true) => BOTH_BANDS,
        (_, true, false) => TRUTH_BAND,
        (_, false, true) => PRED_BAND,
        (Some(class), false, false) => pale(colours.of(usize::from(class))),
    };
    painted(maps, (0..maps.truth.len()).map(colour).collect())
}

fn painted(maps: &ClassMaps, pixels: Vec<[u8; 3]>) -> Painting {
    Painting { width: maps.width, height: maps.height, pixels }
}

fn pale(colour: [u8; 3]) -> [u8; 3] {
    colour.map(|value| (u16::from(value) / 4 + 178) as u8)
}

/// The smallest and the largest class at most `reach` columns and rows away from each pixel: a
/// class other than the pixel's own is near exactly if one of the two is.
fn nearby(map: &[Option<u16>], width: usize, reach: usize) -> Vec<Option<(u16, u16)>> {
    type Near = Option<(u16, u16)>;
    let join = |a: Near, b: Near| match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    };
    let own: Vec<Near> = map.iter().map(|class| class.map(|class| (class, class))).collect();
    let height = map.len() / width.max(1);
    let mut along: Vec<Near> = Vec::with_capacity(map.len());
    for row in own.chunks(width.max(1)) {
        along.extend((0..row.len()).map(|x| {
            let window = &row[x.saturating_sub(reach)..(x + reach + 1).min(row.len())];
            window.iter().copied().fold(None, join)
        }));
    }
    let mut both: Vec<Near> = Vec::with_capacity(map.len());
    for y in 0..height {
        let rows = y.saturating_sub(reach)..(y + reach + 1).min(height);
        both.extend((0..width).map(|x| rows.clone().map(|y| along[y * width + x]).fold(None, join)));
    }
    both
}

impl Painting {
    /// The painting laid over the photo of the same scene, which shows through.
    pub(super) fn over(mut self, photo: &Photo) -> Self {
        let (width, height) = (self.width, self.height);
        for (i, colour) in self.pixels.iter_mut().enumerate() {
            let below = photo.at([i % width, i / width], [width, height]);
            *colour =
                std::array::from_fn(|k| ((3 * u16::from(colour[k]) + 2 * u16::from(below[k])) / 5) as u8);
        }
        self
    }

    /// At most [`LONGEST`] pixels each way: of larger images every so many pixels.
    pub(super) fn image(&self) -> Image {
        let step = self.width.max(self.height).div_ceil(LONGEST).max(1);
        let rows = (0..self.height).step_by(step);
        let pixels =
            rows.flat_map(|y| (0..self.width).step_by(step).map(move |x| self.pixels[y * self.width + x]));
        let (width, height) = (self.width.div_ceil(step), self.height.div_ceil(step));
        Image { width, height, pixels: pixels.collect() }
    }
}

/// The colours of the classes that take up most of an image, in the order of the classes.
pub(super) fn legend_of_classes(
    maps: &ClassMaps,
    names: &[String],
    colours: &ClassColours,
) -> Vec<(Colour, String)> {
    let mut pixels: BTreeMap<u16, usize> = BTreeMap::new();
    for class in maps.truth.iter().chain(&maps.prediction).flatten() {
        *pixels.entry(*class).or_default() += 1;
    }
    let mut largest: Vec<(u16, usize)> = pixels.into_iter().collect();
    largest.sort_by_key(|(class, pixels)| (Reverse(*pixels), *class));
    largest.truncate(MOST_NAMED);
    largest.sort_unstable();
    let entry = |(class, _): (u16, usize)| {
        let class = usize::from(class);
        Some((Colour::Fixed(colours.of(class)), names.get(class)?.clone()))
    };
    largest.into_iter().filter_map(entry).collect()
}

/// What the colours of mistakes and bands mean.
pub(super) fn legend(thickness: usize) -> Vec<(Colour, String)> {
    [
        (WRONG, "wrong class".to_owned()),
        (NOTHING, "no prediction".into()),
        (VOID, "not scored".into()),
        (TRUTH_BAND, format!("band of {thickness} px: truth alone")),
        (PRED_BAND, "prediction alone".into()),
        (BOTH_BANDS, "both".into()),
    ]
    .map(|(colour, name)| (Colour::Fixed(colour), name))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::{Accumulator, SplitMix64};
    use calipers_metrics::segmentation::Segmentation;

    /// Every window looked at pixel by pixel.
    fn slow(map: &[Option<u16>], width: usize, reach: usize, at: usize) -> Option<(u16, u16)> {
        let (x, y) = (at % width, at / width);
        let near =
            (0..map.len()).filter(|i| (i % width).abs_diff(x) <= reach && (i / width).abs_diff(y) <= reach);
        let classes: Vec<u16> = near.filter_map(|i| map[i]).collect();
        Some((*classes.iter().min()?, *classes.iter().max()?))
    }

    #[test]
    fn windows_hold_what_a_look_at_every_pixel_finds() {
        let mut random = SplitMix64::new(3);
        let map: Vec<Option<u16>> =
            (0..63).map(|_| Some((random.unit() * 9.0) as u16).filter(|class| *class < 4)).collect();
        for reach in [0, 1, 2, 20] {
            for (i, found) in nearby(&map, 9, reach).into_iter().enumerate() {
                assert_eq!(found, slow(&map, 9, reach, i), "{reach} {i}");
            }
        }
    }

    #[test]
    fn a_legend_names_the_classes_that_take_up_most_of_an_image() {
        let maps = ClassMaps {
            width: 30,
            height: 2,
            truth: (0..60).map(|i| Some(if i < 30 { i } else { 29 })).collect(),
            prediction: vec![Some(2); 60],
        };
        let names: Vec<String> = (0..30).map(|i| format!("class {i}")).collect();
        let colours = ClassColours::new(&Accumulator::new(Segmentation::default()));
        let found = legend_of_classes(&maps, &names, &colours);
        assert_eq!(found.len(), MOST_NAMED);
        assert_eq!((found[0].1.as_str(), found[MOST_NAMED - 1].1.as_str()), ("class 0", "class 29"));
        assert_eq!(found[0].0, Colour::Fixed(colours.of(0)));
    }

    #[test]
    fn the_farthest_elements_have_the_last_colour() {
        let steps = [0.0, 0.9, 1.0, 2.5, 4.0].map(|distance| step(distance, 4.0));
        assert_eq!((steps, step(0.0, 0.0)), ([0, 0, 1, 2, 3], 0));
        assert_eq!(legend_of_distances(4.0, "pixels")[3].1, "3.00 to 4.00 pixels");
        assert_eq!(legend_of_distances(132.6, "pixels")[0].1, "0 to 33 pixels");
    }

    #[test]
    fn large_images_become_small_panels() {
        let pixels = (0..3000 * 1000).map(|i| [(i % 251) as u8, (i % 241) as u8, 0]).collect();
        let image = Painting { width: 3000, height: 1000, pixels }.image();
        assert!(image.width <= 480 && image.height <= 160, "{} {}", image.width, image.height);
        assert_eq!(image.pixels.len(), image.width * image.height);
    }

    #[test]
    fn a_photo_shows_through() {
        let photo = Photo { width: 1, height: 1, pixels: vec![[0, 100, 255]] };
        let painting = Painting { width: 2, height: 1, pixels: vec![[100, 100, 0]; 2] }.over(&photo);
        assert_eq!(painting.pixels, [[60, 100, 102]; 2]);
    }
}
