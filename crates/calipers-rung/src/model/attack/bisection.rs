//! Probabilities brought back to the budget.

use crate::model::parallel;

/// How close the shift must be found.
const TOLERANCE: f64 = 1e-5;

/// Values that are added up together; the sums of such blocks are added in their order.
const BLOCK: usize = 1 << 15;

/// The least and the greatest of some values, and the sum of those values clipped to [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub(super) least: f32,
    pub(super) greatest: f32,
    pub(super) clipped: f64,
}

impl Extent {
    pub(super) const EMPTY: Self = Self { least: f32::INFINITY, greatest: f32::NEG_INFINITY, clipped: 0.0 };

    pub(super) fn of(values: &[f32]) -> Self {
        let [least, greatest] = ends(values);
        Self { least, greatest, clipped: clipped_sum(values, 0.0) }
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            clipped: self.clipped + other.clipped,
        }
    }
}

/// By how much to lower all values so that, clipped to [0, 1], they add up to at most the budget, or nearly:
/// 0 when they do already, else found by halving an interval.
pub(super) fn shift(values: &[f32], extent: Extent, budget: usize, threads: usize) -> f64 {
    let budget = budget as f64;
    if extent.clipped <= budget {
        return 0.0;
    }
    let (mut low, mut high) = ((f64::from(extent.least) - 1.0).max(0.0), f64::from(extent.greatest));
    let mut middle = (low + high) / 2.0;
    // Only values above the lower end count; once they are few, the others are left behind.
    let mut few: Option<Vec<f32>> = None;
    while (high - low) / 2.0 > TOLERANCE {
        let used = match &few {
            Some(few) => clipped_sum(few, middle),
            None => long_clipped_sum(values, middle, threads),
        };
        match used.total_cmp(&budget) {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Greater => {
                low = middle;
                let from = few.as_deref().unwrap_or(values);
                if few.is_some() || count_above(from, low, threads) <= values.len() / 16 {
                    few = Some(from.iter().copied().filter(|value| f64::from(*value) > low).collect());
                }
            }
            std::cmp::Ordering::Less => high = middle,
        }
        middle = (low + high) / 2.0;
    }
    middle
}

/// A value lowered and clipped.
pub(super) fn lowered(value: f32, shift: f64) -> f32 {
    (f64::from(value) - shift).clamp(0.0, 1.0) as f32
}

fn long_clipped_sum(values: &[f32], shift: f64, threads: usize) -> f64 {
    let mut sums = vec![0.0; values.len().div_ceil(BLOCK)];
    let blocks = values.chunks(BLOCK).zip(&mut sums);
    parallel::each(threads, values.len(), blocks, |(values, sum)| *sum = clipped_sum(values, shift));
    sums.iter().sum()
}

/// The sum of values lowered by a shift and clipped to [0, 1], in eight interleaved parts.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn clipped_sum(values: &[f32], shift: f64) -> f64 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += (f64::from(value) - shift).clamp(0.0, 1.0);
        }
    }
    for (sum, &value) in sums.iter_mut().zip(rest) {
        *sum += (f64::from(value) - shift).clamp(0.0, 1.0);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

/// How many values lie above a bound.
pub(super) fn count_above(values: &[f32], bound: f64, threads: usize) -> usize {
    let mut counts = vec![0; values.len().div_ceil(BLOCK)];
    let blocks = values.chunks(BLOCK).zip(&mut counts);
    parallel::each(threads, values.len(), blocks, |(values, count)| *count = above(values, bound));
    counts.into_iter().map(|count| count as usize).sum()
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn above(values: &[f32], bound: f64) -> u32 {
    values.iter().map(|value| u32::from(f64::from(*value) > bound)).sum()
}

/// The least and the greatest value.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn ends(values: &[f32]) -> [f32; 2] {
    const LANES: usize = 32;
    let (mut least, mut greatest) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for k in 0..LANES {
            least[k] = if chunk[k] < least[k] { chunk[k] } else { least[k] };
        }
        for k in 0..LANES {
            greatest[k] = if chunk[k] > greatest[k] { chunk[k] } else { greatest[k] };
        }
    }
    let least = least.iter().chain(rest).copied().fold(f32::INFINITY, f32::min);
    [least, greatest.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The published bisection, on everything, every time.
    fn oracle(values: &[f32], budget: usize) -> Vec<f64> {
        let clip =
            |mu: f64| values.iter().map(|&v| (f64::from(v) - mu).clamp(0.0, 1.0)).collect::<Vec<f64>>();
        if clip(0.0).iter().sum::<f64>() <= budget as f64 {
            return clip(0.0);
        }
        let mut top = values.iter().copied().fold(f32::NEG_INFINITY, f32::max).into();
        let mut bottom = (f64::from(values.iter().copied().fold(f32::INFINITY, f32::min)) - 1.0).max(0.0);
        while (top - bottom) / 2.0 > TOLERANCE {
            let mu = (top + bottom) / 2.0;
            if clip(mu).iter().sum::<f64>() > budget as f64 { bottom = mu } else { top = mu }
        }
        clip((top + bottom) / 2.0)
    }

    proptest! {
        #[test]
        fn values_come_back_to_the_budget(values in prop::collection::vec(-2.0f32..3.0, 1..400), budget in 1usize..60) {
            let shift = shift(&values, Extent::of(&values), budget, 1);
            let ours: Vec<f64> = values.iter().map(|&value| f64::from(lowered(value, shift))).collect();
            for (ours, expected) in ours.iter().zip(oracle(&values, budget)) {
                prop_assert!((ours - expected).abs() < 2.5e-5, "{ours} {expected}");
            }
            prop_assert!(ours.iter().sum::<f64>() <= budget as f64 + 1e-5 * values.len() as f64);
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let values: Vec<f32> = (0..500_000).map(|k| ((k * 7919u64) % 100_003) as f32 / 1e5 - 0.4).collect();
        let extent = Extent::of(&values);
        let one = shift(&values, extent, 300, 1);
        assert_eq!(one.to_bits(), shift(&values, extent, 300, 3).to_bits());
        let sum: f64 = values.iter().map(|&value| f64::from(lowered(value, one))).sum();
        assert!((sum - 300.0).abs() < 10.0, "{sum}");
    }

    #[test]
    fn worked_projections_come_out() {
        let cases = crate::model::golden::cases();
        let numbers = |list: &serde_json::Value| -> Vec<f64> {
            list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        for case in cases["projection"].as_array().unwrap() {
            let values: Vec<f32> = numbers(&case["p"]).iter().map(|&value| value as f32).collect();
            let budget = case["budget"].as_u64().unwrap() as usize;
            let shift = shift(&values, Extent::of(&values), budget, 1);
            for (&value, expected) in values.iter().zip(numbers(&case["out"])) {
                // Probabilities are kept in single precision.
                assert!((f64::from(lowered(value, shift)) - expected).abs() <= 1e-6, "{case}");
            }
        }
    }
}
