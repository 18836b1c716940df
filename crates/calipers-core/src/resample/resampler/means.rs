//! Means of columns of numbers over resamples, for tables whose rows are no longer there.

use std::iter::repeat_n;

use super::column::Column;
use super::{Leaf, Resampler};
use crate::exact::exact_mean;
use crate::reading::Term;
use crate::resample::{Panels, Weights};

/// The mean of each column, over the units that have a number in it.
pub struct Means {
    leaves: Vec<(Leaf, f64)>,
    columns: Vec<Kept>,
    panels: Panels,
}

/// A column: its cut form, or the numbers themselves where they cannot be cut.
struct Kept {
    numbers: Vec<Option<f64>>,
    cut: Option<[Column; 2]>,
}

impl Means {
    /// Columns of one number per unit; a column without any number is left out.
    pub fn new(units: usize, columns: impl IntoIterator<Item = (Leaf, Vec<Option<f64>>)>) -> Self {
        let mut panels = Panels::new(units);
        let (mut leaves, mut kept) = (Vec::new(), Vec::new());
        for (leaf, numbers) in columns {
            let Some(whole) = mean(numbers.iter().map(|number| (*number, 1))) else { continue };
            leaves.push((leaf, whole));
            let terms: Vec<Term<'_>> =
                numbers.iter().map(|number| Term::Number(number.unwrap_or(0.0))).collect();
            let present: Vec<Term<'_>> =
                numbers.iter().map(|number| Term::Whole(number.is_some().into())).collect();
            let mut cut = |terms: &[Term<'_>]| {
                Column::new(terms, |piece| panels.place_of(&piece).unwrap_or_else(|| panels.push(&piece)))
            };
            let cut = cut(&terms).zip(cut(&present)).map(|(sum, count)| [sum, count]);
            kept.push(Kept { numbers, cut });
        }
        Self { leaves, columns: kept, panels }
    }
}

impl Resampler for Means {
    fn leaves(&self) -> &[(Leaf, f64)] {
        &self.leaves
    }

    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>> {
        let one = |(counts, sums): (&[u32], Vec<f64>)| {
            let column = |kept: &Kept| match &kept.cut {
                Some([sum, count]) => match count.sum(&sums).whole() {
                    0 => None,
                    count => Some(sum.sum(&sums).number_over(count)),
                },
                None => mean(kept.numbers.iter().copied().zip(counts.iter().copied())),
            };
            self.columns.iter().map(column).collect()
        };
        weights.each().zip(self.panels.sums(weights)).map(one).collect()
    }
}

/// The mean of the numbers, each as often as it counts.
fn mean(numbers: impl Iterator<Item = (Option<f64>, u32)>) -> Option<f64> {
    exact_mean(
        numbers
            .filter_map(|(number, times)| Some((number?, times)))
            .flat_map(|(x, n)| repeat_n(x, n as usize)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::SplitMix64;

    #[test]
    fn means_are_those_of_the_numbers_drawn() {
        let mut random = SplitMix64::new(4);
        let near: Vec<Option<f64>> = (0..50).map(|i| (i % 7 != 0).then(|| random.unit())).collect();
        let far: Vec<Option<f64>> = (0..50).map(|i| Some(2f64.powi(40 * (i % 40) - 800))).collect();
        let none = vec![None; 50];
        let leaf = |id: &str| Leaf { id: id.into(), label: None };
        let columns = [(leaf("near"), near.clone()), (leaf("far"), far.clone()), (leaf("none"), none)];
        let means = Means::new(50, columns);
        let ids: Vec<&str> = means.leaves().iter().map(|(leaf, _)| leaf.id.as_str()).collect();
        assert_eq!(ids, ["near", "far"]);
        let weights = Weights::resamples(3, 50, 0..9);
        for (read, counts) in means.read(&weights).into_iter().zip(weights.each()) {
            for (value, column) in read.into_iter().zip([&near, &far]) {
                let slow = mean(column.iter().copied().zip(counts.iter().copied()));
                assert_eq!(value.map(f64::to_bits), slow.map(f64::to_bits));
            }
        }
    }
}
