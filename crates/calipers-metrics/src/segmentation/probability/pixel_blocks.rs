//! The pixels of an image that are read, some at a time.

use crate::segmentation::labels::ClassId;
use crate::segmentation::probability::block::LANES;

/// Hands out pixels in ascending order.
pub(super) enum PixelBlocks<'a, T> {
    /// Those of a list, from a place on.
    Listed(Vec<usize>, usize),
    /// Those whose truth is a class, from a pixel on; all of them, if void ones are read too.
    Scored { truth: &'a [T], everywhere: bool, next: usize },
}

impl<T: ClassId> PixelBlocks<'_, T> {
    /// Puts up to [`LANES`] pixels into the block, none at the end.
    pub(super) fn fill(&mut self, block: &mut Vec<usize>) {
        block.clear();
        match self {
            Self::Listed(pixels, next) => {
                let end = pixels.len().min(*next + LANES);
                block.extend_from_slice(&pixels[*next..end]);
                *next = end;
            }
            Self::Scored { truth, everywhere, next } => {
                while block.len() < LANES && *next < truth.len() {
                    let end = truth.len().min(*next + LANES - block.len());
                    let some = &truth[*next..end];
                    // One look at all of them: most pixels of most images are scored.
                    if *everywhere || some.iter().fold(true, |all, class| all & (*class != T::VOID)) {
                        block.extend(*next..end);
                    } else {
                        block.extend((*next..end).filter(|&pixel| truth[pixel] != T::VOID));
                    }
                    *next = end;
                }
            }
        }
    }
}

/// Writes a value for each pixel of a block into a map.
pub(super) fn write<T>(map: &mut [T], block: &[usize], values: &[usize; LANES], value: impl Fn(usize) -> T) {
    let Some(&first) = block.first() else { return };
    let neighbours = block.last().is_some_and(|last| last - first + 1 == block.len());
    match map.get_mut(first..first + block.len()) {
        Some(places) if neighbours => {
            places.iter_mut().zip(values).for_each(|(place, &number)| *place = value(number));
        }
        _ => block.iter().zip(values).for_each(|(&pixel, &number)| map[pixel] = value(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut blocks: PixelBlocks<'_, u8>) -> Vec<usize> {
        let (mut block, mut pixels) = (Vec::new(), Vec::new());
        loop {
            blocks.fill(&mut block);
            assert!(block.len() <= LANES);
            if block.is_empty() {
                return pixels;
            }
            pixels.extend_from_slice(&block);
        }
    }

    #[test]
    fn every_scored_pixel_is_handed_out_once_and_in_order() {
        let mut random = calipers_core::SplitMix64::new(1);
        for (length, void) in [(0, 0), (1, 0), (1, 100), (64, 0), (65, 0), (500, 10), (500, 90), (500, 100)] {
            let truth: Vec<u8> =
                (0..length).map(|_| if random.below(100) < void { u8::VOID } else { 3 }).collect();
            let scored: Vec<usize> = (0..truth.len()).filter(|&pixel| truth[pixel] != u8::VOID).collect();
            let blocks = |everywhere| PixelBlocks::Scored { truth: &truth, everywhere, next: 0 };
            assert_eq!(all(blocks(false)), scored);
            assert_eq!(all(blocks(true)), (0..truth.len()).collect::<Vec<_>>());
            assert_eq!(all(PixelBlocks::Listed(scored.clone(), 0)), scored);
        }
    }

    #[test]
    fn values_go_to_their_pixels_whether_these_are_neighbours_or_not() {
        let values = std::array::from_fn(|lane| lane + 1);
        for block in [&[2, 3, 4][..], &[0, 2, 5], &[5], &[]] {
            let mut map = [0; 6];
            write(&mut map, block, &values, |number| number);
            let expected =
                std::array::from_fn(|pixel| block.iter().position(|p| *p == pixel).map_or(0, |at| at + 1));
            assert_eq!(map, expected);
        }
    }
}
