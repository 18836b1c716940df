//! Random explanations for the laws.

use calipers::core::{Accumulator, SplitMix64};
use calipers::metrics::explanation::{Array, Evidence, NumberSlice};
use calipers::metrics::explanation::{Explanation, MaskScores, Preset, Scores};

use crate::Sample;

const CLASSES: usize = 3;

pub(crate) fn samples() -> Vec<Sample<Explanation>> {
    let strict = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let logits = Explanation { mask_scores: MaskScores::Logits, ..strict.clone() };
    let published = Explanation { preset: Preset::Pyg, ..strict.clone() };
    let other = Explanation { threshold: 0.25, ..published.clone() };
    vec![
        Sample { protocol: strict.clone(), other: logits.clone(), add },
        Sample { protocol: logits, other: strict, add },
        Sample { protocol: published, other, add: add_published },
    ]
}

/// A random unit with every kind of evidence; some lack masks, some predictions, some have types.
fn add(accumulator: &mut Accumulator<Explanation>, name: &str, unit: usize) {
    let mut random = SplitMix64::new(unit as u64);
    let mut arrays = Vec::new();
    let instances = random.below(4) as usize;
    if unit % 5 != 4 {
        let labels: Vec<i64> = (0..instances).map(|_| random.below(CLASSES as u64) as i64).collect();
        arrays.push(("y", vec![instances], Values::Int(labels)));
        for key in ["y_hat", "y_sub", "y_comp"] {
            arrays.push((key, vec![instances, CLASSES], scores(&mut random, instances)));
        }
        for key in ["y_sub_sweep", "y_comp_sweep", "y_sub_samples", "y_comp_samples"] {
            arrays.push((key, vec![2, instances, CLASSES], scores(&mut random, 2 * instances)));
        }
        arrays.push(("x", vec![2], Values::Double(vec![0.5, 1.0])));
    }
    if unit % 5 != 3 {
        let elements = random.below(9) as usize;
        let typed = unit % 2 == 1;
        let key = |plain: &'static str, typed_key: &'static str| if typed { typed_key } else { plain };
        arrays.push((key("pred_mask", "pred_mask.node"), vec![elements], shares(&mut random, elements)));
        let truth: Vec<bool> = (0..2 * elements).map(|_| random.below(3) == 0).collect();
        arrays.push((key("target_masks", "target_masks.node"), vec![2, elements], Values::Bool(truth)));
        let sampled = key("pred_mask_samples", "pred_mask_samples.node");
        arrays.push((sampled, vec![2, elements], shares(&mut random, 2 * elements)));
    }
    insert(accumulator, name, &arrays);
}

/// A random unit of what the published code takes; the first values of some masks look like logits.
fn add_published(accumulator: &mut Accumulator<Explanation>, name: &str, unit: usize) {
    let mut random = SplitMix64::new(unit as u64);
    let (instances, elements) = (1 + random.below(4) as usize, 1 + random.below(9) as usize);
    let mut mask: Vec<f64> = (0..elements).map(|_| random.unit()).collect();
    mask[0] += (unit % 3) as f64;
    let truth: Vec<bool> = (0..elements).map(|_| random.below(2) == 0).collect();
    let arrays = [
        ("y_hat", vec![instances, CLASSES], scores(&mut random, instances)),
        ("y_sub", vec![instances, CLASSES], scores(&mut random, instances)),
        ("pred_mask", vec![elements], Values::Double(mask)),
        ("target_mask", vec![elements], Values::Bool(truth)),
        ("pos_fidelity", vec![2], shares(&mut random, 2)),
        ("neg_fidelity", vec![2], Values::Double(vec![0.25, 0.5 * random.unit()])),
        ("x", vec![2], Values::Double(vec![0.0, 1.0])),
    ];
    insert(accumulator, name, &arrays);
}

enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
    Int(Vec<i64>),
    Bool(Vec<bool>),
}

fn scores(random: &mut SplitMix64, rows: usize) -> Values {
    Values::Single((0..rows * CLASSES).map(|_| 6.0 * random.unit() as f32 - 3.0).collect())
}

fn shares(random: &mut SplitMix64, count: usize) -> Values {
    Values::Double((0..count).map(|_| random.below(9) as f64 / 8.0).collect())
}

fn insert(
    accumulator: &mut Accumulator<Explanation>,
    name: &str,
    arrays: &[(&'static str, Vec<usize>, Values)],
) {
    let mut evidence = Evidence::new();
    for (key, shape, values) in arrays {
        let data = match values {
            Values::Single(values) => NumberSlice::F32(values),
            Values::Double(values) => NumberSlice::F64(values),
            Values::Int(values) => NumberSlice::Int(values),
            Values::Bool(values) => NumberSlice::Bool(values),
        };
        evidence.insert(key, Array::new(shape.clone(), data).unwrap());
    }
    accumulator.update(name, evidence).unwrap();
}
