//! The lines of a comparison: numbers of all models, and what sets each later one apart from the
//! first.

use calipers_core::resample::{Evidence, Leaf, Plan, Resampler, Scope};
use calipers_core::{Better, Result, Value};
use calipers_report::comparison::{Difference, Line, Paired, UnitPair};
use calipers_sources::run::{Silent, in_parts};

use super::model::Side;
use super::permutation::Tests;
use super::{Options, chosen, holm, sign_test};
use crate::resample::together;

/// How many of the units that differ most are kept.
const MOST: usize = 10;
/// The random sign patterns have a stream of their own.
const COINS: u64 = 1;

/// Everything there is to say about the sides.
pub(super) fn lines(sides: &[Side<'_>], options: &Options) -> Result<Vec<Line>> {
    let scope = if options.by_label { Scope::Labels } else { Scope::Single };
    let ids = chosen::metrics(sides, options)?;
    let resamplers: Vec<Box<dyn Resampler + '_>> =
        sides.iter().map(|side| side.resampler(scope, &ids)).collect();
    let leaves = chosen::leaves(&ids, &resamplers, options)?;
    let all: Vec<&dyn Resampler> = resamplers.iter().map(|resampler| &**resampler).collect();
    let plan = sides[0].plan()?;
    let values = together(&all, &plan, &options.bootstrap, options.threads)?;
    let mut lines: Vec<Line> = leaves.iter().map(|leaf| line(leaf, sides, &resamplers)).collect();
    for (line, leaf) in lines.iter_mut().zip(&leaves) {
        let at = |side: usize| place(&*resamplers[side], leaf);
        for other in 1..sides.len() {
            let (Some(a), Some(b)) = (at(0), at(other)) else { continue };
            let (ours, theirs) = (resamplers[0].leaves()[a].1, resamplers[other].leaves()[b].1);
            let both = values[0].iter().zip(&values[other]);
            let apart =
                |(first, second): (&Vec<Option<f64>>, &Vec<Option<f64>>)| Some(second[b]? - first[a]?);
            let differences = both.map(|pair| apart(pair).unwrap_or(f64::NAN));
            line.against[other - 1] = Some(Difference {
                difference: theirs - ours,
                interval: interval(theirs - ours, differences, &plan, leaf, options),
                paired: pairs(&sides[0], &sides[other], leaf, line.better),
            });
        }
    }
    test(sides, &leaves, &mut lines, options)?;
    Ok(lines)
}

/// The interval of a difference; none where its strata are too small.
fn interval(
    value: f64,
    differences: impl Iterator<Item = f64>,
    plan: &Plan,
    leaf: &Leaf,
    options: &Options,
) -> Option<[f64; 2]> {
    let strata = plan.read_by(leaf.label.as_deref());
    let evidence = Evidence {
        value,
        resamples: differences.collect(),
        left_out: Vec::new(),
        sizes: plan.sizes(strata.clone()),
        order_statistic: false,
    };
    let known = plan.too_small(strata).is_none();
    known.then(|| options.bootstrap.level().interval(evidence).ok())?.map(|interval| interval.bounds)
}

fn place(resampler: &dyn Resampler, leaf: &Leaf) -> Option<usize> {
    resampler.leaves().iter().position(|(known, _)| known == leaf)
}

fn line(leaf: &Leaf, sides: &[Side<'_>], resamplers: &[Box<dyn Resampler + '_>]) -> Line {
    let info = sides[0].infos.iter().find(|info| info.id == leaf.id);
    let value = |(side, resampler): (&Side<'_>, &dyn Resampler)| match place(resampler, leaf) {
        Some(place) => Value::Number(resampler.leaves()[place].1),
        None => Value::Undefined(chosen::reason(side, leaf).into()),
    };
    Line {
        id: leaf.id.clone(),
        label: leaf.label.clone(),
        better: info.map_or(Better::Neither, |info| info.better),
        values: sides.iter().zip(resamplers.iter().map(|one| &**one)).map(value).collect(),
        against: vec![None; sides.len() - 1],
    }
}

/// What single units say of two models; `None` where the metric has no number of a single unit.
fn pairs(first: &Side<'_>, other: &Side<'_>, leaf: &Leaf, better: Better) -> Option<Paired> {
    let (ours, theirs) = (first.table.column(leaf)?, other.table.column(leaf)?);
    let mut paired = Paired::default();
    let mut most: Vec<UnitPair> = Vec::new();
    for (unit, (a, b)) in first.table.units.iter().zip(ours.iter().zip(theirs)) {
        let (Some(a), Some(b)) = (*a, *b) else {
            paired.left_out += 1;
            paired.numbers.push(None);
            continue;
        };
        paired.numbers.push(Some([a, b]));
        let wins = match better {
            Better::Lower => b < a,
            _ => b > a,
        };
        match a.partial_cmp(&b) {
            Some(std::cmp::Ordering::Equal) => paired.ties += 1,
            _ if wins => paired.wins += 1,
            _ => paired.losses += 1,
        }
        most.push(UnitPair { unit: unit.clone(), first: a, other: b });
    }
    let apart = |pair: &UnitPair| (pair.other - pair.first).abs();
    most.retain(|pair| apart(pair) > 0.0);
    // The sort keeps the order of names among equals.
    most.sort_by(|a, b| apart(b).total_cmp(&apart(a)));
    most.truncate(MOST);
    paired.most = most;
    paired.sign = sign_test::p_value(paired.wins, paired.losses);
    Some(paired)
}

/// The permutation test of every difference, and the correction over all of them.
fn test(sides: &[Side<'_>], leaves: &[Leaf], lines: &mut [Line], options: &Options) -> Result<()> {
    let units = sides[0].table.units.len();
    let mut columns = Vec::new();
    for (line, leaf) in lines.iter().zip(leaves) {
        for (other, difference) in sides[1..].iter().zip(&line.against) {
            let tested = difference.as_ref().is_some_and(|difference| difference.paired.is_some());
            let pair = sides[0].table.column(leaf).zip(other.table.column(leaf)).filter(|_| tested);
            columns.extend(pair.map(|(ours, theirs)| -> Vec<f64> {
                let both = ours.iter().zip(theirs);
                both.map(|(a, b)| a.zip(*b).map_or(0.0, |(a, b)| b - a)).collect()
            }));
        }
    }
    let tests = Tests::new(units, &columns);
    let (seed, throws) = (options.bootstrap.seed.wrapping_add(COINS), options.bootstrap.resamples);
    let parts = in_parts(
        &options.bootstrap.blocks(),
        options.threads,
        &Silent,
        || vec![0; columns.len()],
        |_, block, hits: &mut Vec<u64>| {
            hits.iter_mut().zip(tests.extreme(seed, block.clone())).for_each(|(all, more)| *all += more);
            Ok(())
        },
    )?;
    let mut hits = vec![0; columns.len()];
    parts.iter().for_each(|part| hits.iter_mut().zip(part).for_each(|(all, more)| *all += more));
    let outcomes = tests.outcomes(&hits, throws);
    let p_values: Vec<f64> = outcomes.iter().map(|outcome| outcome.p).collect();
    let mut adjusted = outcomes.into_iter().zip(holm::adjusted(&p_values));
    let tested = lines.iter_mut().flat_map(|line| &mut line.against).flatten();
    for paired in tested.filter_map(|difference| difference.paired.as_mut()) {
        if let Some((outcome, adjusted)) = adjusted.next() {
            (paired.permutation, paired.exact, paired.adjusted) = (outcome.p, outcome.exact, adjusted);
        }
    }
    Ok(())
}
