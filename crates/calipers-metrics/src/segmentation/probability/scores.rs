//! Scores of one image: which class they decide for, and how sure they are.

use calipers_core::Result;
use calipers_core::stop::Turns;

use crate::segmentation::heads::Fusion;
use crate::segmentation::labels::ClassId;
use crate::segmentation::probability::block::LANES;
use crate::segmentation::probability::fast::FastPass;
use crate::segmentation::probability::pixel_blocks::{PixelBlocks, write};
use crate::segmentation::probability::sums::{Calibration, ScoredLanes};
use crate::segmentation::protocol::{Measure, Segmentation};
use crate::segmentation::row::CalibrationRow;
use crate::segmentation::unit::ScoreArray;

/// What the scores of one image say.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScoreOutcome<T> {
    /// The decided global class of every pixel that was read, void elsewhere.
    pub(crate) pred: Vec<T>,
    /// Exact sums over the scored pixels, if the protocol asks for anything that needs them.
    pub(crate) calibration: Option<CalibrationRow>,
    /// Whether logits look like probabilities.
    pub(crate) looks_like_probabilities: bool,
    /// The winning channel of each head at every pixel that was read; only with two or more heads,
    /// and `None` for a missing one.
    pub(crate) head_preds: Vec<Option<Vec<T>>>,
}

/// Reads the scores of every head where the truth is a class; everywhere, if void pixels take part
/// in the bands. Errors name head, channel and pixel.
pub(crate) fn measure_scores<T: ClassId>(
    protocol: &Segmentation,
    heads: &[Option<ScoreArray<'_>>],
    truth: &[T],
    width: usize,
    height: usize,
) -> Result<ScoreOutcome<T>> {
    let mut fusion = Fusion::new(protocol, heads, width, height)?;
    let mut calibration = needs_calibration(protocol).then(|| Calibration::new(protocol));
    // Where nothing else is asked for, given numbers decide without becoming probabilities.
    let by_given = calibration.is_none() && fusion.decides_by_given();
    let mut pred = vec![T::VOID; truth.len()];
    let mut head_preds = vec![None; if protocol.heads.len() > 1 { protocol.heads.len() } else { 0 }];
    if !head_preds.is_empty() {
        fusion.heads().for_each(|head| head_preds[head.position] = Some(vec![T::VOID; truth.len()]));
    }
    let everywhere = protocol.conventions.keep_void_in_bands;
    let (mut blocks, may_be_probabilities) = match FastPass::new(protocol, heads) {
        Some(pass) => {
            let (left, may_be_probabilities) = pass.run(truth, &mut pred, calibration.as_mut());
            (PixelBlocks::Listed(left, 0), may_be_probabilities)
        }
        None => (PixelBlocks::Scored { truth, everywhere, next: 0 }, true),
    };
    let mut turns = Turns::every(64);
    let mut block = Vec::with_capacity(LANES);
    loop {
        blocks.fill(&mut block);
        if block.is_empty() || turns.asked() {
            break;
        }
        fusion.load(&block)?;
        if !by_given {
            fusion.fuse(1.0)?;
        }
        let tops = fusion.tops();
        write(&mut pred, &block, &fusion.decisions(&tops)?, T::new);
        for head in fusion.heads() {
            if let Some(Some(map)) = head_preds.get_mut(head.position) {
                write(map, &block, head.winners(), T::new);
            }
        }
        if let Some(calibration) = &mut calibration {
            let classes = block.iter().map(|&pixel| (truth[pixel] != T::VOID).then(|| truth[pixel].index()));
            calibration.add_block(&mut fusion, &ScoredLanes::new(classes), &tops)?;
        }
    }
    let looks_like_probabilities = may_be_probabilities
        && fusion.heads().any(|head| head.looks_like_probabilities)
        && truth.iter().any(|class| *class != T::VOID);
    Ok(ScoreOutcome {
        pred,
        calibration: calibration.map(Calibration::finish),
        looks_like_probabilities,
        head_preds,
    })
}

/// Whether anything is asked for that needs probabilities beside the decision.
fn needs_calibration(protocol: &Segmentation) -> bool {
    [Measure::Calibration, Measure::Classwise, Measure::Temperature]
        .into_iter()
        .any(|measure| protocol.measures(measure))
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::prelude::*;

    use super::*;
    use crate::segmentation::probability::oracle::{Pixel, measure_slowly};
    use crate::segmentation::protocol::config::Config;
    use crate::segmentation::row::BinRow;
    use calipers_core::NumberSlice;

    fn protocol(config: &str) -> Segmentation {
        serde_json::from_str::<Config>(config).expect("config").resolve().expect("protocol")
    }

    fn flat(classes: usize, more: &str) -> Segmentation {
        let names: Vec<String> = (0..classes).map(|class| format!("\"c{class}\"")).collect();
        let names = names.join(",");
        protocol(&format!(r#"{{"kind":"logits","labels":{{"original":[{names}],"ignore":[255]}}{more}}}"#))
    }

    fn row<'a>(channels: usize, data: NumberSlice<'a>, pixels: usize) -> [Option<ScoreArray<'a>>; 1] {
        [Some(ScoreArray { shape: [channels, 1, pixels], data })]
    }

    const SPECIES: &str = r#"{
        "labels": {"original": ["sky", "dog alive", "dog dead", "cat alive", "cat dead", "fish"],
                   "global": ["none", "dog", "cat", "fish"], "ignore": [255], "rest": "none",
                   "groups": {"dog": [1, 2], "cat": [3, 4], "fish": [5]}},
        "measure": "all", "preset": "PRESET",
        "heads": [
            {"name": "kind", "channels": ["none", "dog", "cat"], "rest": "none",
             "groups": {"dog": [1, 2], "cat": [3, 4]}, "alpha": 0.75, "tau": 1.5},
            {"name": "state", "channels": ["-", "alive", "dead", "other"], "rest": "other", "kind": "probs",
             "groups": {"alive": [1, 3], "dead": [2, 4]}, "absent": ["fish"]}]
    }"#;

    proptest! {
        #[test]
        fn fused_heads_agree_with_the_slow_oracle(
            preset in prop::sample::select(vec!["strict", "document", "coral-mtl"]),
            pixels in prop::collection::vec(
                (prop::array::uniform3(-40.0f64..40.0), prop::array::uniform4(0.01f64..1.0), 0usize..5),
                1..150,
            ),
        ) {
            let protocol = protocol(&SPECIES.replace("PRESET", preset));
            let sums: Vec<f64> = pixels.iter().map(|(_, parts, _)| parts.iter().sum()).collect();
            let kind: Vec<f64> = (0..3).flat_map(|c| pixels.iter().map(move |p| p.0[c])).collect();
            let state: Vec<f64> =
                (0..4).flat_map(|c| pixels.iter().zip(&sums).map(move |(p, sum)| p.1[c] / sum)).collect();
            let truth: Vec<u8> = pixels.iter().map(|p| if p.2 == 4 { u8::VOID } else { p.2 as u8 }).collect();
            let n = pixels.len();
            let heads = [
                row(3, NumberSlice::F64(&kind), n)[0],
                row(4, NumberSlice::F64(&state), n)[0],
            ];
            let ours = measure_scores(&protocol, &heads, &truth, n, 1)?;
            let slow: Vec<Pixel> = (0..n)
                .map(|i| {
                    let values = [(0..3).map(|c| kind[c * n + i]).collect(), (0..4).map(|c| state[c * n + i]).collect()];
                    measure_slowly(&protocol, &values, truth[i])
                })
                .collect();
            for (pixel, slow) in slow.iter().enumerate() {
                let read = truth[pixel] != u8::VOID || preset == "coral-mtl";
                prop_assert_eq!(ours.pred[pixel], if read { slow.decision } else { u8::VOID });
            }
            compare(&ours.calibration.expect("asked for"), &slow, 1e-12)?;
        }

        #[test]
        fn the_fast_pass_decides_and_bins_as_f64_does(
            classes in prop::sample::select(vec![1usize, 2, 3, 8, 19, 70]),
            spread in prop::sample::select(vec![0.0f32, 1.0, 6.0, 80.0]),
            bins in prop::sample::select(vec![1usize, 10, 15, 1000]),
            closed in prop::sample::select(vec!["left", "right"]),
            layout in prop::sample::select(vec!["CHW", "HWC"]),
            seed in any::<u64>(),
        ) {
            let pixels = 600;
            let protocol = flat(
                classes,
                &format!(r#","measure":"all","layout":"{layout}","bins":{{"count":{bins},"closed":"{closed}"}}"#),
            );
            let decisive = Segmentation { measure: vec![Measure::Overlap], ..protocol.clone() };
            let mut random = calipers_core::SplitMix64::new(seed);
            let mut draw = || (random.next_u64() >> 40) as f32 / (1u32 << 24) as f32;
            let single: Vec<f32> = (0..classes * pixels).map(|_| (draw() - 0.5) * 2.0 * spread).collect();
            let truth: Vec<u8> = (0..pixels)
                .map(|_| if draw() < 0.2 { u8::VOID } else { (draw() * classes as f32) as u8 })
                .collect();
            let half: Vec<f16> = single.iter().map(|z| f16::from_f32(*z)).collect();
            let (double, wide_half): (Vec<f64>, Vec<f64>) =
                single.iter().zip(&half).map(|(z, h)| (f64::from(*z), h.to_f64())).unzip();
            let shape = if layout == "CHW" { [classes, 1, pixels] } else { [1, pixels, classes] };
            let measure =
                |data| measure_scores(&protocol, &[Some(ScoreArray { shape, data })], &truth, pixels, 1);
            let decided = |data| {
                let outcome = measure_scores(&decisive, &[Some(ScoreArray { shape, data })], &truth, pixels, 1);
                outcome.map(|outcome| (outcome.pred, outcome.calibration))
            };
            let cases = [
                (measure(NumberSlice::F32(&single))?, measure(NumberSlice::F64(&double))?),
                (measure(NumberSlice::F16(&half))?, measure(NumberSlice::F64(&wide_half))?),
            ];
            for data in [NumberSlice::F32(&single), NumberSlice::F64(&double)] {
                prop_assert_eq!(decided(data)?, (cases[0].1.pred.clone(), None));
            }
            for (fast, exact) in &cases {
                prop_assert_eq!(&fast.pred, &exact.pred);
                let calibration = |outcome: &ScoreOutcome<u8>| outcome.calibration.clone().expect("asked for");
                let (fast, exact) = (calibration(fast), calibration(exact));
                prop_assert_eq!(fast.pixels, exact.pixels);
                let allowed = 2e-6 * exact.pixels as f64;
                let bins = fast.bins.iter().chain(fast.classwise.iter().flatten());
                for (fast, exact) in bins.zip(exact.bins.iter().chain(exact.classwise.iter().flatten())) {
                    prop_assert_eq!((fast.count, fast.correct), (exact.count, exact.correct));
                    prop_assert!((confidence(fast) - confidence(exact)).abs() <= allowed);
                }
                let nll = exact.nll.value();
                prop_assert!((fast.nll.value() - nll).abs() <= allowed.max(2e-6 * nll));
                prop_assert!((fast.brier.value() - exact.brier.value()).abs() <= allowed);
                for (fast, exact) in fast.temperature.iter().zip(&exact.temperature) {
                    let nll = exact.value();
                    prop_assert!((fast.value() - nll).abs() <= allowed.max(2e-6 * nll));
                }
            }
        }
    }

    fn confidence(bin: &BinRow) -> f64 {
        bin.confidence as f64 / (1u64 << 62) as f64
    }

    /// Compares sums and bins with those of single pixels.
    fn compare(
        ours: &CalibrationRow,
        pixels: &[Pixel],
        tolerance: f64,
    ) -> std::result::Result<(), TestCaseError> {
        let scored: Vec<&Pixel> = pixels.iter().filter(|pixel| pixel.scored).collect();
        prop_assert_eq!(ours.pixels, scored.len() as u64);
        let finite = || scored.iter().filter(|pixel| pixel.nll.is_finite());
        prop_assert_eq!(ours.infinite, (scored.len() - finite().count()) as u64);
        let close =
            |ours: f64, slow: f64| (ours - slow).abs() <= tolerance * slow.abs().max(scored.len() as f64);
        prop_assert!(close(ours.nll.value(), finite().map(|pixel| pixel.nll).sum()));
        prop_assert!(close(ours.brier.value(), scored.iter().map(|pixel| pixel.brier).sum()));
        for (bin, row) in ours.bins.iter().enumerate() {
            let members: Vec<&&Pixel> = scored.iter().filter(|pixel| pixel.bin == bin).collect();
            let correct = members.iter().filter(|pixel| pixel.correct).count() as u64;
            prop_assert_eq!((row.count, row.correct), (members.len() as u64, correct));
            prop_assert!(close(confidence(row), members.iter().map(|pixel| pixel.confidence).sum()));
        }
        for (class, rows) in ours.classwise.iter().enumerate() {
            let sum: f64 = rows.iter().map(confidence).sum();
            prop_assert!(close(sum, scored.iter().map(|pixel| pixel.probabilities[class]).sum()));
            prop_assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), ours.pixels);
        }
        for (step, sum) in ours.temperature.iter().enumerate() {
            prop_assert!(close(sum.value(), finite().map(|pixel| pixel.stretched[step]).sum()));
        }
        Ok(())
    }

    #[test]
    fn nothing_is_read_at_void_pixels() {
        let protocol = flat(2, "");
        let truth = [0u8, u8::VOID, 1];
        for bad in [f32::NAN, f32::INFINITY] {
            let outcome = |junk: f32| {
                let logits = [1.0, junk, 0.0, 0.0, junk, 2.0];
                measure_scores(&protocol, &row(2, NumberSlice::F32(&logits), 3), &truth, 3, 1)
            };
            assert_eq!(outcome(bad), outcome(0.0));
            assert_eq!(outcome(bad).expect("sound").pred, [0, u8::VOID, 1]);
        }
    }

    #[test]
    fn a_bad_number_is_refused_with_head_channel_and_pixel() {
        let protocol = flat(2, "");
        for bad in [f32::NAN, f32::INFINITY] {
            let logits = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, bad, 0.0];
            let heads = [Some(ScoreArray { shape: [2, 2, 2], data: NumberSlice::F32(&logits) })];
            let error = measure_scores(&protocol, &heads, &[0u8; 4], 2, 2).expect_err("refused");
            assert_eq!(error.place(), Some("head flat, x = 0, y = 1, channel 1 ('c1')"));
        }
    }

    #[test]
    fn a_pixel_without_a_possible_class_is_refused() {
        let protocol = flat(2, "");
        let logits = [0.0, f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY];
        let heads = row(2, NumberSlice::F32(&logits), 2);
        let error = measure_scores(&protocol, &heads, &[0u8; 2], 2, 1).expect_err("refused");
        assert_eq!(error.what(), "every class has probability 0");
        assert_eq!(error.place(), Some("head flat, x = 1, y = 0"));
    }

    #[test]
    fn impossible_and_unlikely_truths_are_told_apart() {
        let protocol = flat(2, "");
        let logits = [0.0, 0.0, f32::NEG_INFINITY, -3e38];
        let outcome =
            measure_scores(&protocol, &row(2, NumberSlice::F32(&logits), 2), &[1u8; 2], 2, 1).expect("sound");
        let calibration = outcome.calibration.expect("asked for");
        assert_eq!(calibration.infinite, 1);
        assert!((calibration.nll.value() / 3e38 - 1.0).abs() < 1e-6);
        assert_eq!(calibration.saturated, 2);
    }

    #[test]
    fn logits_that_sum_to_one_look_like_probabilities() {
        let protocol = flat(2, "");
        let looks = |logits: [f32; 4]| {
            let outcome = measure_scores(&protocol, &row(2, NumberSlice::F32(&logits), 2), &[0u8, 1], 2, 1);
            outcome.expect("sound").looks_like_probabilities
        };
        assert!(looks([0.25, 1.0, 0.75, 0.0]));
        assert!(!looks([0.25, 1.0, 0.5, 0.0]));
        assert!(!looks([-0.25, 1.0, 1.25, 0.0]));
    }
}
