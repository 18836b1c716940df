//! Random images for the laws.

use calipers::core::{Accumulator, SplitMix64};
use calipers::metrics::segmentation::{
    Config, Grid, Kind, LabelMap, MapData, NumberSlice, Prediction, ScoreArray, Segmentation, Unit,
};
use serde_json::{Value as Json, json};

use crate::Sample;

const VOID: u8 = 255;

pub(crate) fn samples() -> Vec<Sample<Segmentation>> {
    let labels = json!({"original": ["sky", "dog", "cat"], "ignore": [VOID], "background": "sky"});
    let maps = protocol(json!({"labels": labels, "measure": "all"}));
    let thicker = protocol(json!({"labels": labels, "measure": "all", "boundary": {"thickness": 3}}));
    let heads = json!([
        {"name": "animal", "channels": ["sky", "animal"], "groups": {"animal": ["dog", "cat"]}, "rest": "sky"},
        {"name": "species", "channels": ["sky", "dog", "cat"]},
    ]);
    let surface = |convention: &str| {
        let surface = json!({"convention": convention, "tolerance": 1.5, "percentile": 80});
        protocol(json!({"labels": labels, "measure": ["overlap", "surface", "images"], "surface": surface}))
    };
    let surfaces = [("strict", "medpy"), ("deepmind", "monai")].map(|(one, other)| Sample {
        protocol: surface(one),
        other: surface(other),
        add: add_in_space,
    });
    let scores = protocol(json!({"preset": "coral-mtl", "labels": labels, "heads": heads, "measure": "all"}));
    let other = protocol(json!({"preset": "document", "labels": labels, "heads": heads, "measure": "all"}));
    let mut marginal = labels;
    marginal["missing_heads"] = "marginalise".into();
    let exact = |bins: u32| {
        protocol(json!({
            "labels": marginal, "heads": heads, "measure": "all", "kind": "logits", "bins": {"count": bins},
        }))
    };
    let flat = vec![
        Sample { protocol: maps, other: thicker, add },
        Sample { protocol: scores, other, add },
        Sample { protocol: exact(10), other: exact(7), add },
    ];
    flat.into_iter().chain(surfaces).collect()
}

fn protocol(config: Json) -> Segmentation {
    serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
}

fn view(ids: &[u8], height: usize, width: usize) -> LabelMap<'_> {
    LabelMap { height, width, data: MapData::U8(ids) }
}

/// A random image or volume of boxes, some with a spacing.
fn add_in_space(accumulator: &mut Accumulator<Segmentation>, name: &str, unit: usize) {
    let mut random = SplitMix64::new(unit as u64);
    let axes = [0, 1, 2].map(|axis| 1 + random.below(if axis == 0 { 3 } else { 7 }) as usize);
    let spacing = (unit.is_multiple_of(3)).then_some([2.0, 0.5, 0.7]);
    let grid = Grid::new(&axes, spacing.as_ref().map(|steps| &steps[..])).unwrap();
    let mut map = |void: u64| -> Vec<u8> {
        let label = |random: &mut SplitMix64| match random.below(12) {
            drawn if drawn < void => VOID,
            drawn => (drawn % 4 % 3) as u8,
        };
        (0..axes.iter().product()).map(|_| label(&mut random)).collect()
    };
    let (truth, pred) = (map(1), map(0));
    let (height, width) = (grid.rows(), grid.axes()[2]);
    let pred = Prediction::Labels(view(&pred, height, width));
    accumulator.update(name, Unit::Spatial { grid, truth: view(&truth, height, width), pred }).unwrap();
}

/// A random image with void; some are void altogether, some lack the second head.
fn add(accumulator: &mut Accumulator<Segmentation>, name: &str, unit: usize) {
    let mut random = SplitMix64::new(unit as u64);
    let (height, width) = (2 + random.below(6) as usize, 2 + random.below(6) as usize);
    let pixels = height * width;
    let mut map = |void: u64| -> Vec<u8> {
        (0..pixels).map(|_| if random.below(8) < void { VOID } else { random.below(3) as u8 }).collect()
    };
    let (truth, pred) = (map(if unit % 7 == 6 { 8 } else { 1 }), map(0));
    let heads = &accumulator.protocol().heads;
    let logits: Vec<Vec<f32>> = heads
        .iter()
        .map(|head| (0..head.channels.len() * pixels).map(|_| 6.0 * random.unit() as f32 - 3.0).collect())
        .collect();
    let arrays = heads.iter().zip(&logits).enumerate().map(|(position, (head, values))| {
        let shape = [head.channels.len(), height, width];
        (position == 0 || unit % 5 != 4).then_some(ScoreArray { shape, data: NumberSlice::F32(values) })
    });
    let prediction = match heads[0].kind {
        Kind::Labels => Prediction::Labels(view(&pred, height, width)),
        _ => Prediction::Scores(arrays.collect()),
    };
    let unit = Unit::Pixels { truth: view(&truth, height, width), pred: prediction };
    accumulator.update(name, unit).unwrap();
}
