//! How many pixels there are.

use crate::segmentation::metrics::*;
use calipers_core::Alone;

use super::totals::{Overlap, count, counts_by_class, ignored, pooled};

/// Up to so many classes workers share the adding up of whole matrices: each needs one of its own.
const SHARED_CLASSES: usize = 256;

const COUNT: Line = Line {
    group: "pixels",
    better: neither,
    range: UP_TO_PIXELS,
    undefined: reasons!(overlap),
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] =
    &[TRUTH_PIXELS, PRED_PIXELS, SCORED_PIXELS, IGNORED_PIXELS, UNPREDICTED_PIXELS, CONFUSION];

const TRUTH_PIXELS: Line = Line {
    id: "truth_pixels",
    measures: "The scored pixels of each class.",
    formula: "T = row sum of the confusion matrix, pixels without a prediction included.",
    example: ("unpredicted", r#"{"grass": 2, "tree": 2}"#),
    number: pooled(|protocol, sums| counts_by_class(protocol, sums, Overlap::truth)),
    ..COUNT
};

const PRED_PIXELS: Line = Line {
    id: "pred_pixels",
    measures: "The scored pixels predicted as each class.",
    formula: "P = column sum of the confusion matrix.",
    example: ("unpredicted", r#"{"grass": 2, "tree": 1}"#),
    number: pooled(|protocol, sums| counts_by_class(protocol, sums, Overlap::pred)),
    ..COUNT
};

pub(crate) const SCORED_PIXELS: Line = Line {
    id: "scored_pixels",
    range: NON_NEGATIVE,
    measures: "The pixels whose truth is not ignored.",
    formula: "N = sum of truth_pixels.",
    example: ("void", "9"),
    number: pooled(|protocol, sums| count(protocol, sums, Overlap::scored_pixels)),
    ..COUNT
};

pub(crate) const IGNORED_PIXELS: Line = Line {
    id: "ignored_pixels",
    range: NON_NEGATIVE,
    measures: "The pixels whose truth is ignored.",
    formula: "Pixels with an ignored truth value; no other number depends on them.",
    example: ("void", "3"),
    number: pooled(ignored),
    ..COUNT
};

pub(crate) const UNPREDICTED_PIXELS: Line = Line {
    id: "unpredicted_pixels",
    better: lower,
    measures: "The scored pixels for which a label map holds no class.",
    formula: "Last column of the confusion matrix.",
    differs: "They are in N and in T, in nobody's P: never right.",
    example: ("unpredicted", "1"),
    number: pooled(|protocol, sums| count(protocol, sums, Overlap::unpredicted_pixels)),
    ..COUNT
};

const CONFUSION: Line = Line {
    id: "confusion",
    measures: "The confusion matrix of all units.",
    formula: "C x (C + 1) counts row by row: rows are truth, columns prediction, the last column no \
              prediction.",
    reference: document!("1) Confusion-Matrix Family"),
    example: ("unpredicted", "[1, 0, 1, 1, 1, 0]"),
    number: Number::Rows(confusion),
    ..COUNT
};

/// Read from the rows: a column of sums per cell would be millions for a thousand classes.
fn confusion(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    if let Err(reason) = requested(protocol, Measure::Overlap) {
        return Value::Undefined(reason);
    }
    let columns = protocol.classes() + 1;
    let unshared = (protocol.classes() > SHARED_CLASSES).then(|| rows.clone().on(&Alone));
    let cells = unshared.as_ref().unwrap_or(rows).folded(
        || vec![0i128; protocol.classes() * columns],
        |cells, row, times| {
            for ((truth, pred), count) in row.confusion.cells() {
                cells[truth as usize * columns + pred as usize] += i128::from(count) * i128::from(times);
            }
        },
        |cells, others| cells.iter_mut().zip(others).for_each(|(cell, other)| *cell += other),
    );
    Value::Series(cells.into_iter().map(Value::Count).collect())
}
