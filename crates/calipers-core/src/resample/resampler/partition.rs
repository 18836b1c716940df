//! Units by group, so that sums over groups cost what sums over all units do.

use std::cmp::Ordering;
use std::ops::Range;

use super::column::Column;
use crate::reading::Term;
use crate::resample::{Panels, Weights};

/// A value, and how often it occurs.
pub(super) type Occurrence = (u64, u64);

/// The units by group: groups in order, units in key order.
pub(super) struct Partition {
    /// Which unit comes where.
    order: Vec<u32>,
    parts: Vec<Range<usize>>,
    panels: Panels,
    columns: usize,
}

/// The column that counts rows.
const ROWS: usize = 0;

impl Partition {
    /// All units together.
    pub(super) fn whole(units: usize) -> Self {
        Self::by_order(units, |_, _| Ordering::Equal)
    }

    /// Groups units that an order calls equal.
    pub(super) fn by_order(units: usize, order: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut sorted: Vec<u32> = (0..).take(units).collect();
        sorted.sort_by(|&a, &b| order(a as usize, b as usize));
        let mut parts = Vec::new();
        for members in sorted.chunk_by(|&a, &b| order(a as usize, b as usize).is_eq()) {
            let start = parts.last().map_or(0, |part: &Range<usize>| part.end);
            parts.push(start..start + members.len());
        }
        let mut panels = Panels::new(units);
        panels.push(&vec![1.0; units]);
        Self { order: sorted, parts, panels, columns: ROWS + 1 }
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.parts.len()
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
        (&self.order, &self.parts) == (&other.order, &other.parts)
    }

    /// Cuts a column of one term per unit.
    pub(super) fn column(&mut self, terms: &[Term<'_>]) -> Option<Column> {
        let ordered: Vec<Term<'_>> = self.order.iter().map(|&unit| terms[unit as usize].clone()).collect();
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

    /// The part of such sums that belongs to a group.
    pub(super) fn of_group<'s>(&self, sums: &'s [f64], group: usize) -> &'s [f64] {
        &sums[group * self.columns..][..self.columns]
    }
}

/// One value per unit, and which values there are in each group.
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
            (value, units.iter().map(|&unit| u64::from(counts[unit as usize])).sum())
        };
        self.values.iter().zip(&self.ends).map(one).collect()
    }

    /// The values of a group among all.
    pub(super) fn of_group<'o>(&self, occurrences: &'o [Occurrence], group: usize) -> &'o [Occurrence] {
        &occurrences[self.parts[group].clone()]
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
    fn values_are_counted_group_by_group() {
        let groups = ["b", "a", "b", "a", "b", "a"];
        let partition = Partition::by_order(6, |a, b| groups[a].cmp(groups[b]));
        let items = [Some(7), Some(1), None, Some(4), Some(3), Some(4)];
        let histogram = Histogram::new(&partition, &items);
        let counted = histogram.counted(&[0, 2, 1, 1, 3, 4]);
        assert_eq!(histogram.of_group(&counted, 0), [(1, 2), (4, 5)]);
        assert_eq!(histogram.of_group(&counted, 1), [(3, 3), (7, 0)]);
    }

    #[test]
    fn units_that_an_order_calls_equal_are_one_group() {
        let keys = [3, 1, 3, 2, 1];
        let partition = Partition::by_order(5, |a, b| keys[a].cmp(&keys[b]));
        assert_eq!(partition.groups(), 3);
        assert_eq!([0, 1, 2].map(|group| partition.members(group)), [&[1, 4][..], &[3], &[0, 2]]);
    }
}
