//! How long runs last: until they saturate or, without that, until they end.

use calipers_core::Terms;

use crate::training::group::Runs;
use crate::training::protocol::Training;
use crate::training::row::Row;

/// One run: the epoch of its first saturation, or how many epochs it had without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lifetime {
    pub(super) epoch: u64,
    pub(super) saturates: bool,
}

impl Lifetime {
    /// The lifetime of a run, by the strict rule.
    pub(super) fn of(run: &Row) -> Self {
        match &run.strict {
            Some(after) => Self { epoch: after.saturation.number, saturates: true },
            None => Self { epoch: run.epochs, saturates: false },
        }
    }
}

// Columns.
/// Runs that saturate.
pub(super) const SATURATING: usize = 0;
/// Epochs to saturation.
pub(super) const EPOCHS_TO: usize = 1;
/// Their squares.
pub(super) const SQUARES: usize = 2;
/// Epochs of runs that never saturate.
pub(super) const EPOCHS_WITHOUT: usize = 3;
/// Lifetimes as whole numbers: twice the epoch, and 1 more without saturation.
const LIFETIMES: usize = 4;

/// What a run adds.
pub(super) fn lifetimes(_: &Training, run: &Row, terms: &mut Terms<'_>) {
    let Lifetime { epoch, saturates } = Lifetime::of(run);
    if saturates {
        terms.whole(SATURATING, 1);
        terms.whole(EPOCHS_TO, epoch);
        terms.whole(SQUARES, i128::from(epoch) * i128::from(epoch));
    } else {
        terms.whole(EPOCHS_WITHOUT, epoch);
    }
    terms.value(LIFETIMES, epoch << 1 | u64::from(!saturates));
}

/// The lifetimes of the runs, ascending, each with how many runs have it.
pub(super) fn counted<'r>(runs: &'r Runs<'_>) -> impl Iterator<Item = (Lifetime, u64)> + 'r {
    let drawn = runs.values(LIFETIMES).iter().filter(|(_, times)| *times > 0);
    drawn.map(|&(value, times)| (Lifetime { epoch: value >> 1, saturates: value & 1 == 0 }, times))
}
