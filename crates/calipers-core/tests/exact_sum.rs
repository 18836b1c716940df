//! Exact sums against whole-number arithmetic: every case rounded right, whatever the order.

use calipers_core::exact::{Rational, exact_sum};
use calipers_core::{ExactSum, SplitMix64};
use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

/// The slow and obvious sum: every term as a whole number of 2^-1074, rounded by comparing with
/// the midpoint of the two neighbours.
fn oracle(terms: &[f64]) -> f64 {
    let total: BigInt = terms.iter().map(|&term| whole(term)).sum();
    let magnitude = total.magnitude();
    let excess = magnitude.bits().saturating_sub(53);
    let mut kept = magnitude >> excess;
    let rest = magnitude - (&kept << excess);
    let twice: BigUint = rest << 1;
    let unit = BigUint::from(1u8) << excess;
    if twice > unit || (twice == unit && kept.bit(0)) {
        kept += 1u8;
    }
    // `kept` counts units of the binade, so counting up from its first f64 finds the result.
    let kept = u64::try_from(&kept).expect("53 or 54 bits");
    let bits = if excess == 0 { kept } else { (excess << 52) + kept };
    let rounded = if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) };
    if total.sign() == Sign::Minus { -rounded } else { rounded }
}

fn whole(term: f64) -> BigInt {
    let exponent = (term.abs().to_bits() >> 52) as u32;
    let fraction = term.to_bits() & ((1 << 52) - 1);
    let significand = if exponent == 0 { fraction } else { fraction | (1 << 52) };
    let magnitude = BigInt::from(significand) << exponent.saturating_sub(1);
    if term.is_sign_negative() { -magnitude } else { magnitude }
}

/// Sums the terms in one piece, one by one, shuffled, and through a random tree of merges.
fn check(terms: &mut [f64], random: &mut SplitMix64) {
    let expected = oracle(terms);
    let mut whole = ExactSum::new();
    whole.add_slice(terms);
    assert_eq!(whole.value().to_bits(), expected.to_bits(), "{terms:?}");
    shuffle(terms, random);
    let mut one_by_one = ExactSum::new();
    terms.iter().for_each(|&term| one_by_one.add(term));
    assert_eq!(whole, one_by_one, "{terms:?}");
    assert_eq!(whole, merged(terms, random), "{terms:?}");
}

fn merged(terms: &[f64], random: &mut SplitMix64) -> ExactSum {
    if terms.len() < 4 {
        return terms.iter().copied().collect();
    }
    let (left, right) = terms.split_at(random.below(terms.len() as u64) as usize);
    let mut sum = merged_flat(left);
    sum.merge(&merged(right, random));
    sum
}

fn merged_flat(terms: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    sum.extend(terms.iter().copied());
    sum
}

fn shuffle(terms: &mut [f64], random: &mut SplitMix64) {
    for i in (1..terms.len()).rev() {
        terms.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// A finite number with any sign and significand and an exponent field from the given range.
fn number(random: &mut SplitMix64, exponents: std::ops::Range<u64>) -> f64 {
    let bits = random.next_u64();
    let exponent = exponents.start + random.below(exponents.end - exponents.start);
    let fraction = match bits & 7 {
        0 => 0,
        1 => (1 << 52) - 1,
        2 => 1,
        _ => (bits >> 8) & ((1 << 52) - 1),
    };
    f64::from_bits((bits & (1 << 63)) | (exponent << 52) | fraction)
}

fn cases() -> u64 {
    if std::env::var_os("CALIPERS_CAMPAIGN").is_some() { 1_000_000 } else { 100_000 }
}

#[test]
fn random_sums_are_rounded_right_in_any_order_and_grouping() {
    let mut random = SplitMix64::new(1);
    for case in 0..cases() {
        let exponents = match case % 8 {
            0 => 0..3,
            1 => 2040..2047,
            2 => 0..2047,
            3 => 1020..1026,
            4 => 1000..1080,
            5 => 950..1150,
            6 => 0..60,
            _ => 2000..2047,
        };
        let count = random.below(12);
        let mut terms: Vec<f64> = (0..count).map(|_| number(&mut random, exponents.clone())).collect();
        // Terms that cancel all but the last few bits.
        if case % 3 == 0 {
            let opposite: Vec<f64> = terms.iter().map(|term| -term).collect();
            terms.extend(opposite);
            terms.push(number(&mut random, exponents));
        }
        check(&mut terms, &mut random);
    }
}

#[test]
fn ill_conditioned_sums_are_rounded_right() {
    let mut random = SplitMix64::new(2);
    for case in 0..cases() / 10 {
        // Large terms that cancel, exactly or but for small ones: the condition number reaches 2^100.
        let spread = 1 + case % 100;
        let mut terms: Vec<f64> = (0..10).map(|_| number(&mut random, 1023..1024 + spread)).collect();
        for _ in 0..10 {
            let left = oracle(&terms);
            terms.push(-left);
            terms.push(number(&mut random, 1000..1023));
        }
        check(&mut terms, &mut random);
    }
}

#[test]
fn long_slices_are_summed_as_exactly_as_short_ones() {
    let mut random = SplitMix64::new(3);
    let lengths = [63, 64, 65, 255, 257, 4095, 4096, 4097, 20_003];
    let widths = [1..2, 1022..1024, 1000..1024, 960..1024, 900..1024, 860..1024, 0..2047, 0..1024];
    for exponents in widths {
        for length in lengths {
            let mut terms: Vec<f64> = (0..length).map(|_| number(&mut random, exponents.clone())).collect();
            check(&mut terms, &mut random);
        }
    }
}

#[test]
fn a_slice_may_change_its_scale_on_the_way() {
    let mut random = SplitMix64::new(4);
    for exponents in [[1000, 1020, 1040], [1300, 1000, 700], [10, 2000, 10], [1023, 900, 1023]] {
        let mut terms: Vec<f64> = Vec::new();
        for exponent in exponents {
            terms.extend((0..9000).map(|_| number(&mut random, exponent..exponent + 4)));
            terms.extend([0.0, -0.0]);
        }
        let mut sum = ExactSum::new();
        sum.add_slice(&terms);
        assert_eq!(sum.value().to_bits(), oracle(&terms).to_bits());
        check(&mut terms, &mut random);
    }
}

#[test]
fn thousands_of_equal_terms_one_by_one_lose_no_carry() {
    for exponent in 1000..1032 {
        let longest = f64::from_bits((exponent << 52) | ((1 << 52) - 1));
        for term in [longest, -longest] {
            let mut sum = ExactSum::new();
            (0..5000).for_each(|_| sum.add(term));
            assert_eq!(sum.value().to_bits(), (5000.0 * term).to_bits());
        }
    }
}

#[test]
fn a_total_beyond_the_largest_number_on_the_way_does_no_harm() {
    let mut terms = vec![f64::MAX; 5000];
    terms.extend([-f64::MAX; 4999]);
    assert_eq!(exact_sum(terms.iter().copied()).to_bits(), f64::MAX.to_bits());
    terms.push(f64::MAX);
    assert!(exact_sum(terms.iter().copied()).is_infinite());
    let half_unit = f64::from_bits((2046 - 53) << 52);
    assert!(exact_sum([f64::MAX, half_unit]).is_infinite());
    assert_eq!(exact_sum([f64::MAX, half_unit, -f64::MIN_POSITIVE]).to_bits(), f64::MAX.to_bits());
    assert!(exact_sum([f64::MIN, -half_unit]).is_infinite());
}

#[test]
fn ties_go_to_even_and_the_smallest_bit_breaks_them() {
    let tiny = f64::from_bits(1);
    assert_eq!(exact_sum([1.0, f64::EPSILON / 2.0]).to_bits(), 1f64.to_bits());
    assert_eq!(exact_sum([1.0, f64::EPSILON / 2.0, tiny]).to_bits(), (1.0 + f64::EPSILON).to_bits());
    assert_eq!(
        exact_sum([1.0 + f64::EPSILON, f64::EPSILON / 2.0]).to_bits(),
        (1.0 + 2.0 * f64::EPSILON).to_bits()
    );
    assert_eq!(exact_sum([-1.0, 1.0, tiny]).to_bits(), 1);
    assert_eq!(exact_sum([f64::MIN_POSITIVE, -tiny]).to_bits(), f64::MIN_POSITIVE.to_bits() - 1);
}

#[test]
fn infinities_and_nan_are_noted_aside() {
    let inf = f64::INFINITY;
    for length in [1, 100, 10_000] {
        let mut terms = vec![1.5; length];
        terms[length / 2] = inf;
        assert_eq!(exact_sum(terms.iter().copied()).to_bits(), inf.to_bits());
        terms[length / 2] = -inf;
        assert_eq!(exact_sum(terms.iter().copied()).to_bits(), (-inf).to_bits());
        terms[0] = inf;
        terms.push(-inf);
        assert!(exact_sum(terms.iter().copied()).is_nan());
        terms[0] = f64::NAN;
        assert!(exact_sum(terms.iter().copied()).is_nan());
    }
    let (mut left, right) = (ExactSum::from_iter([inf, 3.0]), ExactSum::from_iter([inf]));
    assert_eq!(left, right);
    left.merge(&ExactSum::from_iter([-inf]));
    assert_eq!(left, ExactSum::from_iter([f64::NAN]));
}

#[test]
fn the_sum_of_nothing_is_a_positive_zero_and_neutral() {
    assert_eq!(exact_sum([]).to_bits(), 0);
    assert_eq!(exact_sum([-0.0, -0.0]).to_bits(), 0);
    assert!(ExactSum::from_iter([1e300, -1e300]).is_zero());
    assert!(!ExactSum::from_iter([f64::from_bits(1)]).is_zero());
    assert!(!ExactSum::from_iter([f64::NAN]).is_zero());
    let mut sum = ExactSum::from_iter([0.1, 0.2]);
    let before = sum.clone();
    sum.merge(&ExactSum::new());
    assert_eq!(sum, before);
}

fn bytes(sum: &ExactSum) -> Vec<u8> {
    postcard::to_allocvec(sum).expect("a sum can be written")
}

#[test]
fn equal_sums_have_equal_bytes_and_come_back() {
    let mut random = SplitMix64::new(5);
    for _ in 0..2000 {
        let count = random.below(20);
        let mut terms: Vec<f64> = (0..count).map(|_| number(&mut random, 0..2047)).collect();
        let sum: ExactSum = terms.iter().copied().collect();
        shuffle(&mut terms, &mut random);
        assert_eq!(bytes(&sum), bytes(&merged(&terms, &mut random)));
        let back: ExactSum = postcard::from_bytes(&bytes(&sum)).expect("what was written can be read");
        assert_eq!(back, sum);
        assert_eq!(bytes(&back), bytes(&sum));
        let json = serde_json::to_string(&sum).expect("a sum can be written as JSON");
        assert_eq!(serde_json::from_str::<ExactSum>(&json).expect("and read"), sum);
    }
    for special in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0] {
        let sum = ExactSum::from_iter([special]);
        let back: ExactSum = postcard::from_bytes(&bytes(&sum)).expect("what was written can be read");
        assert_eq!(back, sum);
        assert_eq!(bytes(&sum).len(), 3);
    }
    assert!(bytes(&ExactSum::from_iter([1.0; 1000])).len() <= 6);
}

#[test]
fn damaged_bytes_are_refused_or_read_as_the_one_form_of_another_sum() {
    let written = bytes(&ExactSum::from_iter([1e10, 0.1, -3e-5]));
    for end in 0..written.len() {
        assert!(postcard::from_bytes::<ExactSum>(&written[..end]).is_err());
    }
    for place in 0..written.len() {
        for byte in 0..=255 {
            let mut damaged = written.clone();
            damaged[place] = byte;
            if let Ok((sum, rest)) = postcard::take_from_bytes::<ExactSum>(&damaged) {
                assert_eq!(bytes(&sum), damaged[..damaged.len() - rest.len()]);
            }
        }
    }
    let forms = [
        r#"{"sort":"Positive","lowest":0,"magnitude":[0,1]}"#,
        r#"{"sort":"Positive","lowest":0,"magnitude":[1,0]}"#,
        r#"{"sort":"Positive","lowest":1,"magnitude":[]}"#,
        r#"{"sort":"Negative","lowest":0,"magnitude":[]}"#,
        r#"{"sort":"Nan","lowest":0,"magnitude":[1]}"#,
        r#"{"sort":"Positive","lowest":270,"magnitude":[1]}"#,
        r#"{"sort":"Positive","lowest":65535,"magnitude":[1]}"#,
    ];
    for form in forms {
        assert!(serde_json::from_str::<ExactSum>(form).is_err(), "{form}");
    }
}

proptest! {
    #[test]
    fn a_sum_over_a_number_is_the_nearest_float(
        terms in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 0..9),
        small in prop::collection::vec(-1e-300..1e-300f64, 0..9),
        divisor in 1u64..,
    ) {
        for terms in [terms, small] {
            let exact = terms.iter().fold(Rational::whole(0), |sum, &term| sum.plus(&Rational::of(term)));
            let nearest = exact.over(&Rational::whole(divisor)).nearest();
            let sum: ExactSum = terms.into_iter().collect();
            prop_assert_eq!(sum.over(divisor).to_bits(), nearest.to_bits());
        }
    }
}
