//! What the lines of the metric table share: bases, references, ranges and directions.

use calipers_core::{Better, Metric, Range, Sums};
pub(super) use calipers_core::{Doc, Number, Value};

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

/// A quotient of sums over all graphs.
pub(super) const POOLED: Line = Line { group: "pooled", ..STRICT };

/// A whole number summed over all graphs.
pub(super) const TOTAL: Line = Line { group: "totals", range: NON_NEGATIVE, ..STRICT };

/// A definition that is not the document's.
pub(super) const OURS: Doc = Doc { reference: "Calipers", ..Line::DEFAULTS.doc };

/// A definition of the document, taken over all graphs at once.
pub(super) const SUMMED: Doc =
    Doc { reference: "Calipers; the formula of the document, summed over graphs", ..Line::DEFAULTS.doc };

/// Numbers that need scores, or scores and labels, or scores and a reference, and nothing else.
pub(super) const OF_SCORES: Doc = Doc { undefined: "\"no scores given\".", ..OURS };
pub(super) const OF_COUNTS: Doc = Doc { undefined: "\"no scores given\"; \"no labels given\".", ..OURS };
pub(super) const OF_REFERENCE: Doc =
    Doc { undefined: "\"no scores given\"; \"no labels or optimum given\".", ..OURS };

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("MIS-TRM Metrics Calculations Reference, ", $section)
    };
}
pub(super) use document;

pub(super) const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
pub(super) const YES_OR_NO: Range =
    Range { low: 0.0, high: 1.0, text: "{0, 1} per graph, [0, 1] over graphs" };
pub(super) const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
pub(super) const UP_TO_NODES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
pub(super) const UP_TO_EDGES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, m]" };
pub(super) const UP_TO_REFERENCE: Range =
    Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, R]" };
pub(super) const UP_TO_ONE: Range = Range { low: f64::NEG_INFINITY, high: 1.0, text: "(-inf, 1]" };
pub(super) const UP_TO_HUNDRED: Range = Range { low: f64::NEG_INFINITY, high: 100.0, text: "(-inf, 100]" };
pub(super) const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };
pub(super) const STEP: Range = Range { low: 1.0, high: f64::INFINITY, text: "[1, T]" };

pub(super) fn higher(_: &IndependentSet) -> Better {
    Better::Higher
}

pub(super) fn lower(_: &IndependentSet) -> Better {
    Better::Lower
}

/// The mean of a number of each graph, where it has one.
pub(super) const fn mean(of: fn(&IndependentSet, &Row) -> Value) -> Number<IndependentSet> {
    Number::Mean { of, none: None }
}

/// The mean of a number of each graph in preset `strict`; in the presets of the published code, a number
/// of the batch that all graphs make.
pub(super) fn by_preset(
    protocol: &IndependentSet,
    of: fn(&IndependentSet, &Row) -> Value,
    published: fn(&IndependentSet, &Sums<'_, Row>) -> Value,
) -> Number<IndependentSet> {
    if protocol.preset == Preset::Strict { mean(of) } else { batch(published) }
}
