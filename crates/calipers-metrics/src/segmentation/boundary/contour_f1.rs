//! Contours matched within a radius, added up over images and read.

use crate::segmentation::metrics::*;
use calipers_core::exact::exact_mean;

use crate::segmentation::row::ContourCounts;

const NO_CONTOUR: &str = "no contour in truth or prediction";

/// How many columns a contour has; those of all classes together come first.
const COUNTS: usize = 4;

const CONTOUR: Line = Line {
    group: "contour",
    better: higher,
    range: SHARE,
    per_unit: true,
    undefined: reasons!(bands, "no contour in truth or prediction"),
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] =
    &[CONTOUR_PRECISION, CONTOUR_RECALL, CONTOUR_F1, CONTOUR_F1_CLASS, CONTOUR_F1_MACRO];

/// Contour pixels, and those of them that lie near the other contour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Contour {
    pred_matched: i128,
    pred: i128,
    truth_matched: i128,
    truth: i128,
}

fn add_row<'r>(_: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(pixels) = pixels(row, terms) else { return };
    for (&class, counts) in pixels.contour.iter() {
        let ContourCounts { pred_matched, pred, truth_matched, truth } = *counts;
        for first in [FIRST, column(class as usize)] {
            let counts = [pred_matched, pred, truth_matched, truth];
            counts.into_iter().zip(first..).for_each(|(count, column)| terms.whole(column, count));
        }
    }
}

fn column(class: usize) -> usize {
    FIRST + COUNTS * (class + 1)
}

/// A number of all classes and images together.
fn all(protocol: &Segmentation, sums: &Sums<'_, Row>, read: fn(&Contour) -> Reading) -> Value {
    let requested = has_pixels(protocol, sums, Measure::Contour);
    number(requested.and_then(|()| read(&Contour::at(sums, FIRST))))
}

fn class_f1s<'p>(
    protocol: &'p Segmentation,
    sums: &Sums<'_, Row>,
) -> Result<Vec<(&'p str, Reading)>, Reason> {
    has_pixels(protocol, sums, Measure::Contour)?;
    let f1 = |(class, name)| (name, Contour::at(sums, column(class)).f1());
    Ok(protocol.foreground_names().map(f1).collect())
}

fn mean_f1(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let f1s = class_f1s(protocol, sums)?;
    exact_mean(f1s.into_iter().filter_map(|(_, f1)| f1.ok())).ok_or(NO_CONTOUR.into())
}

impl Contour {
    /// The contours whose columns begin there.
    fn at(sums: &Sums<'_, Row>, first: usize) -> Self {
        let [pred_matched, pred, truth_matched, truth] = [0, 1, 2, 3].map(|count| sums.whole(first + count));
        Self { pred_matched, pred, truth_matched, truth }
    }

    fn precision(&self) -> Reading {
        quotient(self.pred_matched, self.pred, "no contour in prediction")
    }

    fn recall(&self) -> Reading {
        quotient(self.truth_matched, self.truth, "no contour in truth")
    }

    /// 2PR/(P+R) over a common denominator.
    fn f1(&self) -> Reading {
        if self.pred == 0 && self.truth == 0 {
            return Err(NO_CONTOUR.into());
        }
        let both = self.pred_matched * self.truth + self.truth_matched * self.pred;
        Ok(quotient(2 * self.pred_matched * self.truth_matched, both, "").unwrap_or(0.0))
    }
}

const CONTOUR_PRECISION: Line = Line {
    id: "contour_precision",
    measures: "The share of the predicted contours that lies near a true contour of the same class.",
    formula: "Contour of a class: its pixels with a 4-neighbour that is scored, inside the image and of \
              another label. Predicted contour pixels with a true one at dx^2 + dy^2 <= r^2 / all predicted \
              ones, summed over foreground classes and units. r = R times the diagonal (boundary.tolerance), \
              or tolerance_px pixels.",
    undefined: reasons!(bands, "no contour in prediction"),
    reference: "Martin, Fowlkes and Malik, Learning to detect natural image boundaries, PAMI 2004",
    example: ("contours", "1.0"),
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Contour::precision)),
    ..CONTOUR
};

const CONTOUR_RECALL: Line = Line {
    id: "contour_recall",
    measures: "The share of the true contours that lies near a predicted contour of the same class.",
    formula: "As contour_precision, from truth to prediction.",
    undefined: reasons!(bands, "no contour in truth"),
    reference: "Martin, Fowlkes and Malik, Learning to detect natural image boundaries, PAMI 2004",
    example: ("contours", "0.8888888888888888"),
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Contour::recall)),
    ..CONTOUR
};

const CONTOUR_F1: Line = Line {
    id: "contour_f1",
    measures: "How well predicted and true contours agree up to a small shift.",
    formula: "2PR / (P + R) of contour_precision and contour_recall; 0 when only one map has a contour or P \
              + R = 0.",
    differs: "Pixels are counted over the data set before dividing; published code often averages the F1 of \
              single images.",
    reference: "Csurka, Larlus and Perronnin, What is a good evaluation measure for semantic segmentation?, \
                BMVC 2013",
    example: ("contours", "0.9411764705882353"),
    number: Number::pooled(add_row, |protocol, sums| all(protocol, sums, Contour::f1)),
    ..CONTOUR
};

const CONTOUR_F1_CLASS: Line = Line {
    id: "contour_f1_class",
    per_unit: false,
    measures: "contour_f1 of each foreground class.",
    formula: "As contour_f1, with the counts of the class over all units.",
    example: ("contours", r#"{"square": 1.0, "pole": 0.0}"#),
    number: Number::pooled(add_row, |protocol, sums| per_label(class_f1s(protocol, sums))),
    ..CONTOUR
};

const CONTOUR_F1_MACRO: Line = Line {
    id: "contour_f1_macro",
    measures: "contour_f1 with each foreground class counting the same.",
    formula: "Mean of contour_f1_class over the classes that have it.",
    example: ("contours", "0.5"),
    number: Number::pooled(add_row, |protocol, sums| number(mean_f1(protocol, sums))),
    ..CONTOUR
};
