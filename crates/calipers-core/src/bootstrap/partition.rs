//! Units by group, so that sums over groups cost what sums over all units do.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use super::column::Column;
use crate::pooling::Term;
use crate::weighted_sum::{Panels, Weights};

/// A value, and how often it occurs.
pub(super) type Occurrence = (u64, u32);

/// The units by group: groups in the order of their labels, units in key order.
pub(super) struct Partition {
    labels: Vec<String>,
    /// What the rows of each group have alike.
    alike: Vec<Option<u64>>,
    /// Which unit comes where.
    order: Vec<u32>,
    parts: Vec<Range<usize>>,
    panels: Panels,
    columns: usize,
}

/// The column that counts rows.
const ROWS: usize = 0;

impl Partition {
    /// Groups units by their labels; `None` where units of one group do not have alike what they
    /// should.
    pub(super) fn new<'r>(units: impl Iterator<Item = (&'r str, Option<u64>)>) -> Option<Self> {
        let mut groups: BTreeMap<&str, (Option<u64>, Vec<u32>)> = BTreeMap::new();
        for (unit, (label, alike)) in (0..).zip(units) {
            let (first, members) = groups.entry(label).or_insert_with(|| (alike, Vec::new()));
            if *first != alike {
                return None;
            }
            members.push(unit);
        }
        let labels = groups.keys().map(|label| (*label).into()).collect();
        let alike = groups.values().map(|(alike, _)| *alike).collect();
        Some(Self::of_groups(labels, alike, groups.values().map(|(_, members)| members.as_slice())))
    }

    /// Groups units that an order calls equal; groups have no labels.
    pub(super) fn by_order(units: usize, order: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut sorted: Vec<u32> = (0..).take(units).collect();
        sorted.sort_by(|&a, &b| order(a as usize, b as usize));
        let groups: Vec<&[u32]> = sorted.chunk_by(|&a, &b| order(a as usize, b as usize).is_eq()).collect();
        Self::of_groups(Vec::new(), vec![None; groups.len()], groups.into_iter())
    }

    fn of_groups<'m>(
        labels: Vec<String>,
        alike: Vec<Option<u64>>,
        groups: impl Iterator<Item = &'m [u32]>,
    ) -> Self {
        let mut order = Vec::new();
        let mut parts = Vec::new();
        for members in groups {
            parts.push(order.len()..order.len() + members.len());
            order.extend(members);
        }
        let mut panels = Panels::new(order.len());
        panels.push(&vec![1.0; order.len()]);
        Self { labels, alike, order, parts, panels, columns: ROWS + 1 }
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.parts.len()
    }

    /// The first unit of a group.
    pub(super) fn first(&self, group: usize) -> usize {
        self.order[self.parts[group].start] as usize
    }

    /// The units of a group, in key order.
    pub(super) fn members(&self, group: usize) -> &[u32] {
        &self.order[self.parts[group].clone()]
    }

    /// How many rows of a group were drawn, from its sums.
    pub(super) fn rows(sums: &[f64]) -> i128 {
        sums[ROWS] as i128
    }

    /// Whether the units are grouped in this way.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.labels, &self.alike, &self.order, &self.parts)
            == (&other.labels, &other.alike, &other.order, &other.parts)
    }

    /// Where the groups of these labels are; a number without a label is that of the only group.
    pub(super) fn places(&self, labels: &[String]) -> Option<Vec<usize>> {
        if labels.is_empty() {
            return (self.groups() == 1).then(|| vec![0]);
        }
        labels.iter().map(|label| self.labels.binary_search(label).ok()).collect()
    }

    /// Cuts a column of one term a unit.
    pub(super) fn column(&mut self, terms: &[Term]) -> Option<Column> {
        let ordered: Vec<Term> = self.order.iter().map(|&unit| terms[unit as usize].clone()).collect();
        let (panels, columns) = (&mut self.panels, &mut self.columns);
        Column::new(&ordered, |piece| {
            let place = panels.place_of(&piece).unwrap_or_else(|| panels.push(&piece));
            *columns = (*columns).max(place + 1);
            place
        })
    }

    /// The sums of every column, group after group, resample by resample.
    pub(super) fn sums(&self, weights: &Weights) -> Vec<Vec<f64>> {
        if self.order.is_sorted() {
            return self.panels.sums_of(weights, &self.parts);
        }
        self.panels.sums_in_order(weights, &self.order, &self.parts)
    }

    /// The part of such sums that belongs to a group; `None` where no row of it was drawn.
    pub(super) fn drawn<'s>(&self, sums: &'s [f64], group: usize) -> Option<&'s [f64]> {
        let own = &sums[group * self.columns..][..self.columns];
        (own[ROWS] > 0.0).then_some(own)
    }

    /// What all rows of a group have alike.
    pub(super) fn alike(&self, group: usize) -> Option<u64> {
        self.alike[group]
    }
}

/// One value a unit, and which values there are in each group.
#[derive(PartialEq)]
pub(super) struct Histogram {
    /// Group after group, ascending.
    values: Vec<u64>,
    /// The values of each group.
    parts: Vec<Range<usize>>,
    /// The units that have one, by group and value.
    units: Vec<u32>,
    /// Where the units of each value end.
    ends: Vec<usize>,
}

impl Histogram {
    /// The values of units in key order.
    pub(super) fn new(partition: &Partition, items: &[Option<u64>]) -> Self {
        let (mut values, mut parts) = (Vec::new(), Vec::new());
        let (mut units, mut ends) = (Vec::new(), Vec::new());
        for group in 0..partition.groups() {
            let start = values.len();
            for same in valued(partition.members(group), items).chunk_by(|a, b| a.0 == b.0) {
                values.push(same[0].0);
                units.extend(same.iter().map(|(_, unit)| unit));
                ends.push(units.len());
            }
            parts.push(start..values.len());
        }
        Self { values, parts, units, ends }
    }

    /// How often each value occurs, group after group.
    pub(super) fn counted(&self, counts: &[u32]) -> Vec<Occurrence> {
        let mut start = 0;
        let one = |(&value, &end): (&u64, &usize)| {
            let units = &self.units[start..end];
            start = end;
            (value, units.iter().map(|&unit| counts[unit as usize]).sum())
        };
        self.values.iter().zip(&self.ends).map(one).collect()
    }

    /// The values of a group among all.
    pub(super) fn of_group<'o>(&self, occurrences: &'o [Occurrence], group: usize) -> &'o [Occurrence] {
        &occurrences[self.parts[group].clone()]
    }
}

/// The units of each group from the largest of their values down.
#[derive(PartialEq)]
pub(super) struct Descent(Vec<Vec<(u64, u32)>>);

impl Descent {
    /// The values of units in key order.
    pub(super) fn new(partition: &Partition, items: &[Option<u64>]) -> Self {
        let group = |group| {
            let mut found = valued(partition.members(group), items);
            found.reverse();
            found
        };
        Self((0..partition.groups()).map(group).collect())
    }

    /// The largest value of a group that was drawn: with many units one of the first.
    pub(super) fn largest(&self, group: usize, counts: &[u32]) -> Option<u64> {
        let drawn = self.0[group].iter().find(|(_, unit)| counts[*unit as usize] > 0);
        drawn.map(|(value, _)| *value)
    }
}

/// Values and units, ascending; units without a value are left out.
fn valued(members: &[u32], items: &[Option<u64>]) -> Vec<(u64, u32)> {
    let mut found: Vec<(u64, u32)> =
        members.iter().filter_map(|&unit| Some((items[unit as usize]?, unit))).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_the_largest_is_found_group_by_group() {
        let labels = ["b", "a", "b", "a", "b", "a"].map(|label| (label, None));
        let partition = Partition::new(labels.into_iter()).unwrap();
        let items = [Some(7), Some(1), None, Some(4), Some(3), Some(4)];
        let (histogram, descent) = (Histogram::new(&partition, &items), Descent::new(&partition, &items));
        let counted = histogram.counted(&[0, 2, 1, 1, 3, 4]);
        assert_eq!(histogram.of_group(&counted, 0), [(1, 2), (4, 5)]);
        assert_eq!(histogram.of_group(&counted, 1), [(3, 3), (7, 0)]);
        let largest = |counts: &[u32]| [0, 1].map(|group| descent.largest(group, counts));
        assert_eq!(largest(&[0, 2, 1, 1, 3, 4]), [Some(4), Some(3)]);
        assert_eq!(largest(&[1, 2, 1, 0, 0, 0]), [Some(1), Some(7)]);
        assert_eq!(largest(&[0, 1, 5, 0, 0, 0]), [Some(1), None]);
    }

    #[test]
    fn units_that_an_order_calls_equal_are_one_group() {
        let keys = [3, 1, 3, 2, 1];
        let partition = Partition::by_order(5, |a, b| keys[a].cmp(&keys[b]));
        assert_eq!(partition.groups(), 3);
        assert_eq!([0, 1, 2].map(|group| partition.members(group)), [&[1, 4][..], &[3], &[0, 2]]);
        assert_eq!([0, 1, 2].map(|group| partition.first(group)), [1, 3, 0]);
    }
}
