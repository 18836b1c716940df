//! The pinned functions against values worked out with 500 bits, and at the ends of their ranges.

use calipers_core::functions::{exp, ln, log1p, sigmoid, tanh};

type Function = fn(f64) -> f64;

const FUNCTIONS: [(&str, Function); 5] =
    [("exp", exp), ("ln", ln), ("log1p", log1p), ("tanh", tanh), ("sigmoid", sigmoid)];

/// Checks `function(x)` against the bits of the expected value.
#[track_caller]
fn check(function: Function, x: f64, expected: f64) {
    let value = function(x);
    assert_eq!(value.to_bits(), expected.to_bits(), "at {x:e}: {value:e} instead of {expected:e}");
}

#[test]
fn random_and_hard_arguments_give_the_nearest_number() {
    let mut checked = [0; FUNCTIONS.len()];
    for line in include_str!("fixtures/math_points.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let place = FUNCTIONS.iter().position(|(name, _)| *name == words[0]).expect("a known function");
        let number = |word| f64::from_bits(u64::from_str_radix(word, 16).expect("hexadecimal bits"));
        check(FUNCTIONS[place].1, number(words[1]), number(words[2]));
        checked[place] += 1;
    }
    assert!(checked.iter().all(|&points| points > 500), "{checked:?}");
}

#[test]
fn nan_gives_nan() {
    for (name, function) in FUNCTIONS {
        assert!(function(f64::NAN).is_nan(), "{name}");
        assert!(function(-f64::NAN).is_nan(), "{name}");
    }
}

#[test]
fn infinities_give_the_limits() {
    let inf = f64::INFINITY;
    check(exp, inf, inf);
    check(exp, -inf, 0.0);
    check(ln, inf, inf);
    check(log1p, inf, inf);
    assert!(ln(-inf).is_nan() && log1p(-inf).is_nan());
    check(tanh, inf, 1.0);
    check(tanh, -inf, -1.0);
    check(sigmoid, inf, 1.0);
    check(sigmoid, -inf, 0.0);
}

#[test]
fn zeros_keep_their_sign_where_the_function_does() {
    for zero in [0.0, -0.0] {
        check(exp, zero, 1.0);
        check(ln, zero, f64::NEG_INFINITY);
        check(log1p, zero, zero);
        check(tanh, zero, zero);
        check(sigmoid, zero, 0.5);
    }
    check(ln, 1.0, 0.0);
    check(log1p, -1.0, f64::NEG_INFINITY);
    assert!(ln(-f64::MIN_POSITIVE).is_nan());
    assert!(log1p(-1.0 - f64::EPSILON).is_nan());
}

#[test]
fn values_too_large_or_too_small_become_infinities_and_zeros() {
    check(exp, 709.8, f64::INFINITY);
    check(exp, 1e300, f64::INFINITY);
    check(exp, -745.2, 0.0);
    check(exp, -1e300, 0.0);
    check(sigmoid, -745.2, 0.0);
    check(sigmoid, -1e300, 0.0);
    check(sigmoid, 1e300, 1.0);
    check(tanh, f64::MAX, 1.0);
    check(tanh, f64::MIN, -1.0);
}

#[test]
fn the_smallest_numbers_pass_unchanged_or_as_a_constant() {
    for x in [f64::from_bits(1), f64::MIN_POSITIVE, -f64::from_bits(7)] {
        check(log1p, x, x);
        check(tanh, x, x);
        check(exp, x, 1.0);
        check(sigmoid, x, 0.5);
    }
}

#[test]
fn functions_never_fall_where_they_rise() {
    let steps = |range: std::ops::Range<f64>| {
        (0..20_000).map(move |i| range.start + (range.end - range.start) * f64::from(i) / 20_000.0)
    };
    for (name, function) in FUNCTIONS {
        let range = match name {
            "ln" => 0.001..3.0,
            "log1p" => -0.999..2.0,
            _ => -50.0..50.0,
        };
        let values: Vec<f64> = steps(range).map(function).collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{name}");
    }
}

#[test]
fn arguments_just_beside_one_and_zero_neither_overflow_nor_lose_digits() {
    let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs.abs();
    for step in 1..4000 {
        let x = f64::from(step) / (1 << 20) as f64;
        for x in [x, -x] {
            assert!(near(log1p(x), x.ln_1p()), "log1p({x})");
            assert!(near(ln(1.0 + x), (1.0 + x).ln()), "ln(1 + {x})");
            assert!(near(tanh(x), x.tanh()), "tanh({x})");
        }
    }
}
