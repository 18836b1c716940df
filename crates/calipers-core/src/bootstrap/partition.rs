//! Units by group, so that sums over groups cost what sums over all units do.

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
        let mut order = Vec::new();
        let mut parts = Vec::new();
        for (_, members) in groups.values() {
            parts.push(order.len()..order.len() + members.len());
            order.extend(members);
        }
        let mut panels = Panels::new(order.len());
        panels.push(&vec![1.0; order.len()]);
        let labels = groups.keys().map(|label| (*label).into()).collect();
        let alike = groups.values().map(|(alike, _)| *alike).collect();
        Some(Self { labels, alike, order, parts, panels, columns: ROWS + 1 })
    }

    /// Whether the units are grouped in this way.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.labels, &self.alike, &self.order, &self.parts)
            == (&other.labels, &other.alike, &other.order, &other.parts)
    }

    /// Where the groups of these labels are.
    pub(super) fn places(&self, labels: &[String]) -> Option<Vec<usize>> {
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
    /// Where the value of each unit is; units without one have the place after the last.
    places: Vec<u32>,
}

impl Histogram {
    /// The values of units in key order.
    pub(super) fn new(partition: &Partition, items: &[Option<u64>]) -> Self {
        let mut values = Vec::new();
        let mut parts = Vec::new();
        let mut found = Vec::new();
        for part in &partition.parts {
            let members = &partition.order[part.clone()];
            let mut own: Vec<u64> = members.iter().filter_map(|&unit| items[unit as usize]).collect();
            own.sort_unstable();
            own.dedup();
            for &unit in members {
                let place = items[unit as usize].and_then(|item| own.binary_search(&item).ok());
                found.push((unit, place.map(|place| values.len() + place)));
            }
            parts.push(values.len()..values.len() + own.len());
            values.extend(own);
        }
        let mut places = vec![values.len() as u32; items.len()];
        for (unit, place) in found {
            places[unit as usize] = place.unwrap_or(values.len()) as u32;
        }
        Self { values, parts, places }
    }

    /// How often each value occurs, group after group.
    pub(super) fn counted(&self, counts: &[u32]) -> Vec<Occurrence> {
        let mut occurrences: Vec<Occurrence> = self.values.iter().map(|&value| (value, 0)).collect();
        occurrences.push((u64::MAX, 0));
        for (&place, &count) in self.places.iter().zip(counts) {
            occurrences[place as usize].1 += count;
        }
        occurrences.pop();
        occurrences
    }

    /// The values of a group among all.
    pub(super) fn of_group<'o>(&self, occurrences: &'o [Occurrence], group: usize) -> &'o [Occurrence] {
        &occurrences[self.parts[group].clone()]
    }
}
