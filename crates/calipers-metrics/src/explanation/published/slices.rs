//! The published formulas over whole arrays of one type, without temporaries.

use calipers_core::stop;
use multiversion::multiversion;

macro_rules! over_arrays {
    ($score:ident $scores:ident, $area:ident $areas:ident, $float:ty) => {
        /// The published characterization score of every pair, in the type of the arrays: NaN and
        /// infinities come out as they do there.
        pub fn $score(pos: &[$float], neg: &[$float], pos_weight: f64, neg_weight: f64, out: &mut [$float]) {
            let blocks = out.chunks_mut(ASKED).zip(pos.chunks(ASKED)).zip(neg.chunks(ASKED));
            for ((out, pos), neg) in blocks.take_while(|_| !stop::asked()) {
                $scores(pos, neg, pos_weight as $float, neg_weight as $float, out);
            }
        }

        #[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
        fn $scores(
            pos: &[$float],
            neg: &[$float],
            pos_weight: $float,
            neg_weight: $float,
            out: &mut [$float],
        ) {
            for ((out, pos), neg) in out.iter_mut().zip(pos).zip(neg) {
                *out = 1.0 / ((1.0 / pos) * pos_weight + (1.0 / (1.0 - neg)) * neg_weight);
            }
        }

        /// The published area under fid+/(1 - fid-) of equally long arrays: heights in their type,
        /// the sum in f64.
        pub fn $area(pos: &[$float], neg: &[$float], x: &[$float]) -> f64 {
            $areas(pos, neg, x)
        }

        #[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
        fn $areas(pos: &[$float], neg: &[$float], x: &[$float]) -> f64 {
            let points = x.len().min(pos.len()).min(neg.len());
            let (pos, neg, x) = (&pos[..points], &neg[..points], &x[..points]);
            let mut sums = [0.0; LANES];
            let mut start = 0;
            while start + LANES < points {
                if start.is_multiple_of(ASKED) && stop::asked() {
                    return 0.0;
                }
                // One height more than slices, at the end that the next step starts from.
                let (pos, neg, x) =
                    (&pos[start..=start + LANES], &neg[start..=start + LANES], &x[start..=start + LANES]);
                let mut heights = [0.0; LANES + 1];
                for (height, (pos, neg)) in heights.iter_mut().zip(pos.iter().zip(neg)) {
                    *height = f64::from(pos / (1.0 - neg));
                }
                for lane in 0..LANES {
                    sums[lane] += f64::from(x[lane + 1] - x[lane]) * (heights[lane + 1] + heights[lane]);
                }
                start += LANES;
            }
            let height = |point: usize| f64::from(pos[point] / (1.0 - neg[point]));
            let rest = (start + 1..points)
                .map(|point| f64::from(x[point] - x[point - 1]) * (height(point) + height(point - 1)));
            (sums.iter().sum::<f64>() + rest.sum::<f64>()) / 2.0
        }
    };
}

/// How many slices of the area are summed side by side.
const LANES: usize = 16;

/// How many elements lie between two questions whether they are still wanted.
const ASKED: usize = 1 << 16;

over_arrays!(characterization_f32 scores_f32, curve_area_f32 areas_f32, f32);
over_arrays!(characterization_f64 scores_f64, curve_area_f64 areas_f64, f64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explanation::published;
    use crate::explanation::row::{CurveRow, Precision};

    proptest! {
        #[test]
        fn whole_arrays_give_the_bits_of_single_calls(
            pairs in prop::collection::vec((0f32..=1.0, 0f32..=1.0), 0..50),
            weight in 0f64..=1.0,
        ) {
            let (pos, neg): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let mut out = vec![0.0; pos.len()];
            characterization_f32(&pos, &neg, weight, 1.0 - weight, &mut out);
            for ((pos, neg), out) in pairs.iter().zip(&out) {
                let (pos, neg) = (f64::from(*pos), f64::from(*neg));
                let one = published::characterization(Precision::Single, pos, neg, weight, 1.0 - weight);
                prop_assert_eq!(one.map(|v| (v as f32).to_bits()), (!out.is_nan()).then(|| out.to_bits()));
            }
        }

        #[test]
        fn the_area_is_that_of_the_row(
            points in prop::collection::vec((0f32..=1.0, 0f32..0.99, 0f32..1.0), 0..80),
        ) {
            let mut x = 0.0;
            let mut axis = Vec::new();
            for point in &points {
                x += point.2;
                axis.push(x);
            }
            let pos: Vec<f32> = points.iter().map(|p| p.0).collect();
            let neg: Vec<f32> = points.iter().map(|p| p.1).collect();
            let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
            let row = CurveRow { pos: wide(&pos), neg: wide(&neg), x: None, precision: Precision::Single };
            let expected = published::area(&row, &wide(&axis));
            prop_assert!((curve_area_f32(&pos, &neg, &axis) - expected).abs() <= 1e-6 * expected.max(1.0));
            let double = curve_area_f64(&wide(&pos), &wide(&neg), &wide(&axis));
            prop_assert!((double - expected).abs() <= 1e-5 * expected.max(1.0));
        }
    }
}
