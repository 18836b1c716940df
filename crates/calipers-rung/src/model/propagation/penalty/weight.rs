//! The weight of an edge and its derivatives, for one difference and for many at once.

use std::ops::{Add, Div, Mul, Sub};

use crate::model::penalty::{Kind, Penalty, ScadScale, Weights};

/// What stands under a root in the published forms.
const SHIFT: f64 = 0.01;

/// The least difference of the exact form.
const FLOOR: f64 = 1e-8;

/// The derivatives of some weights.
pub(crate) struct Slopes<T, const N: usize> {
    /// By the squared difference.
    pub(crate) by_square: [T; N],
    /// By the disagreement of the two nodes.
    pub(crate) by_disagreement: [T; N],
}

impl Penalty {
    fn knee(&self) -> f64 {
        self.gamma.unwrap_or(f64::INFINITY)
    }

    fn scale(&self) -> f64 {
        match self.scad_scale {
            ScadScale::One => 1.0,
            ScadScale::Lambda => self.knee() / self.scad_a,
        }
    }

    /// The weight of an edge between nodes whose difference has the square `y2`; `disagreement` is read
    /// by the adaptive penalty alone.
    #[cfg(test)]
    pub(crate) fn weight(&self, y2: f64, disagreement: f64) -> f64 {
        let mut weights = [y2];
        self.weigh(&mut weights, &[disagreement]);
        weights[0]
    }

    /// What stands for differences in place of their squares.
    #[inline(always)]
    fn soften<T: Real>(&self, squares: &mut [T]) {
        let shift = T::of(SHIFT);
        match self.weights {
            Weights::Legacy => squares.iter_mut().for_each(|z| *z = (z.sqrt() + shift).sqrt()),
            Weights::Fixed => squares.iter_mut().for_each(|z| *z = (*z + shift).sqrt()),
            Weights::Exact => squares.iter_mut().for_each(|z| *z = z.sqrt().or_greater(T::of(FLOOR))),
        }
    }

    /// The weights of some edges in place of the squares of their differences.
    #[inline(always)]
    pub(crate) fn weigh<T: Real>(&self, squares: &mut [T], disagreements: &[T]) {
        if self.kind == Kind::L2 {
            squares.fill(T::of(1.0));
            return;
        }
        self.soften(squares);
        let z = squares;
        let (half, zero) = (T::of(0.5), T::of(0.0));
        let floor = T::of(0.5 / self.knee());
        match self.kind {
            Kind::L2 | Kind::L1 => z.iter_mut().for_each(|z| *z = half / *z),
            Kind::Mcp => z.iter_mut().for_each(|z| *z = (half / *z - floor).or_greater(zero)),
            Kind::Scad => {
                let gamma = T::of(self.knee());
                let width = T::of((self.scad_a - 1.0) * (self.knee() / self.scad_a));
                let scale = T::of(0.5 * self.scale());
                // The fading line reaches 1 where it begins, so that two bounds do for all three pieces.
                let fade = |z: T| ((gamma - z) / width).or_greater(zero).or_smaller(T::of(1.0));
                z.iter_mut().for_each(|z| *z = fade(*z) * scale / *z);
            }
            Kind::Adaptive => {
                for (z, &h) in z.iter_mut().zip(disagreements) {
                    let pull = half / *z;
                    let (near, far) = ((pull - floor).or_greater(zero), (floor - pull).or_greater(zero));
                    *z = (T::of(1.0) - h) * near + h * far;
                }
            }
        }
    }

    /// How the weights change. At no difference the derivative by the square counts as 0: it is only ever
    /// multiplied by that difference.
    #[inline(always)]
    pub(crate) fn slopes<T: Real, const N: usize>(
        &self,
        squares: &[T; N],
        disagreements: &[T; N],
    ) -> Slopes<T, N> {
        let zero = T::of(0.0);
        let mut slopes = Slopes { by_square: [zero; N], by_disagreement: [zero; N] };
        if self.kind == Kind::L2 {
            return slopes;
        }
        let mut softened = *squares;
        self.soften(&mut softened);
        let (half, gamma, least) = (T::of(0.5), T::of(self.knee()), T::of(FLOOR));
        let (flat, slower) = (T::of(self.knee() / self.scad_a), T::of(self.scad_a / (self.scad_a - 1.0)));
        let scale = T::of(self.scale());
        for k in 0..N {
            let (z, y, h) = (softened[k], squares[k].sqrt(), disagreements[k]);
            let stretch = match self.weights {
                Weights::Legacy => {
                    if y > zero {
                        T::of(0.25) / (z * y)
                    } else {
                        zero
                    }
                }
                Weights::Exact => {
                    if y > least {
                        half / y
                    } else {
                        zero
                    }
                }
                Weights::Fixed => half / z,
            };
            let fall = zero - half / (z * z);
            let by_z = match self.kind {
                Kind::L2 | Kind::L1 => fall,
                Kind::Mcp => {
                    if z < gamma {
                        fall
                    } else {
                        zero
                    }
                }
                Kind::Scad => {
                    let fading = if z < gamma { slower } else { zero };
                    scale * fall * if z <= flat { T::of(1.0) } else { fading }
                }
                Kind::Adaptive => {
                    slopes.by_disagreement[k] = half / gamma - half / z;
                    if z < gamma { (T::of(1.0) - h) * fall } else { zero - h * fall }
                }
            };
            slopes.by_square[k] = by_z * stretch;
        }
        slopes
    }
}

/// Single or double precision.
pub(crate) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Send
    + Sync
{
    fn of(value: f64) -> Self;
    fn of_single(value: f32) -> Self;
    fn wide(self) -> f64;
    fn sqrt(self) -> Self;
    /// `self * factor + term`, rounded once.
    fn times_plus(self, factor: Self, term: Self) -> Self;
    fn or_greater(self, other: Self) -> Self;
    fn or_smaller(self, other: Self) -> Self;
}

macro_rules! real {
    ($float:ty) => {
        impl Real for $float {
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn of_single(value: f32) -> Self {
                value.into()
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                Self::sqrt(self)
            }

            #[inline(always)]
            fn times_plus(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }

            // As one instruction; the standard functions also look for NaN.
            #[inline(always)]
            fn or_greater(self, other: Self) -> Self {
                if other > self { other } else { self }
            }

            #[inline(always)]
            fn or_smaller(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
        }
    };
}

real!(f32);
real!(f64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::penalty::SCAD_A;

    fn every_penalty(gamma: f64) -> Vec<Penalty> {
        let mut all = Vec::new();
        for &kind in Kind::ALL {
            for &weights in Weights::ALL {
                for &scale in ScadScale::ALL {
                    let gamma = kind.takes_gamma().then_some(gamma);
                    all.push(Penalty::new(kind, weights, gamma, SCAD_A, scale).unwrap());
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn slopes_are_the_limits_of_differences(y2 in 0.01f64..100.0, h in 0.0f64..1.0, gamma in 0.5f64..20.0) {
            for penalty in every_penalty(gamma) {
                let step = 1e-6 * y2;
                let mut z = [y2];
                penalty.soften(&mut z);
                let [z] = z;
                // Not across a corner of the weight.
                prop_assume!((z / gamma - 1.0).abs() > 1e-4 && (z * SCAD_A / gamma - 1.0).abs() > 1e-4);
                let slopes = penalty.slopes(&[y2], &[h]);
                let difference = (penalty.weight(y2 + step, h) - penalty.weight(y2 - step, h)) / (2.0 * step);
                prop_assert!((slopes.by_square[0] - difference).abs() <= 1e-6 * (1.0 + difference.abs()), "{penalty:?}");
                if penalty.kind == Kind::Adaptive {
                    let rise = penalty.weight(y2, 1.0) - penalty.weight(y2, 0.0);
                    prop_assert!((slopes.by_disagreement[0] - rise).abs() <= 1e-12);
                }
            }
        }

        #[test]
        fn single_precision_agrees_with_double(y2 in 0.0f64..200.0, h in 0.0f64..1.0, gamma in 0.5f64..20.0) {
            for penalty in every_penalty(gamma) {
                let mut squares = [y2 as f32; 16];
                penalty.weigh(&mut squares, &[h as f32; 16]);
                let exact = penalty.weight(f64::from(y2 as f32), f64::from(h as f32));
                prop_assert!((f64::from(squares[3]) - exact).abs() <= 1e-6 * (exact + 1.0 / gamma), "{penalty:?}");
            }
        }

        #[test]
        fn pruning_penalties_weigh_nothing_from_their_cutoff_on(y in 0.0f64..100.0, gamma in 0.5f64..8.0) {
            for penalty in every_penalty(gamma) {
                if let Some(cutoff) = penalty.cutoff() {
                    prop_assert_eq!(penalty.weight(y * y, 0.0) > 1e-15, y < cutoff, "{:?}", penalty);
                }
            }
        }
    }

    #[test]
    fn equal_nodes_have_a_finite_slope() {
        for penalty in every_penalty(3.0) {
            let Slopes { by_square: [square], by_disagreement: [disagreement] } =
                penalty.slopes(&[0.0], &[0.2]);
            assert!(f64::is_finite(square) && f64::is_finite(disagreement), "{penalty:?}");
        }
    }
}
