//! Readings of given curves and of sweeps.

use calipers_core::{Rows, Value};

use super::curve::{characterization, curve_area};
use super::fidelity_reading::{Of, Side};
use super::protocol::{Explanation, Preset};
use super::published;
use super::reading::{
    AXES_DIFFER, LENGTHS_DIFFER, NO_INSTANCES, NO_RANGE, PUBLISHED_NAN, Reading, Reason, ZERO_WEIGHT, given,
    mean, number, ratio,
};
use super::row::{CurveRow, Row};

fn curve(row: &Row) -> Option<&CurveRow> {
    row.curve.as_deref()
}

/// The characterization score at every point of one unit's curve.
pub(crate) fn characterization_series(protocol: &Explanation, row: &Row) -> Option<Vec<Reading>> {
    let curve = curve(row)?;
    let (pos_weight, neg_weight) = (protocol.pos_weight, protocol.neg_weight);
    let point = |(&pos, &neg): (&f64, &f64)| -> Reading {
        if protocol.preset == Preset::Pyg {
            published::characterization(curve.precision, pos, neg, pos_weight, neg_weight)
                .ok_or(PUBLISHED_NAN.into())
        } else {
            characterization(pos, 1.0 - neg, pos_weight, neg_weight).ok_or(ZERO_WEIGHT.into())
        }
    };
    Some(curve.pos.iter().zip(&curve.neg).map(point).collect())
}

/// The mean over units at every point.
pub(crate) fn characterization_score(protocol: &Explanation, rows: &Rows<'_, Row>) -> Value {
    match common_series(protocol, rows) {
        None => given(None),
        Some(Err(reason)) => Value::undefined(reason),
        Some(Ok(series)) => {
            let points = series.first().map_or(0, Vec::len);
            let at = |point: usize| given(mean(series.iter().map(|series| series[point].clone())));
            Value::Series((0..points).map(at).collect())
        }
    }
}

/// The series of all units, if they lie on one axis.
pub(crate) fn common_series(
    protocol: &Explanation,
    rows: &Rows<'_, Row>,
) -> Option<Result<Vec<Vec<Reading>>, &'static str>> {
    let first = rows.iter().find_map(curve)?;
    let others = || rows.iter().filter_map(curve);
    if others().any(|curve| curve.pos.len() != first.pos.len()) {
        return Some(Err(LENGTHS_DIFFER));
    }
    if others().any(|curve| curve.x != first.x) {
        return Some(Err(AXES_DIFFER));
    }
    Some(Ok(rows.iter().filter_map(|row| characterization_series(protocol, row)).collect()))
}

fn area(pos: &[f64], neg: &[f64], x: &[f64]) -> Reading {
    curve_area(pos, neg, x)
        .map_err(|point| format!("fid_minus is 1 at point {point}: division by zero").into())
}

/// The area under one unit's curve.
pub(crate) fn curve_auc(protocol: &Explanation, row: &Row) -> Option<Reading> {
    let curve = curve(row)?;
    let x = curve.x.as_ref()?;
    if protocol.preset == Preset::Pyg {
        return Some(Ok(published::area(curve, x)));
    }
    Some(area(&curve.pos, &curve.neg, x))
}

/// The mean height of one unit's curve.
pub(crate) fn curve_auc_normalized(protocol: &Explanation, row: &Row) -> Option<Reading> {
    let area = curve_auc(protocol, row)?;
    let x = curve(row)?.x.as_ref()?;
    let range = x.last()? - x.first()?;
    Some(area.and_then(|area| if range > 0.0 { Ok(area / range) } else { Err(NO_RANGE.into()) }))
}

/// What is read from rows on one axis, with that axis; `None` where no row has it.
type OnAxis<'a, T> = Option<Result<(Vec<T>, &'a [f64]), Reason>>;

/// Rows that have a sweep of this kind, and their common axis.
fn swept<'a>(rows: &Rows<'a, Row>, has: impl Fn(&Row) -> bool) -> OnAxis<'a, &'a Row> {
    let rows: Vec<&Row> = rows.iter().filter(|row| has(row)).collect();
    let first = rows.first()?;
    if rows.iter().any(|row| row.sweep_x != first.sweep_x) {
        return Some(Err(AXES_DIFFER.into()));
    }
    let x = &first.sweep_x;
    Some(Ok((rows, x)))
}

/// Whether a row has a sweep of this side and kind.
pub(crate) fn has_sweep(row: &Row, side: Side, of: Of) -> bool {
    side.of(row).and_then(|side| side.sweep.first()).is_some_and(|flips| of.changed(flips).is_some())
}

/// The axis of the sweeps.
pub(crate) fn curve_x(rows: &Rows<'_, Row>) -> Value {
    let any = |row: &Row| has_sweep(row, Side::Plus, Of::Model) || has_sweep(row, Side::Minus, Of::Model);
    match swept(rows, any) {
        None => given(None),
        Some(Err(reason)) => Value::Undefined(reason),
        Some(Ok((_, x))) => Value::Series(x.iter().map(|&x| Value::Number(x)).collect()),
    }
}

fn fidelities<'a>(rows: &Rows<'a, Row>, side: Side, of: Of) -> OnAxis<'a, Reading> {
    let (rows, x) = match swept(rows, |row| has_sweep(row, side, of))? {
        Ok(found) => found,
        Err(reason) => return Some(Err(reason)),
    };
    let instances: i128 = rows.iter().filter_map(|row| row.instances).map(i128::from).sum();
    let at = |point: usize| -> Reading {
        let flips = rows.iter().filter_map(|row| side.of(row)?.sweep.get(point));
        ratio(
            flips.filter_map(|flips| of.changed(flips)).map(i128::from).sum::<i128>(),
            instances,
            NO_INSTANCES,
        )
    };
    Some(Ok(((0..x.len()).map(at).collect(), x)))
}

/// The pooled fidelity at every point of the sweep.
pub(crate) fn fidelity_curve(rows: &Rows<'_, Row>, side: Side, of: Of) -> Value {
    match fidelities(rows, side, of) {
        None => given(None),
        Some(Err(reason)) => Value::Undefined(reason),
        Some(Ok((points, _))) => Value::Series(points.into_iter().map(number).collect()),
    }
}

/// The area under the pooled curves of the sweep.
pub(crate) fn sweep_auc(rows: &Rows<'_, Row>, of: Of) -> Value {
    let sides = fidelities(rows, Side::Plus, of).zip(fidelities(rows, Side::Minus, of));
    given(sides.map(|(plus, minus)| {
        let ((plus, x), (minus, _)) = (plus?, minus?);
        let plus: Vec<f64> = plus.into_iter().collect::<Result<_, _>>()?;
        let minus: Vec<f64> = minus.into_iter().collect::<Result<_, _>>()?;
        area(&plus, &minus, x)
    }))
}
