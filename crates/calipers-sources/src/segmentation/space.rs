//! What files say of space: whether truth and prediction lie alike, and how far their elements are apart.

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_io::image::Geometry;
use calipers_metrics::segmentation::config::Orientation;

/// The name of an array that says how far elements are apart.
const SPACING: &str = "spacing";
/// How far spacings may differ, as a share.
const SAME_SPACING: f64 = 1e-3;
/// How far the components of directions may differ.
const SAME_DIRECTION: f64 = 1e-3;
/// How far origins may differ, in steps.
const SAME_ORIGIN: f64 = 1e-2;

/// What options and configuration say of space, over what files say.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The spacing, which wins over files.
    pub spacing: Option<Vec<f64>>,
    /// What becomes of orientations that differ.
    pub orientation: Option<Orientation>,
}

/// What the files of one unit say.
#[derive(Clone, Debug, Default)]
pub struct Said {
    spacing: Option<Vec<f64>>,
    geometry: Geometry,
}

/// The spacing of a unit, and what was noticed on the way.
#[derive(Debug)]
pub struct Settled {
    /// How far elements are apart along each axis of the array.
    pub spacing: Option<Vec<f64>>,
    /// Codes of warnings.
    pub facts: Vec<&'static str>,
}

/// The numbers of an array that says how far elements are apart.
fn numbers(array: &Array) -> Option<Result<Vec<f64>>> {
    (array.dtype().is_float() && array.shape().len() == 1).then(|| array.to_f64s())
}

/// The spacing that a file has among its arrays.
pub fn spacing_of(arrays: &Arrays) -> Result<Option<Vec<f64>>> {
    let array = if arrays.keys().iter().any(|key| key == SPACING) { arrays.get(SPACING)? } else { None };
    array.as_ref().and_then(numbers).transpose()
}

/// The names of the arrays of a file that are no spacing.
pub fn keys_of(arrays: &Arrays) -> Result<Vec<String>> {
    let mut keys = arrays.keys();
    if keys.iter().any(|key| key == SPACING) && spacing_of(arrays)?.is_some() {
        keys.retain(|key| key != SPACING);
    }
    Ok(keys)
}

impl Said {
    /// What an image or a file of arrays says.
    pub fn new(geometry: Option<&Geometry>, spacing: Option<Vec<f64>>) -> Self {
        let geometry = geometry.cloned().unwrap_or_default();
        Self { spacing: spacing.or_else(|| geometry.spacing.clone()), geometry }
    }
}

impl Told {
    /// Compares what truth and prediction say, and settles the spacing.
    pub fn settle(&self, truth: &Said, pred: &Said) -> Result<Settled> {
        let mut facts = Vec::new();
        let both = [truth, pred];
        if both.iter().any(|said| said.geometry.in_other_unit) {
            facts.push("spacing-unit");
        }
        if both.iter().any(|said| said.geometry.disagrees) {
            facts.push("spacing-disagrees");
        }
        if self.spacing.is_none() {
            if let (Some(ours), Some(theirs)) = (&truth.spacing, &pred.spacing)
                && !alike(ours, theirs)
            {
                return Err(Error::value("truth and prediction have different spacings")
                    .at("spacing")
                    .found(format!("prediction {}", shown(theirs)))
                    .allowed(format!("{}, the spacing of the truth", shown(ours)))
                    .advice("--spacing says which one holds"));
            }
        } else if let Some(given) = &self.spacing
            && both.iter().filter_map(|said| said.spacing.as_ref()).any(|own| !alike(given, own))
        {
            facts.push("spacing-overridden");
        }
        if self.orientation != Some(Orientation::Ignore) {
            same_directions(truth, pred)?;
        }
        let step = truth.spacing.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        if let (Some(ours), Some(theirs)) = (truth.geometry.origin, pred.geometry.origin) {
            let apart = ours.iter().zip(theirs).map(|(ours, theirs)| (ours - theirs).abs());
            if apart.fold(0.0, f64::max) > SAME_ORIGIN * if step.is_finite() { step } else { 1.0 } {
                facts.push("origin-differs");
            }
        }
        let own = truth.spacing.clone().or_else(|| pred.spacing.clone());
        Ok(Settled { spacing: self.spacing.clone().or(own), facts })
    }
}

fn same_directions(truth: &Said, pred: &Said) -> Result<()> {
    let (Some(ours), Some(theirs)) = (truth.geometry.directions, pred.geometry.directions) else {
        return Ok(());
    };
    let differs = |axis: usize| {
        ours[axis].iter().zip(theirs[axis]).any(|(ours, theirs)| (ours - theirs).abs() > SAME_DIRECTION)
    };
    let Some(axis) = (0..3).find(|axis| differs(*axis)) else { return Ok(()) };
    Err(Error::value("truth and prediction point different ways")
        .at(format!("direction of axis {}", ["x", "y", "z"][axis]))
        .found(format!("prediction {}", shown(&theirs[axis])))
        .allowed(format!("{}, the direction of the truth", shown(&ours[axis])))
        .advice("a flipped volume has the right size and a wrong score: save both alike, or say --orientation ignore"))
}

/// One number stands for as many as there are.
fn alike(a: &[f64], b: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME_SPACING * a.abs().max(b.abs());
    match (a, b) {
        ([one], many) | (many, [one]) => many.iter().all(|step| near((one, step))),
        _ => a.len() == b.len() && a.iter().zip(b).all(near),
    }
}

fn shown(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(spacing: &[f64], flip: f64, origin: f64) -> Said {
        let directions = Some([[flip, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let spacing = Some(spacing.to_vec());
        let geometry = Geometry { spacing, directions, origin: Some([origin; 3]), ..Geometry::default() };
        Said::new(Some(&geometry), None)
    }

    #[test]
    fn a_flipped_volume_is_refused_unless_nobody_looks() {
        let (truth, pred) = (said(&[2.0, 1.0, 1.0], 1.0, 0.0), said(&[2.0, 1.0, 1.0], -1.0, 0.0));
        let text = Told::default().settle(&truth, &pred).unwrap_err().to_string();
        assert!(text.contains("axis x") && text.contains("--orientation ignore"), "{text}");
        let told = Told { orientation: Some(Orientation::Ignore), ..Told::default() };
        assert!(told.settle(&truth, &pred).is_ok());
    }

    #[test]
    fn spacings_must_agree_unless_one_is_given() {
        let (truth, pred) = (said(&[2.0, 1.0, 1.0], 1.0, 0.0), said(&[2.5, 1.0, 1.0], 1.0, 0.5));
        let text = Told::default().settle(&truth, &pred).unwrap_err().to_string();
        assert!(text.contains("2.5, 1, 1") && text.contains("--spacing"), "{text}");
        let told = Told { spacing: Some(vec![2.0, 1.0, 1.0]), ..Told::default() };
        let settled = told.settle(&truth, &pred).unwrap();
        assert_eq!(settled.facts, ["spacing-overridden", "origin-differs"]);
        assert_eq!(settled.spacing, told.spacing);
        let settled = Told::default().settle(&truth, &truth).unwrap();
        assert_eq!((settled.spacing, settled.facts.len()), (Some(vec![2.0, 1.0, 1.0]), 0));
    }
}
