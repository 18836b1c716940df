//! Numbers along the budgets, or over all conditions: slopes, areas and scores.
//!
//! The mean at a condition may be known only between two ends. A number is then read at both; where
//! they round to the same, it is known.

pub(super) mod curve;
pub(super) mod fraction;

use crate::robustness::metrics::*;
use calipers_core::End;
use calipers_core::exact::rational::{Rational, mean, sum};
use calipers_core::reading::settled;

use super::accuracy::{CLEAN, ROBUST, accuracies};
use super::bias::TOTAL;
use fraction::Budget;

/// A budget, and the mean of a number at it.
type Point = (Rational, Rational);

/// The sums of every condition.
type Groups<'g, 's> = &'g [Sums<'s, Row>];

fn totals(protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    TOTAL.add(protocol, row, terms);
}

fn budget<'s>(sums: &Sums<'s, Row>) -> Option<&'s Budget> {
    sums.rows().first().map(|row| &row.budget)
}

/// Refuses conditions of several attacks, and those without a budget above 0.
fn along_one_attack(groups: Groups<'_, '_>) -> Result<(), Reason> {
    let mut attacks: Vec<_> =
        groups.iter().filter_map(|sums| sums.rows().first()).map(|row| &row.attack).collect();
    attacks.dedup();
    if attacks.len() > 1 {
        return Err(format!("report holds {} attacks", attacks.len()).into());
    }
    unless(groups.iter().filter_map(budget).all(Budget::is_zero), "no budget above 0")
}

/// Budgets above 0 and the mean bias at each.
fn line(protocol: &Robustness, groups: Groups<'_, '_>, end: End) -> Result<Vec<Point>, Reason> {
    along_one_attack(groups)?;
    let budgets = groups.iter().filter_map(|sums| Some((sums, budget(sums)?)));
    let above = budgets.filter(|(_, budget)| !budget.is_zero());
    above.map(|(sums, budget)| Ok((budget.value(), TOTAL.mean(protocol, sums, end)?))).collect()
}

fn products(points: &[Point]) -> Rational {
    sum(points.iter().map(|(x, bias)| x.times(bias)))
}

fn squared_budgets(points: &[Point]) -> Rational {
    sum(points.iter().map(|(x, _)| x.times(x)))
}

/// The slope of the line through the origin and, nearest, the points.
fn slope(points: &[Point]) -> Rational {
    products(points).over(&squared_budgets(points))
}

/// 1 - S/T with S = sum b^2 - (sum x b)^2 / sum x^2 and T = sum b^2 - (sum b)^2 / n: how much of the
/// spread of the biases b the line through the origin explains.
///
/// Every sum grows with the biases. The low end of the number takes S from its largest and T from its
/// smallest minuend and subtrahend, the high end the other way round.
fn explained(near: &[Point], far: &[Point]) -> Exact {
    unless(near.len() < 3, "fewer than three budgets above 0")?;
    let squares = |points: &[Point]| sum(points.iter().map(|(_, bias)| bias.times(bias)));
    let by_line = products(near).times(&products(near)).over(&squared_budgets(near));
    let total = sum(far.iter().map(|(_, bias)| bias.clone()));
    let by_mean = total.times(&total).over(&Rational::whole(far.len() as i128));
    let spread = squares(near).minus(&by_mean);
    unless(spread <= Rational::whole(0), "bias is the same at every budget")?;
    Ok(Rational::whole(1).minus(&squares(far).minus(&by_line).over(&spread)))
}

fn linearity(protocol: &Robustness, groups: Groups<'_, '_>, end: End) -> Exact {
    let other = if end == End::Low { End::High } else { End::Low };
    explained(&line(protocol, groups, end)?, &line(protocol, groups, other)?)
}

/// The mean height of the accuracies from budget 0, where the clean accuracy of all pairs stands in
/// for what was not measured, to the largest.
fn height(protocol: &Robustness, groups: Groups<'_, '_>, end: End) -> Exact {
    along_one_attack(groups)?;
    let budgets: Vec<&Budget> = groups.iter().filter_map(budget).collect();
    let mut points: Vec<Point> =
        budgets.iter().map(|budget| budget.value()).zip(scores(protocol, groups, end)?).collect();
    if budgets.iter().all(|budget| !budget.is_zero()) {
        let clean = groups.iter().map(|sums| CLEAN.total(protocol, sums, end));
        let clean = sum(clean.collect::<Result<Vec<_>, Reason>>()?.into_iter());
        let count: u64 = groups.iter().map(Sums::count).sum();
        points.insert(0, (Rational::whole(0), clean.over(&Rational::whole(count))));
    }
    Ok(mean_height(&points))
}

/// The trapezoids under the points, in the order of their budgets, divided by the last budget.
fn mean_height(points: &[Point]) -> Rational {
    let half = Rational::ratio(1, 2);
    let trapezoids = points.windows(2).map(|pair| {
        let width = pair[1].0.minus(&pair[0].0);
        width.times(&pair[0].1.plus(&pair[1].1)).times(&half)
    });
    let largest = points.last().map_or(Rational::whole(1), |(budget, _)| budget.clone());
    sum(trapezoids).over(&largest)
}

/// The mean robust accuracy of every condition; there is at least one.
fn scores(protocol: &Robustness, groups: Groups<'_, '_>, end: End) -> Result<Vec<Rational>, Reason> {
    unless(groups.is_empty(), "report holds 0 conditions")?;
    groups.iter().map(|sums| ROBUST.mean(protocol, sums, end)).collect()
}

/// The mean of the three lowest scores.
fn three_lowest(mut scores: Vec<Rational>) -> Exact {
    scores.sort_unstable();
    let lowest = scores.get(..3).ok_or("fewer than three conditions")?;
    Ok(mean(lowest))
}

/// The mean of the scores, weighted by 1, 1/4, 1/9 and so on from the lowest.
fn weighted(mut scores: Vec<Rational>) -> Rational {
    scores.sort_unstable();
    let weight = |place: usize| Rational::ratio(1, (place as u64 + 1).pow(2));
    let weighted = scores.iter().enumerate().map(|(place, score)| score.times(&weight(place)));
    sum(weighted).over(&sum((0..scores.len()).map(weight)))
}

/// A number of all conditions, read at both ends of their sums.
macro_rules! along {
    ($terms:ident, $read:expr) => {
        Number::Grouped {
            order: by_condition,
            terms: $terms,
            read: |protocol, groups| settled(groups, |end| value($read(protocol, groups, end))),
        }
    };
}

const ALONG: Line = Line { group: "accuracy", better: higher, range: SHARE, ..BEYOND };

pub(super) const BIAS_SLOPE: Line = Line {
    id: "bias_slope",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    measures: "How fast the bias grows with the budget.",
    formula: "The line through the origin: sum x B / sum x^2 over budgets x > 0, B = mean bias_total at x.",
    undefined: "\"report holds K attacks\"; \"no budget above 0\"; \"infinite: beyond the largest number\".",
    example: ("curve", "15.714285714285714"),
    headline: Some(8),
    number: along!(totals, |protocol, groups, end| Ok(slope(&line(protocol, groups, end)?))),
    ..BEYOND
};

/// Whether the bias grows in proportion to the budget.
pub const BIAS_LINEARITY: Line = Line {
    id: "bias_linearity",
    group: "bias",
    range: UP_TO_ONE,
    measures: "Whether the bias grows in proportion to the budget.",
    formula: "1 - sum (B - slope x)^2 / sum (B - mean B)^2 over budgets x > 0.",
    undefined: "\"report holds K attacks\"; \"no budget above 0\"; \"fewer than three budgets above 0\"; \
                \"bias is the same at every budget\"; \"infinite: beyond the largest number\".",
    differs: "Negative when a constant fits better than the line through the origin.",
    example: ("curve", "0.8963133640552995"),
    headline: Some(10),
    number: along!(totals, linearity),
    ..BEYOND
};

pub(super) const ACCURACY_AUC: Line = Line {
    id: "accuracy_auc",
    measures: "The mean height of the accuracy curve.",
    formula: "Trapezoids under (budget, mean robust_accuracy) from 0 to the largest budget, divided by it. \
              At 0: the budget-0 condition, else the mean clean_accuracy of all units.",
    undefined: "\"report holds K attacks\"; \"no budget above 0\"; \"no labels given\"; \"no test nodes \
                given\"; \"test set is empty\"; \"features are not class scores\".",
    example: ("curve", "0.9375"),
    headline: Some(7),
    number: along!(accuracies, height),
    ..ALONG
};

pub(super) const ACCURACY_AVERAGE: Line = Line {
    id: "accuracy_average",
    measures: "The accuracy over all conditions.",
    formula: "Mean over conditions of the mean robust_accuracy.",
    undefined: "\"no labels given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not \
                class scores\"; \"report holds 0 conditions\".",
    differs: "The clean graph is left out.",
    reference: "Graph Robustness Benchmark, average",
    example: ("curve", "0.9166666666666666"),
    headline: Some(9),
    number: along!(accuracies, |protocol, groups, end| Ok(mean(&scores(protocol, groups, end)?))),
    ..ALONG
};

pub(super) const ACCURACY_3_MIN: Line = Line {
    id: "accuracy_3_min",
    measures: "The accuracy under the three worst conditions.",
    formula: "Mean of the three lowest of the mean robust accuracies.",
    undefined: "\"no labels given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not \
                class scores\"; \"fewer than three conditions\"; \"report holds 0 conditions\".",
    differs: "The clean graph is left out.",
    reference: "Graph Robustness Benchmark, 3-min average",
    example: ("curve", "0.9166666666666666"),
    number: along!(accuracies, |protocol, groups, end| three_lowest(scores(protocol, groups, end)?)),
    ..ALONG
};

pub(super) const ACCURACY_WEIGHTED: Line = Line {
    id: "accuracy_weighted",
    measures: "The accuracy over all conditions, most weight on the worst.",
    formula: "sum w_i s_i / sum w_i, s the mean robust accuracies in ascending order, w_i = 1/i^2.",
    undefined: ACCURACY_AVERAGE.undefined,
    differs: "The clean graph is left out.",
    reference: "Graph Robustness Benchmark, weighted accuracy",
    example: ("curve", "0.8163265306122449"),
    number: along!(accuracies, |protocol, groups, end| Ok(weighted(scores(protocol, groups, end)?))),
    ..ALONG
};
