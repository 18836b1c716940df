//! The outer band around each foreground class.

use calipers_core::{Doc, Number};

use super::super::boundary_reading::{Band, Side, iou_by_class, iou_over_classes, over_units, pooled};
use super::super::reading::number;
use super::{Line, SHARE, document, higher, reasons};

pub(super) const BIOU: Line = Line {
    id: "biou",
    group: "boundary",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How well the surroundings of the predicted classes match those of the true ones.",
        formula: "Outer band of a class: scored pixels not of the class with a scored pixel of it within \
                  thickness pixels in x and y. I = pixels in the bands of both maps, G and Q = sizes of \
                  the bands, summed over foreground classes and units: I / (G + Q - I). Presets document \
                  and coral-mtl: I / (G + Q - I + 1e-6).",
        undefined: reasons!(pixels, "no boundary in truth or prediction"),
        differs: "Undefined, not 0, without any band. The band lies outside the class, unlike in Cheng's \
                  Boundary IoU (boundary_iou_cheng). Ignored pixels make no band, except in preset \
                  coral-mtl, which also skips classes absent from a unit's truth.",
        reference: document!("2) Boundary-Aware Metrics"),
        example: ("two-squares", "0.6"),
    },
    headline: Some(4),
    number: Number::Rows(|protocol, rows| number(pooled(protocol, rows, Band::iou))),
    ..Line::DEFAULTS
};

pub(super) const BIOU_CLASS: Line = Line {
    id: "biou_class",
    group: "boundary",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "biou of each foreground class.",
        formula: "I / (G + Q - I) of the class over all units, without epsilon in any preset.",
        undefined: reasons!(pixels, "no boundary in truth or prediction"),
        differs: "",
        reference: "Calipers",
        example: ("two-squares", r#"{"blue": 1.0, "red": 0.3333333333333333}"#),
    },
    number: Number::Rows(|protocol, rows| iou_by_class(protocol, rows, Side::Outer)),
    ..Line::DEFAULTS
};

pub(super) const BIOU_MACRO: Line = Line {
    id: "biou_macro",
    group: "boundary",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "biou with each foreground class counting the same.",
        formula: "Mean of biou_class over the classes that have it.",
        undefined: reasons!(pixels, "no boundary in truth or prediction"),
        differs: "biou is dominated by classes with long boundaries.",
        reference: "Calipers",
        example: ("two-squares", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| number(iou_over_classes(protocol, rows, Side::Outer))),
    ..Line::DEFAULTS
};

pub(super) const BOUNDARY_PRECISION: Line = Line {
    id: "boundary_precision",
    group: "boundary",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the predicted bands that lies in the true ones.",
        formula: "I / Q, as in biou. Presets document and coral-mtl: I / (Q + 1e-6).",
        undefined: reasons!(pixels, "no boundary in prediction"),
        differs: "",
        reference: document!("2) Boundary-Aware Metrics"),
        example: ("two-squares", "0.75"),
    },
    number: Number::Rows(|protocol, rows| number(pooled(protocol, rows, Band::precision))),
    ..Line::DEFAULTS
};

pub(super) const BOUNDARY_RECALL: Line = Line {
    id: "boundary_recall",
    group: "boundary",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the true bands that lies in the predicted ones.",
        formula: "I / G, as in biou. Presets document and coral-mtl: I / (G + 1e-6).",
        undefined: reasons!(pixels, "no boundary in truth"),
        differs: "",
        reference: document!("2) Boundary-Aware Metrics"),
        example: ("two-squares", "0.75"),
    },
    number: Number::Rows(|protocol, rows| number(pooled(protocol, rows, Band::recall))),
    ..Line::DEFAULTS
};

pub(super) const BOUNDARY_F1: Line = Line {
    id: "boundary_f1",
    group: "boundary",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The harmonic mean of boundary_precision and boundary_recall.",
        formula: "2I / (G + Q), as in biou. Presets document and coral-mtl: 2PR / (P + R + 1e-6).",
        undefined: reasons!(pixels, "no boundary in truth or prediction"),
        differs: "Equal to 2B/(1+B), B = biou: it orders any two models as biou does and holds no \
                  information of its own. The boundary F1 of the literature, with a matching radius, is \
                  contour_f1.",
        reference: document!("2) Boundary-Aware Metrics"),
        example: ("two-squares", "0.75"),
    },
    headline: Some(5),
    number: Number::Rows(|protocol, rows| number(pooled(protocol, rows, Band::f1))),
    ..Line::DEFAULTS
};

pub(super) const BIOU_IMAGE: Line = Line {
    id: "biou_image",
    group: "boundary",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "biou with each image counting the same.",
        formula: "Mean over units of the unit's own biou.",
        undefined: reasons!(pixels, "no unit with a defined value"),
        differs: "Presets document and coral-mtl count an image without any band as 0.",
        reference: "Calipers",
        example: ("two-squares", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| number(over_units(protocol, rows))),
    ..Line::DEFAULTS
};
