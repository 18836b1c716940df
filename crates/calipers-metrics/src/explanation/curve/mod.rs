//! Fidelity curves: the characterization score, the area under fid+/(1 - fid-), and the axis.

pub(super) mod given;
pub mod sweep;

use calipers_core::exact::exact_sum;
use calipers_core::{Error, NumberSlice, Result};

use crate::explanation::fidelity::predictions::Given;
use crate::explanation::protocol::{Explanation, Preset};
use crate::explanation::row::{CurveRow, Precision};
use crate::explanation::unit::{Array, Evidence};

const POS: &str = "pos_fidelity";
const NEG: &str = "neg_fidelity";

/// What a unit says about curves.
#[derive(Default)]
pub(crate) struct Curves {
    pub(crate) curve: Option<Box<CurveRow>>,
    /// The axis of the sweeps; empty without sweeps.
    pub(crate) sweep_x: Vec<f64>,
}

/// The given curve and the axis of the sweeps, checked.
pub(crate) fn curves(
    protocol: &Explanation,
    evidence: &Evidence<'_>,
    given: &Given<'_>,
) -> Result<Option<Curves>> {
    let [pos, neg, x] = [evidence.plain(POS)?, evidence.plain(NEG)?, evidence.plain("x")?];
    if pos.is_some() != neg.is_some() {
        return Err(Error::value(format!("`{POS}` and `{NEG}` come together"))
            .found(format!("only `{}`", if pos.is_some() { POS } else { NEG })));
    }
    let sweeps = || given.arrays.iter().filter(|array| array.key.ends_with("_sweep"));
    if let Some(sweep) = sweeps().next().filter(|_| x.is_none()) {
        return Err(Error::value("a sweep needs `x`").at(format!("`{}`", sweep.key)));
    }
    if pos.is_none() && sweeps().next().is_none() {
        return Ok(None);
    }
    let published = protocol.preset == Preset::Pyg;
    for (key, array) in [(POS, pos), (NEG, neg), ("x", x)] {
        if let Some(array) = array {
            check(key, array, key != "x" && !published)?;
        }
    }
    if let Some(x) = x {
        check_order(x)?;
    }
    let length = |array: &Array<'_>| array.data.len();
    let points = x.or(pos).map_or(0, length);
    let given_lengths =
        [(POS, pos), (NEG, neg)].into_iter().filter_map(|(key, array)| Some((key, length(array?))));
    let lengths = given_lengths.chain(sweeps().map(|array| (array.key, array.leads)));
    if let Some((key, found)) = lengths.into_iter().find(|(_, found)| *found != points) {
        return Err(Error::value(format!("`{key}` has {found} points, {points} are needed")));
    }
    let curve = pos.zip(neg).map(|(pos, neg)| {
        Box::new(CurveRow {
            pos: numbers(pos),
            neg: numbers(neg),
            x: x.map(numbers),
            precision: Precision::promoted(pos.data, neg.data),
        })
    });
    if published && let Some(curve) = &curve {
        check_published(protocol, curve)?;
    }
    let sweep_x = if sweeps().next().is_some() { x.map(numbers).unwrap_or_default() } else { Vec::new() };
    Ok(Some(Curves { curve, sweep_x }))
}

fn check(key: &str, array: &Array<'_>, unit: bool) -> Result<()> {
    let one_curve = array.shape.len() == 1 && !array.data.is_empty();
    if !one_curve || matches!(array.data, NumberSlice::Bool(_)) {
        return Err(Error::value(format!(
            "`{key}` has shape {:?}; one curve of at least one point is needed",
            array.shape
        ))
        .found(format!("dtype {}, shape {:?}", array.data.dtype(), array.shape)));
    }
    for point in 0..array.data.len() {
        let value = array.data.get(point);
        if !value.is_finite() {
            return Err(Error::value(format!(
                "`{key}` at point {point} is {}; finite values are needed",
                array.data.shown(point)
            )));
        }
        if unit && !(0.0..=1.0).contains(&value) {
            return Err(Error::value(format!(
                "`{key}` at point {point} is {}, outside [0, 1]",
                array.data.shown(point)
            )));
        }
    }
    Ok(())
}

fn check_order(x: &Array<'_>) -> Result<()> {
    match (1..x.data.len()).find(|&point| x.data.get(point) < x.data.get(point - 1)) {
        None => Ok(()),
        Some(point) => Err(Error::value(format!(
            "'x' must be given in ascending order (point {point}: {} after {})",
            x.data.shown(point),
            x.data.shown(point - 1)
        ))),
    }
}

/// What the published functions refuse, in their words.
fn check_published(protocol: &Explanation, curve: &CurveRow) -> Result<()> {
    let (pos, neg) = (protocol.pos_weight, protocol.neg_weight);
    if (pos + neg).total_cmp(&1.0).is_ne() {
        return Err(Error::value(format!("The weights need to sum up to 1 (got {pos:?} and {neg:?})")));
    }
    if curve.x.is_some() && curve.neg.iter().any(|neg| neg.total_cmp(&1.0).is_eq()) {
        return Err(Error::value(
            "There exists negative fidelity values containing 1, leading to a division by zero",
        ));
    }
    Ok(())
}

/// The values of a curve; both zeros are one.
fn numbers(array: &Array<'_>) -> Vec<f64> {
    (0..array.data.len()).map(|point| array.data.get(point) + 0.0).collect()
}

/// (w+ + w-) / (w+/p + w-/q) with q = 1 - fid-, a positive weight over 0 being infinite; `None` where
/// a weight of 0 meets a term of 0.
pub fn characterization(p: f64, q: f64, pos_weight: f64, neg_weight: f64) -> Option<f64> {
    let indefinite = |weight: f64, term: f64| weight <= 0.0 && term <= 0.0;
    if indefinite(pos_weight, p) || indefinite(neg_weight, q) {
        return None;
    }
    if p <= 0.0 || q <= 0.0 {
        return Some(0.0);
    }
    // Two weights near the largest number would add up to infinity.
    let scale = if (pos_weight + neg_weight).is_finite() { 1.0 } else { 0.5 };
    let (pos, neg) = (pos_weight * scale, neg_weight * scale);
    Some((pos + neg) * p * q / (pos * q + neg * p))
}

/// The area under fid+/(1 - fid-) by trapezoids; the first point with fid- = 1 where there is one.
pub fn curve_area(pos: &[f64], neg: &[f64], x: &[f64]) -> std::result::Result<f64, usize> {
    if let Some(pole) = neg.iter().position(|&neg| neg >= 1.0) {
        return Err(pole);
    }
    let height = |point: usize| pos[point] / (1.0 - neg[point]);
    let slice = |point: usize| (x[point + 1] - x[point]) * (0.5 * height(point + 1) + 0.5 * height(point));
    Ok(exact_sum((0..x.len().saturating_sub(1)).map(slice)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_test_vectors_come_out_exactly() {
        let pairs = [(1.0, 0.0, 1.0), (0.6, 0.2, 0.75), (0.5, 0.5, 0.5), (1.0, 1.0, 0.0)];
        for (pos, neg, expected) in pairs {
            let found = characterization(pos, 1.0 - neg, 0.2, 0.8).unwrap();
            assert_eq!(found.to_bits(), f64::to_bits(expected), "{pos} {neg}: {found}");
        }
        let (pos, neg) = ([1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.9]);
        for (x, expected) in
            [([0.0, 1.0, 2.0, 3.0], 8.5), ([10.0, 11.0, 12.0, 13.0], 8.5), ([0.0, 1.0, 2.0, 5.0], 19.5)]
        {
            assert!((curve_area(&pos, &neg, &x).unwrap() - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn a_pole_is_named_and_a_single_point_has_no_area() {
        assert_eq!(curve_area(&[0.5, 0.5], &[0.5, 1.0], &[0.0, 1.0]), Err(1));
        assert_eq!(curve_area(&[0.5], &[0.5], &[3.0]), Ok(0.0));
    }

    #[test]
    fn a_weight_of_zero_drops_its_term_unless_that_is_zero_too() {
        assert_eq!(characterization(0.0, 0.5, 0.0, 1.0), None);
        assert_eq!(characterization(0.5, 0.0, 1.0, 0.0), None);
        assert_eq!(characterization(0.25, 0.5, 0.0, 1.0), Some(0.5));
        assert_eq!(characterization(0.0, 0.0, 0.5, 0.5), Some(0.0));
        assert_eq!(characterization(0.5, 0.5, f64::MAX, f64::MAX), Some(0.5));
    }
}
