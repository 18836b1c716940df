//! Models over the same units: paired differences, their intervals and tests.
//!
//! ```text
//! files --model--> models --alike---> same units, same truth, same thing measured
//!                         --chosen--> which numbers
//!                         --paired--> differences, intervals, tests -> Comparison
//! ```
//!
//! Every difference is that of a later model to the first one. A model without a number is never
//! better than one with a number: it takes part in no test.

mod alike;
mod chosen;
pub mod holm;
mod model;
mod paired;
pub mod permutation;
pub mod sign_test;
mod unit_table;

use calipers_core::resample::{Bootstrap, Method};
use calipers_core::{Error, Result};
use calipers_report::comparison::{self, Comparison};

pub use model::{Model, open};

/// What is compared, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Ids of metrics, with or without their family; none stands for every metric with a better
    /// direction.
    pub metrics: Vec<String>,
    /// Whether the numbers of single labels are compared too.
    pub by_label: bool,
    /// How intervals are made; as many random sign patterns are tried.
    pub bootstrap: Bootstrap,
    /// How many threads share the work; the result does not depend on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let bootstrap = Bootstrap { resamples: 10_000, confidence: 0.95, seed: 0, method: Method::default() };
        Self { metrics: Vec::new(), by_label: false, bootstrap, threads: 1 }
    }
}

/// Compares every later model with the first: one comparison a protocol.
pub fn compare(models: &[Model], options: &Options) -> Result<Vec<Comparison>> {
    if models.len() < 2 {
        return Err(Error::usage("a comparison needs at least two models").found(models.len()));
    }
    let rounds = model::sides(models)?;
    rounds.iter().try_for_each(|sides| alike::check(sides))?;
    rounds.iter().map(|sides| one(models, sides, options)).collect()
}

fn one(models: &[Model], sides: &[model::Side<'_>], options: &Options) -> Result<Comparison> {
    let shown = models.iter().zip(sides).map(|(model, side)| comparison::Model {
        name: model.name.clone(),
        source: model.source.clone(),
        reading: alike::reading(side),
    });
    let family = sides[0].infos.first().and_then(|info| info.id.split_once('.')).map(|(family, _)| family);
    let label = sides[0].protocol().get("label").and_then(|label| label.as_str()).map(String::from);
    Ok(Comparison {
        version: env!("CARGO_PKG_VERSION").into(),
        family: family.unwrap_or_default().into(),
        subject: label,
        units: sides[0].table.units.len() as u64,
        unit_names: sides[0].table.units.clone(),
        models: shown.collect(),
        bootstrap: options.bootstrap,
        lines: paired::lines(sides, options)?,
        warnings: alike::warnings(sides),
    })
}
