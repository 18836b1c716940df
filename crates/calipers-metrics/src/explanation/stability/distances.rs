//! How far the masks of perturbed inputs lie from the mask itself.

use calipers_core::exact::exact_mean;
use calipers_core::{ExactSum, stop};

use crate::explanation::mask::layout::{ASKED, BLOCK, Masks, Values};
use crate::explanation::mask::shape::Importance;
use crate::explanation::protocol::MaskScores;
use crate::explanation::row::StabilityRow;

/// The largest and the mean angle, and the largest relative distance, over all samples.
pub(crate) fn stability(masks: &Masks<'_, '_>, values: &Values<'_>, scores: MaskScores) -> StabilityRow {
    let mut row = StabilityRow::default();
    let mut cosines = Vec::new();
    let mut zero_somewhere = false;
    let mut farthest: Option<f64> = None;
    for position in 0..masks.samples {
        let sample = masks.sample(position);
        let Products { own, other, both, distance, scale } = products(values, &sample, scores);
        if own <= 0.0 {
            return row;
        }
        let away = (distance / own).sqrt() / scale;
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
        row.cosine_mean = exact_mean(cosines);
    }
    row
}

/// Sums of squares and products of two masks, each on its own scale; the distance on a common one.
struct Products {
    own: f64,
    other: f64,
    both: f64,
    distance: f64,
    /// What the first mask is multiplied by to be on the common scale.
    scale: f64,
}

fn products(mask: &Values<'_>, sample: &Values<'_>, scores: MaskScores) -> Products {
    // A mask may be many orders of magnitude smaller than the other: one scale would lose it.
    let [own, other] = [mask, sample].map(|values| Importance::of(scores, &[values]));
    let common = Importance::of(scores, &[mask, sample]);
    let (of_own, of_other) = (own.ratio_to(common), other.ratio_to(common));
    let mut sums = [ExactSum::new(), ExactSum::new(), ExactSum::new(), ExactSum::new()];
    let (mut a, mut b, mut terms) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..mask.len()).step_by(BLOCK) {
        if start.is_multiple_of(ASKED * BLOCK) && stop::asked() {
            break;
        }
        let range = start..mask.len().min(start + BLOCK);
        mask.widen(range.clone(), &mut a);
        sample.widen(range, &mut b);
        own.apply(&mut a);
        other.apply(&mut b);
        let formulas: [&dyn Fn(f64, f64) -> f64; 4] =
            [&|a, _| a * a, &|_, b| b * b, &|a, b| a * b, &|a, b| {
                (b * of_other - a * of_own) * (b * of_other - a * of_own)
            }];
        for (sum, formula) in sums.iter_mut().zip(formulas) {
            terms.clear();
            terms.extend(a.iter().zip(&b).map(|(&a, &b)| formula(a, b)));
            sum.add_slice(&terms);
        }
    }
    let [own, other, both, distance] = sums.map(|sum| sum.value());
    Products { own, other, both, distance, scale: of_own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mask: &[f64], sample: &[f64], scores: MaskScores) -> [f64; 2] {
        let [mask, sample] = [mask, sample].map(|values| Values::Double(values.into()));
        let Products { own, other, both, distance, scale } = products(&mask, &sample, scores);
        [1.0 - both / (own * other).sqrt(), (distance / own).sqrt() / scale]
    }

    #[test]
    fn a_mask_many_orders_of_magnitude_smaller_still_has_an_angle_and_a_distance() {
        let ([angle, away], five) = (of(&[3e-200, 4e-200], &[4.0, 3.0], MaskScores::Raw), 1.0 - 0.96);
        assert!((angle - five).abs() < 1e-12 && (away / 1e200 - 1.0).abs() < 1e-12, "{angle} {away}");
        let [angle, away] = of(&[4.0, 3.0], &[3e-200, 4e-200], MaskScores::Raw);
        assert!((angle - five).abs() < 1e-12 && (away - 1.0).abs() < 1e-12, "{angle} {away}");
    }

    #[test]
    fn logits_far_below_zero_are_compared_by_their_exponentials() {
        let steps = [0.5f64, -0.5, -2.0];
        let at = |top: f64| steps.map(|step| top + step);
        let expected = of(&at(-90.0), &[-89.0, -91.5, -90.0], MaskScores::Logits);
        let found = of(&at(-2000.0), &[-1999.0, -2001.5, -2000.0], MaskScores::Logits);
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }
}
