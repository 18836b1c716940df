//! The reliability diagram.

use crate::segmentation::metrics::*;
use calipers_core::exact::rounded_quotient;

use super::bins::Bin;
use super::calibration::{add_row, all_bins};

const DIAGRAM: Line = Line {
    group: "reliability",
    better: neither,
    range: SHARE,
    undefined: reasons!(scores),
    reference: "DeGroot and Fienberg, The comparison and evaluation of forecasters, 1983",
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] = &[RELIABILITY_COUNT, RELIABILITY_CONFIDENCE, RELIABILITY_ACCURACY];

fn series(protocol: &Segmentation, sums: &Sums<'_, Row>, point: fn(&Bin) -> Value) -> Value {
    let points = |bins: Vec<Bin>| Value::Series(bins.iter().map(point).collect());
    all_bins(protocol, sums).map_or_else(Value::Undefined, points)
}

fn filled(bin: &Bin, read: fn(&Bin) -> f64) -> Value {
    if bin.count == 0 { Value::undefined("") } else { Value::Number(read(bin)) }
}

/// The pixels of each bin.
pub const RELIABILITY_COUNT: Line = Line {
    id: "reliability_count",
    range: UP_TO_PIXELS,
    measures: "How many scored pixels have a confidence in each bin.",
    formula: "Series over the bins, see ece.",
    example: ("reliability", "[0, 0, 2, 2]"),
    number: Number::pooled(add_row, |protocol, sums| series(protocol, sums, |bin| Value::Count(bin.count))),
    ..DIAGRAM
};

/// The mean confidence of each bin.
pub const RELIABILITY_CONFIDENCE: Line = Line {
    id: "reliability_confidence",
    measures: "The mean confidence in each bin.",
    formula: "Series over the bins: sum of confidences / count; null for an empty bin.",
    example: ("reliability", "[null, null, 0.675, 0.9]"),
    number: Number::pooled(add_row, |protocol, sums| {
        series(protocol, sums, |bin| filled(bin, Bin::mean_confidence))
    }),
    ..DIAGRAM
};

/// The accuracy of each bin.
pub const RELIABILITY_ACCURACY: Line = Line {
    id: "reliability_accuracy",
    measures: "The share of pixels that are right in each bin.",
    formula: "Series over the bins: right / count; null for an empty bin.",
    example: ("reliability", "[null, null, 1.0, 0.5]"),
    number: Number::pooled(add_row, |protocol, sums| {
        series(protocol, sums, |bin| filled(bin, |bin| rounded_quotient(bin.correct, bin.count)))
    }),
    ..DIAGRAM
};
