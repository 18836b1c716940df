//! The lowest point of a smooth function of a few numbers, by quasi-Newton steps (BFGS) from 0.

use calipers_core::Result;

/// An iteration that gains less than this is the last.
const ENOUGH: f64 = 1e-7;

/// The numbers are logarithms: they stay between those of 1/1000 and 1000.
const LIMIT: f64 = 6.907_755_278_982_137;

/// The first step, before anything is known of the curvature.
const FIRST_STEP: f64 = 0.5;

const MOST_ITERATIONS: usize = 200;
const MOST_HALVINGS: usize = 30;

/// How much of the promised gain a step must bring.
const SUFFICIENT: f64 = 1e-4;

/// Where `function`, which returns a value and its slopes, is lowest.
pub(super) fn minimise(
    numbers: usize,
    mut function: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>)>,
) -> Result<Vec<f64>> {
    let mut at = vec![0.0; numbers];
    let (mut value, mut slopes) = function(&at)?;
    let mut curvature: Option<Inverse> = None;
    for _ in 0..MOST_ITERATIONS {
        let direction = match &curvature {
            Some(inverse) => inverse.direction(&slopes),
            None => steepest(&slopes),
        };
        let mut accepted = None;
        for halving in 0..MOST_HALVINGS {
            let step = 0.5f64.powi(halving as i32);
            let moved: Vec<f64> =
                at.iter().zip(&direction).map(|(x, d)| (x + step * d).clamp(-LIMIT, LIMIT)).collect();
            let promised = dot(&slopes, &difference(&moved, &at));
            if promised >= 0.0 {
                break;
            }
            let (there, slopes_there) = function(&moved)?;
            if there <= value + SUFFICIENT * promised {
                accepted = Some((moved, there, slopes_there));
                break;
            }
        }
        let Some((moved, there, slopes_there)) = accepted else {
            // What is known of the curvature may mislead: once more without it.
            if curvature.take().is_none() {
                break;
            }
            continue;
        };
        let (way, change) = (difference(&moved, &at), difference(&slopes_there, &slopes));
        curvature = Inverse::updated(curvature, &way, &change);
        let gain = value - there;
        (at, value, slopes) = (moved, there, slopes_there);
        if gain < ENOUGH {
            break;
        }
    }
    Ok(at)
}

/// Straight down, the longest side being the first step.
fn steepest(slopes: &[f64]) -> Vec<f64> {
    let largest = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
    let scale = if largest > 0.0 { FIRST_STEP / largest } else { 0.0 };
    slopes.iter().map(|slope| -scale * slope).collect()
}

/// An estimate of the inverse matrix of second derivatives, row by row.
struct Inverse(Vec<Vec<f64>>);

impl Inverse {
    fn direction(&self, slopes: &[f64]) -> Vec<f64> {
        self.0.iter().map(|row| -dot(row, slopes)).collect()
    }

    /// What a step teaches: `way` was gone, and the slopes changed by `change`. Nothing where the
    /// function does not curve upwards.
    fn updated(before: Option<Self>, way: &[f64], change: &[f64]) -> Option<Self> {
        let curve = dot(way, change);
        if curve <= 0.0 {
            return None;
        }
        let numbers = way.len();
        let mut rows = before.map_or_else(
            || {
                let scale = curve / dot(change, change);
                (0..numbers)
                    .map(|i| (0..numbers).map(|j| if i == j { scale } else { 0.0 }).collect())
                    .collect()
            },
            |inverse| inverse.0,
        );
        let seen: Vec<f64> = rows.iter().map(|row: &Vec<f64>| dot(row, change)).collect();
        let stretch = (1.0 + dot(&seen, change) / curve) / curve;
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell += stretch * way[i] * way[j] - (way[i] * seen[j] + seen[i] * way[j]) / curve;
            }
        }
        Some(Self(rows))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_valley_is_followed_to_its_end() {
        let valley = |x: &[f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            let value = a * a + 10.0 * b * b;
            Ok((value, vec![-2.0 * a - 40.0 * x[0] * b, 20.0 * b]))
        };
        let at = minimise(2, valley).unwrap();
        assert!((at[0] - 1.0).abs() < 1e-3 && (at[1] - 1.0).abs() < 1e-3, "{at:?}");
    }

    #[test]
    fn an_endless_slope_ends_at_the_limit() {
        let at = minimise(2, |x| Ok((x[0] + (x[1] - 0.3).powi(2), vec![1.0, 2.0 * (x[1] - 0.3)]))).unwrap();
        assert!((at[0] + LIMIT).abs() < 1e-9 && (at[1] - 0.3).abs() < 1e-3, "{at:?}");
    }

    #[test]
    fn a_plain_has_no_better_place() {
        assert_eq!(minimise(1, |_| Ok((2.0, vec![0.0]))).unwrap().len(), 1);
    }
}
