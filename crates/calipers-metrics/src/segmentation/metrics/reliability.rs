//! The reliability diagram.

use calipers_core::{Doc, Number};

use super::super::calibration_reading::{Reliability, reliability};
use super::{Line, SHARE, UP_TO_PIXELS, neither, reasons};

pub(super) const RELIABILITY_COUNT: Line = Line {
    id: "reliability_count",
    group: "reliability",
    better: neither,
    range: UP_TO_PIXELS,
    doc: Doc {
        measures: "How many scored pixels have a confidence in each bin.",
        formula: "Series over the bins, see ece.",
        undefined: reasons!(scores),
        differs: "",
        reference: "DeGroot and Fienberg, The comparison and evaluation of forecasters, 1983",
        example: ("reliability", "[0, 0, 2, 2]"),
    },
    number: Number::Rows(|protocol, rows| reliability(protocol, rows, Reliability::Count)),
    ..Line::DEFAULTS
};

pub(super) const RELIABILITY_CONFIDENCE: Line = Line {
    id: "reliability_confidence",
    group: "reliability",
    better: neither,
    range: SHARE,
    doc: Doc {
        measures: "The mean confidence in each bin.",
        formula: "Series over the bins: sum of confidences / count; null for an empty bin.",
        undefined: reasons!(scores),
        differs: "",
        reference: "DeGroot and Fienberg, The comparison and evaluation of forecasters, 1983",
        example: ("reliability", "[null, null, 0.675, 0.9]"),
    },
    number: Number::Rows(|protocol, rows| reliability(protocol, rows, Reliability::Confidence)),
    ..Line::DEFAULTS
};

pub(super) const RELIABILITY_ACCURACY: Line = Line {
    id: "reliability_accuracy",
    group: "reliability",
    better: neither,
    range: SHARE,
    doc: Doc {
        measures: "The share of pixels that are right in each bin.",
        formula: "Series over the bins: right / count; null for an empty bin.",
        undefined: reasons!(scores),
        differs: "",
        reference: "DeGroot and Fienberg, The comparison and evaluation of forecasters, 1983",
        example: ("reliability", "[null, null, 1.0, 0.5]"),
    },
    number: Number::Rows(|protocol, rows| reliability(protocol, rows, Reliability::Accuracy)),
    ..Line::DEFAULTS
};
