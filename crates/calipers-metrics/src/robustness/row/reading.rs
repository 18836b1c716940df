//! The numbers of one unit, as exact quotients or the reason why there are none, and their means.

use calipers_core::exact::Rational;
use calipers_core::{End, Sums, Terms, Value};

use crate::reading::Reason;
use crate::robustness::protocol::Robustness;
use crate::robustness::row::{FlipRow, Row};

/// A number before it is rounded, or why there is none.
pub(crate) type Exact = Result<Rational, Reason>;

pub(crate) const NO_NODES: &str = "node subset is empty";
pub(crate) const NO_ATTACKED_EDGES: &str = "no attacked edges given";
const BOTH_NEEDED: &str = "clean and attacked edges are both needed";

/// A number that every unit has, or lacks for a reason: its place in sums, and its formula.
#[derive(Clone, Copy)]
pub(crate) struct Scalar {
    place: usize,
    exact: fn(&Row) -> Exact,
}

impl Scalar {
    pub(crate) const fn new(place: usize, exact: fn(&Row) -> Exact) -> Self {
        Self { place, exact }
    }

    /// The same at another place, for sums that hold more numbers than its own lines do.
    pub(crate) const fn at(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// The number of one unit; in preset `rung-fork` what single precision makes of it.
    pub(crate) fn of(self, protocol: &Robustness, row: &Row) -> Exact {
        let exact = (self.exact)(row)?;
        if !protocol.is_fork() {
            return Ok(exact);
        }
        let single = exact.nearest_single();
        match Value::finite(single.into()) {
            Value::Undefined(reason) => Err(reason),
            _ => Ok(Rational::of(single.into())),
        }
    }

    /// Adds the number of a row, or that it lacks one.
    pub(crate) fn add(self, protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
        match self.of(protocol, row) {
            Ok(number) => terms.ratio(self.sum(), number),
            Err(_) => terms.whole(self.missing(), 1),
        }
    }

    /// One end of the mean over repetitions; undefined as soon as one of them is.
    pub(crate) fn mean(self, protocol: &Robustness, sums: &Sums<'_, Row>, end: End) -> Exact {
        let total = self.total(protocol, sums, end)?;
        Ok(total.over(&Rational::whole(sums.count())))
    }

    /// One end of the sum over repetitions.
    pub(crate) fn total(self, protocol: &Robustness, sums: &Sums<'_, Row>, end: End) -> Exact {
        match self.reason(protocol, sums) {
            Some(reason) => Err(reason),
            None => Ok(sums.ratio(self.sum(), end)),
        }
    }

    /// The mean over repetitions, rounded once.
    pub(crate) fn printed(self, protocol: &Robustness, sums: &Sums<'_, Row>) -> Value {
        match self.reason(protocol, sums) {
            Some(reason) => Value::Undefined(reason),
            None => Value::finite(sums.ratio_mean(self.sum())),
        }
    }

    /// Why there is no mean: the reason of the first repetition that has no number.
    fn reason(self, protocol: &Robustness, sums: &Sums<'_, Row>) -> Option<Reason> {
        let find = || sums.rows().iter().find_map(|row| self.of(protocol, row).err());
        if sums.whole(self.missing()) > 0 { find() } else { None }
    }

    fn sum(self) -> usize {
        2 * self.place
    }

    fn missing(self) -> usize {
        2 * self.place + 1
    }
}

/// The mean of a scalar over the repetitions of the only condition.
macro_rules! mean {
    ($terms:ident, $scalar:expr) => {
        Number::Grouped {
            order: by_condition,
            terms: $terms,
            read: |protocol, groups| of_only(groups, |sums| $scalar.printed(protocol, sums)),
        }
    };
}
pub(crate) use mean;

pub(crate) fn flips(row: &Row) -> Result<&FlipRow, Reason> {
    row.flips.as_ref().ok_or_else(|| BOTH_NEEDED.into())
}

/// The value that reports print.
pub(crate) fn value(exact: Exact) -> Value {
    exact.map_or_else(Value::Undefined, |number| Value::finite(number.nearest()))
}
