//! The lines of a comparison: numbers of all models, and what sets each later one apart from the
//! first.

use std::ops::Range;

use calipers_core::resample::{Evidence, Interval, Leaf, Level, Plan, Resampler, Scope};
use calipers_core::{Better, Result, Value};
use calipers_report::comparison::{Difference, Line, Paired, UnitPair};

use super::model::Side;
use super::samples::{Column, Samples};
use super::significance::sign_test;
use super::testing::{self, Tested};
use super::{Options, chosen, ranks};

/// How many of the units that differ most are kept.
const MOST: usize = 10;

/// Everything there is to say about the sides, and how many differences each test had.
pub(super) fn lines(
    sides: &[Side<'_>],
    plan: &Plan,
    scope: Scope,
    options: &Options,
) -> Result<(Vec<Line>, Vec<Tested>)> {
    let chosen = chosen::metrics(sides, options)?;
    let ids: Vec<String> = chosen.iter().map(|(id, _)| id.clone()).collect();
    let resamplers: Vec<Box<dyn Resampler + '_>> =
        sides.iter().map(|side| side.resampler(scope, &ids)).collect();
    let leaves = chosen::leaves(&sides[0].infos, &chosen, &resamplers, options)?;
    let models: Vec<&dyn Resampler> = resamplers.iter().map(|resampler| &**resampler).collect();
    let samples = Samples::draw(&models, plan, options)?;
    let mut lines = Vec::with_capacity(leaves.len());
    let mut tests = testing::Tests::default();
    for (at, leaf) in leaves.iter().enumerate() {
        let columns: Vec<Option<Column<'_>>> =
            (0..sides.len()).map(|side| samples.column(side, leaf)).collect();
        let number = Number::of(leaf, &sides[0], plan);
        let mut line = line(leaf, &number, sides, &columns);
        for (other, later) in columns.iter().enumerate().skip(1) {
            let (Some(first), Some(later)) = (columns[0], *later) else { continue };
            let found = apart(&number, first, later, (1.0 - options.bootstrap.confidence) / 2.0, options);
            let paired = pairs(&number, first, later);
            line.against[other - 1] = Some(Difference {
                difference: later.value - first.value,
                fell_back: found.as_ref().ok().and_then(|interval| interval.percentile_because.clone()),
                interval: found.ok().map(|interval| interval.bounds),
                paired: paired.map(|(paired, differences)| {
                    tests.push((at, other - 1), &number, differences);
                    paired
                }),
            });
        }
        let reasons: Vec<Option<String>> =
            line.values.iter().map(|value| value.reason().map(String::from)).collect();
        line.ranks = ranks::of(&number, &columns, &reasons, options);
        lines.push(line);
    }
    let tested = tests.run(&mut lines, options)?;
    Ok((lines, tested))
}

/// A number that is compared, and what its resamples come from.
pub(super) struct Number<'a> {
    pub(super) better: Better,
    pub(super) plan: &'a Plan,
    /// The strata that it reads.
    pub(super) strata: Range<usize>,
    /// The sampling units of these.
    pub(super) units: Range<usize>,
    order_statistic: bool,
}

impl<'a> Number<'a> {
    fn of(leaf: &Leaf, side: &Side<'_>, plan: &'a Plan) -> Self {
        let strata = read_by(plan, leaf.label.as_deref());
        let of = |stratum: usize| &plan.strata()[stratum].units;
        let units = if strata.is_empty() { 0..0 } else { of(strata.start).start..of(strata.end - 1).end };
        Self {
            better: chosen::better(&side.infos, leaf),
            plan,
            strata,
            units,
            order_statistic: chosen::info(&side.infos, leaf)
                .is_some_and(|info| info.interval == calipers_core::IntervalRule::OrderStatistic),
        }
    }
}

/// The strata that a number reads, named by its label or by the part of the label before its last points.
fn read_by(plan: &Plan, label: Option<&str>) -> Range<usize> {
    let all = plan.read_by(None);
    let mut label = label;
    while let Some(name) = label {
        let own = plan.read_by(Some(name));
        if own != all {
            return own;
        }
        label = name.rsplit_once('.').map(|(before, _)| before);
    }
    all
}

/// The interval of the difference between two models, this share left out on each side.
pub(super) fn apart(
    number: &Number<'_>,
    first: Column<'_>,
    later: Column<'_>,
    half: f64,
    options: &Options,
) -> std::result::Result<Interval, String> {
    if let Some(reason) = number.plan.too_small(number.strata.clone()) {
        return Err(reason);
    }
    // Where one of the two is not defined, its NaN makes the difference one.
    let left_out: Vec<f64> = first.left_out().zip(later.left_out()).map(|(a, b)| b - a).collect();
    let of_stratum = |stratum| {
        if left_out.is_empty() { &[][..] } else { &left_out[number.plan.left_out_of(stratum)] }
    };
    let level = Level { method: options.bootstrap.method, half, resamples: options.bootstrap.resamples };
    level.interval(Evidence {
        value: later.value - first.value,
        resamples: first.resamples().zip(later.resamples()).map(|(a, b)| b - a).collect(),
        left_out: number.strata.clone().map(of_stratum).collect(),
        sizes: number.plan.sizes(number.strata.clone()),
        order_statistic: number.order_statistic,
    })
}

fn line(leaf: &Leaf, number: &Number<'_>, sides: &[Side<'_>], columns: &[Option<Column<'_>>]) -> Line {
    let value = |(side, column): (&Side<'_>, &Option<Column<'_>>)| match column {
        Some(column) => Value::Number(column.value),
        None => Value::Undefined(chosen::reason(side, leaf).into()),
    };
    Line {
        id: leaf.id.clone(),
        label: leaf.label.clone(),
        better: number.better,
        range: chosen::range(&sides[0].infos, leaf),
        values: sides.iter().zip(columns).map(value).collect(),
        against: vec![None; sides.len() - 1],
        ranks: None,
    }
}

/// What single sampling units say of two models, with the differences; `None` where no sampling unit has
/// the number alone.
fn pairs(number: &Number<'_>, first: Column<'_>, later: Column<'_>) -> Option<(Paired, Vec<f64>)> {
    let mut paired = Paired::default();
    let mut most: Vec<UnitPair> = Vec::new();
    let mut differences = Vec::with_capacity(number.units.len());
    let both = number.plan.names().iter().zip(first.alone().zip(later.alone()));
    for (at, (unit, (a, b))) in both.enumerate() {
        if !number.units.contains(&at) {
            paired.numbers.push(None);
            continue;
        }
        if a.is_nan() || b.is_nan() {
            paired.left_out += 1;
            paired.numbers.push(None);
            differences.push(0.0);
            continue;
        }
        paired.numbers.push(Some([a, b]));
        differences.push(b - a);
        let wins = if number.better == Better::Lower { b < a } else { b > a };
        match a.partial_cmp(&b) {
            Some(std::cmp::Ordering::Equal) => paired.ties += 1,
            _ if wins => paired.wins += 1,
            _ => paired.losses += 1,
        }
        most.push(UnitPair { unit: unit.clone(), first: a, other: b });
    }
    if most.is_empty() {
        return None;
    }
    let apart = |pair: &UnitPair| (pair.other - pair.first).abs();
    most.retain(|pair| apart(pair) > 0.0);
    // The sort keeps the order of names among equals.
    most.sort_by(|a, b| apart(b).total_cmp(&apart(a)));
    most.truncate(MOST);
    paired.most = most;
    paired.sign = sign_test::p_value(paired.wins, paired.losses);
    Some((paired, differences))
}
