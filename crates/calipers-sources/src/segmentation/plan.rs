//! From paths to a list of units: truth and predictions joined by name.

mod pairing;

use std::collections::BTreeSet;
use std::path::Path;

use calipers_core::spelling;
use calipers_core::{Error, Fact, Result, UnitId};
use calipers_metrics::segmentation::{Measure, MissingHeads, Segmentation};

use self::pairing::proposed;
use super::options::Options;
use super::side::{Place, Side, SideKind, container_endings, endings, stem};
use crate::inputs::Inputs;
use crate::run;

/// The code of what is noticed about truth without a prediction, where that is left out.
const MISSING: &str = "missing-predictions";

/// What predictions are read as.
pub const PRED: &str = "pred";

/// Every unit of a run, in key order, and where their arrays are.
pub struct Plan {
    /// The truth.
    pub truth: Side,
    /// The predictions: one side for each path, in order of the heads.
    pub preds: Vec<PredSide>,
    /// The units.
    pub units: Vec<UnitPlan>,
    /// What was noticed while pairing.
    pub facts: BTreeSet<Fact>,
}

/// Predictions at one path.
pub struct PredSide {
    /// Where they are.
    pub side: Side,
    /// The heads that are read from here, by position in the protocol.
    pub heads: Vec<HeadAt>,
}

/// Which array of a file a head is.
pub struct HeadAt {
    /// The position in the protocol.
    pub head: usize,
    /// The name of the array.
    pub key: String,
    /// Whether the configuration gave that name as a key of its own.
    pub explicit: bool,
}

/// Where the evidence of one unit is.
pub struct UnitPlan {
    /// The unit's name.
    pub name: UnitId,
    /// Where its truth is.
    pub truth: Place,
    /// Where its predictions are, by side.
    pub preds: Box<[Option<Place>]>,
}

impl Plan {
    /// Finds and pairs everything the options name; folders are listed side by side.
    pub fn new(options: &Options, protocol: &Segmentation, inputs: &Inputs, threads: usize) -> Result<Self> {
        let data = &options.config.data;
        let truth_path = options.truth.as_deref().unwrap_or(Path::new(""));
        let truth = Side::open(truth_path, "truth", inputs)?;
        let preds = pred_sides(options, protocol, inputs)?;
        let sides = std::iter::once((&truth, data.truth_suffix.as_deref()))
            .chain(preds.iter().map(|pred| (&pred.side, data.pred_suffix.as_deref())));
        let mut listed = listed(&sides.collect::<Vec<_>>(), data.flat, threads, inputs)?;
        named_by_the_truth(&truth, &preds, &mut listed);
        let mut listed = listed.into_iter();
        let truth_units = listed.next().unwrap_or_default();
        if truth_units.is_empty() {
            let error = nothing(&truth, data.truth_suffix.as_deref());
            return Err(mended(error, &truth, &preds, None));
        }
        let mut units: Vec<UnitPlan> = truth_units
            .into_iter()
            .map(|(name, truth)| UnitPlan { name: name.into(), truth, preds: vec![None; preds.len()].into() })
            .collect();
        // A head of which there is no file at all is a missing one, where heads may be missing.
        let marginalise = preds.len() > 1 && protocol.labels.missing_heads == MissingHeads::Marginalise;
        let mut facts = BTreeSet::new();
        for ((number, pred), found) in preds.iter().enumerate().zip(listed) {
            if found.is_empty() && !data.allow_missing && !marginalise {
                let error = nothing(&pred.side, data.pred_suffix.as_deref());
                return Err(mended(error, &truth, &preds, None));
            }
            for extra in join(&mut units, number, found) {
                facts.insert(fact("extra-predictions", extra));
            }
        }
        if !data.allow_missing {
            keep_readable(&mut units, &truth, &preds, inputs);
        }
        let missing = |unit: &UnitPlan| unit.preds.iter().all(Option::is_none);
        let without: Vec<&str> =
            units.iter().filter(|unit| missing(unit)).map(|unit| unit.name.as_str()).collect();
        let all = without.len() == units.len();
        if !without.is_empty() && (!data.allow_missing || all) {
            if all || !inputs.goes_on() {
                let paired = units.len() - without.len();
                return Err(mended(unpredicted(&without, &truth, &preds), &truth, &preds, Some(paired)));
            }
            let alone = |name: &&str| inputs.leave_out(name, unpredicted(&[name], &truth, &preds));
            without.iter().try_for_each(alone)?;
        } else {
            facts.extend(without.into_iter().map(|name| fact(MISSING, name.to_owned())));
        }
        units.retain(|unit| !missing(unit));
        keep_readable(&mut units, &truth, &preds, inputs);
        if protocol.measures(Measure::Surface) && truth.is_stack() {
            facts.extend(units.iter().map(|unit| fact("stack-of-images", unit.name.to_string())));
        }
        if protocol.labels.missing_heads == MissingHeads::Error {
            no_missing_side(&mut units, &preds, protocol, inputs)?;
        }
        Ok(Self { truth, preds, units, facts })
    }

    /// The units that options leave out for lack of a prediction.
    pub fn unpredicted(&self) -> impl Iterator<Item = &str> {
        self.facts.iter().filter(|fact| fact.code == MISSING).map(|fact| fact.unit.as_str())
    }

    /// Fails when a container was changed while it was read.
    pub fn unchanged(&self) -> Result<()> {
        self.truth.unchanged()?;
        self.preds.iter().try_for_each(|pred| pred.side.unchanged())
    }

    /// The files of a unit as messages name them.
    pub fn shown(&self, unit: &UnitPlan) -> String {
        let mut shown = self.truth.shown_place(unit.name.as_str(), &unit.truth);
        for (pred, place) in self.preds.iter().zip(&unit.preds) {
            if let Some(place) = place {
                shown.push_str(" and ");
                shown.push_str(&pred.side.shown_place(unit.name.as_str(), place));
            }
        }
        shown
    }
}

/// The units of each side, given with the ending that its files must have.
fn listed(
    sides: &[(&Side, Option<&str>)],
    flat: bool,
    threads: usize,
    inputs: &Inputs,
) -> Result<Vec<Vec<(String, Place)>>> {
    run::in_order(sides, threads, |(side, suffix)| side.units(*suffix, flat, inputs))
}

/// Two files that hold one image each are one unit, named by the truth.
fn named_by_the_truth(truth: &Side, preds: &[PredSide], listed: &mut [Vec<(String, Place)>]) {
    let is_image = |side: &Side| matches!(side.kind, SideKind::Image(..));
    let Some(([(name, _)], others)) = listed
        .split_first_mut()
        .and_then(|(first, others)| Some((<&[_; 1]>::try_from(&**first).ok()?, others)))
    else {
        return;
    };
    if is_image(truth) && preds.iter().all(|pred| is_image(&pred.side)) {
        others.iter_mut().flatten().for_each(|(other, _)| other.clone_from(name));
    }
}

/// Leaves out the units of which a file may not be read.
fn keep_readable(units: &mut Vec<UnitPlan>, truth: &Side, preds: &[PredSide], inputs: &Inputs) {
    if !inputs.is_again() {
        return;
    }
    units.retain(|unit| {
        let mut sides = preds.iter().zip(&unit.preds);
        let predicted =
            sides.all(|(pred, place)| place.as_ref().is_none_or(|place| pred.side.may_read(place, inputs)));
        predicted && truth.may_read(&unit.truth, inputs)
    });
}

fn fact(code: &str, unit: String) -> Fact {
    Fact { code: code.into(), unit, detail: String::new() }
}

/// One side for each path that heads are read from.
fn pred_sides(options: &Options, protocol: &Segmentation, inputs: &Inputs) -> Result<Vec<PredSide>> {
    let mut paths: Vec<(&Path, Vec<HeadAt>)> = Vec::new();
    for (head, resolved) in protocol.heads.iter().enumerate() {
        let config = options.config.heads.get(head);
        let key = config.and_then(|config| config.key.clone());
        let path = config.and_then(|config| config.path.as_deref()).or(options.pred.as_deref());
        let path = path.unwrap_or(Path::new(""));
        let explicit = key.is_some();
        let at = HeadAt { head, key: key.unwrap_or_else(|| resolved.name.clone()), explicit };
        match paths.iter_mut().find(|(known, _)| *known == path) {
            Some((_, heads)) => heads.push(at),
            None => paths.push((path, vec![at])),
        }
    }
    let several = paths.len() > 1;
    let open = |(path, heads): (&Path, Vec<HeadAt>)| {
        let side = Side::open(path, &pred_role(&heads, several), inputs)?;
        if heads.len() > 1 && !matches!(side.kind, SideKind::Folder(_)) {
            let names: Vec<&str> = heads.iter().map(|at| protocol.heads[at.head].name.as_str()).collect();
            return Err(Error::value("a container holds one array a unit, not one for each head")
                .in_file(&side.shown)
                .found(format!("heads {}", names.join(", ")))
                .advice("give every head a path of its own, or a folder with one file per unit"));
        }
        Ok(PredSide { side, heads })
    };
    paths.into_iter().map(open).collect()
}

/// What predictions are noted as: with several places, also for which heads, by position.
pub fn pred_role(heads: &[HeadAt], several: bool) -> String {
    let positions: Vec<String> = heads.iter().map(|at| at.head.to_string()).collect();
    if several { format!("{PRED}.{}", positions.join("+")) } else { PRED.to_owned() }
}

/// Gives units their predictions of one side; both are in order of names. Returns the names that
/// no unit has.
fn join(units: &mut [UnitPlan], side: usize, found: Vec<(String, Place)>) -> Vec<String> {
    let mut units = units.iter_mut().peekable();
    let mut extra = Vec::new();
    for (name, place) in found {
        while units.next_if(|unit| unit.name.as_str() < name.as_str()).is_some() {}
        match units.next_if(|unit| unit.name.as_str() == name) {
            Some(unit) => unit.preds[side] = Some(place),
            None => extra.push(name),
        }
    }
    extra
}

fn nothing(side: &Side, suffix: Option<&str>) -> Error {
    let error = Error::value("no unit was found").in_file(&side.shown);
    match (&side.kind, suffix) {
        (SideKind::Folder(_), Some(suffix)) => error
            .allowed(format!("files whose names end in {suffix}"))
            .advice("check the folder and the suffix; a suffix holds the file's ending too"),
        (SideKind::Folder(_), None) => error
            .allowed(format!("files whose names end in {}", endings().join(" ")))
            .advice("check the folder; hidden files are passed over"),
        _ => error
            .allowed(format!("at least one array in a file that ends in {}", container_endings().join(" "))),
    }
}

/// The error with two names of each side, and with the options under which more units pair than now.
fn mended(error: Error, truth: &Side, preds: &[PredSide], paired: Option<usize>) -> Error {
    let Some(pred) = preds.first() else { return error };
    let (Some(truths), Some(predicted)) = (truth.below(), pred.side.below()) else { return error };
    let two = |side: &Side, files: &[String]| {
        let shown: Vec<String> = files.iter().take(2).map(|file| format!("{}/{file}", side.shown)).collect();
        match files.len() {
            0 => format!("no such file in {}", side.shown),
            1 | 2 => shown.join(", "),
            more => format!("{} and {} more", shown.join(", "), more - 2),
        }
    };
    let error = error.at(format!("{}; {}", two(truth, &truths), two(&pred.side, &predicted)));
    let Some(found) = proposed(&truths, &predicted, stem).filter(|found| found.pairs > paired.unwrap_or(0))
    else {
        return error;
    };
    let units = format!("{} unit{} pair so", found.pairs, if found.pairs == 1 { "" } else { "s" });
    let others = match found.others.as_slice() {
        [] => units,
        others => format!("{units}; as many would with the truth that ends in {}", others.join(" or ")),
    };
    let said = if paired.is_some() { format!("{others}; {LEFT_OUT}") } else { others };
    error.advice(said).again_with(found.options())
}

/// What else may be meant where a truth has no prediction.
const LEFT_OUT: &str = "--allow-missing leaves those without a prediction out, with a warning";

fn unpredicted(names: &[&str], truth: &Side, preds: &[PredSide]) -> Error {
    let sides: Vec<&str> = preds.iter().map(|pred| pred.side.shown.as_str()).collect();
    Error::value(format!("truth without prediction: {}", names.len()))
        .at(format!("{} and {}", truth.shown, sides.join(", ")))
        .found(spelling::listed(names, 5))
        .advice(format!("units pair by name; {LEFT_OUT}"))
}

fn no_missing_side(
    units: &mut Vec<UnitPlan>,
    preds: &[PredSide],
    protocol: &Segmentation,
    inputs: &Inputs,
) -> Result<()> {
    let missing = |unit: &UnitPlan| unit.preds.iter().position(Option::is_none);
    for (unit, side) in units.iter().filter_map(|unit| Some((unit, missing(unit)?))) {
        let pred = &preds[side];
        let head = &protocol.heads[pred.heads[0].head].name;
        let error = Error::value("a head is missing")
            .at(format!("unit {}, head {head}", unit.name))
            .found(format!("no file for the unit in {}", pred.side.shown))
            .advice("add it, or say --missing-heads marginalise to score from the heads that are there");
        inputs.leave_out(unit.name.as_str(), error)?;
    }
    units.retain(|unit| missing(unit).is_none());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(names: &[&str]) -> Vec<UnitPlan> {
        let unit =
            |name: &&str| UnitPlan { name: (*name).into(), truth: Place::Key, preds: vec![None].into() };
        names.iter().map(unit).collect()
    }

    fn found(names: &[&str]) -> Vec<(String, Place)> {
        names.iter().map(|name| ((*name).into(), Place::Key)).collect()
    }

    #[test]
    fn names_join_whatever_is_missing_on_either_side() {
        for (truth, pred, extra) in [
            (&["a", "b", "c"][..], &["a", "b", "c"][..], &[][..]),
            (&["b", "d"], &["a", "b", "c", "d", "e"], &["a", "c", "e"]),
            (&["a", "b", "c"], &["b"], &[]),
            (&["a"], &[], &[]),
        ] {
            let mut units = units(truth);
            assert_eq!(join(&mut units, 0, found(pred)), extra);
            for unit in &units {
                assert_eq!(unit.preds[0].is_some(), pred.contains(&unit.name.as_str()), "{}", unit.name);
            }
        }
    }
}
