//! Adding rows up, one after the other: the way of reports, and of what is not known well enough.

use std::cmp::Ordering;

use super::rows::Rows;
use super::sums::Sums;
use super::terms::Terms;
use crate::metric::AddTerms;
use crate::protocol::Protocol;

/// How well sums of quotients are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Exactly where that is short, else to the first bits, which nearly always settle a number.
    Enough,
    /// Exactly.
    Full,
}

/// The sums of all rows together.
pub(crate) fn collected<'s, P: Protocol>(
    protocol: &P,
    rows: &Rows<'s, P::Row>,
    terms: AddTerms<P>,
    precision: Precision,
) -> Sums<'s, P::Row> {
    let mut summed = rows.folded(
        Terms::adding_up,
        |summed, row, times| {
            summed.totals().begin_row(times);
            terms(protocol, row, summed);
        },
        |summed, mut more| summed.totals().merge(std::mem::take(more.totals())),
    );
    let totals = std::mem::take(summed.totals());
    Sums::new(rows.clone(), totals.rows(), totals.sums(precision))
}

/// The rows of each group, groups in order.
pub(crate) fn grouped<'s, R>(rows: &Rows<'s, R>, order: fn(&R, &R) -> Ordering) -> Vec<Rows<'s, R>> {
    let mut places: Vec<u32> = rows.positions().collect();
    places.sort_by(|&a, &b| order(rows.at(a as usize), rows.at(b as usize)));
    let same = |a: &u32, b: &u32| order(rows.at(*a as usize), rows.at(*b as usize)).is_eq();
    places.chunk_by(same).map(|members| rows.of(members.into())).collect()
}
