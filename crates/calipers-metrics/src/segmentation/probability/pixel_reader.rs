//! Any few pixels of an array, channel by channel and in f64.

use calipers_core::{Wide, on_numbers};
use multiversion::multiversion;

use crate::segmentation::probability::block::{LANES, Lanes};
use crate::segmentation::probability::block_source::BlockSource;
use crate::segmentation::probability::fast::kernel::{BLOCK, Pixels};
use crate::segmentation::protocol::Layout;
use crate::segmentation::unit::ScoreArray;

/// Reads an array, by way of whole blocks where the pixels lie close together.
#[derive(Debug)]
pub(super) struct PixelReader<'a> {
    array: ScoreArray<'a>,
    layout: Layout,
    channels: Vec<usize>,
    stage: Option<Stage<'a>>,
}

/// A stretch of consecutive pixels, as they were read last. Channels lie far apart in memory: a little
/// of each at a time would have to be waited for.
#[derive(Debug)]
struct Stage<'a> {
    source: BlockSource<'a>,
    rows: Vec<Pixels>,
    first: usize,
    end: usize,
}

impl<'a> PixelReader<'a> {
    /// A reader of an array with so many channels.
    pub(super) fn new(array: ScoreArray<'a>, layout: Layout, channels: usize) -> Self {
        // Numbers of f64 have no narrower stage: each is read where it stands.
        let stage = BlockSource::new(array, layout);
        let stage =
            stage.map(|source| Stage { source, rows: vec![[0.0; BLOCK]; channels], first: 0, end: 0 });
        Self { array, layout, channels: (0..channels).collect(), stage }
    }

    /// Reads up to [`LANES`] pixels into the first lanes and repeats the last one in the others.
    pub(super) fn read(&mut self, pixels: &[usize], values: &mut [Lanes]) {
        let (Some(&first), Some(&last)) = (pixels.iter().min(), pixels.iter().max()) else { return };
        match &mut self.stage {
            Some(stage) if last - first < BLOCK => {
                if first < stage.first || last >= stage.end {
                    let [_, second, third] = self.array.shape;
                    let all = match self.layout {
                        Layout::Chw => second * third,
                        Layout::Hwc => self.array.shape[0] * second,
                    };
                    (stage.first, stage.end) = (first, all.min(first + BLOCK));
                    stage.source.read(first, stage.end - first, &self.channels, &mut stage.rows);
                }
                match <&[usize; LANES]>::try_from(pixels) {
                    Ok(_) if last - first == LANES - 1 && pixels.is_sorted() => {
                        widen_lanes(&stage.rows, first - stage.first, values);
                    }
                    _ => pick(&stage.rows, stage.first, pixels, values),
                }
            }
            _ => self.read_apart(pixels, values),
        }
        // Lanes without a pixel repeat the last one, so that no lane holds numbers that are not allowed.
        if pixels.len() < LANES {
            for lanes in values {
                let last_value = lanes[pixels.len() - 1];
                lanes[pixels.len()..].fill(last_value);
            }
        }
    }

    /// Reads pixels wherever they are.
    fn read_apart(&self, pixels: &[usize], values: &mut [Lanes]) {
        let [_, second, third] = self.array.shape;
        let (step, plane) = match self.layout {
            Layout::Chw => (1, second * third),
            Layout::Hwc => (third, 1),
        };
        on_numbers!(self.array.data, numbers => {
            for (channel, lanes) in values.iter_mut().enumerate() {
                for (lane, pixel) in lanes.iter_mut().zip(pixels) {
                    *lane = numbers[pixel * step + channel * plane].wide();
                }
            }
        });
    }
}

fn pick(rows: &[Pixels], first: usize, pixels: &[usize], values: &mut [Lanes]) {
    for (row, lanes) in rows.iter().zip(values) {
        lanes.iter_mut().zip(pixels).for_each(|(lane, pixel)| *lane = f64::from(row[pixel - first]));
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn widen_lanes(rows: &[Pixels], from: usize, values: &mut [Lanes]) {
    for (row, lanes) in rows.iter().zip(values) {
        if let Some(some) = row[from..].first_chunk::<LANES>() {
            for lane in 0..LANES {
                lanes[lane] = f64::from(some[lane]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use calipers_core::{NumberSlice, SplitMix64};
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn every_way_to_read_gives_the_numbers_that_stand_there() {
        const PIXELS: usize = 700;
        const CHANNELS: usize = 5;
        let mut random = SplitMix64::new(4);
        let number = |channel: usize, pixel: usize| ((channel * PIXELS + pixel) % 251) as f64 - 100.0;
        let lists: Vec<Vec<usize>> = (0..60)
            .map(|turn| {
                let length = if turn % 3 == 0 { LANES } else { 1 + random.below(LANES as u64) as usize };
                let from = random.below((PIXELS - length) as u64) as usize;
                match turn % 4 {
                    0 | 1 => (from..from + length).collect(),
                    2 => (0..length).map(|_| random.below(PIXELS as u64) as usize).collect(),
                    _ => (from..PIXELS).step_by(1 + turn % 5).take(length).collect(),
                }
            })
            .collect();
        for layout in [Layout::Chw, Layout::Hwc] {
            let mut wide = vec![0.0; PIXELS * CHANNELS];
            for (channel, pixel) in (0..CHANNELS).flat_map(|c| (0..PIXELS).map(move |p| (c, p))) {
                let place = match layout {
                    Layout::Chw => channel * PIXELS + pixel,
                    Layout::Hwc => pixel * CHANNELS + channel,
                };
                wide[place] = number(channel, pixel);
            }
            let single: Vec<f32> = wide.iter().map(|number| *number as f32).collect();
            let half: Vec<f16> = wide.iter().map(|number| f16::from_f64(*number)).collect();
            let brief: Vec<bf16> = wide.iter().map(|number| bf16::from_f64(*number)).collect();
            let shape = match layout {
                Layout::Chw => [CHANNELS, 7, 100],
                Layout::Hwc => [7, 100, CHANNELS],
            };
            for data in [
                NumberSlice::F64(&wide),
                NumberSlice::F32(&single),
                NumberSlice::F16(&half),
                NumberSlice::BF16(&brief),
            ] {
                let mut reader = PixelReader::new(ScoreArray { shape, data }, layout, CHANNELS);
                let mut values = vec![[f64::NAN; LANES]; CHANNELS];
                for pixels in &lists {
                    reader.read(pixels, &mut values);
                    for (channel, lanes) in values.iter().enumerate() {
                        for (lane, value) in lanes.iter().enumerate() {
                            let pixel = pixels[lane.min(pixels.len() - 1)];
                            assert!((value - number(channel, pixel)).abs() < 1e-9, "{channel} {pixel}");
                        }
                    }
                }
            }
        }
    }
}
