//! Digits, eight bytes at a time.

use super::string::{EVERY, HIGH};

/// How many of eight bytes, the first lowest, are digits before anything else.
#[inline]
pub(in crate::history::json) fn leading_digits(word: u64) -> usize {
    let values = word ^ (EVERY * u64::from(b'0'));
    // The sum reaches the highest bit from 10 on and never goes beyond its byte.
    let others = (((values & !HIGH) + EVERY * (0x80 - 10)) | values) & HIGH;
    (others.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_are_counted_as_one_at_a_time(
            bytes in any::<[u8; 8]>(),
            digits in prop_oneof!["[0-9]{8}", "[0-9:/]{8}"],
            place in 0_usize..8,
        ) {
            let digits: [u8; 8] = *digits.as_bytes().first_chunk().unwrap();
            let mut one_other = digits;
            one_other[place] = bytes[place];
            for bytes in [bytes, digits, one_other] {
                let slow = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
                prop_assert_eq!(leading_digits(u64::from_le_bytes(bytes)), slow);
            }
        }
    }
}
