//! The numbers along the budgets and over all conditions, from sums over each condition.
//!
//! A sum may be known only between two ends. Every number here but one grows with each mean, so that
//! it lies between its values at both ends: where these round to the same, it is known.

use std::cmp::Ordering;

use calipers_core::{Bounds, Condition, Conditions, PerRow, Pooling, Scaled, Value};
use num_bigint::{BigInt, BigUint};

use super::budget_reading::{Point, along_one_attack, enough, mean_height, slope, three_lowest, weighted};
use super::pooling::scaled;
use super::protocol::Robustness;
use super::rational::{Rational, mean, sum};
use super::reading::{Reading, Reason, Scalar, value};
use super::row::Row;

type Drawn<'d, 'r> = &'d [Condition<'r, Row>];

/// How the metric over many pairs follows from sums over conditions; `None` for any other metric.
pub(super) fn pooling(id: &str) -> Option<Pooling<Robustness>> {
    let of = |numbers: PerRow<Robustness, Vec<Scaled>>, read| {
        Some(Pooling::Conditions(Conditions { order, numbers, read }))
    };
    match id {
        "bias_slope" => of(biases, |_, drawn| settled(drawn, |end| Ok(slope(&line(drawn, end)?)))),
        "bias_linearity" => of(biases, |_, drawn| linearity(drawn)),
        "accuracy_auc" => of(both_accuracies, |_, drawn| settled(drawn, |end| height(drawn, end))),
        "accuracy_average" => of(accuracies, |_, drawn| settled(drawn, |end| Ok(mean(&scores(drawn, end))))),
        "accuracy_3_min" => of(accuracies, |_, drawn| settled(drawn, |end| three_lowest(scores(drawn, end)))),
        "accuracy_weighted" => {
            of(accuracies, |_, drawn| settled(drawn, |end| Ok(weighted(scores(drawn, end)))))
        }
        _ => None,
    }
}

/// By attack and then by budget.
fn order(a: &Row, b: &Row) -> Ordering {
    (a.attack.as_deref(), &a.budget).cmp(&(b.attack.as_deref(), &b.budget))
}

fn biases(protocol: &Robustness, row: &Row) -> Option<Vec<Scaled>> {
    Some(vec![scaled(protocol, row, Scalar::BiasTotal)?])
}

fn accuracies(protocol: &Robustness, row: &Row) -> Option<Vec<Scaled>> {
    Some(vec![scaled(protocol, row, Scalar::RobustAccuracy)?])
}

fn both_accuracies(protocol: &Robustness, row: &Row) -> Option<Vec<Scaled>> {
    [Scalar::RobustAccuracy, Scalar::CleanAccuracy]
        .map(|scalar| scaled(protocol, row, scalar))
        .into_iter()
        .collect()
}

/// One of the two ends of every sum.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Low,
    High,
}

fn mean_at(end: End, sum: &Bounds, rows: u64) -> Rational {
    let numerator = BigInt::from(if end == End::Low { sum.low } else { sum.high });
    let denominator = BigUint::from(sum.divisor.unsigned_abs()) * rows;
    match sum.exponent {
        exponent if exponent < 0 => Rational::new(numerator, denominator << -exponent),
        exponent => Rational::new(numerator << exponent, denominator),
    }
}

fn exact(drawn: Drawn<'_, '_>) -> bool {
    drawn.iter().flat_map(|condition| &condition.sums).all(|sum| sum.low == sum.high)
}

/// What is read at the lower ends, where the upper ones give the same.
fn settled(drawn: Drawn<'_, '_>, read: impl Fn(End) -> Reading) -> Option<Value> {
    let low = value(read(End::Low));
    let same = exact(drawn) || bits(&value(read(End::High))) == bits(&low);
    same.then_some(low)
}

fn bits(value: &Value) -> Option<u64> {
    value.as_f64().map(f64::to_bits)
}

fn scores(drawn: Drawn<'_, '_>, end: End) -> Vec<Rational> {
    drawn.iter().map(|condition| mean_at(end, &condition.sums[0], condition.rows)).collect()
}

fn of_one_attack(drawn: Drawn<'_, '_>) -> Result<(), Reason> {
    along_one_attack(drawn.iter().map(|condition| (condition.row.attack.as_deref(), &condition.row.budget)))
}

/// Budgets above 0 and the mean bias at each.
fn line(drawn: Drawn<'_, '_>, end: End) -> Result<Vec<Point>, Reason> {
    of_one_attack(drawn)?;
    let points = drawn.iter().zip(scores(drawn, end));
    let points = points.map(|(condition, bias)| (&condition.row.budget, bias));
    Ok(points.filter(|(budget, _)| !budget.is_zero()).map(|(budget, bias)| (budget.value(), bias)).collect())
}

/// The mean height of the accuracies; without budget 0 the clean accuracy of all pairs stands there.
fn height(drawn: Drawn<'_, '_>, end: End) -> Reading {
    of_one_attack(drawn)?;
    let budgets = drawn.iter().map(|condition| &condition.row.budget);
    let mut points: Vec<Point> = budgets.map(|budget| budget.value()).zip(scores(drawn, end)).collect();
    if drawn.iter().all(|condition| !condition.row.budget.is_zero()) {
        let rows = drawn.iter().map(|condition| condition.rows).sum();
        let clean = drawn.iter().map(|condition| condition.sums[1]);
        let clean = clean.reduce(|a, b| Bounds { low: a.low + b.low, high: a.high + b.high, ..a });
        points.splice(..0, clean.map(|clean| (Rational::whole(0), mean_at(end, &clean, rows))));
    }
    Ok(mean_height(&points))
}

/// 1 - S/T with S = sum b^2 - (sum x b)^2 / sum x^2 and T = sum b^2 - (sum b)^2 / n, which grow and
/// fall with the biases: both ends of S and of T come from both ends of every sum.
fn linearity(drawn: Drawn<'_, '_>) -> Option<Value> {
    let (low, high) = match (line(drawn, End::Low), line(drawn, End::High)) {
        (Ok(low), Ok(high)) => (low, high),
        (Err(reason), _) | (_, Err(reason)) => return Some(Value::Undefined(reason)),
    };
    if let Err(reason) = enough(&low) {
        return Some(Value::Undefined(reason));
    }
    let squares = |points: &[Point]| sum(points.iter().map(|(_, bias)| bias.times(bias)));
    let by_line = |points: &[Point]| {
        let products = sum(points.iter().map(|(x, bias)| x.times(bias)));
        products.times(&products).over(&sum(points.iter().map(|(x, _)| x.times(x))))
    };
    let by_mean = |points: &[Point]| {
        let total = sum(points.iter().map(|(_, bias)| bias.clone()));
        total.times(&total).over(&Rational::whole(points.len() as i128))
    };
    let rest = [squares(&low).minus(&by_line(&high)), squares(&high).minus(&by_line(&low))];
    let total = [squares(&low).minus(&by_mean(&high)), squares(&high).minus(&by_mean(&low))];
    let nothing = Rational::whole(0);
    if rest[0] < nothing || total[0] <= nothing {
        return None;
    }
    let explained =
        |rest: &Rational, total: &Rational| value(Ok(Rational::whole(1).minus(&rest.over(total))));
    let (least, most) = (explained(&rest[1], &total[0]), explained(&rest[0], &total[1]));
    (bits(&least) == bits(&most)).then_some(least)
}
