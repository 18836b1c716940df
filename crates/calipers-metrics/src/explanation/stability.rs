//! How far the masks of perturbed inputs lie from the mask itself.

use calipers_core::ExactSum;

use super::masks::{BLOCK, Masks, Values};
use super::protocol::MaskScores;
use super::row::StabilityRow;
use super::shape::{Importance, largest};

/// The largest and the mean angle, and the largest relative distance, over all samples.
pub(super) fn stability(masks: &Masks<'_, '_>, values: &Values<'_>, scores: MaskScores) -> StabilityRow {
    let mut row = StabilityRow::default();
    let mut cosines = Vec::new();
    let mut zero_somewhere = false;
    let mut farthest: Option<f64> = None;
    for position in 0..masks.samples {
        let sample = masks.sample(position);
        let Products { own, other, both, distance } = products(values, &sample, scores);
        if own <= 0.0 {
            return row;
        }
        let away = (distance / own).sqrt();
        farthest = Some(farthest.map_or(away, |most| most.max(away)));
        if other > 0.0 {
            // One square root of the product: a mask is at distance 0 from itself, exactly.
            cosines.push((1.0 - both / (own * other).sqrt()).max(0.0));
        } else {
            zero_somewhere = true;
        }
    }
    row.sensitivity = farthest;
    if !zero_somewhere && !cosines.is_empty() {
        row.cosine_max = cosines.iter().copied().reduce(f64::max);
        row.cosine_mean = Some(cosines.iter().copied().collect::<ExactSum>().value() / cosines.len() as f64);
    }
    row
}

/// Sums of squares and products of two masks; distances on the scale of the first.
struct Products {
    own: f64,
    other: f64,
    both: f64,
    distance: f64,
}

fn products(mask: &Values<'_>, sample: &Values<'_>, scores: MaskScores) -> Products {
    // One scale for both masks, that of the larger one.
    let importance = Importance::new(scores, largest(mask).max(largest(sample)));
    let mut sums = [ExactSum::new(), ExactSum::new(), ExactSum::new(), ExactSum::new()];
    let (mut a, mut b, mut terms) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..mask.len()).step_by(BLOCK) {
        let range = start..mask.len().min(start + BLOCK);
        mask.widen(range.clone(), &mut a);
        sample.widen(range, &mut b);
        importance.apply(&mut a);
        importance.apply(&mut b);
        let formulas: [fn(f64, f64) -> f64; 4] =
            [|a, _| a * a, |_, b| b * b, |a, b| a * b, |a, b| (b - a) * (b - a)];
        for (sum, formula) in sums.iter_mut().zip(formulas) {
            terms.clear();
            terms.extend(a.iter().zip(&b).map(|(&a, &b)| formula(a, b)));
            sum.add_slice(&terms);
        }
    }
    let [own, other, both, distance] = sums.map(|sum| sum.value());
    Products { own, other, both, distance }
}
