//! Ten thousand small units of every family, for benches of what is read from their rows.

use calipers::run::{Silent, in_parts};
use calipers_core::{Accumulator, Protocol, SplitMix64};
use calipers_metrics::explanation::{Array, Evidence, NumberSlice};
use calipers_metrics::explanation::{Explanation, Scores as ScoreKind};
use calipers_metrics::independent_set::graph::{Graph, Storage};
use calipers_metrics::independent_set::unit::{Scores, Unit as GraphUnit};
use calipers_metrics::independent_set::{IndependentSet, Kind};
use calipers_metrics::robustness::Robustness;
use calipers_metrics::robustness::{Budget, Matrix, Pair};
use calipers_metrics::segmentation::{Config, LabelMap, MapData, Prediction, Segmentation, Unit};
use calipers_metrics::training::survival::VELOCITY_RMST;
use calipers_metrics::training::{Curve, Preset, Sample, Training};
use serde_json::{Value as Json, json};

use crate::Outcome;

/// How many units there are.
pub(crate) const UNITS: usize = 10_000;
const CLASSES: usize = 8;
/// The side of an image.
const SIDE: usize = 12;

/// Adds a unit of that name to rows.
pub(crate) type Add<P> = fn(&mut Accumulator<P>, &str, &mut SplitMix64) -> calipers::Result<()>;

/// What is done with every family; `metric` is one of its numbers.
pub(crate) trait Visitor {
    /// One family.
    fn family<P>(&mut self, name: &str, protocol: &P, metric: &str, add: Add<P>) -> Outcome
    where
        P: Protocol + Send + Sync,
        P::Row: Send + Sync;
}

/// Every family, robustness with one budget and with five.
pub(crate) fn every_family(visitor: &mut impl Visitor) -> Outcome {
    visitor.family(
        "independent_set",
        &IndependentSet { scores: Some(Kind::Logits), ..IndependentSet::default() },
        "f1",
        graph,
    )?;
    let explanation = Explanation { scores: Some(ScoreKind::Logits), ..Explanation::default() };
    visitor.family("explanation", &explanation, "fid_plus_prob_model", masks)?;
    visitor.family("segmentation", &segmentation("all".into(), CLASSES)?, "miou", maps)?;
    visitor.family("training", &Training::new(Preset::Strict), VELOCITY_RMST.id, curve)?;
    visitor.family("robustness", &Robustness::default(), "bias_relative", pair)?;
    visitor.family("robustness over budgets", &Robustness::default(), "accuracy_auc", pair_of_budgets)
}

/// So many classes, of which these parts are measured.
pub(crate) fn segmentation(measures: Json, classes: usize) -> Outcome<Segmentation> {
    let names: Vec<String> = (0..classes).map(|class| format!("class {class}")).collect();
    let labels = json!({"original": names, "ignore": [255], "background": "class 0"});
    let config: Config = serde_json::from_value(json!({"labels": labels, "measure": measures}))?;
    Ok(config.resolve()?)
}

/// The rows of so many units from a seed.
pub(crate) fn rows<P>(
    protocol: &P,
    units: usize,
    seed: u64,
    threads: usize,
    add: Add<P>,
) -> Outcome<Accumulator<P>>
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let units: Vec<usize> = (0..units).collect();
    let empty = || Accumulator::new(protocol.clone());
    let parts = in_parts(&units, threads, &Silent, empty, |_, &unit, rows| {
        add(rows, &format!("{unit:05}"), &mut SplitMix64::new(seed + unit as u64))
    })?;
    let mut all = empty();
    for part in parts {
        all.merge(part)?;
    }
    Ok(all)
}

fn graph(
    rows: &mut Accumulator<IndependentSet>,
    name: &str,
    random: &mut SplitMix64,
) -> calipers::Result<()> {
    let nodes = 12u64;
    let entries: Vec<(u32, u32)> =
        (0..24).map(|_| (random.below(nodes) as u32, random.below(nodes) as u32)).collect();
    let graph = Graph::build(nodes, Storage::Both, &entries.as_slice())?;
    let logits: Vec<f64> = (0..nodes).map(|_| 6.0 * random.unit() - 3.0).collect();
    let scores = Scores::new(Kind::Logits, None, &logits, nodes as usize)?;
    let labels: Vec<bool> = (0..nodes).map(|node| node == 0 || random.below(3) == 0).collect();
    rows.update(name, GraphUnit::new(&graph, Some(scores), Some(&labels), Some(6))?)
}

fn masks(rows: &mut Accumulator<Explanation>, name: &str, random: &mut SplitMix64) -> calipers::Result<()> {
    const ELEMENTS: usize = 16;
    let mut scores = || (0..3).map(|_| 6.0 * random.unit() - 3.0).collect::<Vec<f64>>();
    let answers = [("y_hat", scores()), ("y_sub", scores()), ("y_comp", scores())];
    let labels = [random.below(3) as i64];
    let mask: Vec<f64> = (0..ELEMENTS).map(|_| random.unit()).collect();
    let truth: Vec<bool> = (0..ELEMENTS).map(|element| element == 0 || random.below(3) == 0).collect();
    let mut evidence = Evidence::new();
    evidence.insert("y", Array::new(vec![1], NumberSlice::Int(&labels))?);
    for (key, scores) in &answers {
        evidence.insert(key, Array::new(vec![1, 3], NumberSlice::F64(scores))?);
    }
    evidence.insert("pred_mask", Array::new(vec![ELEMENTS], NumberSlice::F64(&mask))?);
    evidence.insert("target_mask", Array::new(vec![ELEMENTS], NumberSlice::Bool(&truth))?);
    rows.update(name, evidence)
}

/// An image in which every fourth pixel has a class by chance.
pub(crate) fn maps(
    rows: &mut Accumulator<Segmentation>,
    name: &str,
    random: &mut SplitMix64,
) -> calipers::Result<()> {
    let classes = rows.protocol().classes();
    let truth: Vec<u8> = (0..SIDE * SIDE).map(|pixel| (pixel / 24 % classes) as u8).collect();
    let pred: Vec<u8> = truth
        .iter()
        .map(|&class| if random.below(4) == 0 { random.below(classes as u64) as u8 } else { class })
        .collect();
    let view = |ids| LabelMap { height: SIDE, width: SIDE, data: MapData::U8(ids) };
    rows.update(name, Unit::Pixels { truth: view(&truth), pred: Prediction::Labels(view(&pred)) })
}

fn curve(rows: &mut Accumulator<Training>, name: &str, random: &mut SplitMix64) -> calipers::Result<()> {
    let level = 0.55 + 0.3 * random.unit();
    let samples: Vec<Sample> = (0..30)
        .map(|row| Sample { row, x: row.into(), value: level + 0.2 * random.unit(), session: 0 })
        .collect();
    // By the name: units of two models pair where their groups are the same.
    let group = ["a", "b", "c", "d"][name.parse::<usize>().map_or(0, |unit| unit % 4)];
    rows.update(name, Curve::new(group, name, &samples))
}

fn pair(rows: &mut Accumulator<Robustness>, name: &str, random: &mut SplitMix64) -> calipers::Result<()> {
    pair_at("0.05", rows, name, random)
}

/// Five budgets, of which every unit has one.
fn pair_of_budgets(
    rows: &mut Accumulator<Robustness>,
    name: &str,
    random: &mut SplitMix64,
) -> calipers::Result<()> {
    let place = name.parse::<usize>().map_or(0, |unit| unit % 5);
    pair_at(["0", "0.05", "0.1", "0.2", "0.4"][place], rows, name, random)
}

fn pair_at(
    budget: &str,
    rows: &mut Accumulator<Robustness>,
    name: &str,
    random: &mut SplitMix64,
) -> calipers::Result<()> {
    const NODES: usize = 10;
    let mut numbers = || (0..NODES * 3).map(|_| random.unit()).collect::<Vec<f64>>();
    let (clean, attacked) = (numbers(), numbers());
    let labels: Vec<i64> = (0..NODES).map(|_| random.below(3) as i64).collect();
    let test: Vec<u32> = (0..NODES as u32).collect();
    let (before, after) = ([(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (1, 3)]);
    let matrix = |data| Matrix::new(NODES, 3, NumberSlice::F64(data));
    let pair = Pair {
        labels: Some(&labels),
        test: Some(&test),
        clean_edges: Some(&before),
        attacked_edges: Some(&after),
        ..Pair::new(name, Budget::parse(budget)?, matrix(&clean)?, matrix(&attacked)?)
    };
    rows.update(name, pair)
}
