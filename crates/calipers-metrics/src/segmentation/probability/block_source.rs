//! Blocks of consecutive pixels, channel by channel and in f32, from any layout and type.

use calipers_core::NumberSlice;
use half::{bf16, f16};
use multiversion::multiversion;

use crate::segmentation::probability::fast::kernel::Pixels;
use crate::segmentation::protocol::Layout;
use crate::segmentation::unit::ScoreArray;

/// How many pixels are read of one channel before the next: channels lie far apart, and reading
/// a little of each in turn lets the machine look ahead in all of them.
const STRIDE: usize = 64;

/// The side of the squares in which pixels and channels change places.
const SIDE: usize = 4;

/// Reads blocks of an array; scores of f64 are not for it.
#[derive(Debug)]
pub(super) struct BlockSource<'a> {
    array: ScoreArray<'a>,
    layout: Layout,
    /// The channels of one pixel after another, in f32.
    widened: Vec<f32>,
}

impl<'a> BlockSource<'a> {
    /// A source of the array's pixels, or nothing if they are too fine for f32.
    pub(super) fn new(array: ScoreArray<'a>, layout: Layout) -> Option<Self> {
        let is_wide = matches!(array.data, NumberSlice::F64(_));
        (!is_wide).then(|| Self { array, layout, widened: Vec::new() })
    }

    /// Reads the given channels at pixels `from..from + length`; the other pixels of a row are left
    /// as they are.
    pub(super) fn read(&mut self, from: usize, length: usize, channels: &[usize], rows: &mut [Pixels]) {
        let [_, second, third] = self.array.shape;
        match self.layout {
            Layout::Chw => {
                for start in (0..length).step_by(STRIDE) {
                    let end = length.min(start + STRIDE);
                    for (row, channel) in rows.iter_mut().zip(channels) {
                        widen(self.array.data, channel * second * third + from + start, &mut row[start..end]);
                    }
                }
            }
            Layout::Hwc => {
                let pixels = if let NumberSlice::F32(values) = self.array.data {
                    &values[from * third..(from + length) * third]
                } else {
                    self.widened.resize(length * third, 0.0);
                    widen(self.array.data, from * third, &mut self.widened);
                    &self.widened
                };
                turn(pixels, third, channels, rows);
            }
        }
    }
}

/// Puts the channels of consecutive pixels into rows.
fn turn(pixels: &[f32], step: usize, channels: &[usize], rows: &mut [Pixels]) {
    let count = pixels.len() / step;
    let whole = count - count % SIDE;
    for (rows, channels) in rows.chunks_mut(SIDE).zip(channels.chunks(SIDE)) {
        let first = channels[0];
        match rows {
            [a, b, c, d] if channels.iter().enumerate().all(|(i, channel)| *channel == first + i) => {
                for start in (0..whole).step_by(SIDE) {
                    let [e, f, g, h]: [[f32; SIDE]; SIDE] =
                        std::array::from_fn(|i| four(&pixels[(start + i) * step + first..]));
                    for (i, row) in [&mut *a, b, c, d].into_iter().enumerate() {
                        row[start..start + SIDE].copy_from_slice(&[e[i], f[i], g[i], h[i]]);
                    }
                }
                for (i, row) in [a, b, c, d].into_iter().enumerate() {
                    pick(pixels, step, first + i, whole, row);
                }
            }
            rows => {
                rows.iter_mut().zip(channels).for_each(|(row, channel)| pick(pixels, step, *channel, 0, row))
            }
        }
    }
}

/// The first four values; there are as many.
fn four(values: &[f32]) -> [f32; SIDE] {
    values.first_chunk().copied().unwrap_or_default()
}

/// One channel of the pixels after the first `from`.
fn pick(pixels: &[f32], step: usize, channel: usize, from: usize, row: &mut Pixels) {
    for (value, pixel) in row[from..].iter_mut().zip(pixels[from * step..].chunks_exact(step)) {
        *value = pixel[channel];
    }
}

fn widen(data: NumberSlice<'_>, from: usize, out: &mut [f32]) {
    let range = from..from + out.len();
    match data {
        NumberSlice::F16(values) => widen_f16(&values[range], out),
        NumberSlice::BF16(values) => widen_bf16(&values[range], out),
        NumberSlice::F32(values) => out.copy_from_slice(&values[range]),
        others => out.iter_mut().zip(range).for_each(|(out, place)| *out = others.get(place) as f32),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn widen_f16(values: &[f16], out: &mut [f32]) {
    /// What the exponent of an f16 lacks to that of an f32.
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    const FIRST_INFINITE: u32 = 0x0f80_0000;
    for (out, value) in out.iter_mut().zip(values) {
        let bits = u32::from(value.to_bits());
        let magnitude = (bits & 0x7fff) << 13;
        let finite = (f32::from_bits(magnitude) * REBIAS).to_bits();
        let widened = if magnitude >= FIRST_INFINITE { magnitude | 0x7f80_0000 } else { finite };
        *out = f32::from_bits(widened | (bits & 0x8000) << 16);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn widen_bf16(values: &[bf16], out: &mut [f32]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = f32::from_bits(u32::from(value.to_bits()) << 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::probability::fast::kernel::BLOCK;

    #[test]
    fn every_half_number_is_widened_exactly() {
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        let mut out = vec![0.0; bits.len()];
        let same =
            |ours: f32, theirs: f32| ours.is_nan() && theirs.is_nan() || ours.to_bits() == theirs.to_bits();
        let halves: Vec<f16> = bits.iter().map(|bits| f16::from_bits(*bits)).collect();
        widen_f16(&halves, &mut out);
        assert!(out.iter().zip(&halves).all(|(out, half)| same(*out, half.to_f32())));
        let halves: Vec<bf16> = bits.iter().map(|bits| bf16::from_bits(*bits)).collect();
        widen_bf16(&halves, &mut out);
        assert!(out.iter().zip(&halves).all(|(out, half)| same(*out, half.to_f32())));
    }

    #[test]
    fn both_layouts_give_the_same_rows() {
        for (channels, length) in [(1, 3), (4, 17), (7, BLOCK), (19, 101)] {
            let value = |channel: usize, pixel: usize| (1000 * channel + pixel) as f32;
            let chw: Vec<f32> = (0..channels).flat_map(|c| (0..300).map(move |p| value(c, p))).collect();
            let hwc: Vec<f32> = (0..300).flat_map(|p| (0..channels).map(move |c| value(c, p))).collect();
            // The last two channels change places.
            let mut wanted: Vec<usize> = (0..channels).collect();
            wanted[channels.saturating_sub(2)..].reverse();
            let arrays = [
                (ScoreArray { shape: [channels, 1, 300], data: NumberSlice::F32(&chw) }, Layout::Chw),
                (ScoreArray { shape: [1, 300, channels], data: NumberSlice::F32(&hwc) }, Layout::Hwc),
            ];
            for (array, layout) in arrays {
                let mut rows = vec![[-1.0; BLOCK]; channels];
                let mut source = BlockSource::new(array, layout).expect("f32 is narrow enough");
                source.read(20, length, &wanted, &mut rows);
                for (row, channel) in rows.iter().zip(&wanted) {
                    let expected =
                        (0..BLOCK).map(|i| if i < length { value(*channel, 20 + i) } else { -1.0 });
                    assert!(row.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits()));
                }
            }
        }
    }
}
