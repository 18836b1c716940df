//! Numbers of each class from the sum of all confusion matrices.

use calipers_core::{Doc, Number};

use super::super::overlap_reading::{Overlap, by_class};
use super::{Line, SHARE, document, higher, reasons};

pub(super) const IOU: Line = Line {
    id: "iou",
    group: "overlap",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "How well the pixels predicted as a class cover the pixels of the class.",
        formula: "TP / (T + P - TP) for each class: T pixels of the class, P pixels predicted as it, TP \
                  both, over all units.",
        undefined: reasons!(overlap, "class occurs in neither truth nor prediction"),
        differs: "Preset torchmetrics-jaccard prints 0 for a class in neither map, and still leaves it \
                  out of miou.",
        reference: document!("1) Confusion-Matrix Family"),
        example: (
            "absent-class",
            r#"{"sky": 0.5, "road": 0.3333333333333333, "car": 0.0, "sign": 0.0, "boat": null}"#,
        ),
    },
    number: Number::Rows(|protocol, rows| by_class(protocol, rows, Overlap::printed_iou)),
    ..Line::DEFAULTS
};

pub(super) const PRECISION: Line = Line {
    id: "precision",
    group: "overlap",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of the pixels predicted as a class that belong to it.",
        formula: "TP / P for each class.",
        undefined: reasons!(overlap, "class is never predicted"),
        differs: "Undefined, not 0, for a class that is never predicted.",
        reference: document!("1) Confusion-Matrix Family"),
        example: (
            "absent-class",
            r#"{"sky": 0.6666666666666666, "road": 0.5, "car": null, "sign": 0.0, "boat": null}"#,
        ),
    },
    number: Number::Rows(|protocol, rows| by_class(protocol, rows, Overlap::precision)),
    ..Line::DEFAULTS
};

pub(super) const RECALL: Line = Line {
    id: "recall",
    group: "overlap",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of the pixels of a class that are predicted as it.",
        formula: "TP / T for each class; T counts pixels without a prediction.",
        undefined: reasons!(overlap, "class does not occur in truth"),
        differs: "Often called class accuracy.",
        reference: document!("1) Confusion-Matrix Family"),
        example: (
            "absent-class",
            r#"{"sky": 0.6666666666666666, "road": 0.5, "car": 0.0, "sign": null, "boat": null}"#,
        ),
    },
    number: Number::Rows(|protocol, rows| by_class(protocol, rows, Overlap::recall)),
    ..Line::DEFAULTS
};

pub(super) const F1: Line = Line {
    id: "f1",
    group: "overlap",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The harmonic mean of precision and recall of a class; the same number as its Dice \
                   coefficient.",
        formula: "2 TP / (T + P) for each class. Presets document, coral-mtl and mmseg: 2PR/(P+R) of \
                  precision and recall.",
        undefined: reasons!(
            overlap,
            "class occurs in neither truth nor prediction",
            "class is never predicted",
            "class does not occur in truth",
            "precision and recall are both 0"
        ),
        differs: "A class without a hit has 0. The presets with 2PR/(P+R) have no value there and so \
                  leave their worst classes out of the mean.",
        reference: document!("1) Confusion-Matrix Family"),
        example: (
            "absent-class",
            r#"{"sky": 0.6666666666666666, "road": 0.5, "car": 0.0, "sign": 0.0, "boat": null}"#,
        ),
    },
    number: Number::Rows(|protocol, rows| by_class(protocol, rows, Overlap::f1)),
    ..Line::DEFAULTS
};
