//! Contours matched within a radius.

use calipers_core::{Doc, Number};

use super::super::boundary_reading::{Contour, contour_f1_by_class, contour_f1_over_classes, contours};
use super::super::reading::number;
use super::{Line, SHARE, higher, reasons};

pub(super) const CONTOUR_PRECISION: Line = Line {
    id: "contour_precision",
    group: "contour",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the predicted contours that lies near a true contour of the same class.",
        formula: "Contour of a class: its pixels with a 4-neighbour that is scored, inside the image and \
                  of another label. Predicted contour pixels with a true one at dx^2 + dy^2 <= r^2 / all \
                  predicted ones, summed over foreground classes and units. r = R times the diagonal \
                  (boundary.tolerance), or tolerance_px pixels.",
        undefined: reasons!(pixels, "no contour in prediction"),
        differs: "",
        reference: "Martin, Fowlkes and Malik, Learning to detect natural image boundaries, PAMI 2004",
        example: ("contours", "1.0"),
    },
    number: Number::Rows(|protocol, rows| number(contours(protocol, rows, Contour::precision))),
    ..Line::DEFAULTS
};

pub(super) const CONTOUR_RECALL: Line = Line {
    id: "contour_recall",
    group: "contour",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the true contours that lies near a predicted contour of the same class.",
        formula: "As contour_precision, from truth to prediction.",
        undefined: reasons!(pixels, "no contour in truth"),
        differs: "",
        reference: "Martin, Fowlkes and Malik, Learning to detect natural image boundaries, PAMI 2004",
        example: ("contours", "0.8888888888888888"),
    },
    number: Number::Rows(|protocol, rows| number(contours(protocol, rows, Contour::recall))),
    ..Line::DEFAULTS
};

pub(super) const CONTOUR_F1: Line = Line {
    id: "contour_f1",
    group: "contour",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How well predicted and true contours agree up to a small shift.",
        formula: "2PR / (P + R) of contour_precision and contour_recall; 0 when only one map has a \
                  contour or P + R = 0.",
        undefined: reasons!(pixels, "no contour in truth or prediction"),
        differs: "Pixels are counted over the data set before dividing; published code often averages the \
                  F1 of single images.",
        reference: "Csurka, Larlus and Perronnin, What is a good evaluation measure for semantic \
                    segmentation?, BMVC 2013",
        example: ("contours", "0.9411764705882353"),
    },
    number: Number::Rows(|protocol, rows| number(contours(protocol, rows, Contour::f1))),
    ..Line::DEFAULTS
};

pub(super) const CONTOUR_F1_CLASS: Line = Line {
    id: "contour_f1_class",
    group: "contour",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "contour_f1 of each foreground class.",
        formula: "As contour_f1, with the counts of the class over all units.",
        undefined: reasons!(pixels, "no contour in truth or prediction"),
        differs: "",
        reference: "Calipers",
        example: ("contours", r#"{"square": 1.0, "pole": 0.0}"#),
    },
    number: Number::Rows(contour_f1_by_class),
    ..Line::DEFAULTS
};

pub(super) const CONTOUR_F1_MACRO: Line = Line {
    id: "contour_f1_macro",
    group: "contour",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "contour_f1 with each foreground class counting the same.",
        formula: "Mean of contour_f1_class over the classes that have it.",
        undefined: reasons!(pixels, "no contour in truth or prediction"),
        differs: "",
        reference: "Calipers",
        example: ("contours", "0.5"),
    },
    number: Number::Rows(|protocol, rows| number(contour_f1_over_classes(protocol, rows))),
    ..Line::DEFAULTS
};
