//! Numbers that look along the budgets, or over all conditions: slopes, areas and scores.

use calipers_core::{Rows, Value};

use super::conditions::{Condition, conditions};
use super::protocol::Robustness;
use super::rational::{Common, Rational};
use super::reading::{Reading, Reason, Scalar, value};
use super::row::Row;

/// The slope of the bias through the origin.
pub(super) fn bias_slope(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(Line::new(protocol, rows).map(|line| line.slope()))
}

/// How much of the bias the line through the origin explains.
pub(super) fn bias_linearity(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(Line::new(protocol, rows).and_then(|line| line.explained()))
}

/// The mean height of the accuracy curve.
pub(super) fn accuracy_auc(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(area(protocol, rows))
}

/// The mean accuracy over conditions.
pub(super) fn accuracy_average(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(accuracies(protocol, rows).map(|scores| Common::new(&scores).mean()))
}

/// The mean of the three lowest accuracies.
pub(super) fn accuracy_3_min(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(accuracies(protocol, rows).and_then(|scores| {
        let lowest = scores.get(..3).ok_or("fewer than three conditions")?;
        Ok(Common::new(lowest).mean())
    }))
}

/// The mean accuracy with most weight on the lowest.
pub(super) fn accuracy_weighted(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    value(accuracies(protocol, rows).map(|scores| {
        let weight = |place: usize| Rational::ratio(1, (place as u64 + 1).pow(2));
        let weighted = scores.iter().enumerate().map(|(place, score)| score.times(&weight(place)));
        sum(weighted).over(&sum((0..scores.len()).map(weight)))
    }))
}

/// Budgets above 0 and the mean bias at each.
struct Line {
    points: Vec<(Rational, Rational)>,
}

impl Line {
    fn new(protocol: &Robustness, rows: &Rows<'_, Row>) -> Result<Self, Reason> {
        let conditions = of_one_attack(rows)?;
        let above = conditions.iter().filter(|condition| !condition.budget.is_zero());
        let points = above
            .map(|condition| Ok((condition.budget.value(), condition.mean(protocol, Scalar::BiasTotal)?)));
        Ok(Self { points: points.collect::<Result<_, Reason>>()? })
    }

    fn slope(&self) -> Rational {
        let products = self.points.iter().map(|(x, bias)| x.times(bias));
        sum(products).over(&sum(self.points.iter().map(|(x, _)| x.times(x))))
    }

    fn explained(&self) -> Reading {
        if self.points.len() < 3 {
            return Err("fewer than three budgets above 0".into());
        }
        let slope = self.slope();
        let biases: Vec<Rational> = self.points.iter().map(|(_, bias)| bias.clone()).collect();
        let total = Common::new(&biases).spread(1);
        if total.is_zero() {
            return Err("bias is the same at every budget".into());
        }
        let rest = self.points.iter().map(|(x, bias)| {
            let off = bias.minus(&slope.times(x));
            off.times(&off)
        });
        Ok(Rational::whole(1).minus(&sum(rest).over(&total)))
    }
}

/// The trapezoids under the accuracies from budget 0 to the largest, divided by it.
fn area(protocol: &Robustness, rows: &Rows<'_, Row>) -> Reading {
    let conditions = of_one_attack(rows)?;
    let point = |condition: &Condition<'_>| {
        Ok((condition.budget.value(), condition.mean(protocol, Scalar::RobustAccuracy)?))
    };
    let mut points = conditions.iter().map(point).collect::<Result<Vec<_>, Reason>>()?;
    if conditions.iter().all(|condition| !condition.budget.is_zero()) {
        let clean = rows.iter().map(|row| Scalar::CleanAccuracy.of(protocol, row));
        let clean = clean.collect::<Result<Vec<_>, Reason>>()?;
        points.insert(0, (Rational::whole(0), Common::new(&clean).mean()));
    }
    let half = Rational::ratio(1, 2);
    let trapezoids = points.windows(2).map(|pair| {
        let width = pair[1].0.minus(&pair[0].0);
        width.times(&pair[0].1.plus(&pair[1].1)).times(&half)
    });
    let largest = points.last().map_or(Rational::whole(1), |(budget, _)| budget.clone());
    Ok(sum(trapezoids).over(&largest))
}

/// The conditions, if they are of one attack and one of them has a budget above 0.
fn of_one_attack<'a>(rows: &Rows<'a, Row>) -> Result<Vec<Condition<'a>>, Reason> {
    let conditions = conditions(rows);
    let mut attacks: Vec<_> = conditions.iter().map(|condition| condition.attack).collect();
    attacks.dedup();
    if attacks.len() > 1 {
        return Err(format!("report holds {} attacks", attacks.len()).into());
    }
    if conditions.iter().all(|condition| condition.budget.is_zero()) {
        return Err("no budget above 0".into());
    }
    Ok(conditions)
}

/// The mean robust accuracy of every condition, ascending.
fn accuracies(protocol: &Robustness, rows: &Rows<'_, Row>) -> Result<Vec<Rational>, Reason> {
    let conditions = conditions(rows);
    if conditions.is_empty() {
        return Err("report holds 0 conditions".into());
    }
    let means = conditions.iter().map(|condition| condition.mean(protocol, Scalar::RobustAccuracy));
    let mut means = means.collect::<Result<Vec<_>, Reason>>()?;
    means.sort_unstable();
    Ok(means)
}

fn sum(terms: impl Iterator<Item = Rational>) -> Rational {
    terms.fold(Rational::whole(0), |sum, term| sum.plus(&term))
}
