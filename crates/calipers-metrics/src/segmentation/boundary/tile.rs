//! A part of an image as masks of bits, and what outer bands need of them.
//!
//! A mask holds one bit per pixel. Its byte `group * stride + x` holds eight rows of column x, the upper one in the
//! lowest bit. A step to the side is a step to a neighbouring byte, a step down is a shift. Both are what vectors are
//! good at, without a pixel handled alone:
//!
//! ```text
//!            column   0    1    2  ..  stride - 1
//! rows 0 to 7        [b7..b0][..][..]            group 0
//! rows 8 to 15       [..][..][..]                group 1
//! ```
//!
//! What a mask is dilated by may not come from another group: the last columns of a group are no pixels, at least as
//! many as a dilation reaches. Before the first group and behind the last one there is a margin of zeros.

use std::ops::Range;

use crate::segmentation::labels::ClassId;

/// Columns that are handled at once: the stride is a multiple of it.
pub(super) const LANES: usize = 64;

/// Rows of a group.
pub(super) const ROWS: usize = u8::BITS as usize;

/// The size of a tile's masks, and how far dilations reach in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) stride: usize,
    pub(super) groups: usize,
    /// How far a dilation reaches to both sides.
    pub(super) across: usize,
    /// How far it reaches up and down.
    pub(super) down: usize,
}

impl Frame {
    fn margin(&self) -> usize {
        ((self.down / ROWS + 1) * self.stride).max(self.across)
    }

    fn bytes(&self) -> usize {
        self.groups * self.stride
    }

    /// A mask without a pixel.
    pub(super) fn empty(&self) -> Mask {
        let margin = self.margin();
        Mask { margin, bytes: vec![0; self.bytes() + 2 * margin] }
    }
}

/// A set of pixels of a tile.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    margin: usize,
    bytes: Vec<u8>,
}

impl Mask {
    fn inner(&self) -> Range<usize> {
        self.margin..self.bytes.len() - self.margin
    }

    #[inline(always)]
    pub(super) fn pixels(&self) -> &[u8] {
        &self.bytes[self.inner()]
    }

    #[inline(always)]
    pub(super) fn pixels_mut(&mut self) -> &mut [u8] {
        let inner = self.inner();
        &mut self.bytes[inner]
    }

    #[inline(always)]
    fn words(&self) -> &[[u8; 8]] {
        self.pixels().as_chunks().0
    }

    /// The bytes `back` before those of the pixels.
    #[inline(always)]
    fn shifted(&self, back: isize) -> &[u8] {
        let inner = self.inner();
        let start = inner.start.wrapping_add_signed(-back);
        &self.bytes[start..start + inner.len()]
    }

    pub(super) fn copy(&mut self, other: &Self) {
        self.pixels_mut().copy_from_slice(other.pixels());
    }

    /// Sets the pixels of these columns and rows alone.
    pub(super) fn fill(&mut self, stride: usize, columns: Range<usize>, rows: Range<usize>) {
        for (group, bytes) in self.pixels_mut().chunks_exact_mut(stride).enumerate() {
            let row = |bit: usize| u8::from(rows.contains(&(group * ROWS + bit))) << bit;
            bytes.fill(0);
            bytes[columns.clone()].fill((0..ROWS).map(row).fold(0, |all, bit| all | bit));
        }
    }

    /// Sets the pixels of `within` whose label is asked for; `labels` has `stride` columns.
    #[inline(always)]
    pub(super) fn mark<T: ClassId>(
        &mut self,
        labels: &[T],
        stride: usize,
        within: &Self,
        is_asked: impl Fn(T) -> bool,
    ) {
        let groups = self.pixels_mut().chunks_exact_mut(stride).zip(within.pixels().chunks_exact(stride));
        for ((mask, within), rows) in groups.zip(labels.chunks_exact(ROWS * stride)) {
            let blocks = mask.as_chunks_mut::<LANES>().0.iter_mut().zip(within.as_chunks::<LANES>().0);
            for (block, (mask, within)) in blocks.enumerate() {
                let mut found = [0; LANES];
                for row in 0..ROWS {
                    let Some(row_labels) = rows[row * stride + block * LANES..].first_chunk::<LANES>() else {
                        continue;
                    };
                    for (found, &at) in found.iter_mut().zip(row_labels) {
                        *found |= u8::from(is_asked(at)) << row;
                    }
                }
                for ((mask, found), within) in mask.iter_mut().zip(found).zip(within) {
                    *mask = found & within;
                }
            }
        }
    }

    /// Takes pixels out.
    #[inline(always)]
    pub(super) fn remove(&mut self, other: &Self) {
        for (byte, other) in self.pixels_mut().iter_mut().zip(other.pixels()) {
            *byte &= !other;
        }
    }

    /// Takes out what the other has not.
    #[inline(always)]
    pub(super) fn keep(&mut self, other: &Self) {
        for (byte, other) in self.pixels_mut().iter_mut().zip(other.pixels()) {
            *byte &= other;
        }
    }

    /// The column and the row of a pixel, of those whose bytes do not lie before `from`, which moves there.
    #[inline(always)]
    pub(super) fn first(&self, stride: usize, from: &mut usize) -> Option<(usize, usize)> {
        let (at, byte) = self.pixels().iter().enumerate().skip(*from).find(|(_, byte)| **byte != 0)?;
        *from = at;
        Some((at % stride, at / stride * ROWS + byte.trailing_zeros() as usize))
    }
}

/// Steps that together reach this far. A set dilated by `done` is dilated by a step more as the join of itself and two
/// copies. Between the copies there is no gap if the step is at most `2 done + 1`; if it is at most `done + 1`, no pixel
/// is reached by way of one further off, which may be outside the mask.
fn steps(reach: usize) -> impl Iterator<Item = usize> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let step = (done + 1).min(reach - done);
        done += step;
        (step > 0).then_some(step)
    })
}

#[inline(always)]
fn step_across(from: &Mask, to: &mut Mask, step: usize) {
    let sides = from.shifted(step as isize).iter().zip(from.shifted(-(step as isize)));
    for ((to, here), (left, right)) in to.pixels_mut().iter_mut().zip(from.pixels()).zip(sides) {
        *to = here | left | right;
    }
}

/// Writes to `wide` the pixels of a frame at most `across` columns and `down` rows from one of `mask`.
#[inline(always)]
pub(super) fn dilate(mask: &Mask, frame: &Frame, wide: &mut Mask, spare: &mut Mask) {
    let mut across = steps(frame.across);
    match across.next() {
        Some(step) => step_across(mask, wide, step),
        None => wide.copy(mask),
    }
    for step in across {
        step_across(wide, spare, step);
        std::mem::swap(wide, spare);
    }
    for step in steps(frame.down) {
        // Eight rows down are the next group, fewer are a shift whose carry comes from a group further on.
        let (groups, bits) = (step / ROWS, (step % ROWS) as u32);
        let near = (groups * frame.stride) as isize;
        let far = near + frame.stride as isize;
        let near = wide.shifted(near).iter().zip(wide.shifted(-near));
        let far = wide.shifted(far).iter().zip(wide.shifted(-far));
        let to = spare.pixels_mut().iter_mut().zip(wide.pixels());
        if bits == 0 {
            for ((to, here), (above, below)) in to.zip(near) {
                *to = here | above | below;
            }
        } else {
            let carry = ROWS as u32 - bits;
            for (((to, here), (above, below)), (far_above, far_below)) in to.zip(near).zip(far) {
                *to = here | above << bits | far_above >> carry | below >> bits | far_below << carry;
            }
        }
        std::mem::swap(wide, spare);
    }
}

/// How many of the counted pixels lie in the outer band of a mask, which is its dilation less itself: in both maps, in
/// the truth, in the prediction.
#[inline(always)]
pub(super) fn count(truth: [&Mask; 2], pred: [&Mask; 2], counted: &Mask) -> [u64; 3] {
    let [truth_wide, truth_own, pred_wide, pred_own] =
        [truth[0], truth[1], pred[0], pred[1]].map(Mask::words);
    let [mut both, mut in_truth, mut in_pred] = [0u64; 3];
    for ((((truth, truth_own), pred), pred_own), counted) in
        truth_wide.iter().zip(truth_own).zip(pred_wide).zip(pred_own).zip(counted.words())
    {
        let band = |wide: &[u8; 8], own: &[u8; 8]| {
            u64::from_le_bytes(*wide) & !u64::from_le_bytes(*own) & u64::from_le_bytes(*counted)
        };
        let (truth, pred) = (band(truth, truth_own), band(pred, pred_own));
        both += u64::from((truth & pred).count_ones());
        in_truth += u64::from(truth.count_ones());
        in_pred += u64::from(pred.count_ones());
    }
    [both, in_truth, in_pred]
}
