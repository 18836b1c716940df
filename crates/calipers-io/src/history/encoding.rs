//! Text in other encodings than UTF-8, and files that are mistaken for text.

use std::str::FromStr;

use calipers_core::{Error, Result};

/// How the characters of a text are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// Code page 1252, as Windows writes it in western Europe.
    Cp1252,
    /// ISO 8859-1.
    Latin1,
}

impl Encoding {
    /// Every encoding and its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("utf-8", Self::Utf8),
        ("utf-16le", Self::Utf16Le),
        ("utf-16be", Self::Utf16Be),
        ("cp1252", Self::Cp1252),
        ("latin-1", Self::Latin1),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, encoding)| *encoding == self).map_or("utf-8", |(name, _)| name)
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, encoding)| *encoding).ok_or_else(|| Self::ALL.map(|(name, _)| name).join(", "))
    }
}

/// The characters of code page 1252 from 0x80 to 0x9f; five of these bytes mean nothing.
const WINDOWS: [Option<char>; 32] = [
    Some('\u{20ac}'),
    None,
    Some('\u{201a}'),
    Some('\u{192}'),
    Some('\u{201e}'),
    Some('\u{2026}'),
    Some('\u{2020}'),
    Some('\u{2021}'),
    Some('\u{2c6}'),
    Some('\u{2030}'),
    Some('\u{160}'),
    Some('\u{2039}'),
    Some('\u{152}'),
    None,
    Some('\u{17d}'),
    None,
    None,
    Some('\u{2018}'),
    Some('\u{2019}'),
    Some('\u{201c}'),
    Some('\u{201d}'),
    Some('\u{2022}'),
    Some('\u{2013}'),
    Some('\u{2014}'),
    Some('\u{2dc}'),
    Some('\u{2122}'),
    Some('\u{161}'),
    Some('\u{203a}'),
    Some('\u{153}'),
    None,
    Some('\u{17e}'),
    Some('\u{178}'),
];

/// The bytes of a text as UTF-8: by its mark, else by the encoding that was named.
pub fn as_utf8(bytes: Vec<u8>, named: Option<Encoding>) -> Result<Vec<u8>> {
    refuse_workbook(&bytes)?;
    let text = match (bytes.as_slice(), named) {
        ([0xff, 0xfe, rest @ ..], _) => wide(rest, 2, u16::from_le_bytes)?,
        ([0xfe, 0xff, rest @ ..], _) => wide(rest, 2, u16::from_be_bytes)?,
        ([0xef, 0xbb, 0xbf, ..], _) | (_, Some(Encoding::Utf8)) => return Ok(bytes),
        (_, Some(Encoding::Utf16Le)) => wide(&bytes, 0, u16::from_le_bytes)?,
        (_, Some(Encoding::Utf16Be)) => wide(&bytes, 0, u16::from_be_bytes)?,
        (_, Some(Encoding::Latin1)) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        (_, Some(Encoding::Cp1252)) => windows(&bytes)?,
        (_, None) => {
            refuse_unmarked(&bytes)?;
            return Ok(bytes);
        }
    };
    Ok(text.into_bytes())
}

/// Whether bytes may be a text that has to be turned into UTF-8 as a whole before it is read.
pub fn is_wide(opening: &[u8]) -> bool {
    opening.starts_with(&[0xff, 0xfe]) || opening.starts_with(&[0xfe, 0xff]) || unmarked(opening).is_some()
}

fn wide(bytes: &[u8], before: usize, unit: fn([u8; 2]) -> u16) -> Result<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    let wrong = |at: usize, what: &str| {
        Err(Error::format("not UTF-16").at(format_args!("byte {}", before + at)).found(what))
    };
    if !rest.is_empty() {
        return wrong(bytes.len() - 1, "half a character at the end");
    }
    let mut text = String::with_capacity(bytes.len());
    let mut at = 0;
    for decoded in char::decode_utf16(units.iter().map(|pair| unit(*pair))) {
        let Ok(character) = decoded else { return wrong(at, "half of a pair") };
        at += 2 * character.len_utf16();
        text.push(character);
    }
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn windows(bytes: &[u8]) -> Result<String> {
    let character = |(at, byte): (usize, &u8)| match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)].ok_or_else(|| {
            Error::format("not cp1252")
                .at(format_args!("byte {at}"))
                .found(format_args!("0x{byte:02x}"))
                .advice("choose another --encoding, such as latin-1")
        }),
        other => Ok(char::from(*other)),
    };
    bytes.iter().enumerate().map(character).collect()
}

/// How much of a file is looked at.
const LOOKED_AT: usize = 64;

/// The encoding of a text of wide characters without a mark: every second byte is 0.
fn unmarked(bytes: &[u8]) -> Option<Encoding> {
    let opening = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |first: usize| opening.iter().skip(first).step_by(2).all(|byte| *byte == 0);
    let no_zero = |first: usize| opening.iter().skip(first).step_by(2).all(|byte| *byte != 0);
    match opening.len() {
        0..4 => None,
        _ if zeros(1) && no_zero(0) => Some(Encoding::Utf16Le),
        _ if zeros(0) && no_zero(1) => Some(Encoding::Utf16Be),
        _ => None,
    }
}

fn refuse_unmarked(bytes: &[u8]) -> Result<()> {
    let Some(encoding) = unmarked(bytes) else { return Ok(()) };
    Err(Error::format("this looks like UTF-16 without its mark")
        .at("byte 0")
        .found("every second byte is 0")
        .advice(format!("--encoding {}", encoding.name())))
}

fn refuse_workbook(bytes: &[u8]) -> Result<()> {
    let modern = bytes.starts_with(b"PK\x03\x04") && memchr::memmem::find(bytes, b"xl/").is_some();
    if modern || bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        return Err(Error::format("an Excel workbook")
            .at("byte 0")
            .allowed("text, such as CSV")
            .advice("save the sheet as CSV"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "epoch,F\u{e9}\n0,\u{20ac}\u{1f600}\n";

    fn utf16(mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        format!("{mark}{TEXT}").encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn marks_and_names_say_how_a_text_is_written() {
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(as_utf8(utf16(true, bytes), None).unwrap(), TEXT.as_bytes());
        }
        let named = as_utf8(utf16(false, u16::to_le_bytes), Some(Encoding::Utf16Le)).unwrap();
        assert_eq!(named, TEXT.as_bytes());
        assert_eq!(
            as_utf8(b"\x80\xe9".to_vec(), Some(Encoding::Cp1252)).unwrap(),
            "\u{20ac}\u{e9}".as_bytes()
        );
        assert_eq!(as_utf8(b"\x80\xe9".to_vec(), Some(Encoding::Latin1)).unwrap(), "\u{80}\u{e9}".as_bytes());
        assert_eq!(as_utf8(TEXT.into(), None).unwrap(), TEXT.as_bytes());
    }

    #[test]
    fn bytes_that_mean_nothing_are_shown_with_their_place() {
        for byte in [0x81, 0x8d, 0x8f, 0x90, 0x9d] {
            let error = as_utf8(vec![b'a', byte], Some(Encoding::Cp1252)).unwrap_err();
            assert_eq!(error.place(), Some("byte 1"));
        }
        let half = as_utf8(b"\xff\xfea\0\x00\xd8".to_vec(), None).unwrap_err();
        assert_eq!(half.place(), Some("byte 4"));
        assert!(as_utf8(b"\xff\xfea".to_vec(), None).is_err());
    }

    #[test]
    fn a_text_without_its_mark_is_told_its_encoding() {
        let ascii: Vec<u8> = "epoch,m\n0,1\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let error = as_utf8(ascii, None).unwrap_err().to_string();
        assert!(error.contains("--encoding utf-16be"), "{error}");
    }

    #[test]
    fn a_workbook_is_no_text() {
        for bytes in [&b"PK\x03\x04....xl/workbook.xml"[..], b"\xd0\xcf\x11\xe0...."] {
            let error = as_utf8(bytes.to_vec(), None).unwrap_err().to_string();
            assert!(error.contains("an Excel workbook") && error.contains("as CSV"), "{error}");
            assert!(!error.contains("UTF-8"), "{error}");
        }
    }
}
