//! Means over classes.

use calipers_core::{Doc, Number};

use super::super::overlap_reading::{Overlap, total};
use super::super::reading::number;
use super::{Line, SHARE, document, higher, reasons};

pub(super) const MIOU: Line = Line {
    id: "miou",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How well the classes are covered, each class counting the same.",
        formula: "Mean of iou over the classes of the means: all, or all but the background with \
                  include_background = false; undefined ones left out.",
        undefined: reasons!(overlap, "no class with a defined value"),
        differs: "From the matrices of all units summed; miou_image is the mean over images. A class in \
                  neither map is left out, not counted as 0 or 1. Preset coral-mtl: 0 when no class has a \
                  value.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("void", "0.5"),
    },
    headline: Some(1),
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Overlap::miou))),
    ..Line::DEFAULTS
};

pub(super) const MEAN_PRECISION: Line = Line {
    id: "mean_precision",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Precision with each class counting the same.",
        formula: "Mean of precision over the classes of the means: all, or all but the background with \
                  include_background = false; undefined ones left out.",
        undefined: reasons!(overlap, "no class with a defined value"),
        differs: "Preset coral-mtl: 0 when no class has a value.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("absent-class", "0.3888888888888889"),
    },
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.over_classes(Overlap::precision)))
    }),
    ..Line::DEFAULTS
};

pub(super) const MEAN_RECALL: Line = Line {
    id: "mean_recall",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Recall with each class counting the same.",
        formula: "Mean of recall over the classes of the means: all, or all but the background with \
                  include_background = false; undefined ones left out.",
        undefined: reasons!(overlap, "no class with a defined value"),
        differs: "Preset coral-mtl: 0 when no class has a value.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("absent-class", "0.3888888888888889"),
    },
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.over_classes(Overlap::recall)))
    }),
    ..Line::DEFAULTS
};

pub(super) const MEAN_F1: Line = Line {
    id: "mean_f1",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "F1 with each class counting the same.",
        formula: "Mean of f1 over the classes of the means: all, or all but the background with \
                  include_background = false; undefined ones left out.",
        undefined: reasons!(overlap, "no class with a defined value"),
        differs: "Presets document, coral-mtl and mmseg leave out classes without a hit, which raises the \
                  mean. Preset coral-mtl: 0 when no class has a value.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("absent-class", "0.2916666666666667"),
    },
    headline: Some(3),
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.over_classes(Overlap::f1)))
    }),
    ..Line::DEFAULTS
};

pub(super) const MEAN_CLASS_ACCURACY: Line = Line {
    id: "mean_class_accuracy",
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of a class's pixels that are right, each class counting the same.",
        formula: "The same number as mean_recall.",
        undefined: reasons!(overlap, "no class with a defined value"),
        differs: "The name mmsegmentation and others use; the document calls it pixel accuracy, \
                  macro-averaged.",
        reference: "Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, \
                    CVPR 2015",
        example: ("absent-class", "0.3888888888888889"),
    },
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.over_classes(Overlap::recall)))
    }),
    ..Line::DEFAULTS
};
