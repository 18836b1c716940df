//! Segmentations as the laws see them: a run written as JSON, and what is particular to the family.

mod cases;
mod config;
mod properties;
mod reference;
mod warnings;

use calipers_core::{Accumulator, Error, Result};
use calipers_metrics::segmentation::{
    Config, Grid, Kind, LabelMap, MapData, NumberSlice, Prediction, ScoreArray, Segmentation, Unit,
};
use half::f16;
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::family::{Family, metrics};

pub(crate) const FAMILY: Family = Family {
    name: "segmentation",
    golden: &[
        "overlap.json",
        "boundary.json",
        "calibration.json",
        "fusion.json",
        "surface.json",
        "errors.json",
    ],
    metrics: metrics::<Segmentation>,
    run: |input| Ok(Box::new(run(input, Width::One)?)),
    tolerance,
    general,
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
        let given =
            if unit["spacing"].is_null() { &input["config"]["data"]["spacing"] } else { &unit["spacing"] };
        let spacing: Option<Vec<f64>> =
            given.as_array().map(|_| flat(given).filter_map(Json::as_f64).collect());
        let dtype = input["dtype"].as_str().unwrap_or("f64");
        add(&mut state, unit, dtype, width, spacing.as_deref())?;
    }
    Ok(state)
}

/// The protocol of a configuration.
pub(crate) fn protocol(config: &Json) -> Result<Segmentation> {
    let config: Config =
        serde_json::from_value(config.clone()).map_err(|error| Error::value(error.to_string()))?;
    config.resolve()
}

fn add(
    state: &mut Accumulator<Segmentation>,
    unit: &Json,
    dtype: &str,
    width: Width,
    spacing: Option<&[f64]>,
) -> Result<()> {
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
        let shapes = [&unit["truth"], labels].map(shape);
        if shapes[0].len() == 2 && spacing.is_none() {
            let unit = Unit::Pixels { truth: truth.view(), pred: Prediction::Labels(pred.view()) };
            return state.update(name, unit);
        }
        let grid = Grid::new(&shapes[0], spacing)?;
        Grid::new(&shapes[1], None)?.check_size(&grid)?;
        let (height, width) = (grid.rows(), grid.axes()[2]);
        let truth = LabelMap { height, width, ..truth.view() };
        let pred = Prediction::Labels(LabelMap { height, width, ..pred.view() });
        return state.update(name, Unit::Spatial { grid, truth, pred });
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

/// The lengths of the axes of nested lists.
fn shape(array: &Json) -> Vec<usize> {
    let inner = std::iter::successors(Some(array), |array| array.get(0));
    inner.map_while(|array| array.as_array().map(Vec::len)).collect()
}

/// A reason as its definition writes it.
fn general(reason: &str) -> String {
    if let Some((_, after)) = reason.split_once(" unit(s) have") {
        return format!("infinite: K unit(s) have{after}");
    }
    if let Some((before, _)) = reason.split_once("images; ") {
        return format!("{before}images; UNIT is a volume");
    }
    reason.replace("at 1 pixel", "at K pixel")
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
    let apart = ["hd", "asd_from", "assd", "masd", "nsd"];
    let spaced = !input["config"]["data"]["spacing"].is_null() || !input["units"][0]["spacing"].is_null();
    let alone = input["units"].as_array().is_some_and(|units| units.len() == 1);
    if ["hd", "mean_hd"].contains(&id) && alone && !spaced {
        Tolerance::Exact
    } else if apart.iter().any(|prefix| id.trim_start_matches("mean_").starts_with(prefix)) {
        Tolerance::Relative(1e-12)
    } else if id == "best_temperature" {
        Tolerance::Exact
    } else if inexact.iter().any(|prefix| id.starts_with(prefix)) {
        Tolerance::Mixed(if matches!(input["dtype"].as_str(), Some("f16" | "f32")) { 2e-6 } else { 1e-12 })
    } else {
        Tolerance::Mixed(1e-14)
    }
}
