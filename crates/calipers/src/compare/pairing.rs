//! Which sampling unit of one model meets which of the others.
//!
//! Units of a name meet. Where names depend on the model, they are made alike first: groups that stand for
//! models, the only group of each state, runs by a rule, the only run of each state.

use std::collections::BTreeSet;

use calipers_core::{Error, Ledger, Result, Warning};
use calipers_sources::robustness::names::RunBy;

use super::model::{Held, Model, Side, sides};
use super::{Options, warnings};
use crate::registry;

/// How many names a message spells out.
const NAMED: usize = 20;

/// The sides of all protocols, and what pairing them took.
pub(super) struct Rounds<'m> {
    pub(super) sides: Vec<Vec<Side<'m>>>,
    pub(super) warnings: Vec<Warning>,
}

/// Pairs the models, or the groups of one.
pub(super) fn rounds<'m>(models: &'m [Model], options: &Options) -> Result<Rounds<'m>> {
    if options.between_groups {
        return Ok(Rounds { sides: groups(models)?, warnings: Vec::new() });
    }
    if models.len() < 2 {
        return Err(Error::usage("a comparison needs at least two models").found(models.len()));
    }
    let mut rounds = Rounds { sides: sides(models)?, warnings: Vec::new() };
    for sides in &mut rounds.sides {
        if let Some(rule) = &options.run_by {
            sides.iter_mut().try_for_each(|side| rename(side, rule))?;
        }
        only_groups(sides)?;
        rounds.warnings.extend(only_runs(sides)?);
    }
    Ok(rounds)
}

/// The groups of one state as models, protocol by protocol.
fn groups(models: &[Model]) -> Result<Vec<Vec<Side<'_>>>> {
    let [model] = models else {
        return Err(Error::usage("--between groups compares the groups of one state")
            .found(format!("{} models", models.len())));
    };
    if model.ledgers().is_empty() {
        return Err(Error::usage("--between groups needs a state: a per-unit file has no rows")
            .in_file(&model.source));
    }
    model.ledgers().iter().map(|ledger| groups_of(model, &**ledger)).collect()
}

fn groups_of<'m>(model: &'m Model, ledger: &'m dyn Ledger) -> Result<Vec<Side<'m>>> {
    let family = registry::find(ledger.name());
    let Some(groups) = family.map(|family| (family.groups)(ledger)).transpose()?.flatten() else {
        return Err(Error::usage("only training states have groups")
            .in_file(&model.source)
            .found(format!("a state of {}", ledger.name())));
    };
    if groups.len() < 2 {
        let names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
        return Err(Error::value("--between groups needs at least two groups")
            .in_file(&model.source)
            .found(match names[..] {
                [name] => format!("one group, {name}"),
                _ => "no run".into(),
            })
            .advice("form groups with --group-by when the runs are measured"));
    }
    let all: BTreeSet<&str> = groups.iter().flat_map(|(_, ledger)| ledger.unit_names()).collect();
    let fold = |unit: &str| unit.split_once('/').map_or(unit, |(_, fold)| fold).to_owned();
    let missing: Vec<String> = groups
        .iter()
        .filter_map(|(name, ledger)| {
            let own: BTreeSet<&str> = ledger.unit_names().into_iter().collect();
            let folds: Vec<String> = all.difference(&own).map(|unit| fold(unit)).collect();
            (!folds.is_empty()).then(|| format!("{name} has no fold {}", listed(&folds)))
        })
        .collect();
    if !missing.is_empty() {
        return Err(Error::value("the groups have different folds")
            .in_file(&model.source)
            .found(missing.join("; "))
            .advice("measure the missing runs, or all groups without these folds"));
    }
    let side = |(name, ledger)| Side::of(name, &model.source, Held::Renamed(ledger));
    Ok(groups.into_iter().map(side).collect())
}

/// Where every state has one group and they are called differently, the groups are compared.
fn only_groups(sides: &mut [Side<'_>]) -> Result<()> {
    let mut only = Vec::with_capacity(sides.len());
    for side in &*sides {
        let (Some(ledger), Some(family)) = (&side.ledger, side.family()) else { return Ok(()) };
        match (family.groups)(&**ledger)? {
            Some(mut groups) if groups.len() == 1 => only.extend(groups.pop()),
            _ => return Ok(()),
        }
    }
    if only.windows(2).any(|pair| pair[0].0 != pair[1].0) {
        for (side, (_, ledger)) in sides.iter_mut().zip(only) {
            side.ledger = Some(Held::Renamed(ledger));
        }
    }
    Ok(())
}

/// The names of the runs of a side, where they can have other names.
fn runs(side: &Side<'_>) -> Option<Vec<String>> {
    let names = match &side.ledger {
        Some(ledger) => {
            (side.family()?.with_runs)(&**ledger, &|run| Ok(run.to_owned())).ok().flatten()?;
            ledger.sampling_units()
        }
        None => side.table.runs()?,
    };
    Some(names.into_iter().map(String::from).collect())
}

fn with_runs(side: &mut Side<'_>, name: &dyn Fn(&str) -> Result<String>) -> Result<()> {
    match (&side.ledger, side.family()) {
        (Some(ledger), Some(family)) => {
            if let Some(renamed) = (family.with_runs)(&**ledger, name)? {
                side.ledger = Some(Held::Renamed(renamed));
            }
            Ok(())
        }
        _ => side.table.with_runs(name),
    }
}

/// Gives the runs of a side the names that a rule finds.
fn rename(side: &mut Side<'_>, rule: &RunBy) -> Result<()> {
    if runs(side).is_none() {
        return Err(Error::usage("--run-by is for runs of attacked models")
            .in_file(side.source)
            .found("units of another family"));
    }
    let source = side.source;
    let name = |run: &str| {
        let names = rule.names(run)?;
        Ok(names.run.unwrap_or_else(|| run.to_owned()))
    };
    with_runs(side, &name).map_err(|error| error.in_file(source))
}

/// Where every side has one run and they are called differently, the only pairing there is is made.
fn only_runs(sides: &mut [Side<'_>]) -> Result<Option<Warning>> {
    let Some(names) = sides.iter().map(runs).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let Some(differs) = names.iter().position(|other| *other != names[0]) else { return Ok(None) };
    if names.iter().any(|names| names.len() != 1) {
        let found = [0, differs].map(|at| format!("{} in {}", listed(&names[at]), sides[at].source));
        return Err(Error::value("the runs of the models are called differently")
            .found(found.join("; "))
            .advice(
                "say what a run is called whatever its model is: --run-by regex:(?P<run>..), \
                 or the keys run, split and seed in the files",
            ));
    }
    let met: Vec<String> =
        sides.iter().zip(&names).map(|(side, names)| format!("{} of {}", names[0], side.name)).collect();
    let common = names[0][0].clone();
    sides.iter_mut().skip(1).try_for_each(|side| with_runs(side, &|_| Ok(common.clone())))?;
    let message = format!("each model has one run, and they are compared: {}", met.join(" with "));
    Ok(Some(warnings::warning("runs-paired", message)))
}

fn listed(names: &[String]) -> String {
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}
