//! Which numbers are compared.

use calipers_core::metric::MetricInfo;
use calipers_core::resample::{Leaf, Resampler};
use calipers_core::spelling::distance;
use calipers_core::{Better, Error, Result, Value};

use super::Options;
use super::model::Side;

/// The ids of the metrics that were asked for, or of every one that has a better direction: headline
/// numbers first, then the others in report order.
pub(super) fn metrics(sides: &[Side<'_>], options: &Options) -> Result<Vec<String>> {
    let infos = &sides[0].infos;
    let wanted = options.metrics.iter().map(|id| full_id(sides, id)).collect::<Result<Vec<String>>>()?;
    let directed = |id: &str| infos.iter().any(|info| info.id == id && info.better != Better::Neither);
    if let Some(id) = wanted.iter().find(|id| !directed(id)) {
        return Err(Error::usage("a metric without a better direction cannot be won or lost")
            .found(id)
            .advice("`calipers list` shows which direction is better"));
    }
    let chosen = |info: &&MetricInfo| match wanted.is_empty() {
        true => directed(&info.id),
        false => wanted.contains(&info.id),
    };
    let mut shown: Vec<&MetricInfo> = infos.iter().filter(chosen).collect();
    shown.sort_by_key(|info| info.headline.unwrap_or(u8::MAX));
    Ok(shown.into_iter().map(|info| info.id.clone()).collect())
}

/// The numbers of these metrics that one of the models has at least, in their order; a metric that
/// was asked for by name is there in any case.
pub(super) fn leaves(
    ids: &[String],
    resamplers: &[Box<dyn Resampler + '_>],
    options: &Options,
) -> Result<Vec<Leaf>> {
    let mut leaves: Vec<Leaf> = Vec::new();
    for id in ids {
        for (leaf, _) in resamplers.iter().flat_map(|resampler| resampler.leaves()) {
            if leaf.id == *id && !leaves.contains(leaf) {
                leaves.push(leaf.clone());
            }
        }
        let undefined = leaves.last().is_none_or(|leaf| leaf.id != *id);
        if undefined && !options.metrics.is_empty() {
            leaves.push(Leaf { id: id.clone(), label: None });
        }
    }
    if leaves.is_empty() {
        return Err(Error::value("the models have no number to compare").advice(
            "numbers of groups or classes are compared with --by-label, others have no better direction",
        ));
    }
    Ok(leaves)
}

fn full_id(sides: &[Side<'_>], id: &str) -> Result<String> {
    let ids = || sides[0].infos.iter().map(|info| info.id.as_str());
    let short = |full: &str| full.split_once('.').map_or("", |(_, short)| short).to_owned();
    if let Some(known) = ids().find(|known| *known == id || short(known) == id) {
        return Ok(known.into());
    }
    let near = ids().min_by_key(|known| distance(&short(known), id));
    let error = Error::usage("the models have no metric of that id").found(id);
    Err(match near.filter(|near| distance(&short(near), id) <= 3) {
        Some(near) => error.advice(format!("did you mean {near}?")),
        None => error.advice("`calipers list` shows every metric"),
    })
}

/// Why a model has no such number.
pub(super) fn reason(side: &Side<'_>, leaf: &Leaf) -> String {
    const MISSING: &str = "the model has no such number";
    let Some(ledger) = side.ledger else { return "no unit has a number".into() };
    let report = ledger.report();
    let reason = match (report.get(&leaf.id), &leaf.label) {
        (Some(Value::PerLabel(entries)), Some(label)) => {
            entries.iter().find(|(name, _)| name == label).and_then(|(_, value)| value.reason())
        }
        (Some(Value::PerLabel(_)), None) => Some("one number a label: compare with --by-label"),
        (Some(value), _) => value.reason(),
        (None, _) => None,
    };
    reason.unwrap_or(MISSING).into()
}
