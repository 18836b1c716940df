//! A set of pixels that tells quickly whether any of it lies on a stretch of a row.

use std::ops::RangeInclusive;

/// A pixel by column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pixel {
    pub(super) x: u32,
    pub(super) y: u32,
}

/// A set of pixels of an image, a bit a pixel.
#[derive(Clone, Debug)]
pub(super) struct PixelSet {
    words: Vec<u64>,
    words_per_row: usize,
}

impl PixelSet {
    /// The empty set.
    pub(super) fn new(width: usize, height: usize) -> Self {
        let words_per_row = width.div_ceil(64);
        Self { words: vec![0; words_per_row * height], words_per_row }
    }

    /// Adds pixels.
    pub(super) fn insert(&mut self, pixels: &[Pixel]) {
        for &pixel in pixels {
            *self.word(pixel) |= 1 << (pixel.x % 64);
        }
    }

    /// Takes pixels out.
    pub(super) fn remove(&mut self, pixels: &[Pixel]) {
        for &pixel in pixels {
            *self.word(pixel) &= !(1 << (pixel.x % 64));
        }
    }

    fn word(&mut self, pixel: Pixel) -> &mut u64 {
        &mut self.words[pixel.y as usize * self.words_per_row + pixel.x as usize / 64]
    }

    /// Whether any pixel of these columns of row y is in the set.
    #[inline]
    pub(super) fn any(&self, y: usize, columns: RangeInclusive<usize>) -> bool {
        let row = &self.words[y * self.words_per_row..][..self.words_per_row];
        let (first, last) = (columns.start() / 64, columns.end() / 64);
        let from_start = u64::MAX << (columns.start() % 64);
        let to_end = u64::MAX >> (63 - columns.end() % 64);
        if first == last {
            row[first] & from_start & to_end != 0
        } else {
            row[first] & from_start != 0
                || row[last] & to_end != 0
                || row[first + 1..last].iter().any(|&word| word != 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stretch_has_a_pixel_when_one_of_its_columns_does(
            (width, height, pixels, y, ends) in (1usize..300, 1usize..5).prop_flat_map(|(width, height)| {
                let pixel = (0..width as u32, 0..height as u32).prop_map(|(x, y)| Pixel { x, y });
                let pixels = prop::collection::vec(pixel, 0..6);
                (Just(width), Just(height), pixels, 0..height, (0..width, 0..width))
            }),
        ) {
            let (start, end) = (ends.0.min(ends.1), ends.0.max(ends.1));
            let slow = pixels.iter().any(|p| p.y as usize == y && (start..=end).contains(&(p.x as usize)));
            let mut set = PixelSet::new(width, height);
            set.insert(&pixels);
            prop_assert_eq!(set.any(y, start..=end), slow);
            set.remove(&pixels);
            prop_assert!(!set.any(y, 0..=width - 1));
        }
    }
}
