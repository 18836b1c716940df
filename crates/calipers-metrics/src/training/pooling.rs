//! Which numbers of a group follow from sums over its runs, or from how often values occur, and how.

use calipers_core::value::rounded_quotient;
use calipers_core::{Counts, Grouping, Groups, Largest, Metric, Pooling, Sum, Term, Value};

use super::protocol::{Direction, Preset, Training};
use super::reading::{quotient, stability, table_folds};
use super::row::{Aftermath, Row};
use super::survival::{Lifetime, Survival};

type Terms = fn(&Training, &Row) -> Vec<Term>;
type Read = fn(&Training, Option<u64>, &[Sum]) -> Value;

/// Runs belong together by their configuration, whose number of folds a file may list.
const CONFIGURATION: Grouping<Training> =
    Grouping { label: |run| &run.group, alike: |run| run.folds.map(u64::from) };

/// How the metric of each group follows from its runs.
pub(crate) fn pooling(protocol: &Training, metric: &Metric<Training>) -> Pooling<Training> {
    let document = protocol.preset == Preset::Document;
    match metric.id {
        "fold_count" => groups(|_, _| vec![Term::Whole(1)], |_, _, sums| count(sums[0])),
        "saturation_count" => groups(velocity, |_, _, sums| count(sums[PRESENT])),
        "epochs_mean" => groups(|_, run| with(Some(run.epochs)), wise),
        "velocity_strict" => groups(velocity, strict),
        "velocity_wise" => groups(velocity, wise),
        "velocity_naive" => groups(velocity, naive),
        "velocity_normalised_strict" => groups(normalised, strict),
        "velocity_normalised_wise" => groups(normalised, wise),
        "velocity_normalised_naive" => groups(normalised, naive),
        "stability_strict" if document => groups(steady, all_broken),
        "stability_wise" if document => groups(broken, |p, folds, sums| if_any_broken(p, folds, sums, wise)),
        "stability_naive" if document => {
            groups(broken, |p, folds, sums| if_any_broken(p, folds, sums, naive))
        }
        "stability_strict" => groups(steady, strict),
        "stability_wise" => groups(steady, wise),
        "stability_naive" => groups(steady, naive),
        "divergence_strict" => groups(diverged, |protocol, listed, sums| {
            let runs = sums[RUNS].whole();
            if runs == folds(protocol, listed, runs) { count(sums[SUM]) } else { nothing() }
        }),
        "divergence_wise" | "divergence_naive" => groups(diverged, |_, _, sums| count(sums[SUM])),
        "divergence_rate" => {
            groups(|_, run| with(after(run, |after| after.saturation.diverged.into())), wise)
        }
        "retention" => groups(|_, run| with_number(run.strict.as_ref().and_then(kept)), wise),
        "velocity_std" => groups(squares, deviation),
        "velocity_ert" => {
            groups(lifetimes, |_, _, sums| quotient_of(sums[0].whole() + sums[1].whole(), sums[2].whole()))
        }
        "velocity_par" => groups(lifetimes, |protocol, _, sums| {
            let penalty = i128::from(protocol.par) * sums[1].whole();
            quotient_of(sums[0].whole() + penalty, sums[3].whole())
        }),
        "sustained_count" => groups(|_, run| with(run.sustained), |_, _, sums| count(sums[PRESENT])),
        "velocity_sustained_strict" => groups(|_, run| with(run.sustained), strict_mean),
        "velocity_sustained_wise" => groups(|_, run| with(run.sustained), wise),
        "drop_depth_mean" => groups(|_, run| with_number(after(run, |after| after.drop_depth)), wise),
        "best_mean" => groups(|_, run| with_number(run.best), wise),
        "last_mean" => groups(|_, run| with_number(run.last), wise),
        "final_drop_mean" => groups(final_drop, wise),
        "velocity_median" => counts(lifetime, median),
        "velocity_olympic" => counts(lifetime, olympic),
        "velocity_km_median" => counts(lifetime, |_, runs| {
            survival(runs).median().map_or_else(nothing, |epoch| Value::Count(epoch.into()))
        }),
        "velocity_rmst" => counts(lifetime, |protocol, runs| {
            let survival = survival(runs);
            let area = survival.area(protocol.horizon.unwrap_or(survival.last));
            area.map_or_else(nothing, Value::Number)
        }),
        "rmst_horizon" => counts(lifetime, |protocol, runs| {
            Value::Count(protocol.horizon.unwrap_or_else(|| survival(runs).last).into())
        }),
        // Depths are not negative: their bits are in their order.
        "drop_depth_max" => largest(
            |_, run| after(run, |after| after.drop_depth.to_bits()),
            |bits| Value::Number(f64::from_bits(bits)),
        ),
        "longest_break_max" => {
            largest(|_, run| after(run, |after| after.longest_break), |points| Value::Count(points.into()))
        }
        _ => Pooling::Rows,
    }
}

fn groups(terms: Terms, read: Read) -> Pooling<Training> {
    Pooling::Groups(Groups { grouping: CONFIGURATION, terms, read })
}

fn counts(
    item: fn(&Training, &Row) -> Option<u64>,
    read: fn(&Training, &[(u64, u32)]) -> Value,
) -> Pooling<Training> {
    Pooling::Counts(Counts { grouping: CONFIGURATION, item, read })
}

fn largest(item: fn(&Training, &Row) -> Option<u64>, read: fn(u64) -> Value) -> Pooling<Training> {
    Pooling::Largest(Largest { grouping: CONFIGURATION, item, read })
}

/// Where the sums of [`with`] are: of values, of runs that have one, of all runs.
const SUM: usize = 0;
const PRESENT: usize = 1;
const RUNS: usize = 2;

fn with(value: Option<u64>) -> Vec<Term> {
    vec![value.unwrap_or(0).into(), u64::from(value.is_some()).into(), Term::Whole(1)]
}

fn with_number(value: Option<f64>) -> Vec<Term> {
    vec![value.unwrap_or(0.0).into(), u64::from(value.is_some()).into(), Term::Whole(1)]
}

fn after<T>(run: &Row, read: impl Fn(&Aftermath) -> T) -> Option<T> {
    run.strict.as_ref().map(read)
}

fn velocity(_: &Training, run: &Row) -> Vec<Term> {
    with(run.by_preset.map(|saturation| saturation.number))
}

fn normalised(_: &Training, run: &Row) -> Vec<Term> {
    with_number(run.by_preset.map(|saturation| quotient(saturation.number, run.epochs)))
}

fn has_broken(run: &Row) -> Term {
    u64::from(run.by_preset.is_some_and(|saturation| saturation.broken > 0)).into()
}

/// Stabilities, and how many runs have a broken step.
fn steady(protocol: &Training, run: &Row) -> Vec<Term> {
    let mut terms = with_number(stability(protocol.preset, run));
    terms.push(has_broken(run));
    terms
}

/// Velocities, and how many runs have a broken step.
fn broken(protocol: &Training, run: &Row) -> Vec<Term> {
    let mut terms = velocity(protocol, run);
    terms.push(has_broken(run));
    terms
}

fn diverged(_: &Training, run: &Row) -> Vec<Term> {
    with(Some(run.by_preset.is_some_and(|saturation| saturation.diverged).into()))
}

fn kept(after: &Aftermath) -> Option<f64> {
    let points = after.points_after;
    (points > 0).then(|| quotient(points - after.saturation.broken, points))
}

fn squares(_: &Training, run: &Row) -> Vec<Term> {
    let epoch = after(run, |after| i128::from(after.saturation.number));
    vec![
        Term::Whole(epoch.unwrap_or(0)),
        Term::Whole(epoch.map_or(0, |epoch| epoch * epoch)),
        Term::Whole(epoch.is_some().into()),
    ]
}

/// Epochs to saturation, epochs without, saturating runs, all runs.
fn lifetimes(_: &Training, run: &Row) -> Vec<Term> {
    let epoch = after(run, |after| after.saturation.number);
    let without = if epoch.is_some() { 0 } else { run.epochs };
    vec![epoch.unwrap_or(0).into(), without.into(), u64::from(epoch.is_some()).into(), Term::Whole(1)]
}

fn final_drop(protocol: &Training, run: &Row) -> Vec<Term> {
    with_number(run.best.zip(run.last).map(|(best, last)| match protocol.direction {
        Direction::Max => best - last,
        Direction::Min => last - best,
    }))
}

fn nothing() -> Value {
    Value::undefined("not defined in this resample")
}

fn count(sum: Sum) -> Value {
    Value::Count(sum.whole())
}

fn quotient_of(sum: i128, divisor: i128) -> Value {
    if divisor == 0 { nothing() } else { Value::Number(rounded_quotient(sum, divisor)) }
}

fn over(sum: Sum, divisor: i128) -> Value {
    match sum {
        Sum::Whole(sum) => quotient_of(sum, divisor),
        Sum::Number(_) if divisor == 0 => nothing(),
        Sum::Number(sum) => Value::Number(sum / divisor as f64),
    }
}

fn folds(protocol: &Training, listed: Option<u64>, runs: i128) -> i128 {
    table_folds(protocol).or(listed).map_or(runs, i128::from)
}

fn strict(protocol: &Training, listed: Option<u64>, sums: &[Sum]) -> Value {
    let folds = folds(protocol, listed, sums[RUNS].whole());
    if all_present(protocol, folds, sums) { over(sums[SUM], folds) } else { nothing() }
}

/// Strict over the runs there are, which may be more than the folds of the published tables.
fn strict_mean(protocol: &Training, listed: Option<u64>, sums: &[Sum]) -> Value {
    let runs = sums[RUNS].whole();
    if all_present(protocol, folds(protocol, listed, runs), sums) { over(sums[SUM], runs) } else { nothing() }
}

/// Whether every run has a value and no fold lacks a run; more runs than declared folds have none either.
fn all_present(protocol: &Training, folds: i128, sums: &[Sum]) -> bool {
    let (present, runs) = (sums[PRESENT].whole(), sums[RUNS].whole());
    present == runs && (runs == folds || runs > folds && protocol.folds.is_none())
}

fn wise(_: &Training, _: Option<u64>, sums: &[Sum]) -> Value {
    over(sums[SUM], sums[PRESENT].whole())
}

fn naive(protocol: &Training, listed: Option<u64>, sums: &[Sum]) -> Value {
    let present = sums[PRESENT].whole() > 0;
    if present { over(sums[SUM], folds(protocol, listed, sums[RUNS].whole())) } else { nothing() }
}

fn all_broken(protocol: &Training, listed: Option<u64>, sums: &[Sum]) -> Value {
    if sums[3].whole() == sums[RUNS].whole() { strict(protocol, listed, sums) } else { nothing() }
}

fn if_any_broken(protocol: &Training, listed: Option<u64>, sums: &[Sum], read: Read) -> Value {
    if sums[3].whole() > 0 { read(protocol, listed, sums) } else { nothing() }
}

fn deviation(_: &Training, _: Option<u64>, sums: &[Sum]) -> Value {
    let [total, squares, count] = [0, 1, 2].map(|k| sums[k].whole());
    if count < 2 {
        return nothing();
    }
    Value::Number(rounded_quotient(count * squares - total * total, count * (count - 1)).sqrt())
}

/// A lifetime as one number: by epoch, and of one epoch first those that saturate.
fn lifetime(_: &Training, run: &Row) -> Option<u64> {
    let saturation = after(run, |after| after.saturation.number);
    Some(saturation.map_or(run.epochs << 1 | 1, |epoch| epoch << 1))
}

fn saturates(lifetime: u64) -> bool {
    lifetime & 1 == 0
}

fn survival(runs: &[(u64, u32)]) -> Survival {
    let drawn = runs.iter().filter(|(_, count)| *count > 0);
    Survival::of_counts(drawn.map(|&(lifetime, count)| {
        (Lifetime { epoch: lifetime >> 1, saturates: saturates(lifetime) }, u64::from(count))
    }))
}

/// How many runs there are, and how many never saturate.
fn runs_and_never(runs: &[(u64, u32)]) -> (u64, u64) {
    let of = |(_, count): &(u64, u32)| u64::from(*count);
    (runs.iter().map(of).sum(), runs.iter().filter(|(lifetime, _)| !saturates(*lifetime)).map(of).sum())
}

/// The epoch of saturation at a place, those that never saturate last.
fn ranked(runs: &[(u64, u32)], place: u64) -> Option<u64> {
    let mut before = 0;
    let saturating = runs.iter().filter(|(lifetime, _)| saturates(*lifetime));
    saturating
        .map(|&(lifetime, count)| {
            before += u64::from(count);
            (lifetime >> 1, before)
        })
        .find(|(_, before)| *before > place)
        .map(|(epoch, _)| epoch)
}

fn median(_: &Training, runs: &[(u64, u32)]) -> Value {
    let (all, _) = runs_and_never(runs);
    match (ranked(runs, (all - 1) / 2), ranked(runs, all / 2)) {
        (Some(low), Some(high)) if all % 2 == 0 => quotient_of(i128::from(low) + i128::from(high), 2),
        (Some(middle), Some(_)) => quotient_of(middle.into(), 1),
        _ => nothing(),
    }
}

fn olympic(_: &Training, runs: &[(u64, u32)]) -> Value {
    let (all, never) = runs_and_never(runs);
    if all < 3 || never > 1 {
        return nothing();
    }
    let saturating = runs.iter().filter(|(lifetime, _)| saturates(*lifetime));
    let total: i128 =
        saturating.map(|&(lifetime, count)| i128::from(lifetime >> 1) * i128::from(count)).sum();
    let first = ranked(runs, 0).map_or(0, i128::from);
    let last = if never == 0 { ranked(runs, all - 1).map_or(0, i128::from) } else { 0 };
    quotient_of(total - first - last, i128::from(all) - 2)
}
