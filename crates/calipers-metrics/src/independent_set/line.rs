//! What the lines of the metric table share: bases, references, ranges and directions.

use calipers_core::{Metric, Range, Sums};
pub(super) use calipers_core::{Number, Value};

pub(super) use crate::line::{ANY, NON_NEGATIVE, SHARE, UP_TO_ONE, higher, lower};

use super::protocol::{IndependentSet, Preset};
use super::published::batch;
use super::row::Row;

pub(super) type Line = Metric<IndependentSet>;

/// A number of each graph and of the published code.
pub(super) const PUBLISHED: Line = Line { per_unit: true, ..Line::DEFAULTS };

/// A number that the published code does not have.
pub(super) const STRICT: Line =
    Line { presets: |protocol| protocol.preset == Preset::Strict, ..Line::DEFAULTS };

/// A number of each graph, reported as their mean.
pub(super) const PER_GRAPH: Line = Line { per_unit: true, ..STRICT };

/// A quotient of sums over all graphs: a formula of the document, taken over all graphs at once.
pub(super) const POOLED: Line = Line {
    group: "pooled",
    reference: "Calipers; the formula of the document, summed over graphs",
    ..STRICT
};

/// A whole number summed over all graphs.
pub(super) const TOTAL: Line = Line { group: "totals", range: NON_NEGATIVE, ..STRICT };

/// When numbers are undefined that need scores, or scores and a reference, and nothing else.
pub(super) const NO_SCORES: &str = "\"no scores given\".";
pub(super) const NO_REFERENCE: &str = "\"no scores given\"; \"no labels or optimum given\".";

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("MIS-TRM Metrics Calculations Reference, ", $section)
    };
}
pub(super) use document;

pub(super) const YES_OR_NO: Range =
    Range { low: 0.0, high: 1.0, text: "{0, 1} per graph, [0, 1] over graphs" };
pub(super) const UP_TO_NODES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
pub(super) const UP_TO_EDGES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, m]" };
pub(super) const UP_TO_REFERENCE: Range =
    Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, R]" };
pub(super) const UP_TO_HUNDRED: Range = Range { low: f64::NEG_INFINITY, high: 100.0, text: "(-inf, 100]" };
pub(super) const STEP: Range = Range { low: 1.0, high: f64::INFINITY, text: "[1, T]" };

/// The mean of a number of each graph in preset `strict`; in the presets of the published code, a number
/// of the batch that all graphs make.
pub(super) fn by_preset(
    protocol: &IndependentSet,
    of: fn(&IndependentSet, &Row) -> Value,
    published: fn(&IndependentSet, &Sums<'_, Row>) -> Value,
) -> Number<IndependentSet> {
    if protocol.preset == Preset::Strict { Number::mean(of) } else { batch(published) }
}
