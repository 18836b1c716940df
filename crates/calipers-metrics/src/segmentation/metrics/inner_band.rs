//! The inner band of each foreground class.

use calipers_core::{Doc, Number};

use super::super::boundary_reading::{Side, iou_by_class, iou_over_classes};
use super::super::reading::number;
use super::{Line, SHARE, higher, reasons};

pub(super) const BOUNDARY_IOU_CHENG_CLASS: Line = Line {
    id: "boundary_iou_cheng_class",
    group: "inner band",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "How well the rims of the predicted regions of a class match those of the true ones.",
        formula: "Inner band: pixels of the class with a scored pixel of another label, or the outside of \
                  the image, within d pixels in x and y; d = max(1, round(R sqrt(H^2 + W^2))), ties to \
                  even, R = boundary.cheng. I / (G + Q - I) of the class over all units.",
        undefined: reasons!(pixels, "no boundary in truth or prediction"),
        differs: "Pixels are summed over the data set, not averaged over instances; ignored pixels are \
                  neither the class nor another label.",
        reference: "Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation, \
                    CVPR 2021",
        example: ("contours", r#"{"square": 0.3333333333333333, "pole": 0.0}"#),
    },
    number: Number::Rows(|protocol, rows| iou_by_class(protocol, rows, Side::Inner)),
    ..Line::DEFAULTS
};

pub(super) const BOUNDARY_IOU_CHENG: Line = Line {
    id: "boundary_iou_cheng",
    group: "inner band",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Boundary IoU with each foreground class counting the same.",
        formula: "Mean of boundary_iou_cheng_class over the classes that have it.",
        undefined: reasons!(pixels, "no boundary in truth or prediction"),
        differs: "Unlike biou the band lies inside the class and its width grows with the image.",
        reference: "Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation, \
                    CVPR 2021",
        example: ("contours", "0.16666666666666666"),
    },
    number: Number::Rows(|protocol, rows| number(iou_over_classes(protocol, rows, Side::Inner))),
    ..Line::DEFAULTS
};
