//! What files beside the graphs say of units that are already found: names, optima, chosen sets.

use std::borrow::Cow;
use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::compress;
use calipers_io::graph::FORMATS;
use calipers_io::score::json::results;
use calipers_io::score::{OPTIMA, OptimumReader, names, optimum};

use super::node_values::whole;
use super::options::{Optimum, Options};
use super::plan::{UnitAt, UnitPlan, shown, unmatched};
use crate::inputs::{Inputs, role};
use crate::stdin;

/// Gives the graphs of packs the names of a file, one per line.
pub fn rename(units: &mut [UnitPlan], path: &Path, inputs: &Inputs) -> Result<()> {
    let shown = shown(path);
    let names = names::parse(&text_file(path, "names", inputs)?).map_err(|error| error.in_file(&shown))?;
    let packed: Vec<&mut UnitPlan> = units
        .iter_mut()
        .filter(|unit| match &unit.at {
            UnitAt::Arrays { part, .. } | UnitAt::Files { graph: (_, part), .. } => part.is_counted(),
        })
        .collect();
    if names.len() != packed.len() {
        return Err(Error::value("there must be one name for each graph of the pack")
            .in_file(shown)
            .found(format!("{} names", names.len()))
            .allowed(format!("{} graphs", packed.len()))
            .advice("write one name per line, in the order of the graphs"));
    }
    for (unit, name) in packed.into_iter().zip(names) {
        unit.name = name;
    }
    Ok(())
}

/// Gives units the optima of the options.
pub fn give_optima(units: &mut [UnitPlan], options: &Options, inputs: &Inputs) -> Result<()> {
    let path = match &options.optimum {
        None => return Ok(()),
        Some(Optimum::Same(value)) => {
            units.iter_mut().for_each(|unit| unit.optimum = Some(*value));
            return Ok(());
        }
        Some(Optimum::At(path)) => path,
    };
    let shown = shown(path);
    let bytes = text_file(path, "optimum", inputs)?;
    let format = OPTIMA.by_name(compress::FORMATS.stem(&shown));
    // A table may have any name.
    let parse = format.map_or(optimum::parse_csv as OptimumReader, |format| format.reader);
    for (name, value, line) in parse(&bytes).map_err(|error| error.in_file(&shown))? {
        let place = format!("line {line}, unit {name}");
        let value = whole(value, "an optimum").map_err(|error| error.at(&place).in_file(&shown))?;
        let index = units.binary_search_by(|unit| unit.name.as_str().cmp(&name)).map_err(|_| {
            Error::value(format!("unknown unit '{name}'"))
                .in_file(&shown)
                .at(format!("line {line}"))
                .found(&name)
                .allowed(format!("the units of this run, {} in all", units.len()))
                .advice(names_agree(units))
        })?;
        if units[index].optimum.replace(value).is_some() {
            return Err(Error::value(format!("unit '{name}' has two optima"))
                .in_file(&shown)
                .at(place)
                .allowed("one optimum a unit")
                .advice("take one of them away"));
        }
    }
    Ok(())
}

/// Takes chosen sets from a benchmark's `results.json`.
pub fn take_results(units: &mut [UnitPlan], path: &Path, inputs: &Inputs) -> Result<()> {
    let shown = shown(path);
    let results =
        results::parse(&text_file(path, "input", inputs)?).map_err(|error| error.in_file(&shown))?;
    let mut given = vec![false; units.len()];
    for result in results {
        // Results name graphs with or without the endings of their files.
        let names = [result.unit.as_str(), FORMATS.stem(compress::FORMATS.stem(&result.unit))];
        let index = names.iter().find_map(|name| units.iter().position(|unit| unit.name == **name));
        let Some(index) = index else {
            return Err(Error::value(format!("unknown graph '{}'", result.unit))
                .in_file(shown)
                .at(format!("key {}", result.unit))
                .found(&result.unit)
                .allowed(format!("the graphs of --graph, {} in all", units.len()))
                .advice(names_agree(units)));
        };
        if std::mem::replace(&mut given[index], true) {
            return Err(Error::value(format!("graph '{}' is given twice", result.unit))
                .in_file(shown)
                .allowed("every graph once")
                .advice("take one of them away"));
        }
        if let UnitAt::Files { chosen, .. } = &mut units[index].at {
            *chosen = Some(result.set);
        }
    }
    let missing: Vec<&str> =
        units.iter().zip(&given).filter(|(_, given)| !**given).map(|(unit, _)| unit.name.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(unmatched("graphs without a result", &missing, Path::new(&units[0].shown), path))
}

/// What to do about a name that no graph has.
pub fn names_agree(units: &[UnitPlan]) -> String {
    let example = units.iter().map(|unit| unit.name.as_str()).min().unwrap_or_default();
    format!(
        "name units as the graphs are named, such as '{example}'; --names FILE names the graphs of a pack"
    )
}

/// A text file, plain or compressed.
fn text_file(path: &Path, word: &str, inputs: &Inputs) -> Result<Vec<u8>> {
    let shown = shown(path);
    if stdin::is_stdin(path) {
        let found = stdin::read(word, &|_| None)?;
        let text = inputs.read_found(&found).map_err(|error| error.in_file(shown))?;
        return Ok(text.into_owned());
    }
    let bytes = inputs.read(path, &shown, &role(word, None))?;
    let text = compress::inflated(bytes.into(), compress::FORMATS.by_name(&shown));
    text.map(Cow::into_owned).map_err(|error| error.in_file(&shown))
}
