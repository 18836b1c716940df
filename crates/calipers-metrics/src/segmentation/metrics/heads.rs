//! Each head in its own channels.

use calipers_core::{Doc, Number};

use super::super::heads_reading::{biou, by_head, miou, pixel_accuracy};
use super::super::protocol::Measure;
use super::{Line, SHARE, document, higher, reasons};

pub(super) const HEAD_MIOU: Line = Line {
    id: "head_miou",
    group: "heads",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "How well each head does in its own classes, before fusion.",
        formula: "Truth = the channel of the original class (originals the head lacks are not scored), \
                  prediction = the largest used channel. Mean of TP / (T + P - TP) over the channels that \
                  occur.",
        undefined: reasons!(
            pixels,
            "needs two or more heads",
            "truth is given in the global space",
            "head is missing in every unit",
            "no class with a defined value"
        ),
        differs: "The spaces differ: compare a head with itself over time, not with another head.",
        reference: document!("2) Boundary-Aware Metrics (per task)"),
        example: ("heads", r#"{"species": 0.5, "state": 1.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_head(protocol, rows, Measure::Overlap, miou)),
    ..Line::DEFAULTS
};

pub(super) const HEAD_PIXEL_ACCURACY: Line = Line {
    id: "head_pixel_accuracy",
    group: "heads",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of pixels each head gets right in its own classes.",
        formula: "Truth = the channel of the original class (originals the head lacks are not scored), \
                  prediction = the largest used channel. sum TP / N; preset document: mean of TP / T over \
                  channels; preset coral-mtl: sum TP / (N + 1e-6).",
        undefined: reasons!(
            pixels,
            "needs two or more heads",
            "truth is given in the global space",
            "head is missing in every unit",
            "no scored pixel",
            "no class with a defined value"
        ),
        differs: "",
        reference: document!("2) Boundary-Aware Metrics (per task)"),
        example: ("heads", r#"{"species": 0.6666666666666666, "state": 1.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_head(protocol, rows, Measure::Overlap, pixel_accuracy)),
    ..Line::DEFAULTS
};

pub(super) const HEAD_BIOU: Line = Line {
    id: "head_biou",
    group: "heads",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "How well each head draws boundaries between its own classes.",
        formula: "Truth = the channel of the original class (originals the head lacks are not scored), \
                  prediction = the largest used channel. As biou over the channels; the head's rest \
                  channel is its background.",
        undefined: reasons!(
            pixels,
            "needs two or more heads",
            "truth is given in the global space",
            "head is missing in every unit",
            "no boundary in truth or prediction"
        ),
        differs: "",
        reference: document!("2) Boundary-Aware Metrics (per task)"),
        example: ("heads", r#"{"species": 0.0, "state": 1.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_head(protocol, rows, Measure::Boundary, biou)),
    ..Line::DEFAULTS
};
