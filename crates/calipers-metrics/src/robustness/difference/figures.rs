//! What pictures show beyond the report: edge differences by condition, in bins that all share.

use calipers_core::Rows;

use super::Edges;
use super::bins::edge;
use crate::robustness::protocol::Robustness;
use crate::robustness::row::Row;
use crate::robustness::row::condition::{Condition, conditions};
use calipers_core::exact::Rational;

/// The edge differences of one set of edges at one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The condition, as curves call it.
    pub condition: String,
    /// The set: `all`, `added` or `kept`.
    pub set: &'static str,
    /// The ends of every bin.
    pub edges: Vec<f64>,
    /// How many differences lie in each bin, over all repetitions.
    pub counts: Vec<u64>,
    /// Counts over their sum and the width of a bin; none where nothing was counted.
    pub densities: Option<Vec<f64>>,
}

/// The least and the greatest edge difference of any attacked graph, where rows have no given range.
pub fn range(rows: &Rows<'_, Row>) -> Option<[f64; 2]> {
    let ranges = rows.iter().filter_map(|row| row.all.as_ref()?.range);
    ranges.reduce(|[low, high], [other_low, other_high]| [low.min(other_low), high.max(other_high)])
}

/// How many flips the attacks of every condition made, and how many units there are of it; none where the graphs of
/// a unit are not known.
pub fn flips(rows: &Rows<'_, Row>) -> Vec<(String, Option<u64>, u64)> {
    let of = |condition: Condition<'_>| {
        let flips = condition.units.iter().map(|(_, row)| Some(row.flips.as_ref()?.flipped()));
        (condition.name(), flips.sum(), condition.units.len() as u64)
    };
    conditions(rows).into_iter().map(of).collect()
}

/// Every set of edges at every condition, in the bins of the range that the protocol gives; without
/// one only conditions of one unit, in the bins of that unit.
pub fn spreads(protocol: &Robustness, rows: &Rows<'_, Row>) -> Vec<Spread> {
    let sets = [("all", Edges::All), ("added", Edges::Added), ("kept", Edges::Kept)];
    let mut spreads = Vec::new();
    for condition in conditions(rows) {
        let own = match condition.units.as_slice() {
            [(_, row)] => row.all.as_ref().and_then(|all| all.range).filter(|[low, high]| low < high),
            _ => None,
        };
        let Some(range) = protocol.hist_range.or(own) else { continue };
        let edges: Vec<f64> = (0..=protocol.bins).map(|k| edge(range, protocol.bins, k).nearest()).collect();
        let width = edge(range, protocol.bins, 1).minus(&Rational::of(range[0]));
        for (set, which) in sets {
            let mut counts = vec![0; protocol.bins as usize];
            for spread in condition.units.iter().filter_map(|(_, row)| which.of(row).ok()) {
                let found = spread.bins.iter().flatten();
                counts.iter_mut().zip(found).for_each(|(count, more)| *count += more);
            }
            let inside: u64 = counts.iter().sum();
            let density =
                |&count: &u64| Rational::whole(count).over(&width.times(&Rational::whole(inside))).nearest();
            let densities = (inside > 0).then(|| counts.iter().map(density).collect());
            spreads.push(Spread {
                condition: condition.name(),
                set,
                edges: edges.clone(),
                counts,
                densities,
            });
        }
    }
    spreads
}
