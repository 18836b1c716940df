//! Agreement of all pixels together.

use calipers_core::{Doc, Number};

use super::super::overlap_reading::{Overlap, total};
use super::super::reading::number;
use super::{AGREEMENT, Line, SHARE, document, higher, reasons};

pub(super) const PIXEL_ACCURACY: Line = Line {
    id: "pixel_accuracy",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the scored pixels that are predicted right.",
        formula: "sum TP / N. Preset document: mean of recall over the classes of the means. Preset \
                  coral-mtl: sum TP / (N + 1e-6).",
        undefined: reasons!(overlap, "no scored pixel", "no class with a defined value"),
        differs: "The document calls for a macro average; that reading is mean_class_accuracy.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("void", "0.6666666666666666"),
    },
    headline: Some(2),
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Overlap::pixel_accuracy))),
    ..Line::DEFAULTS
};

pub(super) const FWIOU: Line = Line {
    id: "fwiou",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "IoU with each class counting by its pixels.",
        formula: "sum T iou / sum T over the classes of the means that occur in truth.",
        undefined: reasons!(overlap, "no scored pixel"),
        differs: "Classes that are only predicted have no weight.",
        reference: "Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, \
                    CVPR 2015",
        example: ("confusion-matrices", "0.6628571428571428"),
    },
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Overlap::fwiou))),
    ..Line::DEFAULTS
};

pub(super) const KAPPA: Line = Line {
    id: "kappa",
    group: "overlap",
    better: higher,
    range: AGREEMENT,
    per_unit: true,
    doc: Doc {
        measures: "Agreement of truth and prediction beyond what their class frequencies give by chance.",
        formula: "(N sum TP - E) / (N^2 - E), E = sum of T P over classes, in whole numbers.",
        undefined: reasons!(overlap, "no scored pixel", "truth and prediction are one and the same class"),
        differs: "Pixels without a prediction are in N and in nobody's P.",
        reference: "Cohen, A coefficient of agreement for nominal scales, 1960",
        example: ("confusion-matrices", "0.5876288659793815"),
    },
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Overlap::kappa))),
    ..Line::DEFAULTS
};
