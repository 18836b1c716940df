//! Means over images, beside the numbers of all pixels together.

use calipers_core::{Doc, Number};

use super::super::calibration_reading::{self, Calibration};
use super::super::overlap_reading::{iou_over_units, miou_over_units, pixel_accuracy_over_units};
use super::super::reading::number;
use super::{Line, NON_NEGATIVE, SHARE, UP_TO_TWO, higher, lower, reasons};

pub(super) const MIOU_IMAGE: Line = Line {
    id: "miou_image",
    group: "images",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "mIoU with each image counting the same.",
        formula: "Mean over the units with a scored pixel of the unit's own miou.",
        undefined: reasons!(overlap, "no unit with a defined value"),
        differs: "A class that is small in most images weighs more here than in miou.",
        reference: "Csurka, Larlus and Perronnin, What is a good evaluation measure for semantic \
                    segmentation?, BMVC 2013",
        example: ("images", "0.625"),
    },
    number: Number::Rows(|protocol, rows| number(miou_over_units(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const PIXEL_ACCURACY_IMAGE: Line = Line {
    id: "pixel_accuracy_image",
    group: "images",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Pixel accuracy with each image counting the same.",
        formula: "Mean over the units with a scored pixel of the unit's own pixel_accuracy.",
        undefined: reasons!(overlap, "no unit with a defined value"),
        differs: "Equal to pixel_accuracy when all images have as many scored pixels.",
        reference: "Calipers",
        example: ("images", "0.75"),
    },
    number: Number::Rows(|protocol, rows| number(pixel_accuracy_over_units(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const IOU_IMAGE: Line = Line {
    id: "iou_image",
    group: "images",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The IoU of each class with each image counting the same.",
        formula: "Mean of the class's iou over the units where it is defined.",
        undefined: reasons!(overlap, "no unit with a defined value"),
        differs: "An image where the class is in neither map is left out; one where it is only predicted \
                  counts as 0.",
        reference: "Calipers",
        example: ("images", r#"{"wall": 0.75, "door": 0.0}"#),
    },
    number: Number::Rows(iou_over_units),
    ..Line::DEFAULTS
};

pub(super) const NLL_IMAGE: Line = Line {
    id: "nll_image",
    group: "calibration",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "NLL with each image counting the same.",
        formula: "Mean over the units with a scored pixel of the unit's own nll.",
        undefined: reasons!(
            scores,
            "no unit with a defined value",
            "infinite: the true class has probability 0 at K pixel(s)"
        ),
        differs: "One infinite image makes it undefined, with that image's count.",
        reference: "Calipers",
        example: ("reliability", "0.8016133262174109"),
    },
    number: Number::Rows(|protocol, rows| {
        number(calibration_reading::over_units(protocol, rows, Calibration::nll))
    }),
    ..Line::DEFAULTS
};

pub(super) const BRIER_IMAGE: Line = Line {
    id: "brier_image",
    group: "calibration",
    better: lower,
    range: UP_TO_TWO,
    per_unit: true,
    doc: Doc {
        measures: "The Brier score with each image counting the same.",
        formula: "Mean over the units with a scored pixel of the unit's own brier.",
        undefined: reasons!(scores, "no unit with a defined value"),
        differs: "",
        reference: "Calipers",
        example: ("reliability", "0.52125"),
    },
    number: Number::Rows(|protocol, rows| {
        number(calibration_reading::over_units(protocol, rows, Calibration::brier))
    }),
    ..Line::DEFAULTS
};

pub(super) const ECE_IMAGE: Line = Line {
    id: "ece_image",
    group: "calibration",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The calibration error of single images.",
        formula: "Mean over the units with a scored pixel of the unit's own ece.",
        undefined: reasons!(scores, "no unit with a defined value"),
        differs: "Errors of opposite sign cancel within an image only.",
        reference: "Calipers",
        example: ("reliability", "0.3625"),
    },
    number: Number::Rows(|protocol, rows| {
        number(calibration_reading::over_units(protocol, rows, Calibration::ece))
    }),
    ..Line::DEFAULTS
};
