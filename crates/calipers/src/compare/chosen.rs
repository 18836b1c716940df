//! Which numbers are compared.

use calipers_core::metric::MetricInfo;
use calipers_core::resample::{Leaf, Resampler};
use calipers_core::spelling::distance;
use calipers_core::{Better, Error, Result, Value};

use super::Options;
use super::model::Side;
use crate::registry;

/// A metric by its full id, and one of its numbers where only that is meant.
pub(super) type Chosen = (String, Option<String>);

/// The metrics that were asked for, or every one: headline numbers first, then the others in report
/// order.
pub(super) fn metrics(sides: &[Side<'_>], options: &Options) -> Result<Vec<Chosen>> {
    let infos = &sides[0].infos;
    let wanted = options.metrics.iter().map(|id| full_id(infos, id)).collect::<Result<Vec<Chosen>>>()?;
    let mut shown: Vec<&MetricInfo> = infos.iter().collect();
    shown.sort_by_key(|info| info.headline.unwrap_or(u8::MAX));
    if wanted.is_empty() {
        return Ok(shown.into_iter().map(|info| (info.id.clone(), None)).collect());
    }
    let of = |info: &&MetricInfo| -> Vec<Chosen> {
        wanted.iter().filter(|(id, _)| *id == info.id).cloned().collect()
    };
    Ok(shown.iter().flat_map(of).collect())
}

/// Whether numbers below the single ones are asked for.
pub(super) fn below(infos: &[MetricInfo], options: &Options) -> bool {
    options.by_label
        || options.metrics.iter().any(|id| full_id(infos, id).is_ok_and(|(_, label)| label.is_some()))
}

/// The numbers with a better direction of these metrics that one of the models has at least, in their
/// order; a metric that was asked for by name is there in any case.
pub(super) fn leaves(
    infos: &[MetricInfo],
    chosen: &[Chosen],
    resamplers: &[Box<dyn Resampler + '_>],
    options: &Options,
) -> Result<Vec<Leaf>> {
    let mut leaves: Vec<Leaf> = Vec::new();
    for (id, label) in chosen {
        let before = leaves.len();
        for (leaf, _) in resamplers.iter().flat_map(|resampler| resampler.leaves()) {
            let meant = leaf.id == *id && (label.is_none() || leaf.label == *label);
            if meant && better(infos, leaf) != Better::Neither && !leaves.contains(leaf) {
                leaves.push(leaf.clone());
            }
        }
        if leaves.len() == before && !options.metrics.is_empty() {
            let asked = Leaf { id: id.clone(), label: label.clone() };
            if better(infos, &asked) == Better::Neither {
                return Err(Error::usage("a metric without a better direction cannot be won or lost")
                    .found(asked.path())
                    .advice("`calipers list` shows which direction is better"));
            }
            leaves.push(asked);
        }
    }
    if options.metrics.is_empty() {
        drop_repeated(&mut leaves);
    }
    if leaves.is_empty() {
        return Err(Error::value("the models have no number to compare").advice(
            "numbers of groups or classes are compared with --by-label, others have no better direction",
        ));
    }
    Ok(leaves)
}

/// Leaves out nested numbers that another metric holds under the same names among others: one number
/// is one test.
fn drop_repeated(leaves: &mut Vec<Leaf>) {
    let nested: Vec<Leaf> = leaves.iter().filter(|leaf| is_nested(leaf)).cloned().collect();
    let labels = |id: &str| -> Vec<&Option<String>> {
        nested.iter().filter(|leaf| leaf.id == id).map(|leaf| &leaf.label).collect()
    };
    let held = |id: &str| {
        let own = labels(id);
        nested.iter().any(|other| {
            let theirs = labels(&other.id);
            other.id != id && theirs.len() > own.len() && own.iter().all(|label| theirs.contains(label))
        })
    };
    let repeated: Vec<bool> = leaves.iter().map(|leaf| is_nested(leaf) && held(&leaf.id)).collect();
    let mut repeated = repeated.into_iter();
    leaves.retain(|_| repeated.next() != Some(true));
}

/// Whether a number lies in an object of objects, under the name of a metric.
fn is_nested(leaf: &Leaf) -> bool {
    leaf.label.as_ref().is_some_and(|label| label.contains('.'))
}

/// What is known of a number: of its metric, or of the one that an entry of a nested object is named
/// after.
pub(super) fn info<'i>(infos: &'i [MetricInfo], leaf: &Leaf) -> Option<&'i MetricInfo> {
    let of = |id: &str| infos.iter().find(|info| info.id == id);
    let own = of(&leaf.id);
    let named = || {
        let (family, _) = leaf.id.split_once('.')?;
        let (_, name) = leaf.label.as_ref()?.rsplit_once('.')?;
        of(&format!("{family}.{name}"))
    };
    if is_nested(leaf) { named().or(own) } else { own }
}

/// Which direction of a number is better.
pub(super) fn better(infos: &[MetricInfo], leaf: &Leaf) -> Better {
    info(infos, leaf).map_or(Better::Neither, |info| info.better)
}

/// Where a number can lie.
pub(super) fn range(infos: &[MetricInfo], leaf: &Leaf) -> [f64; 2] {
    info(infos, leaf).map_or([f64::NEG_INFINITY, f64::INFINITY], |info| [info.range.low, info.range.high])
}

/// The metric behind an id with or without its family, or behind the path of one of its numbers.
fn full_id(infos: &[MetricInfo], id: &str) -> Result<Chosen> {
    let ids = || infos.iter().map(|info| info.id.as_str());
    let short = |full: &str| full.split_once('.').map_or("", |(_, short)| short).to_owned();
    if let Some(known) = ids().find(|known| registry::is_meant(id, known)) {
        return Ok((known.into(), None));
    }
    let label = |known: &str| id.strip_prefix(known)?.strip_prefix('.').map(String::from);
    let below = |known: &str| label(known).or_else(|| label(&short(known)));
    if let Some((known, label)) = ids().find_map(|known| Some((known, below(known)?))) {
        return Ok((known.into(), Some(label)));
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
    let Some(ledger) = &side.ledger else { return "no unit has a number".into() };
    let report = ledger.report();
    let reason = match (report.get(&leaf.id), &leaf.label) {
        (Some(value @ Value::PerLabel(_)), Some(label)) => at(value, label).and_then(Value::reason),
        (Some(Value::PerLabel(_)), None) => Some("one number a label: compare with --by-label"),
        (Some(value), _) => value.reason(),
        (None, _) => None,
    };
    reason.unwrap_or(MISSING).into()
}

/// The value under labels joined with points, which labels may hold themselves.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let Value::PerLabel(entries) = value else { return None };
    entries.iter().find_map(|(label, value)| match path.strip_prefix(label.as_str())? {
        "" => Some(value),
        rest => at(value, rest.strip_prefix('.')?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_two_metrics_hold_is_compared_once() {
        let leaf = |id: &str, label: &str| Leaf { id: id.into(), label: Some(label.into()) };
        let mut leaves = vec![
            leaf("r.bias_curve", "0.1.total"),
            leaf("r.iou", "sky"),
            leaf("r.curve", "0.1.total"),
            leaf("r.curve", "0.1.accuracy"),
        ];
        let kept = [leaves[1].clone(), leaves[2].clone(), leaves[3].clone()];
        drop_repeated(&mut leaves);
        assert_eq!(leaves, kept);
    }
}
