//! The JSON text of one logged value: a number, a name, or an object of further keys.

use std::borrow::Cow;

use calipers_core::{Error, Result};

use crate::history::json::loose::{self, Loose};
use crate::limits;
use crate::text::shown;

/// The number; none where nothing was logged.
pub(super) fn number(json: &[u8]) -> Result<Option<f64>> {
    match plain_number(json) {
        Some(number) => Ok(Some(number)),
        None => loose::parse(json).and_then(|value| number_of(&value)),
    }
}

/// A number in digits; most values are that, and need no tree.
fn plain_number(json: &[u8]) -> Option<f64> {
    let unsigned = json.strip_prefix(b"-").unwrap_or(json);
    if !unsigned.first()?.is_ascii_digit() {
        return None;
    }
    str::from_utf8(json).ok()?.parse().ok()
}

/// The number that the value is; none where nothing was logged.
pub(super) fn number_of(value: &Loose) -> Result<Option<f64>> {
    match (value, value.as_f64()) {
        (Loose::Null, _) => Ok(None),
        (_, Some(number)) => Ok(Some(number)),
        _ => Err(Error::value("a value is not a number")
            .found(described(value))
            .allowed("a number, NaN, Infinity, -Infinity, or null where nothing was logged")),
    }
}

/// The name that the value is; lists, objects and null are none.
pub(super) fn name_of(value: &Loose) -> Option<Cow<'_, str>> {
    match value {
        Loose::Text(text) | Loose::Number { text, .. } => Some(Cow::Borrowed(text)),
        Loose::Bool(truth) => Some(Cow::Owned(truth.to_string())),
        Loose::Null | Loose::List(_) | Loose::Object(_) => None,
    }
}

/// Whether the text is that of an object.
pub(super) fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().starts_with(b"{")
}

/// Whether the object may be an image, a histogram or the like.
pub(super) fn may_be_media(json: &[u8]) -> bool {
    memchr::memmem::find(json, b"\"_type\"").is_some()
}

/// The keys in an object, unless it is empty or stands for one thing such as an image.
fn members(value: &Loose) -> Option<&[(String, Loose)]> {
    match value {
        Loose::Object(members) if !members.is_empty() && value.get("_type").is_none() => Some(members),
        _ => None,
    }
}

/// Calls `visit` for the value and everything in it, each with its key joined by points to that of
/// what it is in, and says whether more keys are in it.
pub(super) fn visit_nested(key: &mut Vec<u8>, value: &Loose, visit: &mut impl FnMut(&[u8], &Loose, bool)) {
    let members = members(value);
    visit(key, value, members.is_some());
    let length = key.len();
    for (name, value) in members.unwrap_or_default() {
        // Longer names are nobody's key, and would make a short file a large table.
        if length + name.len() < limits::NAME {
            key.push(b'.');
            key.extend_from_slice(name.as_bytes());
            visit_nested(key, value, visit);
            key.truncate(length);
        }
    }
}

/// What a value is that is no number.
fn described(value: &Loose) -> String {
    match value {
        Loose::Null => "null".to_owned(),
        Loose::Bool(truth) => truth.to_string(),
        Loose::Number { text, .. } => shown(text.as_bytes()),
        Loose::Text(text) => format!("the text {}", shown(text.as_bytes())),
        Loose::List(items) => format!("a list of {} values", items.len()),
        Loose::Object(members) => match value.get("_type").and_then(Loose::as_str) {
            Some(kind) => format!("an object of type {}", shown(kind.as_bytes())),
            None => format!("an object of {} keys", members.len()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_json_writes_them() {
        for (json, want) in [
            ("0", 0.0),
            ("-0.5", -0.5),
            ("1e-05", 1e-5),
            ("1.7947298279854243e+09", 1_794_729_827.985_424_3),
            (" 7 ", 7.0),
            ("Infinity", f64::INFINITY),
            ("1e400", f64::INFINITY),
            ("\"-Infinity\"", f64::NEG_INFINITY),
        ] {
            assert_eq!(number(json.as_bytes()).unwrap().unwrap().to_bits(), want.to_bits(), "{json}");
        }
        assert!(number(b"NaN").unwrap().unwrap().is_nan());
        assert!(number(b"\"NaN\"").unwrap().unwrap().is_nan());
        assert_eq!(number(b"null"), Ok(None));
    }

    #[test]
    fn what_is_no_number_is_described() {
        for (json, what) in [
            ("true", "true"),
            ("\"0.5\"", "the text `0.5`"),
            ("[1, 2]", "a list of 2 values"),
            (r#"{"_type": "image-file", "path": "a.png"}"#, "an object of type `image-file`"),
            (r#"{"acc": 1}"#, "an object of 1 keys"),
            ("0x10", "x10"),
            ("inf", "inf"),
            ("-", ""),
            ("", ""),
        ] {
            let error = number(json.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what), "{json}: {error}");
        }
    }

    #[test]
    fn nested_keys_are_joined_and_media_stay_whole() {
        let json = br#"{"val": {"acc": 1, "image": {"_type": "image-file"}, "none": {}}, "loss": 2}"#;
        let (mut leaves, mut key) = (Vec::new(), b"a".to_vec());
        visit_nested(&mut key, &loose::parse(json).unwrap(), &mut |key, _, nested| {
            if !nested {
                leaves.push(String::from_utf8(key.to_vec()).unwrap());
            }
        });
        assert_eq!(leaves, ["a.val.acc", "a.val.image", "a.val.none", "a.loss"]);
        assert_eq!(key, b"a");
    }
}
