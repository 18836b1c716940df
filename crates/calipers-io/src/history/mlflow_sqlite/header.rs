//! The first hundred bytes of an SQLite file, checked before the library sees them.

use calipers_core::{Error, Result};

/// What every SQLite file begins with.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";
/// How many bytes of a file are looked at.
pub(super) const LENGTH: usize = 100;
/// Where the two bytes are that say whether a write-ahead log belongs to the file.
const JOURNAL: std::ops::Range<usize> = 18..20;
const ROLLBACK: u8 = 1;
const WRITE_AHEAD: u8 = 2;

/// Checks that a file of so many bytes is as long as its first ones say.
pub(super) fn check(bytes: &[u8], length: u64) -> Result<()> {
    if bytes.is_empty() {
        return Err(Error::format("the file is empty"));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(Error::format("not an SQLite file")
            .at("byte 0")
            .allowed("`SQLite format 3` and a zero byte"));
    }
    let cut = |found: String, allowed: String| {
        let error = Error::format("SQLite: the file is cut off or damaged").found(found).allowed(allowed);
        error.advice("copy the file again while nothing writes to it")
    };
    if bytes.len() < LENGTH {
        return Err(cut(format!("{length} bytes"), format!("at least {LENGTH} bytes")));
    }
    let word =
        |at: usize| u64::from(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    let page = match u64::from(u16::from_be_bytes([bytes[16], bytes[17]])) {
        1 => 65_536,
        page => page,
    };
    if page < 512 || !page.is_power_of_two() {
        let error = cut(format!("a page size of {page}"), "a power of two from 512 to 65536".into());
        return Err(error.at("byte 16"));
    }
    // Old versions of the library leave a page count behind that does not count; they leave the
    // two change counters different as well.
    let pages = word(28);
    let counted = pages > 0 && word(24) == word(92);
    if (counted && pages * page != length) || !length.is_multiple_of(page) {
        let pages = if counted { pages } else { length.div_ceil(page) };
        let allowed = format!("{} bytes: {pages} pages of {page}", pages * page);
        return Err(cut(format!("{length} bytes"), allowed));
    }
    Ok(())
}

/// Lets a checked file with a write-ahead log be read by itself.
pub(super) fn without_log(bytes: &mut [u8]) {
    for byte in &mut bytes[JOURNAL] {
        if *byte == WRITE_AHEAD {
            *byte = ROLLBACK;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(bytes: &mut [u8]) -> Result<()> {
        check(bytes, bytes.len() as u64)?;
        without_log(bytes);
        Ok(())
    }

    fn file(pages: u8) -> Vec<u8> {
        let mut bytes = vec![0; 512 * usize::from(pages)];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..20].copy_from_slice(&[2, 0, 2, 2]);
        bytes[31] = pages;
        bytes
    }

    #[test]
    fn the_length_must_be_the_pages_that_the_header_counts() {
        let mut whole = file(3);
        prepare(&mut whole).unwrap();
        assert_eq!(whole[18..20], [1, 1]);
        for length in [0, 15, 99, 100, 511, 512, 1024, 1535] {
            assert!(prepare(&mut file(3)[..length]).is_err(), "{length}");
        }
        let error = prepare(&mut file(3)[..1024]).unwrap_err().to_string();
        assert!(error.contains("1024 bytes") && error.contains("1536 bytes"), "{error}");
    }

    #[test]
    fn a_count_that_does_not_count_leaves_whole_pages() {
        let mut bytes = file(3);
        bytes[24] = 1;
        bytes[31] = 9;
        prepare(&mut bytes).unwrap();
        assert!(prepare(&mut bytes[..1300]).is_err());
    }

    #[test]
    fn odd_page_sizes_are_refused() {
        for size in [[0, 0], [1, 0], [2, 1], [3, 0]] {
            let mut bytes = file(1);
            bytes[16..18].copy_from_slice(&size);
            assert_eq!(prepare(&mut bytes).unwrap_err().place(), Some("byte 16"), "{size:?}");
        }
    }
}
