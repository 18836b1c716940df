//! Given fidelity curves.

use super::{characterization, curve_area};
use crate::explanation::metrics::*;
use crate::explanation::published;
use crate::explanation::row::CurveRow;

pub(crate) const CURVE: Need =
    Need { keys: &["pos_fidelity", "neg_fidelity"], met: |row| curve(row).is_some() };
pub(crate) const AXIS: Need = Need {
    keys: &["pos_fidelity", "neg_fidelity", "x"],
    met: |row| curve(row).is_some_and(|curve| curve.x.is_some()),
};

fn curve(row: &Row) -> Option<&CurveRow> {
    row.curve.as_deref()
}

/// The characterization score at every point of one unit's curve.
fn scores(protocol: &Explanation, curve: &CurveRow) -> Vec<Reading> {
    let (pos_weight, neg_weight) = (protocol.pos_weight, protocol.neg_weight);
    let point = |(&pos, &neg): (&f64, &f64)| -> Reading {
        if protocol.preset == Preset::Pyg {
            published::characterization(curve.precision, pos, neg, pos_weight, neg_weight)
                .ok_or(PUBLISHED_NAN.into())
        } else {
            characterization(pos, 1.0 - neg, pos_weight, neg_weight).ok_or(ZERO_WEIGHT.into())
        }
    };
    curve.pos.iter().zip(&curve.neg).map(point).collect()
}

/// The mean over units at every point of their common axis.
fn mean_scores(protocol: &Explanation, rows: &Rows<'_, Row>) -> Value {
    let curves = || rows.iter().filter_map(curve);
    let Some(first) = curves().next() else { return given(None) };
    if curves().any(|curve| curve.pos.len() != first.pos.len()) {
        return Value::undefined(LENGTHS_DIFFER);
    }
    if curves().any(|curve| curve.x != first.x) {
        return Value::undefined(AXES_DIFFER);
    }
    let series: Vec<Vec<Reading>> = curves().map(|curve| scores(protocol, curve)).collect();
    let at = |point: usize| given(mean(series.iter().map(|series| series[point].clone())));
    Value::Series((0..first.pos.len()).map(at).collect())
}

/// The area under a curve, or the point at which it is infinite.
pub(super) fn area(pos: &[f64], neg: &[f64], x: &[f64]) -> Reading {
    curve_area(pos, neg, x)
        .map_err(|point| format!("fid_minus is 1 at point {point}: division by zero").into())
}

/// The area under one unit's curve, and the ends of its axis.
fn area_of(protocol: &Explanation, row: &Row) -> Option<(Reading, f64)> {
    let curve = curve(row)?;
    let x = curve.x.as_ref()?;
    let area = match protocol.preset {
        Preset::Pyg => Ok(published::area(curve, x)),
        _ => area(&curve.pos, &curve.neg, x),
    };
    Some((area, x.last()? - x.first()?))
}

/// The mean height of one unit's curve.
fn height(area: Reading, range: f64) -> Reading {
    let area = area?;
    if range > 0.0 { Ok(area / range) } else { Err(NO_RANGE.into()) }
}

const GIVEN: Line = Line { group: "curve", better: higher, range: NON_NEGATIVE, needs: &[AXIS], ..PUBLISHED };

pub(crate) const CHARACTERIZATION_SCORE: Line = Line {
    id: "characterization_score",
    range: SHARE,
    needs: &[CURVE],
    measures: "The characterization score at every point of a given fidelity curve.",
    formula: "charact(pos_k, neg_k) = (w+ + w-) / (w+/pos + w-/(1-neg)), mean over units at each k. Preset \
              pyg: 1/((1/p) w+ + (1/(1-n)) w-) in the type of the arrays.",
    undefined: "\"0/0: weight 0 on a fidelity term of 0\"; \"curves have different lengths\"; \"units have \
                different x\"; \"published code returns NaN\".",
    differs: "pos = 0 or neg = 1 gives 0, the limit of the formula.",
    reference: document!("characterization_score"),
    example: ("curve", "[1.0, 0.75, 0.5, 0.12195121951219509]"),
    number: Number::Rows(mean_scores),
    ..GIVEN
};

pub(crate) const FIDELITY_CURVE_AUC: Line = Line {
    id: "fidelity_curve_auc",
    per_unit: true,
    measures: "The area under fid+ / (1 - fid-) over the axis x.",
    formula: "Sum over k of (x_k+1 - x_k)(f_k+1 + f_k)/2, f = pos/(1 - neg); mean over units.",
    undefined: "\"fid_minus is 1 at point K: division by zero\"; \"infinite: beyond the largest number\".",
    differs: "Not divided by the range of x, as in the document.",
    reference: document!("fidelity_curve_auc"),
    example: ("curve", "18.250000000000004"),
    number: Number::mean(|protocol, row| of_unit(area_of(protocol, row).map(|(area, _)| area))),
    ..GIVEN
};

pub(crate) const FIDELITY_CURVE_AUC_NORMALIZED: Line = Line {
    id: "fidelity_curve_auc_normalized",
    per_unit: true,
    presets: BEYOND.presets,
    measures: "The mean height of the curve.",
    formula: "fidelity_curve_auc / (x_K - x_1) of each unit; mean over units.",
    undefined: "\"fid_minus is 1 at point K: division by zero\"; \"x range is 0\"; \"infinite: beyond the \
                largest number\".",
    differs: "Comparable between curves of different ranges.",
    example: ("curve", "3.650000000000001"),
    number: Number::mean(|protocol, row| {
        of_unit(area_of(protocol, row).map(|(area, range)| height(area, range)))
    }),
    ..GIVEN
};
