//! Fused heads against the plain arithmetic, bit by bit.

use calipers_core::{CompactSum, ExactSum, NumberSlice, SplitMix64};
use half::{bf16, f16};
use serde_json::{Value, json};

use super::{PlainPixel, winner};
use crate::segmentation::labels::ClassId;
use crate::segmentation::probability::bin_rule::BinRule;
use crate::segmentation::probability::scores::measure_scores;
use crate::segmentation::protocol::{Head, Kind, Layout, Measure, Segmentation, config::Config};
use crate::segmentation::row::{BinRow, CalibrationRow};
use crate::segmentation::unit::ScoreArray;

struct Draws(SplitMix64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Heads of any shape over some originals: channels with one original, with several or with none, and
    /// originals that a head cannot predict.
    fn protocol(&mut self) -> Segmentation {
        let originals = 1 + self.below(20);
        let classes = if self.below(2) == 0 { originals } else { 1 + self.below(originals) };
        let group = |names: &[Vec<usize>], prefix: &str| -> Value {
            let named = names.iter().enumerate().filter(|(_, originals)| !originals.is_empty());
            named.map(|(place, originals)| (format!("{prefix}{place}"), json!(originals))).collect()
        };
        let mut global = vec![Vec::new(); classes];
        (0..originals).for_each(|original| {
            let class = if original < classes { original } else { self.below(classes) };
            global[class].push(original);
        });
        let kinds = ["logits", "logits", "logits", "probs", "log-probs"];
        let heads: Vec<Value> = (0..1 + self.below(5))
            .map(|place| {
                let mut channels = vec![Vec::new(); 1 + self.below(10)];
                let mut absent = Vec::new();
                for original in 0..originals {
                    match self.below(12) {
                        0 if original > 0 => absent.push(original),
                        _ => {
                            let channel = self.below(channels.len());
                            channels[channel].push(original);
                        }
                    }
                }
                let names: Vec<String> = channels
                    .iter()
                    .enumerate()
                    .map(|(at, of)| if of.is_empty() { "-".into() } else { format!("c{at}") })
                    .collect();
                json!({"name": format!("h{place}"), "channels": names, "groups": group(&channels, "c"),
                       "absent": absent, "kind": self.one(&kinds), "layout": self.one(&["CHW", "HWC"]),
                       "alpha": if place == 0 { 1.0 } else { self.one(&[0.0, 0.75, 1.0, 1.0, 1.3]) },
                       "tau": self.one(&[1.0, 1.0, 0.25, 2.0, 0.7, 1.3])})
            })
            .collect();
        let config = json!({
            // Alone, a head of the other preset must decide in its channels.
            "preset": if heads.len() == 1 { "strict" } else { self.one(&["strict", "document"]) },
            "measure": self.one(&["calibration", "classwise", "temperature"]),
            "bins": {"count": self.one(&[1, 10, 15, 100]), "closed": self.one(&["left", "right"])},
            "labels": {
                "original": (0..originals).map(|o| format!("o{o}")).collect::<Vec<_>>(), "ignore": [255],
                "global": (0..classes).map(|class| format!("g{class}")).collect::<Vec<_>>(),
                "groups": group(&global, "g"), "missing_heads": "marginalise",
            },
            "heads": heads,
        });
        let mut config: Value = config;
        config["measure"] = json!(["overlap", config["measure"].clone(), "calibration"]);
        serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
    }

    /// The scores of a head at one pixel: anything from ties to numbers at the ends of their type.
    fn scores(&mut self, head: &Head) -> Vec<f64> {
        let spread = self.one(&[0.0, 1.0, 8.0, 8.0, 60.0, 2000.0, 60000.0]);
        let mut logits: Vec<f64> =
            head.channels.iter().map(|_| (self.0.unit() - 0.5) * 2.0 * spread).collect();
        let fixed = (0..logits.len()).find(|channel| !head.unused.contains(channel)).unwrap_or(0);
        for channel in 0..logits.len() {
            match self.below(20) {
                0 if channel != fixed => logits[channel] = f64::NEG_INFINITY,
                1 => logits[channel] = logits[fixed],
                2 => logits[channel] = self.one(&[0.0, -0.0, 6e-8, -65504.0]),
                _ => {}
            }
        }
        if head.kind == Kind::Logits {
            return logits;
        }
        let peak = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logits.iter().map(|logit| (logit - peak).exp()).sum();
        let logs = logits.into_iter().map(|logit| logit - peak - sum.ln());
        if head.kind == Kind::Probs { logs.map(f64::exp).collect() } else { logs.collect() }
    }
}

/// One head's array in one of the four types, and what its numbers are in f64.
enum Array {
    F64(Vec<f64>),
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
}

impl Array {
    fn slice(&self) -> NumberSlice<'_> {
        match self {
            Self::F64(numbers) => NumberSlice::F64(numbers),
            Self::F32(numbers) => NumberSlice::F32(numbers),
            Self::F16(numbers) => NumberSlice::F16(numbers),
            Self::Bf16(numbers) => NumberSlice::BF16(numbers),
        }
    }
}

fn bins(protocol: &Segmentation, pixels: impl Iterator<Item = (bool, f64)>) -> Vec<BinRow> {
    let rule = BinRule::new(protocol.bins);
    let mut rows = vec![BinRow::default(); rule.count()];
    for (correct, probability) in pixels {
        let row = &mut rows[rule.bin(probability)];
        row.count += 1;
        row.correct += u64::from(correct);
        row.confidence += u128::from((probability * (1u64 << 62) as f64) as u64);
    }
    rows
}

fn sum(terms: impl Iterator<Item = f64>) -> CompactSum {
    let mut sum = ExactSum::default();
    terms.filter(|term| term.is_finite()).for_each(|term| sum.add(term));
    CompactSum::from(&sum)
}

/// Measures an image of fused heads both ways and compares every bit; whether it could be measured.
fn compare(draws: &mut Draws) -> bool {
    let protocol = draws.protocol();
    let pixels = 1 + draws.below(400);
    let missing = if protocol.heads.len() > 1 { draws.below(protocol.heads.len() * 4) } else { usize::MAX };
    let void = draws.one(&[0, 0, 10, 60]);
    let truth: Vec<u8> = (0..pixels)
        .map(|_| if draws.below(100) < void { u8::VOID } else { draws.below(protocol.classes()) as u8 })
        .collect();
    let mut arrays = Vec::new();
    for (place, head) in protocol.heads.iter().enumerate() {
        let channels = head.channels.len();
        let mut numbers = vec![0.0; channels * pixels];
        for pixel in 0..pixels {
            for (channel, score) in draws.scores(head).into_iter().enumerate() {
                let at = match head.layout {
                    Layout::Chw => channel * pixels + pixel,
                    Layout::Hwc => pixel * channels + channel,
                };
                numbers[at] = score;
            }
        }
        let turn = if head.kind == Kind::Logits { draws.below(4) } else { draws.below(2) };
        let array = match turn {
            0 => Array::F64(numbers),
            1 => Array::F32(numbers.iter().map(|number| *number as f32).collect()),
            2 => Array::F16(numbers.iter().map(|number| f16::from_f64(*number)).collect()),
            _ => Array::Bf16(numbers.iter().map(|number| bf16::from_f64(*number)).collect()),
        };
        arrays.push((place != missing).then_some(array));
    }
    let shape = |head: &Head| match head.layout {
        Layout::Chw => [head.channels.len(), 1, pixels],
        Layout::Hwc => [1, pixels, head.channels.len()],
    };
    let given: Vec<Option<ScoreArray<'_>>> = (protocol.heads.iter().zip(&arrays))
        .map(|(head, array)| Some(ScoreArray { shape: shape(head), data: array.as_ref()?.slice() }))
        .collect();
    let values = |pixel: usize| -> Vec<(usize, &Head, Vec<f64>)> {
        let present = protocol.heads.iter().zip(&given).enumerate();
        present
            .filter_map(|(place, (head, array))| {
                let (channels, data) = (head.channels.len(), array.as_ref()?.data);
                let at = |channel| match head.layout {
                    Layout::Chw => channel * pixels + pixel,
                    Layout::Hwc => pixel * channels + channel,
                };
                Some((place, head, (0..channels).map(|channel| data.get(at(channel))).collect()))
            })
            .collect()
    };
    let fused = |pixel: usize, stretch: f64| {
        let heads: Vec<_> = values(pixel).into_iter().map(|(_, head, values)| (head, values)).collect();
        PlainPixel::new(&protocol, &heads, stretch)
    };
    let scored: Vec<usize> = (0..pixels).filter(|&pixel| truth[pixel] != u8::VOID).collect();
    let plain: Option<Vec<PlainPixel>> = scored.iter().map(|&pixel| fused(pixel, 1.0)).collect();
    let ours = measure_scores(&protocol, &given, &truth, pixels, 1);
    // Only half numbers overflow to infinities, and only experts that exclude each other leave nothing.
    let (Ok(ours), Some(plain)) = (&ours, plain) else {
        assert!(ours.is_err(), "a pixel without any mass must be refused");
        return false;
    };
    let by_given = protocol.heads.len() == 1;
    for (&pixel, plain) in scored.iter().zip(&plain) {
        assert!(by_given || usize::from(ours.pred[pixel]) == plain.top());
        for (place, head, values) in values(pixel) {
            if let Some(Some(map)) = ours.head_preds.get(place) {
                assert_eq!(usize::from(map[pixel]), winner(head, &values));
            }
        }
    }
    if by_given && given[0].is_some_and(|array| !matches!(array.data, NumberSlice::F64(_))) {
        return true;
    }
    let class = |pixel: usize| truth[pixel].index();
    let floor = protocol.conventions.nll_floor;
    let both = || scored.iter().copied().zip(&plain);
    let nll = |(pixel, plain): (usize, &PlainPixel)| plain.surprise(class(pixel), floor);
    let stretched = |(pixel, stretch): (usize, f64)| {
        fused(pixel, stretch).map_or(f64::INFINITY, |plain| plain.surprise(class(pixel), floor))
    };
    let finite: Vec<usize> = both().filter(|both| nll(*both).is_finite()).map(|(pixel, _)| pixel).collect();
    let confidence = |plain: &PlainPixel| plain.largest / plain.total;
    let classes = if protocol.measures(Measure::Classwise) { protocol.classes() } else { 0 };
    let temperatures: &[f64] =
        if protocol.measures(Measure::Temperature) { &protocol.temperatures } else { &[] };
    let of_class = |c: usize| both().map(move |(pixel, p)| (class(pixel) == c, p.masses[c] / p.total));
    let expected = CalibrationRow {
        pixels: scored.len() as u64,
        infinite: (scored.len() - finite.len()) as u64,
        nll: sum(both().map(nll)),
        brier: sum(both().map(|(pixel, plain)| plain.distance(class(pixel)))),
        bins: bins(
            &protocol,
            both().map(|(pixel, plain)| (usize::from(ours.pred[pixel]) == class(pixel), confidence(plain))),
        )
        .into(),
        classwise: (0..classes).map(|class| bins(&protocol, of_class(class)).into()).collect(),
        temperature: (temperatures.iter())
            .map(|&stretch| sum(finite.iter().map(|&pixel| stretched((pixel, stretch)))))
            .collect(),
        saturated: plain.iter().map(|plain| u64::from(confidence(plain) as f32 >= 1.0)).sum(),
    };
    assert_eq!(ours.calibration.as_ref(), Some(&expected));
    true
}

#[test]
fn fused_heads_have_the_bits_of_the_plain_arithmetic() {
    let mut draws = Draws(SplitMix64::new(12));
    let measured = (0..400).filter(|_| compare(&mut draws)).count();
    assert!(measured > 200, "{measured} of 400");
}
