//! The inner band of each foreground class.

use super::band::{add_bands, class_ious, mean_iou};
use crate::segmentation::metrics::*;

const BY_CLASS: Line = Line {
    group: "inner band",
    better: higher,
    range: SHARE,
    undefined: reasons!(bands, "no boundary in truth or prediction"),
    reference: "Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation, CVPR \
                2021",
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] = &[BOUNDARY_IOU_CHENG_CLASS, BOUNDARY_IOU_CHENG];

fn add_row<'r>(_: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    if let Some(pixels) = pixels(row, terms) {
        add_bands(terms, &pixels.cheng);
    }
}

const BOUNDARY_IOU_CHENG_CLASS: Line = Line {
    id: "boundary_iou_cheng_class",
    measures: "How well the rims of the predicted regions of a class match those of the true ones.",
    formula: "Inner band: pixels of the class with a scored pixel of another label, or the outside of the \
              image, within d pixels in x and y; d = max(1, round(R sqrt(H^2 + W^2))), ties to even, R = \
              boundary.cheng. I / (G + Q - I) of the class over all units.",
    differs: "Pixels are summed over the data set, not averaged over instances; ignored pixels are neither \
              the class nor another label.",
    example: ("contours", r#"{"square": 0.3333333333333333, "pole": 0.0}"#),
    number: Number::pooled(add_row, |protocol, sums| per_label(class_ious(protocol, sums, Measure::Cheng))),
    ..BY_CLASS
};

const BOUNDARY_IOU_CHENG: Line = Line {
    id: "boundary_iou_cheng",
    measures: "Boundary IoU with each foreground class counting the same.",
    formula: "Mean of boundary_iou_cheng_class over the classes that have it.",
    differs: "Unlike biou the band lies inside the class and its width grows with the image.",
    example: ("contours", "0.16666666666666666"),
    number: Number::pooled(add_row, |protocol, sums| number(mean_iou(protocol, sums, Measure::Cheng))),
    per_unit: true,
    ..BY_CLASS
};
