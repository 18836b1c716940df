//! One item of a history or configuration record: a key and the JSON text of its value.

use calipers_core::Result;

use crate::history::wire::{Field, Fields};

/// The value of one key in a record.
pub(super) struct Item<'a> {
    /// The JSON text of the value.
    pub(super) json: &'a [u8],
    /// Whether the key was put together from several.
    pub(super) nested: bool,
}

impl<'a> Item<'a> {
    /// Reads an item; its key goes into the buffer.
    pub(super) fn read(item: &'a [u8], key: &mut Vec<u8>) -> Result<Self> {
        key.clear();
        let (mut flat, mut parts, mut json) = (&b""[..], 0, &b""[..]);
        for field in Fields::of(item) {
            match field? {
                (1, Field::Bytes(name)) => flat = name,
                (2, Field::Bytes(name)) => {
                    if parts > 0 {
                        key.push(b'.');
                    }
                    key.extend_from_slice(name);
                    parts += 1;
                }
                (16, Field::Bytes(text)) => json = text,
                _ => {}
            }
        }
        if parts == 0 {
            key.extend_from_slice(flat);
        }
        Ok(Self { json, nested: parts > 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(item: &[u8]) -> (String, String, bool) {
        let mut key = b"left over".to_vec();
        let Item { json, nested } = Item::read(item, &mut key).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&key), text(json), nested)
    }

    #[test]
    fn nested_keys_are_joined_and_stand_before_the_flat_one() {
        let value = b"\x82\x01\x011";
        for (keys, key, nested) in [
            (&b"\x0a\x01a"[..], "a", false),
            (b"\x12\x01a", "a", false),
            (b"\x12\x01a\x12\x01b", "a.b", true),
            (b"\x0a\x01c\x12\x01a\x12\x01b", "a.b", true),
            (b"", "", false),
        ] {
            let want = (key.to_owned(), "1".to_owned(), nested);
            assert_eq!(read(&[keys, value].concat()), want);
            assert_eq!(read(&[value, keys].concat()), want);
        }
    }
}
