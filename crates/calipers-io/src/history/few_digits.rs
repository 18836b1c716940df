//! Numbers as almost all histories write them.

/// A number of at most fifteen digits without an exponent, `mark` before its decimals. The digits
/// are a whole number below 2^53 and the power of ten is exact, so that the one division rounds as
/// it must.
#[inline]
pub(super) fn few_digits(text: &[u8], mark: u8) -> Option<f64> {
    const MOST: usize = 15;
    const POWERS: [f64; MOST + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |text| (true, text));
    // Beyond the mark there is one byte for each digit.
    if text.len() > MOST + 1 {
        return None;
    }
    let (mut digits, mut whole, mut decimals) = (0_u64, 0, None);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            digits = 10 * digits + u64::from(digit);
            whole += 1;
        } else if *byte == mark && decimals.is_none() {
            decimals = Some(whole);
        } else {
            return None;
        }
    }
    if !(1..=MOST).contains(&whole) {
        return None;
    }
    let number = digits as f64 / POWERS[whole - decimals.unwrap_or(whole)];
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_digits_are_the_number_that_the_standard_library_reads(
            text in prop_oneof!["-?[0-9]{0,9}[.,]?[0-9]{0,9}", "[-+0-9.,e ]{0,18}"],
        ) {
            for (mark, other) in [(b'.', ','), (b',', '.')] {
                let standard = text.replace(char::from(mark), ".").parse().ok().map(f64::to_bits);
                let standard = standard.filter(|_| !text.contains(other));
                let found = few_digits(text.as_bytes(), mark).map(f64::to_bits);
                let few = text.bytes().filter(u8::is_ascii_digit).count() <= 15;
                let plain = !text.contains(['+', 'e']);
                prop_assert_eq!(found, standard.filter(|_| few && plain), "{:?}", text);
            }
        }
    }
}
