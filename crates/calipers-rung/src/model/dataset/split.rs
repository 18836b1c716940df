//! Nodes divided into train, val and test, class by class.

use std::collections::BTreeMap;

use crate::model::random::{Draws, Stream};

/// Which nodes are trained on, kept for validation and tested, each ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Nodes whose labels the training sees.
    pub train: Vec<usize>,
    /// Nodes kept for choosing between models.
    pub val: Vec<usize>,
    /// Nodes that are scored.
    pub test: Vec<usize>,
}

/// A split in which every class has the same shares of train and val nodes, as nearly as whole nodes
/// allow; what is left is test.
///
/// Of a class of n nodes, in an order that the seed decides, the first `n train + 1/2` rounded down, but at
/// least one, are trained on, and the next `n val + 1/2` rounded down are kept for validation. A class of
/// one node is tested only. Shares count with the exact value of their decimal text.
pub fn stratified(labels: &[i64], seed: u64, shares: (f64, f64)) -> Split {
    let draws = Draws::new(seed, Stream::Splits);
    let (train, val) = (Share::new(shares.0), Share::new(shares.1));
    let mut split = Split::default();
    for mut members in classes(labels).into_values() {
        members.sort_by_key(|&node| (draws.draw(node as u64), node));
        let n = members.len();
        let first = if n > 1 { train.of(n).clamp(1, n) } else { 0 };
        let second = first.saturating_add(val.of(n)).min(n);
        split.train.extend(&members[..first]);
        split.val.extend(&members[first..second]);
        split.test.extend(&members[second..]);
    }
    split.train.sort_unstable();
    split.val.sort_unstable();
    split.test.sort_unstable();
    split
}

/// The classes with one node only, which a stratified split can but test, ascending.
pub fn lone_classes(labels: &[i64]) -> Vec<i64> {
    classes(labels).into_iter().filter(|(_, members)| members.len() == 1).map(|(class, _)| class).collect()
}

fn classes(labels: &[i64]) -> BTreeMap<i64, Vec<usize>> {
    let mut classes = BTreeMap::<i64, Vec<usize>>::new();
    for (node, &label) in labels.iter().enumerate() {
        classes.entry(label).or_default().push(node);
    }
    classes
}

/// A share as the exact quotient its decimal text stands for.
struct Share {
    numerator: u128,
    denominator: u128,
}

impl Share {
    /// A share outside [0, 1] counts as the nearer end.
    fn new(share: f64) -> Self {
        let text = share.clamp(0.0, 1.0).to_string();
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        // Twenty decimals leave room for the products below; no share differs by less than that.
        let decimals = &decimals[..decimals.len().min(20)];
        let digits = format!("{whole}{decimals}");
        Self { numerator: digits.parse().unwrap_or(0), denominator: 10u128.pow(decimals.len() as u32) }
    }

    /// The share of n, rounded to the nearest whole number, a half up.
    fn of(&self, n: usize) -> usize {
        let twice = 2 * self.numerator * n as u128 + self.denominator;
        (twice / (2 * self.denominator)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_in_one_part_and_a_class_of_one_is_tested() {
        let labels: Vec<i64> = (0..57).map(|node| node % 4).chain([9]).collect();
        let split = stratified(&labels, 5, (0.1, 0.1));
        let mut all = [split.train.clone(), split.val.clone(), split.test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..58).collect::<Vec<_>>());
        assert!(split.test.contains(&57));
        assert_eq!(lone_classes(&labels), [9]);
        for class in 0..4 {
            assert!(split.train.iter().any(|&node| labels[node] == class));
        }
    }

    #[test]
    fn halves_are_decided_by_the_decimal_text() {
        // 0.29 * 50 is 14.499999999999998 in f64 and 14.5 in decimals.
        assert_eq!(Share::new(0.29).of(50), 15);
        assert_eq!(Share::new(1.0).of(7), 7);
        assert_eq!(Share::new(0.0).of(7), 0);
    }

    #[test]
    fn shares_that_ask_for_more_than_there_is_leave_no_test_nodes() {
        let split = stratified(&[0; 10], 1, (0.9, 0.9));
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (9, 1, 0));
    }
}
