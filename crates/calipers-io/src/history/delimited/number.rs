//! Numbers in cells.

use calipers_core::Error;

use super::super::few_digits::few_digits;
use crate::text::shown;

/// The words that say that nothing was logged, besides an empty cell.
const NOT_LOGGED: [&str; 4] = ["NA", "N/A", "None", "null"];

/// What the cell of a number holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Logged {
    /// A number, NaN and infinity among them.
    Number(f64),
    /// Nothing was logged.
    Nothing,
    /// Something else.
    Unreadable,
}

/// Reads a cell; blanks around the number do not matter.
#[inline]
pub(super) fn read(text: &str, decimal_comma: bool) -> Logged {
    if let Some(number) = few_digits(text.as_bytes(), if decimal_comma { b',' } else { b'.' }) {
        return Logged::Number(number);
    }
    let text = text.trim_ascii();
    if text.is_empty() {
        return Logged::Nothing;
    }
    let number = if decimal_comma { with_comma(text) } else { text.parse().ok() };
    match number {
        Some(number) => Logged::Number(number),
        None if NOT_LOGGED.contains(&text) => Logged::Nothing,
        None => Logged::Unreadable,
    }
}

/// A number with a decimal comma; a point could only separate thousands and is refused.
fn with_comma(text: &str) -> Option<f64> {
    (!text.contains('.')).then(|| text.replacen(',', ".", 1).parse().ok()).flatten()
}

/// The error for a cell that holds no number.
pub(super) fn unreadable(text: &str, decimal_comma: bool) -> Error {
    let (sign, other) = if decimal_comma { ("comma", "point") } else { ("point", "comma") };
    let error = Error::format("not a number").found(shown(text.as_bytes())).allowed(format_args!(
        "a number with a decimal {sign}; empty, {} where nothing was logged",
        NOT_LOGGED.join(", ")
    ));
    match read(text, !decimal_comma) {
        Logged::Number(_) => {
            error.advice(format_args!("for numbers with a decimal {other} use --decimal {other}"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bits of a number, none where nothing was logged; an error for anything else.
    fn bits(text: &str, decimal_comma: bool) -> Result<Option<u64>, ()> {
        match read(text, decimal_comma) {
            Logged::Number(number) => Ok(Some(number.to_bits())),
            Logged::Nothing => Ok(None),
            Logged::Unreadable => Err(()),
        }
    }

    #[test]
    fn decimal_and_scientific_notation_are_numbers() {
        for (text, number) in [
            ("0", 0.0),
            (" -0.5\t", -0.5),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
            ("0.34808212649066333", 0.348_082_126_490_663_33),
            ("99999999999999999999999", 1e23),
            ("4.9e-324", 5e-324),
            ("1e400", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
        ] {
            assert_eq!(bits(text, false), Ok(Some(f64::to_bits(number))), "{text}");
        }
        for text in ["nan", "NaN", "NAN", "-nan", "+NaN"] {
            assert!(matches!(read(text, false), Logged::Number(number) if number.is_nan()), "{text}");
        }
    }

    #[test]
    fn empty_cells_and_four_words_are_not_logged() {
        for text in ["", " ", "NA", "N/A", "None", "null", " NA\r"] {
            assert_eq!((bits(text, false), bits(text, true)), (Ok(None), Ok(None)), "{text:?}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "abc", "0x10", "1_000", "1,5", "1.000,5", "1 000", ".", "-", "e5", "1e", "--1", "1\0", "true",
            "na", "NULL", "n/a", "none", "\u{a0}1", "１",
        ] {
            assert_eq!(bits(text, false), Err(()), "{text:?}");
        }
    }

    #[test]
    fn a_decimal_comma_takes_the_place_of_the_point() {
        assert_eq!(bits("-1,5e2", true), Ok(Some(f64::to_bits(-150.0))));
        assert_eq!(bits("7", true), Ok(Some(f64::to_bits(7.0))));
        for text in ["1.5", "1.000,5", "1,000,5", ","] {
            assert_eq!(bits(text, true), Err(()), "{text}");
        }
        assert!(unreadable("1,5", false).to_string().contains("--decimal comma"));
        assert!(unreadable("1.5", true).to_string().contains("--decimal point"));
        assert!(!unreadable("abc", false).to_string().contains("--decimal"));
    }

    proptest! {
        #[test]
        fn every_number_survives_being_written(bits_in: u64) {
            let number = f64::from_bits(bits_in);
            prop_assume!(!number.is_nan());
            for text in [format!("{number}"), format!("{number:e}")] {
                prop_assert_eq!(bits(&text, false), Ok(Some(bits_in)));
                prop_assert_eq!(bits(&text.replace('.', ","), true), Ok(Some(bits_in)));
            }
        }
    }
}
