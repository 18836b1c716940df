//! Numbers that look along the budgets, or over all conditions: slopes, areas and scores.

use calipers_core::{Rows, Value};

use super::budget::Budget;
use super::conditions::{Condition, conditions};
use super::protocol::Robustness;
use super::reading::{Reading, Reason, Scalar, value};
use super::row::Row;
use calipers_core::exact::rational::{Rational, mean, spread, sum};

/// A budget, and the mean of a number at it.
pub(super) type Point = (Rational, Rational);

/// The slope of the bias through the origin.
pub(super) fn bias_slope(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(biases(protocol, rows).map(|points| slope(&points)))
}

/// How much of the bias the line through the origin explains.
pub(super) fn bias_linearity(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(biases(protocol, rows).and_then(|points| explained(&points)))
}

/// The mean height of the accuracy curve.
pub(super) fn accuracy_auc(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(height(protocol, rows))
}

/// The mean accuracy over conditions.
pub(super) fn accuracy_average(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(accuracies(protocol, rows).map(|scores| mean(&scores)))
}

/// The mean of the three lowest accuracies.
pub(super) fn accuracy_3_min(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(accuracies(protocol, rows).and_then(three_lowest))
}

/// The mean accuracy with most weight on the lowest.
pub(super) fn accuracy_weighted(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(accuracies(protocol, rows).map(weighted))
}

/// The slope of the line through the origin and, nearest, the points.
pub(super) fn slope(points: &[Point]) -> Rational {
    let products = points.iter().map(|(x, bias)| x.times(bias));
    sum(products).over(&sum(points.iter().map(|(x, _)| x.times(x))))
}

/// How much of the spread of the points the line explains.
fn explained(points: &[Point]) -> Reading {
    enough(points)?;
    let slope = slope(points);
    let biases: Vec<Rational> = points.iter().map(|(_, bias)| bias.clone()).collect();
    let total = spread(&biases, 1);
    if total.is_zero() {
        return Err("bias is the same at every budget".into());
    }
    let rest = points.iter().map(|(x, bias)| {
        let off = bias.minus(&slope.times(x));
        off.times(&off)
    });
    Ok(Rational::whole(1).minus(&sum(rest).over(&total)))
}

/// Whether there are points enough for a line to explain.
pub(super) fn enough(points: &[Point]) -> Result<(), Reason> {
    if points.len() < 3 { Err("fewer than three budgets above 0".into()) } else { Ok(()) }
}

/// The trapezoids under the points, in the order of their budgets, divided by the last budget.
pub(super) fn mean_height(points: &[Point]) -> Rational {
    let half = Rational::ratio(1, 2);
    let trapezoids = points.windows(2).map(|pair| {
        let width = pair[1].0.minus(&pair[0].0);
        width.times(&pair[0].1.plus(&pair[1].1)).times(&half)
    });
    let largest = points.last().map_or(Rational::whole(1), |(budget, _)| budget.clone());
    sum(trapezoids).over(&largest)
}

/// The mean of the three lowest scores.
pub(super) fn three_lowest(mut scores: Vec<Rational>) -> Reading {
    scores.sort_unstable();
    let lowest = scores.get(..3).ok_or("fewer than three conditions")?;
    Ok(mean(lowest))
}

/// The mean of the scores, weighted by 1, 1/4, 1/9 and so on from the lowest.
pub(super) fn weighted(mut scores: Vec<Rational>) -> Rational {
    scores.sort_unstable();
    let weight = |place: usize| Rational::ratio(1, (place as u64 + 1).pow(2));
    let weighted = scores.iter().enumerate().map(|(place, score)| score.times(&weight(place)));
    sum(weighted).over(&sum((0..scores.len()).map(weight)))
}

/// Whether conditions are of one attack, and one of them has a budget above 0.
pub(super) fn along_one_attack<'a>(
    conditions: impl Iterator<Item = (Option<&'a str>, &'a Budget)> + Clone,
) -> Result<(), Reason> {
    let mut attacks: Vec<_> = conditions.clone().map(|(attack, _)| attack).collect();
    attacks.dedup();
    if attacks.len() > 1 {
        return Err(format!("report holds {} attacks", attacks.len()).into());
    }
    if conditions.clone().all(|(_, budget)| budget.is_zero()) {
        return Err("no budget above 0".into());
    }
    Ok(())
}

/// Budgets above 0 and the mean bias at each.
fn biases(protocol: &Robustness, rows: &Rows<'_, Row>) -> Result<Vec<Point>, Reason> {
    let conditions = of_one_attack(rows)?;
    let above = conditions.iter().filter(|condition| !condition.budget.is_zero());
    above
        .map(|condition| Ok((condition.budget.value(), condition.mean(protocol, Scalar::BiasTotal)?)))
        .collect()
}

/// The mean height of the accuracies from budget 0, where the clean accuracy stands in for what was
/// not measured, to the largest.
fn height(protocol: &Robustness, rows: &Rows<'_, Row>) -> Reading {
    let conditions = of_one_attack(rows)?;
    let point = |condition: &Condition<'_>| {
        Ok((condition.budget.value(), condition.mean(protocol, Scalar::RobustAccuracy)?))
    };
    let mut points = conditions.iter().map(point).collect::<Result<Vec<_>, Reason>>()?;
    if conditions.iter().all(|condition| !condition.budget.is_zero()) {
        let clean = rows.iter().map(|row| Scalar::CleanAccuracy.of(protocol, row));
        let clean = clean.collect::<Result<Vec<_>, Reason>>()?;
        points.insert(0, (Rational::whole(0), mean(&clean)));
    }
    Ok(mean_height(&points))
}

/// The conditions, if they lie along one attack.
fn of_one_attack<'a>(rows: &Rows<'a, Row>) -> Result<Vec<Condition<'a>>, Reason> {
    let conditions = conditions(rows);
    along_one_attack(conditions.iter().map(|condition| (condition.attack, condition.budget)))?;
    Ok(conditions)
}

/// The mean robust accuracy of every condition; there is at least one.
fn accuracies(protocol: &Robustness, rows: &Rows<'_, Row>) -> Result<Vec<Rational>, Reason> {
    let conditions = conditions(rows);
    if conditions.is_empty() {
        return Err("report holds 0 conditions".into());
    }
    conditions.iter().map(|condition| condition.mean(protocol, Scalar::RobustAccuracy)).collect()
}
