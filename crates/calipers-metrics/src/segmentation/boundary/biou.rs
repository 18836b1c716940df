//! The outer band around each foreground class.

use super::band::{Band, add_bands, class_ious, mean_iou, pooled};
use crate::segmentation::metrics::*;
use crate::segmentation::protocol::Conventions;

const BY_CLASS: Line = Line {
    group: "boundary",
    better: higher,
    range: SHARE,
    undefined: reasons!(bands, "no boundary in truth or prediction"),
    ..Line::DEFAULTS
};
const OUTER: Line = Line { per_unit: true, ..BY_CLASS };
const DOCUMENTED: Line = Line { reference: document!("2) Boundary-Aware Metrics"), ..OUTER };

pub(crate) const METRICS: &[Line] =
    &[BIOU, BIOU_CLASS, BIOU_MACRO, BOUNDARY_PRECISION, BOUNDARY_RECALL, BOUNDARY_F1, BIOU_IMAGE];

fn add_row<'r>(_: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    if let Some(pixels) = pixels(row, terms) {
        add_bands(terms, &pixels.band);
    }
}

/// A number of all classes and images together.
fn all(protocol: &Segmentation, sums: &Sums<'_, Row>, read: fn(&Band, &Conventions) -> Reading) -> Value {
    number(pooled(protocol, sums).and_then(|band| read(&band, &protocol.conventions)))
}

fn add_own_biou<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    if let Some(pixels) = pixels(row, terms) {
        add_own(terms, FIRST, &Band::pooled(&pixels.band).iou(&protocol.conventions));
    }
}

fn mean_of_own(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    has_pixels(protocol, sums, Measure::Boundary)?;
    mean_of_images(sums, FIRST)
}

const BIOU: Line = Line {
    id: "biou",
    measures: "How well the surroundings of the predicted classes match those of the true ones.",
    formula: "Outer band of a class: scored pixels not of the class with a scored pixel of it within \
              thickness pixels in x and y. I = pixels in the bands of both maps, G and Q = sizes of the \
              bands, summed over foreground classes and units: I / (G + Q - I). Presets document and \
              coral-mtl: I / (G + Q - I + 1e-6).",
    differs: "Undefined, not 0, without any band. The band lies outside the class, unlike in Cheng's \
              Boundary IoU (boundary_iou_cheng). Ignored pixels make no band, except in preset coral-mtl, \
              which also skips classes absent from a unit's truth.",
    example: ("two-squares", "0.6"),
    headline: Some(4),
    interval: IntervalRule::OverLabels,
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Band::iou)),
    ..DOCUMENTED
};

const BIOU_CLASS: Line = Line {
    id: "biou_class",
    measures: "biou of each foreground class.",
    formula: "I / (G + Q - I) of the class over all units, without epsilon in any preset.",
    example: ("two-squares", r#"{"blue": 1.0, "red": 0.3333333333333333}"#),
    number: Number::pooled(add_row, |protocol, sums| {
        per_label(class_ious(protocol, sums, Measure::Boundary))
    }),
    ..BY_CLASS
};

const BIOU_MACRO: Line = Line {
    id: "biou_macro",
    measures: "biou with each foreground class counting the same.",
    formula: "Mean of biou_class over the classes that have it.",
    differs: "biou is dominated by classes with long boundaries.",
    example: ("two-squares", "0.6666666666666666"),
    interval: IntervalRule::OverLabels,
    number: Number::pooled(add_row, |protocol, sums| number(mean_iou(protocol, sums, Measure::Boundary))),
    ..OUTER
};

const BOUNDARY_PRECISION: Line = Line {
    id: "boundary_precision",
    measures: "The share of the predicted bands that lies in the true ones.",
    formula: "I / Q, as in biou. Presets document and coral-mtl: I / (Q + 1e-6).",
    undefined: reasons!(bands, "no boundary in prediction"),
    example: ("two-squares", "0.75"),
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Band::precision)),
    ..DOCUMENTED
};

const BOUNDARY_RECALL: Line = Line {
    id: "boundary_recall",
    measures: "The share of the true bands that lies in the predicted ones.",
    formula: "I / G, as in biou. Presets document and coral-mtl: I / (G + 1e-6).",
    undefined: reasons!(bands, "no boundary in truth"),
    example: ("two-squares", "0.75"),
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Band::recall)),
    ..DOCUMENTED
};

const BOUNDARY_F1: Line = Line {
    id: "boundary_f1",
    measures: "The harmonic mean of boundary_precision and boundary_recall.",
    formula: "2I / (G + Q), as in biou. Presets document and coral-mtl: 2PR / (P + R + 1e-6).",
    differs: "Equal to 2B/(1+B), B = biou: it orders any two models as biou does and holds no information of \
              its own. The boundary F1 of the literature, with a matching radius, is contour_f1.",
    example: ("two-squares", "0.75"),
    headline: Some(5),
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Band::f1)),
    ..DOCUMENTED
};

const BIOU_IMAGE: Line = Line {
    id: "biou_image",
    measures: "biou with each image counting the same.",
    formula: "Mean over units of the unit's own biou.",
    undefined: reasons!(bands, "no unit with a defined value"),
    differs: "Presets document and coral-mtl count an image without any band as 0.",
    example: ("two-squares", "0.6666666666666666"),
    number: Number::pooled(add_own_biou, |protocol, sums| number(mean_of_own(protocol, sums))),
    ..OUTER
};
