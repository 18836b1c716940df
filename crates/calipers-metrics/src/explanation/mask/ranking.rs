//! Elements in the order of their values: pairs, precision, the highest places, concentration.

use calipers_core::ExactSum;
use calipers_core::stop::Turns;

use super::layout::{Bits, Values};
use super::sorting::Sortable;
use crate::explanation::row::Top;

/// How many distinct values are read between two questions whether they are still wanted.
const LEVELS: u32 = 1 << 16;

/// The keys of true and of other elements, each ascending. A key rises with its value, 0.0 and -0.0
/// have the same, and NaN has the highest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ranking {
    Single(Split<u32>),
    Double(Split<u64>),
}

/// Ascending keys, those of the true elements first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split<K> {
    keys: Vec<K>,
    positives: usize,
}

/// All elements of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    /// The value.
    pub(crate) value: f64,
    /// True elements that have it.
    pub(crate) positives: u64,
    /// Other elements that have it.
    pub(crate) negatives: u64,
}

/// What the order says about a mask and its truth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    pub(crate) twice_auroc: u128,
    pub(crate) precision: ExactSum,
    pub(crate) top: Top,
}

impl Ranking {
    /// The order of some values; without a truth all elements count as others.
    pub(crate) fn new(values: &Values<'_>, truth: Option<&Bits<'_>>) -> Self {
        match values {
            Values::Single(values) => {
                Self::Single(Split::new(values.len(), truth, |element| single_key(values[element])))
            }
            Values::Double(values) => {
                // Values that were stored in single precision have short keys.
                let short =
                    values.iter().fold(true, |all, &v| all & (f64::from(v as f32).to_bits() == v.to_bits()));
                if short {
                    let key = |element: usize| single_key(values[element] as f32);
                    Self::Single(Split::new(values.len(), truth, key))
                } else {
                    Self::Double(Split::new(values.len(), truth, |element| double_key(values[element])))
                }
            }
        }
    }

    /// The order of the sizes of some values.
    pub(crate) fn by_size(values: &Values<'_>) -> Self {
        match values {
            Values::Single(values) => {
                Self::Single(Split::new(values.len(), None, |element| single_key(values[element].abs())))
            }
            Values::Double(values) => {
                Self::Double(Split::new(values.len(), None, |element| double_key(values[element].abs())))
            }
        }
    }

    /// Every distinct value, ascending.
    pub(crate) fn levels(&self, each: impl FnMut(Level)) {
        match self {
            Self::Single(split) => split.levels(|key| f64::from(single_value(key)), each),
            Self::Double(split) => split.levels(double_value, each),
        }
    }

    /// Twice the number of pairs that are in order, ties counting once.
    pub(crate) fn twice_auroc(&self) -> u128 {
        let (mut twice, mut below) = (0u128, 0u64);
        self.levels(|level| {
            twice += u128::from(level.positives) * u128::from(2 * below + level.negatives);
            below += level.negatives;
        });
        twice
    }

    /// Everything the order says.
    pub(crate) fn order(&self) -> Order {
        let (all, places) = match self {
            Self::Single(split) => (split.keys.len() as u64, split.positives as u64),
            Self::Double(split) => (split.keys.len() as u64, split.positives as u64),
        };
        let mut order = Order::default();
        let (mut positives, mut negatives) = (0u64, 0u64);
        let mut terms = Vec::with_capacity(256);
        self.levels(|level| {
            if level.positives > 0 {
                let pairs = 2 * negatives + level.negatives;
                order.twice_auroc += u128::from(level.positives) * u128::from(pairs);
                let (hits, selected) = (places - positives, all - positives - negatives);
                terms.push(level.positives as f64 * (hits as f64 / selected as f64));
                if terms.len() == terms.capacity() {
                    order.precision.add_slice(&terms);
                    terms.clear();
                }
            }
            let (down_to, ties) = (all - positives - negatives, level.positives + level.negatives);
            if down_to >= places && down_to - ties < places {
                order.top = Top {
                    hits: places - positives - level.positives,
                    slots: places - (down_to - ties),
                    ties,
                    tie_hits: level.positives,
                };
            }
            positives += level.positives;
            negatives += level.negatives;
        });
        order.precision.add_slice(&terms);
        order
    }
}

impl<K: Copy + Default + Ord + Sortable> Split<K> {
    fn new(elements: usize, truth: Option<&Bits<'_>>, key: impl Fn(usize) -> K) -> Self {
        let mut keys = vec![K::default(); elements];
        let mut positives = 0;
        match truth {
            None => (0..elements).for_each(|element| keys[element] = key(element)),
            Some(truth) => {
                // True elements fill the front, the others the back.
                let mut back = elements;
                truth.blocks(None, |range, block, _| {
                    for (element, &is_true) in range.zip(block) {
                        back -= usize::from(!is_true);
                        keys[if is_true { positives } else { back }] = key(element);
                        positives += usize::from(is_true);
                    }
                });
            }
        }
        let (front, rest) = keys.split_at_mut(positives);
        K::sort(front);
        K::sort(rest);
        Self { keys, positives }
    }

    fn levels(&self, value: impl Fn(K) -> f64, mut each: impl FnMut(Level)) {
        let (positives, negatives) = self.keys.split_at(self.positives);
        let (mut p, mut n, mut turns) = (0, 0, Turns::every(LEVELS));
        while p < positives.len() || n < negatives.len() {
            if turns.asked() {
                return;
            }
            let key = match (positives.get(p), negatives.get(n)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&key), None) | (None, Some(&key)) => key,
                (None, None) => break,
            };
            let (from_p, from_n) = (p, n);
            while positives.get(p) == Some(&key) {
                p += 1;
            }
            while negatives.get(n) == Some(&key) {
                n += 1;
            }
            let (positives, negatives) = ((p - from_p) as u64, (n - from_n) as u64);
            each(Level { value: value(key), positives, negatives });
        }
    }
}

fn single_key(value: f32) -> u32 {
    if value.is_nan() {
        return u32::MAX;
    }
    // Adding 0 turns -0.0 into 0.0.
    let bits = (value + 0.0).to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

fn single_value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key ^ 1 << 31 } else { !key })
}

fn double_key(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    let bits = (value + 0.0).to_bits();
    bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
}

fn double_value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;
    use calipers_core::NumberSlice;

    /// Whether two numbers are the same; both zeros are.
    fn equal(a: f64, b: f64) -> bool {
        a.partial_cmp(&b).is_some_and(|order| order.is_eq())
    }

    /// Pairs, precision and places, straight from the definitions.
    fn slow(values: &[f64], truth: &[bool]) -> (u128, f64, Top) {
        let chosen =
            |wanted: bool| values.iter().zip(truth).filter(move |(_, t)| **t == wanted).map(|(v, _)| *v);
        let twice = chosen(true)
            .flat_map(|p| chosen(false).map(move |n| u128::from(p > n) * 2 + u128::from(equal(p, n))))
            .sum();
        let mut levels = values.to_vec();
        levels.sort_by(|a, b| b.partial_cmp(a).unwrap());
        let places = chosen(true).count();
        let last = if places == 0 { f64::INFINITY } else { levels[places - 1] };
        levels.dedup_by(|a, b| equal(*a, *b));
        let (mut precision, mut before) = (0.0, 0.0);
        for level in levels {
            let hits = chosen(true).filter(|v| *v >= level).count() as f64;
            let down_to = values.iter().filter(|v| **v >= level).count() as f64;
            precision += (hits - before) * (hits / down_to);
            before = hits;
        }
        let above = values.iter().filter(|v| **v > last).count() as u64;
        let top = Top {
            hits: chosen(true).filter(|v| *v > last).count() as u64,
            slots: places as u64 - above.min(places as u64),
            ties: values.iter().filter(|v| equal(**v, last)).count() as u64,
            tie_hits: chosen(true).filter(|v| equal(*v, last)).count() as u64,
        };
        (twice, precision, top)
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_definitions(
            elements in prop::collection::vec((prop_oneof![-4i32..5, any::<i32>()], any::<bool>()), 0..120),
            scale in prop::sample::select(vec![0.25, 0.1, 1e-300]),
        ) {
            let doubles: Vec<f64> = elements.iter().map(|(v, _)| f64::from(*v) * scale).collect();
            let singles: Vec<f32> = doubles.iter().map(|v| *v as f32).collect();
            let widened: Vec<f64> = singles.iter().map(|v| f64::from(*v)).collect();
            let truth: Vec<bool> = elements.iter().map(|(_, t)| *t).collect();
            let bits = Bits::at_least(NumberSlice::Bool(&truth), 0.5);
            for (values, stored) in [
                (Values::Double(Cow::Borrowed(&doubles[..])), &doubles),
                (Values::Single(Cow::Borrowed(&singles[..])), &widened),
            ] {
                let ranking = Ranking::new(&values, Some(&bits));
                let order = ranking.order();
                let (twice, precision, top) = slow(stored, &truth);
                prop_assert_eq!(order.twice_auroc, twice);
                prop_assert_eq!(ranking.twice_auroc(), twice);
                prop_assert!((order.precision.value() - precision).abs() < 1e-10);
                if truth.contains(&true) {
                    prop_assert_eq!(order.top, top);
                }
            }
        }

        #[test]
        fn keys_rise_with_values_and_give_them_back(a: f32, b: f32) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(single_key(a).cmp(&single_key(b)), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(single_value(single_key(a)).to_bits(), (a + 0.0).to_bits());
            let (x, y) = (f64::from(a) * 1.1, f64::from(b) * 1.1);
            prop_assert_eq!(double_key(x).cmp(&double_key(y)), x.partial_cmp(&y).unwrap());
            prop_assert_eq!(double_value(double_key(x)).to_bits(), (x + 0.0).to_bits());
        }
    }

    #[test]
    fn both_zeros_tie_and_nan_ranks_above_everything() {
        assert_eq!(single_key(-0.0), single_key(0.0));
        assert!(single_key(-f32::NAN) > single_key(f32::INFINITY));
        assert!(double_key(-f64::NAN) > double_key(f64::INFINITY));
    }

    #[test]
    fn many_values_give_the_same_pairs_as_few() {
        let mut random = calipers_core::SplitMix64::new(5);
        let values: Vec<f32> = (0..50_000).map(|_| random.below(300) as f32 / 64.0 - 2.0).collect();
        let truth: Vec<bool> = (0..50_000).map(|_| random.below(3) == 0).collect();
        let bits = Bits::at_least(NumberSlice::Bool(&truth), 0.5);
        let mut counts = [[0u128; 2]; 300];
        for (value, is_true) in values.iter().zip(&truth) {
            counts[((value + 2.0) * 64.0) as usize][usize::from(*is_true)] += 1;
        }
        let (mut twice, mut below) = (0, 0);
        for [negatives, positives] in counts {
            twice += positives * (2 * below + negatives);
            below += negatives;
        }
        assert_eq!(Ranking::new(&Values::Single(Cow::Borrowed(&values)), Some(&bits)).twice_auroc(), twice);
    }
}
