//! Strings: where they end, and what they say.

/// Where a string goes wrong and what is allowed there.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::history::json) struct Stop {
    pub(in crate::history::json) at: usize,
    pub(in crate::history::json) allowed: &'static str,
}

/// The end of the string whose first character is at `at`, behind its closing quote, and whether
/// it holds escapes.
#[inline]
pub(in crate::history::json) fn end(bytes: &[u8], at: usize) -> Result<(usize, bool), Stop> {
    let mut at = plain(bytes, at);
    if bytes.get(at) == Some(&b'"') {
        return Ok((at + 1, false));
    }
    loop {
        at = match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, true)),
            Some(b'\\') => plain(bytes, escape(bytes, at + 1)?),
            Some(_) => return Err(Stop { at, allowed: "a text without bare control characters" }),
            None => return Err(Stop { at, allowed: "`\"` at the end of the text" }),
        };
    }
}

/// Every byte 1.
pub(in crate::history::json) const EVERY: u64 = u64::MAX / 255;
/// The highest bit of every byte.
pub(in crate::history::json) const HIGH: u64 = EVERY * 0x80;

/// Whether a text stands between quotes as it is.
pub(in crate::history::json) fn is_plain(text: &str) -> bool {
    plain(text.as_bytes(), 0) == text.len()
}

/// The first place from `at` on that holds a quote, a backslash or a control character.
#[inline]
fn plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*eight);
        // A borrow can mark a byte above a marked one wrongly, never one below the first.
        let below = |limit: u64, word: u64| word.wrapping_sub(EVERY * limit) & !word & HIGH;
        let zero = |word: u64| below(1, word);
        let marked = below(0x20, word)
            | zero(word ^ (EVERY * u64::from(b'"')))
            | zero(word ^ (EVERY * u64::from(b'\\')));
        if marked != 0 {
            return at + (marked.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')).unwrap_or(rest.len())
}

/// The place behind the escape whose letter is at `at`.
#[cold]
fn escape(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => match unit(bytes, at + 1)? {
            0xDC00..=0xDFFF => Err(Stop { at, allowed: "a high surrogate before the low one" }),
            0xD800..=0xDBFF => {
                let pair = Stop { at: at + 5, allowed: "the low surrogate that completes the high one" };
                if bytes.get(at + 5) != Some(&b'\\') || bytes.get(at + 6) != Some(&b'u') {
                    return Err(pair);
                }
                match unit(bytes, at + 7)? {
                    0xDC00..=0xDFFF => Ok(at + 11),
                    _ => Err(pair),
                }
            }
            _ => Ok(at + 5),
        },
        _ => Err(Stop { at, allowed: "one of `\"` `\\` `/` `b` `f` `n` `r` `t` `u` behind a backslash" }),
    }
}

/// The four hexadecimal digits at `at`.
fn unit(bytes: &[u8], at: usize) -> Result<u16, Stop> {
    let mut unit = 0;
    for place in at..at + 4 {
        let digit = bytes.get(place).and_then(|byte| char::from(*byte).to_digit(16));
        let digit = digit.ok_or(Stop { at: place, allowed: "four hexadecimal digits behind `\\u`" })?;
        unit = unit * 16 + digit as u16;
    }
    Ok(unit)
}

/// What a string says whose end was found; `raw` has its quotes.
pub(in crate::history::json) fn decode(raw: &str) -> String {
    let raw = &raw[1..raw.len() - 1];
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let bytes = rest.as_bytes();
        let mut length = 2;
        text.push(match bytes[at + 1] {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = unit(bytes, at + 2).unwrap_or_default();
                let second = unit(bytes, at + 8).unwrap_or_default();
                let pair = char::decode_utf16([first, second]).next().and_then(Result::ok);
                let one = pair.unwrap_or(char::REPLACEMENT_CHARACTER);
                length = if one > '\u{ffff}' { 12 } else { 6 };
                one
            }
            other => char::from(other),
        });
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_say_what_they_stand_for() {
        let raw = r#""\" \\ \/ \b\f\n\r\t \u0041\u00e9\u20AC \ud83d\ude00 é""#;
        assert_eq!(end(raw.as_bytes(), 1), Ok((raw.len(), true)));
        assert_eq!(decode(raw), "\" \\ / \u{8}\u{c}\n\r\t Aé€ 😀 é");
        assert_eq!(decode(r#""\u0041\ud83d\ude00""#), "A😀");
    }

    #[test]
    fn wrong_escapes_and_control_characters_are_refused_where_they_are() {
        for (raw, at) in [
            (r#""a"#, 2),
            (r#""a\"#, 3),
            (r#""a\x""#, 3),
            (r#""\u12g4""#, 5),
            (r#""\u12"#, 5),
            (r#""\ud800""#, 7),
            (r#""\ud800\n""#, 7),
            (r#""\ud800\u0041""#, 7),
            (r#""\udc00""#, 2),
            ("\"a\nb\"", 2),
            ("\"0123456789\u{1f}\"", 11),
        ] {
            assert_eq!(end(raw.as_bytes(), 1).unwrap_err().at, at, "{raw}");
        }
    }

    proptest! {
        #[test]
        fn eight_bytes_at_a_time_stop_where_one_at_a_time_does(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x18_u8..0x28, Just(b'\\')], 0..40),
            start in 0_usize..40,
        ) {
            let start = start.min(bytes.len());
            let slow = bytes[start..].iter().position(|byte| *byte < 0x20 || b"\"\\".contains(byte));
            prop_assert_eq!(plain(&bytes, start), slow.map_or(bytes.len(), |at| start + at));
        }
    }
}
