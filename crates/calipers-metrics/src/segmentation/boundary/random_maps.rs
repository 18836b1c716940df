//! Pairs of class maps for the tests of bands and contours.

use std::ops::Range;

use proptest::prelude::*;

use crate::segmentation::boundary::BandRules;

/// A truth and a prediction.
#[derive(Clone, Debug)]
pub(super) struct Maps {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) truth: Vec<u8>,
    pub(super) pred: Vec<u8>,
    pub(super) rules: BandRules,
}

impl Maps {
    /// Two maps drawn as text, one line per row: digits are classes, `-` is no prediction, `.` is void.
    pub(super) fn drawn(classes: usize, truth: &str, pred: &str) -> Self {
        let read = |text: &str| -> Vec<u8> {
            let pixels = text.chars().filter(|pixel| !pixel.is_whitespace());
            let label = |pixel: char| match pixel {
                '.' => u8::MAX,
                '-' => classes as u8,
                class => class.to_digit(10).unwrap() as u8,
            };
            pixels.map(label).collect()
        };
        let height = truth.split_whitespace().count();
        let (truth, pred) = (read(truth), read(pred));
        assert_eq!(truth.len(), pred.len());
        let rules = BandRules { classes, background: None, keep_void: false, skip_absent: false };
        Self { width: truth.len() / height, height, truth, pred, rules }
    }

    /// Patches of classes, of void and, in the prediction, of no prediction.
    fn patches(width: usize, height: usize, rules: BandRules, patch: usize, share: f64, seed: u64) -> Self {
        let draw = |salt: u64, x: usize, y: usize, patch: usize| {
            let place = (x / patch) as u64 + ((y / patch) as u64) * 0x1_0001;
            mix(mix(seed ^ salt) ^ place)
        };
        let rare = |random: u64| (random >> 11) as f64 / (1u64 << 53) as f64 <= share;
        let classes = rules.classes as u64;
        let pixels = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let truth: Vec<u8> = pixels()
            .map(|(x, y)| match draw(1, x, y, patch) {
                _ if rare(draw(2, x, y, patch.div_ceil(2))) => u8::MAX,
                random => (random % classes) as u8,
            })
            .collect();
        let pred = pixels()
            .zip(&truth)
            .map(|((x, y), &truth)| match draw(3, x + 1, y, patch) {
                _ if truth == u8::MAX && !rules.keep_void => u8::MAX,
                random if rare(draw(4, x, y, patch)) => (random % (classes + 1)) as u8,
                random if random % 3 == 0 || truth == u8::MAX => (random / 3 % classes) as u8,
                _ => truth,
            })
            .collect();
        Self { width, height, truth, pred, rules }
    }

    /// The same maps with more room for labels.
    pub(super) fn widened(&self) -> (Vec<u16>, Vec<u16>) {
        let widen = |map: &[u8]| {
            map.iter().map(|&label| if label == u8::MAX { u16::MAX } else { label.into() }).collect()
        };
        (widen(&self.truth), widen(&self.pred))
    }

    /// Every pixel by column and row.
    pub(super) fn pixels(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let width = self.width;
        (0..self.height).flat_map(move |y| (0..width).map(move |x| (x, y)))
    }

    /// Columns and rows inside the image at most `reach` away.
    pub(super) fn window(
        &self,
        x: usize,
        y: usize,
        reach: usize,
    ) -> impl Iterator<Item = (usize, usize)> + use<> {
        let near = |at: usize, size: usize| at.saturating_sub(reach)..(at + reach + 1).min(size);
        let columns = near(x, self.width);
        near(y, self.height).flat_map(move |y| columns.clone().map(move |x| (x, y)))
    }

    /// Whether the truth of a pixel is not void.
    pub(super) fn scored(&self, x: usize, y: usize) -> bool {
        self.truth[y * self.width + x] != u8::MAX
    }

    /// The foreground class of a label, if it is one.
    pub(super) fn foreground(&self, label: u8) -> Option<u32> {
        let class = usize::from(label);
        (class < self.rules.classes && Some(class) != self.rules.background).then_some(label.into())
    }
}

fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps of these sizes under any rules, from noise to large patches.
pub(super) fn maps(widths: Range<usize>, heights: Range<usize>) -> impl Strategy<Value = Maps> {
    let classes = prop_oneof![1usize..8, 1usize..101];
    let rules = (classes, any::<prop::sample::Index>(), any::<[bool; 3]>()).prop_map(
        |(classes, background, [has_background, keep_void, skip_absent])| BandRules {
            classes,
            background: has_background.then(|| background.index(classes)),
            keep_void,
            skip_absent,
        },
    );
    let share = prop_oneof![Just(0.0), 0.0..0.2, 0.0..1.0];
    let patch = prop_oneof![3 => 1usize..12, 1 => 30usize..200];
    (widths, heights, rules, patch, share, any::<u64>()).prop_map(
        |(width, height, rules, patch, share, seed)| Maps::patches(width, height, rules, patch, share, seed),
    )
}
