//! The calibration of each class's own probability.

use calipers_core::{Doc, Number};

use super::super::calibration_reading::{ece_by_class, ece_over_classes};
use super::super::reading::number;
use super::{Line, SHARE, lower, reasons};

pub(super) const ECE_PER_CLASS: Line = Line {
    id: "ece_per_class",
    group: "class-wise calibration",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "The calibration error of the probability of each class.",
        formula: "Bins of p_g over all scored pixels: sum of |pixels of g - sum of p_g| / N. Preset \
                  coral-mtl: 0 without a scored pixel.",
        undefined: reasons!(scores, "no scored pixel"),
        differs: "Every pixel counts for every class, not only where the class wins.",
        reference: "Kull et al., Beyond temperature scaling, NeurIPS 2019",
        example: ("classwise", r#"{"oak": 0.0, "elm": 0.25, "ash": 0.25}"#),
    },
    number: Number::Rows(ece_by_class),
    ..Line::DEFAULTS
};

pub(super) const ECE_CLASSWISE: Line = Line {
    id: "ece_classwise",
    group: "class-wise calibration",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The calibration error with each class counting the same.",
        formula: "Mean of ece_per_class over all classes.",
        undefined: reasons!(scores, "no scored pixel"),
        differs: "",
        reference: "Kull et al., Beyond temperature scaling, NeurIPS 2019",
        example: ("classwise", "0.16666666666666666"),
    },
    number: Number::Rows(|protocol, rows| number(ece_over_classes(protocol, rows))),
    ..Line::DEFAULTS
};
