//! The one place where a float becomes text.

use serde_json::Number;

/// The shortest text that reads back to the same f64, as JSON writes it: `2.0`, `1e-7`. What is
/// not finite is `null`, since JSON has no other word for it.
pub fn shortest(x: f64) -> String {
    Number::from_f64(x).map_or_else(|| "null".into(), |number| number.to_string())
}

/// The number rounded for reading: four decimals from 1 on, four significant digits below.
/// `1.0` is exactly one, `1.0000` is close to it.
pub fn rounded(x: f64) -> String {
    if !x.is_finite() {
        return shortest(x);
    }
    if x.fract() == 0.0 && x.abs() < 1e15 {
        return format!("{x:.1}");
    }
    let scientific = format!("{x:.3e}");
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default();
    match exponent {
        -4..=-1 => format!("{x:.0$}", exponent.unsigned_abs() as usize + 3),
        0..=5 => format!("{x:.4}"),
        6..=14 => format!("{x:.1}"),
        _ => scientific,
    }
}

/// A whole number for reading: every digit of it up to 15, four significant ones beyond.
pub fn rounded_count(n: i128) -> String {
    if n.unsigned_abs() < 1_000_000_000_000_000 { n.to_string() } else { format!("{:.3e}", n as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_text_is_what_json_writes() {
        let texts: Vec<String> = [2.0, 1e-7, 0.1, -0.0, 1e300, 0.9851159475050728].map(shortest).into();
        assert_eq!(texts, ["2.0", "1e-7", "0.1", "-0.0", "1e+300", "0.9851159475050728"]);
        assert_eq!(shortest(f64::NAN), "null");
    }

    #[test]
    fn rounding_keeps_four_digits_that_matter() {
        let cases = [
            (0.98734, "0.9873"),
            (0.0123456, "0.01235"),
            (0.000123456, "0.0001235"),
            (0.0000123456, "1.235e-5"),
            (425.958, "425.9580"),
            (1.0, "1.0"),
            (0.0, "0.0"),
            (0.99996, "1.0000"),
            (-0.5, "-0.5000"),
            (12_345_678.9, "12345678.9"),
            (1.5e300, "1.500e300"),
            (638_943.0, "638943.0"),
        ];
        for (x, text) in cases {
            assert_eq!(rounded(x), text);
        }
    }

    #[test]
    fn counts_keep_their_digits_while_people_can_read_them() {
        assert_eq!(rounded_count(-638_943), "-638943");
        assert_eq!(rounded_count(999_999_999_999_999), "999999999999999");
        assert_eq!(rounded_count(i128::MAX), "1.701e38");
    }

    proptest! {
        #[test]
        fn exact_text_reads_back_to_the_same_bits(x in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO) {
            prop_assert_eq!(shortest(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
            prop_assert_eq!(serde_json::from_str::<f64>(&shortest(x)).unwrap().to_bits(), x.to_bits());
        }

        #[test]
        fn rounded_text_is_within_half_a_step_of_the_fourth_digit(x in -1e12f64..1e12) {
            let shown: f64 = rounded(x).parse().unwrap();
            prop_assert!((shown - x).abs() <= (x.abs() * 5.01e-4).min(0.051), "{} for {}", shown, x);
        }
    }
}
