//! A chunk of a text file that moves forward over it.

use calipers_core::{Error, Result};

use crate::file::ReadAt;
use crate::limits;

/// The text that is being read: a whole file, or as much of it as is needed at a time.
pub(super) struct Window<'a> {
    text: Text<'a>,
    /// The file, how much of it was read, and how much to read at a time.
    source: Option<Source<'a>>,
    /// How many bytes a whole file has.
    length: usize,
    not_text: fn() -> Error,
}

enum Text<'a> {
    Whole(&'a str),
    Part(String),
}

struct Source<'a> {
    file: &'a dyn ReadAt,
    read: u64,
    step: usize,
    /// The beginning of a character that the next read completes.
    begun: Vec<u8>,
}

impl<'a> Window<'a> {
    /// All of a file. `not_text` is the error for bytes that are not UTF-8.
    pub(super) fn whole(bytes: &'a [u8], not_text: fn() -> Error) -> Result<Self> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| refused(not_text, error.valid_up_to() as u64, bytes[error.valid_up_to()]))?;
        let text = Text::Whole(text.strip_prefix('\u{feff}').unwrap_or(text));
        Ok(Self { text, source: None, length: bytes.len(), not_text })
    }

    /// The beginning of a file of which `step` bytes are read at a time.
    pub(super) fn opening(file: &'a dyn ReadAt, step: usize, not_text: fn() -> Error) -> Result<Self> {
        let source = Source { file, read: 0, step: step.max(1), begun: Vec::new() };
        let mut window = Self { text: Text::Part(String::new()), source: Some(source), length: 0, not_text };
        window.pass(0)?;
        // The mark may need more than one small step.
        while !window.is_last() && window.text().is_empty() {
            window.pass(0)?;
        }
        if window.text().starts_with('\u{feff}') {
            window.pass('\u{feff}'.len_utf8())?;
        }
        Ok(window)
    }

    /// The text in the buffer.
    pub(super) fn text(&self) -> &str {
        match &self.text {
            Text::Whole(text) => text,
            Text::Part(text) => text,
        }
    }

    /// Where in the file the text in the buffer begins.
    pub(super) fn start(&self) -> u64 {
        let held = self.text().len();
        match &self.source {
            Some(source) => source.read - (held + source.begun.len()) as u64,
            None => (self.length - held) as u64,
        }
    }

    /// Whether the text goes to the end of the file.
    pub(super) fn is_last(&self) -> bool {
        self.source.as_ref().is_none_or(|source| source.read == source.file.size())
    }

    /// Whether the text is longer than one row of a file may be.
    pub(super) fn is_long(&self) -> bool {
        self.text().len() > limits::LINE
    }

    /// Leaves the first bytes behind and reads on. What stays is read again by the caller, so at
    /// least as much is added: a long row takes few attempts.
    pub(super) fn pass(&mut self, used: usize) -> Result<()> {
        let text = match &mut self.text {
            Text::Whole(text) => {
                *text = &text[used..];
                return Ok(());
            }
            Text::Part(text) => text,
        };
        let Some(source) = &mut self.source else { return Ok(()) };
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.drain(..used);
        let kept = bytes.len();
        bytes.append(&mut source.begun);
        let left = source.file.size() - source.read;
        let step = (source.step.max(kept) as u64).min(left) as usize;
        let held = bytes.len();
        bytes.resize(held + step, 0);
        let cannot = |error: std::io::Error| Error::io(format!("cannot read the file: {}", error.kind()));
        source.file.read_exact_at(&mut bytes[held..], source.read).map_err(cannot)?;
        source.read += step as u64;
        let start = source.read - bytes.len() as u64;
        *text = String::from_utf8(bytes).or_else(|error| {
            let (valid, cut) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_none());
            let mut bytes = error.into_bytes();
            if !cut || source.read == source.file.size() {
                return Err(refused(self.not_text, start + valid as u64, bytes[valid]));
            }
            source.begun = bytes.split_off(valid);
            // These bytes have been found to be text.
            String::from_utf8(bytes).map_err(|_| (self.not_text)())
        })?;
        Ok(())
    }
}

fn refused(not_text: fn() -> Error, at: u64, byte: u8) -> Error {
    not_text()
        .at(format_args!("byte {at}"))
        .found(format_args!("0x{byte:02x}"))
        .advice("save the file as UTF-8, or name its encoding: --encoding cp1252")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_text() -> Error {
        Error::format("no text")
    }

    #[test]
    fn the_stretches_make_up_the_file_whatever_their_length() {
        let text = "\u{feff}a é\u{10348} b\n".repeat(3);
        let bytes = text.as_bytes();
        for step in 1..12 {
            let mut window = Window::opening(&bytes, step, not_text).unwrap();
            let mut found = String::new();
            loop {
                let used = window.text().chars().next().map_or(0, char::len_utf8);
                found.push_str(&window.text()[..used]);
                if window.is_last() && window.text().is_empty() {
                    break;
                }
                window.pass(used).unwrap();
            }
            assert_eq!(found, text.strip_prefix('\u{feff}').unwrap(), "{step}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_at_their_place() {
        for (bytes, place) in
            [(&b"ab\xffcd"[..], "byte 2"), (b"abc\xc3", "byte 3"), (b"\xef\xbb\xbfa\xff", "byte 4")]
        {
            let whole = Window::whole(bytes, not_text).err().unwrap();
            assert_eq!(whole.place(), Some(place));
            for step in 1..8 {
                let read = || -> Result<()> {
                    let mut window = Window::opening(&bytes, step, not_text)?;
                    while !window.is_last() {
                        window.pass(window.text().len())?;
                    }
                    Ok(())
                };
                assert_eq!(read().unwrap_err(), whole, "{step}");
            }
        }
    }
}
