//! Which JSON layout the bytes have.

use calipers_core::Result;

use super::super::Format;
use super::scan::Scanner;
use super::state::LOG;

/// The layout of a JSON history; none for JSON that is no history, and for what is no JSON.
///
/// | the document is | layout |
/// |---|---|
/// | a list that begins with an object, or an empty list | [`Format::JsonRows`] |
/// | an object with the key `log_history` | [`Format::TrainerState`] |
/// | an object followed by another one | [`Format::JsonLines`] |
/// | an object of lists only, none of objects and at least one of numbers | [`Format::JsonColumns`] |
///
/// A single object of any other kind is not taken for a history of one line; a caller that knows
/// from the name that the file has lines may read it so. A damaged document has the layout that it
/// shows before the damage, so that reading it says what is wrong.
pub fn sniff(bytes: &[u8]) -> Option<Format> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut scan = Scanner::over(text);
    match scan.peek()? {
        b'[' => match (scan.open(b']'), scan.peek()) {
            (Ok(false), _) | (Ok(true), Some(b'{')) => Some(Format::JsonRows),
            _ => None,
        },
        b'{' => {
            let mut object = Object::default();
            let whole = object.look(&mut scan).is_ok();
            if object.log {
                Some(Format::TrainerState)
            } else if whole && scan.peek() == Some(b'{') {
                Some(Format::JsonLines)
            } else {
                (object.numbers && !object.other).then_some(Format::JsonColumns)
            }
        }
        _ => None,
    }
}

/// What an object holds.
#[derive(Default)]
struct Object {
    log: bool,
    /// A list that may hold numbers.
    numbers: bool,
    /// Something that is no list, or a list of objects.
    other: bool,
}

impl Object {
    fn look(&mut self, scan: &mut Scanner<'_>) -> Result<()> {
        let mut more = scan.open(b'}')?;
        while more {
            self.log |= scan.key()? == LOG;
            if self.log {
                break;
            }
            if scan.peek() == Some(b'[') {
                self.list(scan)?;
            } else {
                self.other = true;
                scan.skip()?;
            }
            more = scan.more(b'}')?;
        }
        Ok(())
    }

    fn list(&mut self, scan: &mut Scanner<'_>) -> Result<()> {
        let mut more = scan.open(b']')?;
        let first = scan.peek();
        self.other |= more && first == Some(b'{');
        // An empty list, a digit, a sign, null, NaN, Infinity.
        self.numbers |= !more || matches!(first, Some(b'0'..=b'9' | b'-' | b'n' | b'N' | b'I'));
        while more {
            scan.skip()?;
            more = scan.more(b']')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_seen_from_the_content() {
        let (rows, lines) = (Some(Format::JsonRows), Some(Format::JsonLines));
        let (columns, state) = (Some(Format::JsonColumns), Some(Format::TrainerState));
        for (text, format) in [
            ("[{\"a\": 1}]", rows),
            ("\u{feff} \r\n[ {\"a\": NaN}, 3", rows),
            ("[]", rows),
            ("[1, 2]", None),
            ("[[{}]]", None),
            ("{\"a\": 1}\n{\"a\": 2}", lines),
            ("{\"a\": [1]}\r\n\r\n{\"a\"", lines),
            ("{\"a\": 1}", None),
            ("{\"a\": [1], \"b\": [\"x\"]}", columns),
            ("{\"a\": [NaN], \"b\": [1, 2", columns),
            ("{\"a\": []}", columns),
            ("{\"a\": [\"x\"]}", None),
            ("{\"a\": [1], \"b\": 2}", None),
            ("{\"a\": [1], \"b\": [{}]}", None),
            ("{}", None),
            ("{\"best\": null, \"log_history\": [", state),
            ("{\"a\": {\"log_history\": []}}", None),
            ("epoch,val\n0,1\n", None),
            ("", None),
            (" \n", None),
            ("{", None),
            ("[", None),
        ] {
            assert_eq!(sniff(text.as_bytes()), format, "{text}");
        }
        assert_eq!(sniff(b"[{\"a\": \"\xff\"}]"), rows);
        assert_eq!(sniff(b"\xff\xfe["), None);
    }
}
