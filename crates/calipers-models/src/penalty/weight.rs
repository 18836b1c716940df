//! The weight of an edge and its derivatives, for one difference and for many at once.

use std::ops::{Add, Div, Mul, Sub};

use super::{Kind, Penalty, ScadScale, Weights};

/// What stands under a root in the published forms.
const SHIFT: f64 = 0.01;

/// The least difference of the exact form.
const FLOOR: f64 = 1e-8;

/// The derivatives of a weight.
pub(crate) struct Slopes {
    /// By the squared difference.
    pub(crate) by_square: f64,
    /// By the disagreement of the two nodes.
    pub(crate) by_disagreement: f64,
}

impl Penalty {
    /// The number that stands for the difference whose square is given.
    fn z(&self, y2: f64) -> f64 {
        match self.weights {
            Weights::Legacy => (y2.sqrt() + SHIFT).sqrt(),
            Weights::Fixed => (y2 + SHIFT).sqrt(),
            Weights::Exact => y2.sqrt().max(FLOOR),
        }
    }

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

    /// The weights of some edges in place of the squares of their differences.
    #[inline(always)]
    pub(crate) fn weigh<T: Real, const N: usize>(&self, squares: &mut [T; N], disagreements: &[T; N]) {
        let z = squares;
        let (shift, zero) = (T::of(SHIFT), T::of(0.0));
        match (self.kind, self.weights) {
            (Kind::L2, _) => {
                *z = [T::of(1.0); N];
                return;
            }
            (_, Weights::Legacy) => z.iter_mut().for_each(|z| *z = (z.sqrt() + shift).sqrt()),
            (_, Weights::Fixed) => z.iter_mut().for_each(|z| *z = (*z + shift).sqrt()),
            (_, Weights::Exact) => z.iter_mut().for_each(|z| *z = z.sqrt().or_greater(T::of(FLOOR))),
        }
        let half = T::of(0.5);
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

    /// How the weight changes. At no difference the derivative by the square counts as 0: it is only ever
    /// multiplied by that difference.
    pub(crate) fn slopes(&self, y2: f64, disagreement: f64) -> Slopes {
        let z = self.z(y2);
        let y = y2.sqrt();
        let stretch = match self.weights {
            Weights::Legacy if y > 0.0 => 0.25 / (z * y),
            Weights::Exact if y > FLOOR => 0.5 / y,
            Weights::Fixed => 0.5 / z,
            _ => 0.0,
        };
        let fall = -0.5 / (z * z);
        let gamma = self.knee();
        let (by_z, by_disagreement) = match self.kind {
            Kind::L2 => (0.0, 0.0),
            Kind::L1 => (fall, 0.0),
            Kind::Mcp => (if z < gamma { fall } else { 0.0 }, 0.0),
            Kind::Scad => {
                let a = self.scad_a;
                let fade = if z <= gamma / a {
                    1.0
                } else if z < gamma {
                    a / (a - 1.0)
                } else {
                    0.0
                };
                (self.scale() * fade * fall, 0.0)
            }
            Kind::Adaptive => {
                let excess = 0.5 / z - 0.5 / gamma;
                let by_z = if z < gamma { (1.0 - disagreement) * fall } else { -disagreement * fall };
                (by_z, -excess)
            }
        };
        Slopes { by_square: by_z * stretch, by_disagreement }
    }
}

/// Single or double precision.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn of(value: f64) -> Self;
    fn sqrt(self) -> Self;
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
            fn sqrt(self) -> Self {
                Self::sqrt(self)
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
    use crate::penalty::SCAD_A;

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
                let z = penalty.z(y2);
                // Not across a corner of the weight.
                prop_assume!((z / gamma - 1.0).abs() > 1e-4 && (z * SCAD_A / gamma - 1.0).abs() > 1e-4);
                let slopes = penalty.slopes(y2, h);
                let difference = (penalty.weight(y2 + step, h) - penalty.weight(y2 - step, h)) / (2.0 * step);
                prop_assert!((slopes.by_square - difference).abs() <= 1e-6 * (1.0 + difference.abs()), "{penalty:?}");
                if penalty.kind == Kind::Adaptive {
                    let rise = penalty.weight(y2, 1.0) - penalty.weight(y2, 0.0);
                    prop_assert!((slopes.by_disagreement - rise).abs() <= 1e-12);
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
            let slopes = penalty.slopes(0.0, 0.2);
            assert!(slopes.by_square.is_finite() && slopes.by_disagreement.is_finite(), "{penalty:?}");
        }
    }
}
