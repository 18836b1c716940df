//! Models over the same units: paired differences, their intervals, tests and ranks.
//!
//! ```text
//! files --model----> models
//!       --pairing--> which sampling unit meets which
//!       --alike----> same units, same truth, same thing measured
//!       --chosen---> which numbers
//!       --samples--> those numbers of every model in the same resamples
//!       --paired, testing, ranks--> differences, intervals, tests, ranks -> Comparison
//! ```
//!
//! Every difference is that of a later model to the first one. A model without a number is never
//! better than one with a number: it takes part in no test and has no rank.

mod alike;
mod chosen;
mod model;
mod paired;
mod pairing;
mod ranks;
mod samples;
pub mod significance;
mod testing;
mod unit_table;
mod warnings;

use calipers_core::resample::{Bootstrap, Drawn, Method, Plan, Scope, Stratum};
use calipers_core::{Error, Ledger, Result};
use calipers_report::comparison::{self, Comparison};
use calipers_sources::clusters::ClusterRule;
use calipers_sources::robustness::names::RunBy;

use self::model::Side;
pub use self::model::{Model, open};

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ids of metrics or paths of single numbers, with or without their family; none stands for every
    /// metric with a better direction.
    pub metrics: Vec<String>,
    /// Whether the numbers of single labels are compared too.
    pub by_label: bool,
    /// What tables call the models, in their order; without, by what they are.
    pub names: Vec<String>,
    /// Whether the groups of one state are the models.
    pub between_groups: bool,
    /// What finds the names of runs, whatever their model is.
    pub run_by: Option<RunBy>,
    /// Which sampling units come together; `None` where it was not said.
    pub cluster_by: Option<ClusterRule>,
    /// How intervals are made; as many random sign patterns are tried.
    pub bootstrap: Bootstrap,
    /// How many threads share the work; the result does not depend on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let bootstrap = Bootstrap { resamples: 10_000, confidence: 0.95, seed: 0, method: Method::default() };
        Self {
            metrics: Vec::new(),
            by_label: false,
            names: Vec::new(),
            between_groups: false,
            run_by: None,
            cluster_by: None,
            bootstrap,
            threads: 1,
        }
    }
}

/// Compares every later model with the first: one comparison a protocol.
pub fn compare(models: &[Model], options: &Options) -> Result<Vec<Comparison>> {
    let mut rounds = pairing::rounds(models, options)?;
    for sides in &mut rounds.sides {
        name(sides, options)?;
        alike::check(sides)?;
    }
    let mut found =
        rounds.sides.iter().map(|sides| one(sides, options)).collect::<Result<Vec<Comparison>>>()?;
    if let Some(first) = found.first_mut() {
        first.warnings.splice(0..0, warnings::about_rows(models).into_iter().chain(rounds.warnings));
    }
    Ok(found)
}

/// Calls the sides as was asked for, else by the models that their protocols name.
fn name(sides: &mut [Side<'_>], options: &Options) -> Result<()> {
    let own =
        |side: &Side<'_>| side.protocol().get("model").and_then(|model| model.as_str().map(String::from));
    let names = match options.names.len() {
        0 if options.between_groups => None,
        0 => sides.iter().map(own).collect::<Option<Vec<String>>>().filter(|names| repeated(names).is_none()),
        given if given == sides.len() => Some(options.names.clone()),
        given => {
            return Err(Error::usage("--names needs a name for each model")
                .found(given)
                .allowed(sides.len()));
        }
    };
    if let Some(name) = names.as_deref().and_then(repeated) {
        return Err(Error::usage("--names gives two models one name").found(name));
    }
    for (side, name) in sides.iter_mut().zip(names.into_iter().flatten()) {
        side.name = name;
    }
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    match repeated(&names) {
        Some(name) => Err(Error::usage("two models have one name")
            .found(name)
            .advice("give each a name of its own: --names a,b")),
        None => Ok(()),
    }
}

fn repeated(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| name)
}

fn one(sides: &[Side<'_>], options: &Options) -> Result<Comparison> {
    let (plan, inputs) = sides[0].plan(options.cluster_by.as_ref())?;
    for side in &sides[1..] {
        if side.plan(options.cluster_by.as_ref())?.0 != plan {
            return Err(Error::value("the units of the models belong to different runs or groups")
                .found(format!("in {} and in {}", sides[0].source, side.source))
                .advice("name units alike that are alike"));
        }
    }
    let family = sides[0].infos.first().and_then(|info| info.id.split_once('.')).map(|(family, _)| family);
    let by_group = sides[0].family().is_some_and(|family| family.is_drawn_by_stratum());
    let scope = match by_group || chosen::below(&sides[0].infos, options) {
        true => Scope::Intervals,
        false => Scope::Single,
    };
    let (lines, tested) = paired::lines(sides, &plan, scope, options)?;
    let mut warnings: Vec<_> = warnings::about_files(sides).into_iter().collect();
    warnings.extend(warnings::about_intervals(&lines, &plan, sides, options));
    warnings.extend(warnings::few_pairs(&lines, &tested, &plan, options.bootstrap.confidence));
    Ok(Comparison {
        version: env!("CARGO_PKG_VERSION").into(),
        family: family.unwrap_or_default().into(),
        subject: sides[0].protocol().get("label").and_then(|label| label.as_str()).map(String::from),
        units: plan.rows() as u64,
        unit_names: plan.names().to_vec(),
        models: sides.iter().map(shown).collect(),
        drawn: drawn(&plan, options),
        pictures: pictures(sides),
        lines,
        warnings,
        inputs,
    })
}

fn shown(side: &Side<'_>) -> comparison::Model {
    comparison::Model { name: side.name.clone(), source: side.source.into(), reading: alike::reading(side) }
}

fn drawn(plan: &Plan, options: &Options) -> Drawn {
    let sizes = |stratum: &Stratum| [stratum.rows as u64, stratum.units.len() as u64];
    Drawn {
        bootstrap: options.bootstrap,
        sampling_unit: plan.word().into(),
        cluster_by: plan.rule().map(String::from),
        strata: plan.strata().iter().map(|stratum| (stratum.name.clone(), sizes(stratum))).collect(),
        percentile_used: Vec::new(),
    }
}

/// What the family draws of all models together.
fn pictures(sides: &[Side<'_>]) -> Vec<calipers_report::chart::Picture> {
    let models: Option<Vec<(&str, &dyn Ledger)>> =
        sides.iter().map(|side| Some((side.name.as_str(), &**side.ledger.as_ref()?))).collect();
    match (models, sides[0].family()) {
        (Some(models), Some(family)) => (family.compared)(&models),
        _ => Vec::new(),
    }
}
