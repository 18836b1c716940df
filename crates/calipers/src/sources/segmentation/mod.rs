//! Segmentations from files: options into a plan, the plan into units, units into rows.

pub mod classes;
pub mod config_file;
pub mod confusion;
pub mod evidence;
pub mod fit;
pub mod label_map;
pub mod memory;
pub mod options;
pub mod plan;
pub mod scores;
pub mod side;

use std::sync::Mutex;

use calipers_core::{Accumulator, Content, Error, Fact, Provenance, Result};
use calipers_metrics::segmentation::protocol::Segmentation;
use calipers_metrics::segmentation::unit::{Prediction, Unit};

use self::confusion::Matrices;
use self::evidence::{Buffers, Contents, Reader};
use self::options::Options;
use self::plan::{Plan, UnitPlan};
use self::scores::Scores;
use crate::inputs::Inputs;
use crate::run::{self, Progress, Shard};

/// Measures everything the options name. `inputs` holds the files that were read for the options
/// themselves.
pub fn measure(
    options: &Options,
    inputs: Inputs,
    shard: Option<Shard>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Accumulator<Segmentation>> {
    options.check()?;
    let protocol = options.config.resolve()?;
    let mut accumulator = match &options.confusion {
        Some(path) => {
            let (matrices, units) = Matrices::open(path, &inputs)?;
            let units = part(&units, shard);
            run::measure_all(&protocol, units, threads, progress, |unit, accumulator| {
                let matrix = matrices.read(unit)?;
                let (rows, columns, counts) = (matrix.rows, matrix.columns, matrix.counts.as_slice());
                let updated =
                    accumulator.update(unit.name.as_str(), Unit::Confusion { rows, columns, counts });
                updated.map_err(|error| error.in_file(&matrices.shown))
            })?
        }
        None => pixels(options, &protocol, &inputs, shard, threads, progress)?,
    };
    let provenance = &mut accumulator.provenance;
    provenance.inputs = inputs.into_files()?;
    provenance.readings.insert(options.reading());
    if let Some(shard) = shard {
        provenance.shards.entry(shard.of).or_default().insert(shard.index);
    }
    Ok(accumulator)
}

fn pixels(
    options: &Options,
    protocol: &Segmentation,
    inputs: &Inputs,
    shard: Option<Shard>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Accumulator<Segmentation>> {
    let colours = options.config.colors(&protocol.labels)?;
    let plan = Plan::new(options, protocol, inputs)?;
    let reader = Reader { plan: &plan, protocol, colours: &colours, inputs };
    let idle: Mutex<Vec<Buffers>> = Mutex::default();
    let units = part(&plan.units, shard);
    let mut accumulator = run::measure_all(protocol, units, threads, progress, |unit, accumulator| {
        let mut buffers = idle.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default();
        let contents = reader.read(unit, &mut buffers)?;
        update(accumulator, &reader, unit, &buffers).map_err(|error| error.in_file(plan.shown(unit)))?;
        note(&mut accumulator.provenance, unit, &contents);
        if let Ok(mut idle) = idle.lock() {
            idle.push(buffers);
        }
        Ok(())
    })?;
    plan.unchanged()?;
    accumulator.provenance.facts.extend(plan.facts);
    Ok(accumulator)
}

/// The units that a run takes.
fn part<T>(units: &[T], shard: Option<Shard>) -> &[T] {
    shard.map_or(units, |shard| &units[shard.range(units.len())])
}

fn update(
    accumulator: &mut Accumulator<Segmentation>,
    reader: &Reader<'_>,
    unit: &UnitPlan,
    buffers: &Buffers,
) -> Result<()> {
    let truth = buffers.truth.map();
    if reader.labels() {
        let pred = Prediction::Labels(buffers.pred.map());
        return accumulator.update(&unit.name, Unit::Pixels { truth, pred });
    }
    let scores = buffers.scores.iter().zip(&reader.protocol.heads).map(|(array, head)| {
        let scores = array.as_ref().map(Scores::new).transpose();
        scores.map_err(|error: Error| error.at(format!("unit {}, head {}", unit.name, head.name)))
    });
    let scores: Vec<Option<Scores<'_>>> = scores.collect::<Result<_>>()?;
    let pred = Prediction::Scores(scores.iter().map(|head| head.as_ref().map(Scores::view)).collect());
    accumulator.update(&unit.name, Unit::Pixels { truth, pred })
}

fn note(provenance: &mut Provenance, unit: &UnitPlan, contents: &Contents) {
    let hash = contents.truth.as_bytes();
    let truth = std::array::from_fn(|byte| hash[byte]);
    provenance.contents.insert(Content { unit: unit.name.clone(), truth });
    if contents.identical {
        let (code, unit) = ("identical-files".into(), unit.name.to_string());
        provenance.facts.insert(Fact { code, unit, detail: String::new() });
    }
}

/// A shape as messages show it.
fn shape_text(shape: &[u64]) -> String {
    format!("[{}]", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}
