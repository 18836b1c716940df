//! The words that the metric lines of every family are written in: numbers and their readings, ranges,
//! directions. Each family adds its own in its `metrics`, and its files take them all from there.

use calipers_core::{Better, Range};
pub(crate) use calipers_core::{IntervalRule, Number, Rows, Sums, Terms, Value};

pub(crate) use crate::reading::{Reading, Reason, number, per_label, quotient, unless};

pub(crate) const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
pub(crate) const SIGNED: Range = Range { low: -1.0, high: 1.0, text: "[-1, 1]" };
pub(crate) const UP_TO_ONE: Range = Range { low: f64::NEG_INFINITY, high: 1.0, text: "(-inf, 1]" };
pub(crate) const UP_TO_TWO: Range = Range { low: 0.0, high: 2.0, text: "[0, 2]" };
pub(crate) const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
pub(crate) const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };

pub(crate) fn higher<P>(_: &P) -> Better {
    Better::Higher
}

pub(crate) fn lower<P>(_: &P) -> Better {
    Better::Lower
}

pub(crate) fn neither<P>(_: &P) -> Better {
    Better::Neither
}
