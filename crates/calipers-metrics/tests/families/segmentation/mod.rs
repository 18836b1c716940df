//! Segmentations as the laws see them: a run written as JSON, and what is particular to the family.

mod cases;
mod config;
mod properties;
mod reference;
mod warnings;

use calipers_core::{Accumulator, Error, Result};
use calipers_metrics::segmentation::{
    Config, Kind, LabelMap, MapData, NumberSlice, Prediction, ScoreArray, Segmentation, Unit,
};
use half::f16;
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::family::{Family, metrics};

pub(crate) const FAMILY: Family = Family {
    name: "segmentation",
    golden: &["overlap.json", "boundary.json", "calibration.json", "fusion.json", "errors.json"],
    metrics: metrics::<Segmentation>,
    run: |input| Ok(Box::new(run(input, Width::One)?)),
    tolerance,
    general: |reason| reason.replace("at 1 pixel", "at K pixel"),
};

/// The widest type that label maps are stored in; ids that do not fit take the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    One,
    Two,
    Eight,
}

/// The state after all units of `input`, which has `config`, `units` and, for scores, `dtype`.
pub(crate) fn run(input: &Json, width: Width) -> Result<Accumulator<Segmentation>> {
    let mut state = Accumulator::new(protocol(&input["config"])?);
    for unit in input["units"].as_array().expect("units") {
        add(&mut state, unit, input["dtype"].as_str().unwrap_or("f64"), width)?;
    }
    Ok(state)
}

/// The protocol of a configuration.
pub(crate) fn protocol(config: &Json) -> Result<Segmentation> {
    let config: Config =
        serde_json::from_value(config.clone()).map_err(|error| Error::value(error.to_string()))?;
    config.resolve()
}

fn add(state: &mut Accumulator<Segmentation>, unit: &Json, dtype: &str, width: Width) -> Result<()> {
    let name = unit["id"].as_str().expect("a unit has a name");
    if let Some(matrix) = unit["confusion"].as_array() {
        let columns = matrix.first().and_then(Json::as_array).map_or(0, Vec::len);
        let counts: Vec<u64> = flat(&unit["confusion"]).filter_map(Json::as_u64).collect();
        return state.update(name, Unit::Confusion { rows: matrix.len(), columns, counts: &counts });
    }
    let truth = Map::new(&unit["truth"], width);
    let heads: Vec<(Kind, &Json)> =
        state.protocol().heads.iter().map(|head| (head.kind, &unit["pred"][&head.name])).collect();
    if let [(Kind::Labels, labels)] = heads[..] {
        let pred = Map::new(labels, width);
        let unit = Unit::Pixels { truth: truth.view(), pred: Prediction::Labels(pred.view()) };
        return state.update(name, unit);
    }
    let scores: Vec<Option<Scores>> =
        heads.iter().map(|(_, array)| (!array.is_null()).then(|| Scores::new(array, dtype))).collect();
    let pred = Prediction::Scores(scores.iter().map(|head| head.as_ref().map(Scores::view)).collect());
    state.update(name, Unit::Pixels { truth: truth.view(), pred })
}

struct Map {
    height: usize,
    width: usize,
    ids: Ids,
}

enum Ids {
    One(Vec<u8>),
    Two(Vec<u16>),
    Eight(Vec<i64>),
}

impl Map {
    fn new(rows: &Json, width: Width) -> Self {
        let [height, columns] = axes(rows);
        let ids: Vec<i64> = flat(rows).map(|id| id.as_i64().expect("an id")).collect();
        let most = match width {
            Width::One => i64::from(u8::MAX),
            Width::Two => i64::from(u16::MAX),
            Width::Eight => -1,
        };
        let (least, largest) = ids.iter().fold((0, 0), |(low, high), &id| (id.min(low), id.max(high)));
        let ids = if least < 0 || largest > most {
            Ids::Eight(ids)
        } else if width == Width::One {
            Ids::One(ids.into_iter().map(|id| id as u8).collect())
        } else {
            Ids::Two(ids.into_iter().map(|id| id as u16).collect())
        };
        Self { height, width: columns, ids }
    }

    fn view(&self) -> LabelMap<'_> {
        let data = match &self.ids {
            Ids::One(ids) => MapData::U8(ids),
            Ids::Two(ids) => MapData::U16(ids),
            Ids::Eight(ids) => MapData::I64(ids),
        };
        LabelMap { height: self.height, width: self.width, data }
    }
}

struct Scores {
    shape: [usize; 3],
    values: Values,
}

enum Values {
    Half(Vec<f16>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Scores {
    fn new(array: &Json, dtype: &str) -> Self {
        let values = flat(array).map(|value| match value {
            Json::String(word) => word.parse().expect("nan or an infinity"),
            number => number.as_f64().expect("a number"),
        });
        let values = match dtype {
            "f16" => Values::Half(values.map(f16::from_f64).collect()),
            "f32" => Values::Single(values.map(|value| value as f32).collect()),
            _ => Values::Double(values.collect()),
        };
        Self { shape: axes(array), values }
    }

    fn view(&self) -> ScoreArray<'_> {
        let data = match &self.values {
            Values::Half(values) => NumberSlice::F16(values),
            Values::Single(values) => NumberSlice::F32(values),
            Values::Double(values) => NumberSlice::F64(values),
        };
        ScoreArray { shape: self.shape, data }
    }
}

fn axes<const AXES: usize>(array: &Json) -> [usize; AXES] {
    let mut inner = array;
    [(); AXES].map(|()| {
        let here = inner.as_array().expect("an array");
        inner = here.first().unwrap_or(&Json::Null);
        here.len()
    })
}

fn flat(array: &Json) -> Box<dyn Iterator<Item = &Json> + '_> {
    match array {
        Json::Array(parts) => Box::new(parts.iter().flat_map(flat)),
        value => Box::new(std::iter::once(value)),
    }
}

/// How far a number may be off: not at all where a grid is chosen from, one rounding of counts, or
/// the error of exponentials and logarithms of the score type.
fn tolerance(id: &str, input: &Json) -> Tolerance {
    let inexact =
        ["nll", "brier", "ece", "mce", "mean_confidence", "reliability_confidence", "temperature_nll"];
    if id == "best_temperature" {
        Tolerance::Exact
    } else if inexact.iter().any(|prefix| id.starts_with(prefix)) {
        Tolerance::Mixed(if matches!(input["dtype"].as_str(), Some("f16" | "f32")) { 2e-6 } else { 1e-12 })
    } else {
        Tolerance::Mixed(1e-14)
    }
}
