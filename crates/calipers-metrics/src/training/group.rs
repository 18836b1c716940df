//! The runs of one configuration: how many folds there should be, and which runs lack something.

use std::cmp::Ordering;

use calipers_core::{Sums, Terms, Value};

use super::protocol::Training;
use super::row::Row;
use crate::reading::{Reading, Reason};

/// The runs of one configuration, added up.
pub(crate) type Runs<'s> = Sums<'s, Row>;

/// Runs of one configuration are equal in this order.
pub(crate) fn by_group(a: &Row, b: &Row) -> Ordering {
    a.group.cmp(&b.group)
}

/// A number per configuration, read from what its runs add up to.
macro_rules! per_group {
    ($terms:expr, |$protocol:pat_param, $runs:ident| $read:expr) => {
        calipers_core::Number::Grouped {
            order: $crate::training::group::by_group,
            terms: $terms,
            read: |$protocol, groups| $crate::training::group::labelled(groups, |$runs| $read),
        }
    };
}
pub(crate) use per_group;

/// One value per configuration, in byte order of their names.
pub(crate) fn labelled(groups: &[Runs<'_>], read: impl Fn(&Runs<'_>) -> Value) -> Value {
    let one = |runs: &Runs<'_>| Some((runs.rows().first()?.group.clone(), read(runs)));
    Value::PerLabel(groups.iter().filter_map(one).collect())
}

/// The mean of the numbers of a column over as many runs as another one counts.
pub(crate) fn mean(runs: &Runs<'_>, numbers: usize, counts: usize, none: &'static str) -> Reading {
    match runs.whole(counts) {
        0 => Err(none.into()),
        count => Ok(runs.number_over(numbers, count)),
    }
}

/// How many folds a file of runs lists for the configuration. All terms of numbers that depend on the
/// number of folds have this column.
const LISTED: usize = 0;

/// Adds how many folds a file lists.
pub(crate) fn list_folds(run: &Row, terms: &mut Terms<'_>) {
    if let Some(folds) = run.folds {
        terms.value(LISTED, folds.into());
    }
}

/// n_f: how many folds there are or should be.
pub(crate) fn folds(protocol: &Training, runs: &Runs<'_>) -> u64 {
    protocol.declared_folds().or_else(|| listed(runs)).unwrap_or(runs.count())
}

fn listed(runs: &Runs<'_>) -> Option<u64> {
    let mut listed = runs.values(LISTED).iter().filter(|(_, times)| *times > 0);
    match (listed.next(), listed.next()) {
        (only, None) => only.map(|(folds, _)| *folds),
        // Files may disagree: then the first run decides.
        _ => runs.rows().iter().find_map(|run| run.folds).map(u64::from),
    }
}

/// Refuses a fold without a run, or more runs than were declared. The five folds of the published
/// tables are a divisor, not a declaration.
pub(crate) fn all_present(protocol: &Training, runs: &Runs<'_>) -> Result<(), Reason> {
    let more = runs.count() > folds(protocol, runs);
    if more && protocol.folds.is_none() { Ok(()) } else { one_run_per_fold(protocol, runs) }
}

/// Refuses fewer or more runs than folds.
pub(crate) fn one_run_per_fold(protocol: &Training, runs: &Runs<'_>) -> Result<(), Reason> {
    let (present, folds) = (runs.count(), folds(protocol, runs));
    if present == folds { Ok(()) } else { Err(format!("{present} of {folds} folds present").into()) }
}

/// How many folds a reason names.
const NAMED: usize = 50;

/// Refuses when fewer than all runs have something; the reason is `what` and the folds that lack it.
pub(crate) fn none_lacks(
    runs: &Runs<'_>,
    have: i128,
    what: &str,
    lacks: impl Fn(&Row) -> bool,
) -> Result<(), Reason> {
    let lacking = (i128::from(runs.count()) - have) as usize;
    if lacking == 0 {
        return Ok(());
    }
    let folds = runs.rows().iter().filter(|run| lacks(run)).map(|run| run.fold.as_str());
    let named = folds.take(NAMED).collect::<Vec<_>>().join(", ");
    let more = match lacking.saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(format!("{what}{named}{more}").into())
}
