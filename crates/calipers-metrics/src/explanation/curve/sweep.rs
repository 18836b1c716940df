//! Fidelity at several sizes of the explanation.

use crate::explanation::metrics::*;
use std::cmp::Ordering;

use super::given::area;
use crate::explanation::fidelity::{KINDS, Of, SIDES, Side, need, place};
use crate::explanation::row::SideRow;

const SWEEP: Need = Need {
    keys: &["y_hat", "y_sub_sweep", "x"],
    met: |row| SIDES.iter().any(|side| side.of(row).is_some_and(|side| has(side, Of::Model))),
};
pub(crate) const PLUS_SWEEP: Need = need!("y_hat" "y_comp_sweep" "x", Plus, |side| has(side, Of::Model));
pub(crate) const MINUS_SWEEP: Need = need!("y_hat" "y_sub_sweep" "x", Minus, |side| has(side, Of::Model));
const PLUS_TRUE_SWEEP: Need = need!("y" "y_hat" "y_comp_sweep" "x", Plus, |side| has(side, Of::Phenomenon));
const MINUS_TRUE_SWEEP: Need = need!("y" "y_hat" "y_sub_sweep" "x", Minus, |side| has(side, Of::Phenomenon));

fn has(side: &SideRow, of: Of) -> bool {
    side.sweep.first().is_some_and(|flips| of.changed(flips).is_some())
}

/// Where the changed answers at a point are added up.
const fn changed(point: usize, side: Side, of: Of) -> Pooled {
    Pooled(place(4 * point, side, of))
}

fn sweeps(_: &Explanation, row: &Row, terms: &mut Terms<'_>) {
    let Some(instances) = row.instances else { return };
    for side in SIDES {
        let sweep = side.of(row).map_or(&[][..], |side| &side.sweep);
        for (point, flips) in sweep.iter().enumerate() {
            for of in KINDS {
                if let Some(count) = of.changed(flips) {
                    changed(point, side, of).whole(terms, count, instances);
                }
            }
        }
    }
}

/// Rows of one axis are added up together.
fn by_axis(a: &Row, b: &Row) -> Ordering {
    let points = a.sweep_x.iter().zip(&b.sweep_x);
    let first = points.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    first.unwrap_or_else(|| a.sweep_x.len().cmp(&b.sweep_x.len()))
}

/// The sums of the units that have a sweep of one of these sides, with their axis.
fn on_one_axis<'s>(
    groups: &[Sums<'s, Row>],
    sides: &[Side],
    of: Of,
    read: impl FnOnce(&Sums<'s, Row>, &'s [f64]) -> Value,
) -> Value {
    let has_one = |sums: &&Sums<'s, Row>| sides.iter().any(|&side| changed(0, side, of).is_given(sums));
    let mut found = groups.iter().filter(has_one);
    match (found.next(), found.next()) {
        (None, _) => given(None),
        (Some(_), Some(_)) => Value::undefined(AXES_DIFFER),
        (Some(sums), None) => read(sums, sums.rows().first().map_or(&[], |row| &row.sweep_x)),
    }
}

/// The pooled fidelity at every point; `None` where no unit has this side.
fn curve(sums: &Sums<'_, Row>, x: &[f64], side: Side, of: Of) -> Option<Vec<Reading>> {
    (0..x.len()).map(|point| changed(point, side, of).share(sums)).collect()
}

fn axis(groups: &[Sums<'_, Row>]) -> Value {
    let series = |x: &[f64]| Value::Series(x.iter().map(|&x| Value::Number(x)).collect());
    on_one_axis(groups, &SIDES, Of::Model, |_, x| series(x))
}

fn fidelities(groups: &[Sums<'_, Row>], side: Side, of: Of) -> Value {
    on_one_axis(groups, &[side], of, |sums, x| match curve(sums, x, side, of) {
        Some(points) => Value::Series(points.into_iter().map(number).collect()),
        None => given(None),
    })
}

/// The area under the pooled curves.
fn pooled_area(groups: &[Sums<'_, Row>], of: Of) -> Value {
    on_one_axis(groups, &SIDES, of, |sums, x| {
        let [plus, minus] = SIDES.map(|side| curve(sums, x, side, of));
        given(plus.zip(minus).map(|(plus, minus)| {
            let [plus, minus] = [plus, minus].map(|points| points.into_iter().collect::<Result<Vec<_>, _>>());
            area(&plus?, &minus?, x)
        }))
    })
}

/// A number read from the sweeps of each axis.
macro_rules! swept {
    ($read:expr) => {
        Number::Grouped { order: by_axis, terms: sweeps, read: |_, groups| $read(groups) }
    };
}

const POINTS: Line = Line {
    group: "sweep",
    better: higher,
    range: SHARE,
    undefined: "\"no explained instances\"; \"units have different x\".",
    reference: document!("fidelity"),
    ..BEYOND
};

const AREA: Line = Line {
    range: NON_NEGATIVE,
    per_unit: true,
    undefined: "\"no explained instances\"; \"units have different x\"; \"fid_minus is 1 at point K: \
                division by zero\".",
    differs: "Fidelities are pooled before the division.",
    reference: document!("fidelity_curve_auc"),
    ..POINTS
};

/// The axis of the sweeps.
pub const CURVE_X: Line = Line {
    id: "curve_x",
    better: neither,
    range: ANY,
    needs: &[SWEEP],
    measures: "The axis of the sweeps.",
    formula: "x, the same in every unit.",
    undefined: "\"units have different x\".",
    reference: "Calipers",
    example: ("sweep", "[0.25, 0.5, 0.75]"),
    number: swept!(axis),
    ..POINTS
};

/// The share of predictions that change without the explanation, at every point.
pub const FID_PLUS_MODEL_CURVE: Line = Line {
    id: "fid_plus_model_curve",
    needs: &[PLUS_SWEEP],
    measures: "fid_plus_model at every point of the sweep.",
    formula: "fid_plus_model with y_comp_sweep at x_k in place of y_comp, pooled at each k.",
    example: ("sweep", "[0.25, 0.5, 1.0]"),
    number: swept!(|groups| fidelities(groups, Side::Plus, Of::Model)),
    ..POINTS
};

/// The share of predictions that change with the explanation alone, at every point.
pub const FID_MINUS_MODEL_CURVE: Line = Line {
    id: "fid_minus_model_curve",
    better: lower,
    needs: &[MINUS_SWEEP],
    measures: "fid_minus_model at every point of the sweep.",
    formula: "fid_minus_model with y_sub_sweep at x_k in place of y_sub, pooled at each k.",
    example: ("sweep", "[0.5, 0.25, 0.0]"),
    number: swept!(|groups| fidelities(groups, Side::Minus, Of::Model)),
    ..POINTS
};

/// The share of answers whose being right changes without the explanation, at every point.
pub const FID_PLUS_PHENOMENON_CURVE: Line = Line {
    id: "fid_plus_phenomenon_curve",
    needs: &[PLUS_TRUE_SWEEP],
    measures: "fid_plus_phenomenon at every point of the sweep.",
    formula: "fid_plus_phenomenon with y_comp_sweep at x_k in place of y_comp, pooled at each k.",
    example: ("sweep", "[0.0, 0.5, 0.75]"),
    number: swept!(|groups| fidelities(groups, Side::Plus, Of::Phenomenon)),
    ..POINTS
};

/// The share of answers whose being right changes with the explanation alone, at every point.
pub const FID_MINUS_PHENOMENON_CURVE: Line = Line {
    id: "fid_minus_phenomenon_curve",
    better: lower,
    needs: &[MINUS_TRUE_SWEEP],
    measures: "fid_minus_phenomenon at every point of the sweep.",
    formula: "fid_minus_phenomenon with y_sub_sweep at x_k in place of y_sub, pooled at each k.",
    example: ("sweep", "[0.25, 0.25, 0.0]"),
    number: swept!(|groups| fidelities(groups, Side::Minus, Of::Phenomenon)),
    ..POINTS
};

/// The area under the curves of changed predictions.
pub const FIDELITY_CURVE_AUC_MODEL: Line = Line {
    id: "fidelity_curve_auc_model",
    needs: &[PLUS_SWEEP, MINUS_SWEEP],
    measures: "The area under the pooled sweep curves of type model.",
    formula: "fidelity_curve_auc of fid_plus_model_curve and fid_minus_model_curve over x.",
    example: ("sweep", "0.3541666666666667"),
    headline: Some(8),
    number: swept!(|groups| pooled_area(groups, Of::Model)),
    ..AREA
};

/// The area under the curves of changed answers.
pub const FIDELITY_CURVE_AUC_PHENOMENON: Line = Line {
    id: "fidelity_curve_auc_phenomenon",
    needs: &[PLUS_TRUE_SWEEP, MINUS_TRUE_SWEEP],
    measures: "The area under the pooled sweep curves of type phenomenon.",
    formula: "fidelity_curve_auc of fid_plus_phenomenon_curve and fid_minus_phenomenon_curve over x.",
    example: ("sweep", "0.2604166666666667"),
    number: swept!(|groups| pooled_area(groups, Of::Phenomenon)),
    ..AREA
};
