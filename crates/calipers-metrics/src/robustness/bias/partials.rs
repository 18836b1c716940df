//! The exact sum of a few floats as floats that do not overlap.

/// A sum without rounding: terms in ascending order of size, none of which shares a bit with
/// another.
#[derive(Clone, Debug, Default)]
pub(in crate::robustness) struct Partials(Vec<f64>);

impl Partials {
    /// The sum of nothing.
    pub(in crate::robustness) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a term; the sum stays finite.
    pub(in crate::robustness) fn add(&mut self, term: f64) {
        let mut carried = term;
        let mut kept = 0;
        for i in 0..self.0.len() {
            let (sum, error) = two_sum(carried, self.0[i]);
            if error.abs() > 0.0 {
                self.0[kept] = error;
                kept += 1;
            }
            carried = sum;
        }
        self.0.truncate(kept);
        if carried.abs() > 0.0 {
            self.0.push(carried);
        }
    }

    /// The terms.
    pub(in crate::robustness) fn terms(&self) -> &[f64] {
        &self.0
    }

    /// -1, 0 or 1.
    pub(in crate::robustness) fn sign(&self) -> i32 {
        self.0.last().map_or(0, |largest| if *largest > 0.0 { 1 } else { -1 })
    }

    /// The nearest f64, ties to even.
    pub(in crate::robustness) fn nearest(&self) -> f64 {
        self.nearest_and_rest().0
    }

    /// The nearest f32, ties to even.
    pub(in crate::robustness) fn nearest_single(&self) -> f32 {
        // Rounded to odd first, the second rounding sees on which side of a tie the sum lies.
        let (nearest, rest) = self.nearest_and_rest();
        let even = nearest.to_bits() & 1 == 0;
        let odd = match (even, rest.signum()) {
            (true, 1) => nearest.next_up(),
            (true, -1) => nearest.next_down(),
            _ => nearest,
        };
        odd as f32
    }

    /// The nearest f64, and the sign of what it lacks.
    fn nearest_and_rest(&self) -> (f64, i32) {
        let mut terms = self.0.iter().rev().copied();
        let Some(mut high) = terms.next() else { return (0.0, 0) };
        let mut low = 0.0;
        for term in terms.by_ref() {
            (high, low) = two_sum(high, term);
            if low.abs() > 0.0 {
                break;
            }
        }
        // Of two equally near floats the even one was taken, though smaller terms may point to the other.
        if let Some(next) = terms.next()
            && (next > 0.0) == (low > 0.0)
        {
            let step = 2.0 * low;
            let other = high + step;
            if (other - high).to_bits() == step.to_bits() {
                return (other, if low > 0.0 { -1 } else { 1 });
            }
        }
        (high, if low > 0.0 { 1 } else { -i32::from(low < 0.0) })
    }
}

/// The rounded sum and what the rounding lost, exactly.
#[inline(always)]
pub(in crate::robustness) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// The rounded product and what the rounding lost: exact while the product is 0 or no smaller than
/// 2^-968 and the factors are below 2^995.
#[inline(always)]
pub(in crate::robustness) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, error)
}

/// The rounded square and what the rounding lost; see [`two_product`].
#[inline(always)]
pub(in crate::robustness) fn two_square(a: f64) -> (f64, f64) {
    let product = a * a;
    let (high, low) = halves(a);
    let error = ((high * high - product) + 2.0 * high * low) + low * low;
    (product, error)
}

/// A float as two of half its length.
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    const SPLIT: f64 = ((1u64 << 27) + 1) as f64;
    let scaled = SPLIT * x;
    let high = scaled - (scaled - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use calipers_core::exact::Rational;

    fn exact(terms: &[f64]) -> Rational {
        terms.iter().fold(Rational::whole(0), |sum, &term| sum.plus(&Rational::of(term)))
    }

    fn partials(terms: &[f64]) -> Partials {
        let mut partials = Partials::default();
        terms.iter().for_each(|&term| partials.add(term));
        partials
    }

    /// Floats whose sums often need several partials and often are ties.
    fn term() -> impl Strategy<Value = f64> {
        (-9i64..9, -120i32..120).prop_map(|(digits, exponent)| digits as f64 * 2f64.powi(exponent))
    }

    proptest! {
        #[test]
        fn sums_are_exact_and_rounded_once(terms in prop::collection::vec(term(), 0..9)) {
            let (partials, oracle) = (partials(&terms), exact(&terms));
            prop_assert_eq!(&exact(partials.terms()), &oracle);
            prop_assert_eq!(partials.nearest().to_bits(), oracle.nearest().to_bits());
            prop_assert_eq!(partials.nearest_single().to_bits(), oracle.nearest_single().to_bits());
            prop_assert_eq!(partials.sign(), i32::from(partials.nearest() > 0.0) - i32::from(partials.nearest() < 0.0));
        }

        #[test]
        fn any_floats_sum_exactly(terms in prop::collection::vec(-1e300..1e300f64, 0..9)) {
            prop_assert_eq!(partials(&terms).nearest().to_bits(), exact(&terms).nearest().to_bits());
        }

        #[test]
        fn products_lose_nothing(a in -1e140..1e140f64, b in -1e140..1e140f64) {
            let (product, error) = two_product(a, b);
            prop_assert_eq!(exact(&[product, error]), Rational::of(a).times(&Rational::of(b)));
            let (square, error) = two_square(a);
            prop_assert_eq!(exact(&[square, error]), Rational::of(a).times(&Rational::of(a)));
        }
    }

    #[test]
    fn a_term_too_small_to_see_breaks_a_tie() {
        let half = f64::EPSILON / 2.0;
        assert_eq!(partials(&[1.0, half]).nearest().to_bits(), 1f64.to_bits());
        assert_eq!(partials(&[1.0, half, 1e-200]).nearest().to_bits(), 1f64.next_up().to_bits());
        let tie = f64::from(f32::EPSILON) / 2.0;
        assert_eq!(partials(&[1.0, tie, 1e-200]).nearest_single().to_bits(), 1f32.next_up().to_bits());
    }
}
