//! Units of one condition are repetitions: their means, standard deviations and curves.

use std::collections::BTreeMap;

use calipers_core::{Rows, Value};

use super::bias::QUANTILES;
use super::budget::Budget;
use super::protocol::Robustness;
use super::reading::{Edges, Reading, Reason, Scalar, float, value};
use super::row::Row;
use super::unit::condition_name;
use calipers_core::exact::rational::{self, Rational};

/// Up to so many repetitions, exact sums are short.
const MANY: usize = 64;

/// The numbers of every condition in the curve, in order.
const CURVE: [(&str, Scalar); 14] = [
    ("bias_total", Scalar::BiasTotal),
    ("bias_mean", Scalar::BiasMean),
    ("bias_relative", Scalar::BiasRelative),
    ("mean_diff", Scalar::MeanDiff(Edges::All)),
    ("added_mean_diff", Scalar::MeanDiff(Edges::Added)),
    ("kept_mean_diff", Scalar::MeanDiff(Edges::Kept)),
    ("diff_ratio", Scalar::DiffRatio),
    ("clean_accuracy", Scalar::CleanAccuracy),
    ("robust_accuracy", Scalar::RobustAccuracy),
    ("accuracy_drop", Scalar::AccuracyDrop),
    ("attack_success_rate", Scalar::AttackSuccessRate),
    ("flips_added", Scalar::FlipsAdded),
    ("flips_removed", Scalar::FlipsRemoved),
    ("budget_used", Scalar::BudgetUsed),
];

/// The repetitions of one attack at one budget, in name order.
pub(super) struct Condition<'a> {
    pub(super) attack: Option<&'a str>,
    pub(super) budget: &'a Budget,
    /// Names and rows.
    pub(super) units: Vec<(&'a str, &'a Row)>,
}

impl Condition<'_> {
    /// The name in curves.
    pub(super) fn name(&self) -> String {
        condition_name(self.attack, self.budget)
    }

    fn values(&self, protocol: &Robustness, scalar: Scalar) -> Result<Vec<Rational>, Reason> {
        self.units.iter().map(|(_, row)| scalar.of(protocol, row)).collect()
    }

    /// The mean over repetitions; undefined as soon as one of them is.
    pub(super) fn mean(&self, protocol: &Robustness, scalar: Scalar) -> Reading {
        self.values(protocol, scalar).map(|values| rational::mean(&values))
    }

    /// The mean as reports print it.
    fn printed_mean(&self, protocol: &Robustness, scalar: Scalar) -> Value {
        value(self.mean(protocol, scalar))
    }

    fn deviation(&self, protocol: &Robustness, scalar: Scalar) -> Value {
        let repetitions = self.units.len() as u64;
        let Some(degrees) = repetitions.checked_sub(protocol.ddof).filter(|&degrees| degrees > 0) else {
            return Value::undefined(if repetitions == 1 { "one repetition" } else { "too few repetitions" });
        };
        match self.values(protocol, scalar) {
            Ok(values) => float(rational::spread(&values, degrees).root()),
            Err(reason) => Value::Undefined(reason),
        }
    }
}

/// The conditions of all rows, by attack and then by budget.
pub(super) fn conditions<'a>(rows: &Rows<'a, Row>) -> Vec<Condition<'a>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (name, row) in rows.named() {
        groups.entry((row.attack.as_deref(), &row.budget)).or_default().push((name, row));
    }
    groups.into_iter().map(|((attack, budget), units)| Condition { attack, budget, units }).collect()
}

/// The only condition, or why there is not one.
pub(super) fn only<'a>(rows: &Rows<'a, Row>) -> Result<Condition<'a>, Reason> {
    let mut all = conditions(rows);
    match all.len() {
        1 => Ok(all.remove(0)),
        several => Err(format!("report holds {several} conditions; see robustness.curve").into()),
    }
}

/// A number of the only condition.
pub(super) fn scalar(protocol: &Robustness, rows: &Rows<'_, Row>, scalar: Scalar) -> Value {
    only(rows).map_or_else(Value::Undefined, |condition| condition.printed_mean(protocol, scalar))
}

/// The bias of every node of the only unit.
pub(super) fn bias_per_node(_: &Robustness, rows: &Rows<'_, Row>) -> Value {
    let mut all = rows.iter();
    match (all.next(), all.next()) {
        (Some(row), None) => {
            Value::Series(row.bias.per_node.iter().map(|&bias| Value::Number(bias)).collect())
        }
        _ => Value::Undefined(format!("report holds {} units; use --per-node", rows.len()).into()),
    }
}

/// The order statistics of the bias of nodes in the only condition.
pub(super) fn bias_node_quantiles(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    let condition = match only(rows) {
        Ok(condition) => condition,
        Err(reason) => return Value::Undefined(reason),
    };
    let quantile = |(place, (name, ..)): (usize, (&str, u64, u64))| {
        (name.into(), condition.printed_mean(protocol, Scalar::BiasQuantile(place)))
    };
    Value::PerLabel(QUANTILES.into_iter().enumerate().map(quantile).collect())
}

/// Bias by condition.
pub(super) fn bias_curve(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    by_condition(rows, |condition| means(protocol, condition, &CURVE[..2]))
}

/// Every number by condition.
pub(super) fn curve(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    by_condition(rows, |condition| {
        let mut entries = vec![("n".into(), Value::Count(condition.units.len() as i128))];
        entries.extend(means(protocol, condition, &CURVE));
        entries
    })
}

/// The standard deviation of every number by condition.
pub(super) fn curve_std(protocol: &Robustness, rows: &Rows<'_, Row>) -> Value {
    if conditions(rows).iter().all(|condition| condition.units.len() as u64 <= protocol.ddof) {
        return Value::undefined("one repetition per condition");
    }
    by_condition(rows, |condition| {
        let deviation =
            |&(name, scalar): &(&str, Scalar)| (String::from(name), condition.deviation(protocol, scalar));
        CURVE.iter().map(deviation).collect()
    })
}

fn means(
    protocol: &Robustness,
    condition: &Condition<'_>,
    scalars: &[(&str, Scalar)],
) -> Vec<(String, Value)> {
    let mean = |&(name, scalar): &(&str, Scalar)| (name.into(), condition.printed_mean(protocol, scalar));
    scalars.iter().map(mean).collect()
}

fn by_condition(rows: &Rows<'_, Row>, entries: impl Fn(&Condition<'_>) -> Vec<(String, Value)>) -> Value {
    let all = conditions(rows);
    Value::PerLabel(all.iter().map(|one| (one.name(), Value::PerLabel(entries(one)))).collect())
}

#[cfg(test)]
mod tests {
    use super::super::unit::{Cells, Matrix, Pair};
    use super::*;
    use calipers_core::{Accumulator, SplitMix64};

    #[test]
    fn many_repetitions_have_the_mean_of_their_exact_sum() {
        let mut pairs = Accumulator::new(Robustness::default());
        let mut random = SplitMix64::new(2);
        for unit in 0..MANY + 9 {
            let mut numbers = || (0..12).map(|_| random.unit() - 0.4).collect::<Vec<f64>>();
            let (clean, attacked) = (numbers(), numbers());
            let matrix = |data| Matrix::new(6, 2, Cells::F64(data)).unwrap();
            let name = format!("{unit:03}");
            let edges = [[(0, 1), (1, 2), (3, 4)], [(0, 1), (0, 2), (2, 5)]];
            let pair = Pair {
                labels: Some(&[0, 1, 0, 1, 1, 0]),
                test: Some(&[0, 1, 2, 3, 4][..2 + unit % 4]),
                clean_edges: Some(&edges[0]),
                attacked_edges: Some(&edges[1]),
                ..Pair::new(&name, Budget::parse("0.05").unwrap(), matrix(&clean), matrix(&attacked))
            };
            pairs.update(name.as_str(), pair).unwrap();
        }
        let (protocol, rows) = (pairs.protocol(), pairs.rows());
        let condition = only(&rows).unwrap();
        for (name, number) in CURVE {
            let exact = value(condition.mean(protocol, number)).as_f64().map(f64::to_bits);
            assert_eq!(scalar(protocol, &rows, number).as_f64().map(f64::to_bits), exact, "{name}");
        }
    }
}
