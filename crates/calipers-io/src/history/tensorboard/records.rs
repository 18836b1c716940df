//! The frame of event files: length, checksum of the length, data, checksum of the data.

use calipers_core::{Error, Result};

/// Bytes before the data of a record: its length and the checksum of that.
pub(super) const HEAD: usize = 12;
/// Bytes after it: the checksum of the data.
const TAIL: usize = 4;

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A whole record: where it starts and its data.
    Record(usize, &'a [u8]),
    /// A record that starts here and that the end of the file cuts off.
    Cut(usize),
    /// The end of the file.
    End,
}

/// The records of one file.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next record; one whose checksum is wrong is an error wherever it stands.
    pub(super) fn next(&mut self) -> Result<Next<'a>> {
        let start = self.at;
        let rest = &self.bytes[start..];
        if rest.is_empty() {
            return Ok(Next::End);
        }
        let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else { return Ok(Next::Cut(start)) };
        let length = checked_length(head).ok_or_else(|| {
            let error =
                Error::format("the checksum of a record's length is wrong").at(format_args!("byte {start}"));
            let error = error.found(crate::text::shown(head));
            let error = error.allowed("TensorBoard events: 8 bytes of length and their masked CRC-32C");
            error.advice(if start == 0 { "this is no event file, or its start is damaged" } else { DAMAGED })
        })?;
        let whole = usize::try_from(length).ok().and_then(|length| {
            let (data, rest) = rest.split_at_checked(length)?;
            Some((data, u32::from_le_bytes(*rest.first_chunk::<TAIL>()?)))
        });
        let Some((data, checksum)) = whole else { return Ok(Next::Cut(start)) };
        if masked(data) != checksum {
            let error = Error::format("the checksum of a record is wrong").at(format_args!("byte {start}"));
            let error =
                error.found(format_args!("{checksum:#010x}")).allowed(format_args!("{:#010x}", masked(data)));
            return Err(error.advice(DAMAGED));
        }
        self.at = start + HEAD + data.len() + TAIL;
        Ok(Next::Record(start, data))
    }
}

const DAMAGED: &str = "the file is damaged here; copy it again from where it was written";

/// The length in the head of a record, when its checksum is right.
pub(super) fn checked_length(head: &[u8; HEAD]) -> Option<u64> {
    let (length, checksum) = head.split_first_chunk::<8>()?;
    (checksum == masked(length).to_le_bytes()).then(|| u64::from_le_bytes(*length))
}

/// CRC-32C, turned and shifted so that a checksum of checksums stays useful.
fn masked(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32C, bit by bit.
    fn plain_masked(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
        let crc = !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step));
        crc.rotate_right(15).wrapping_add(0xa282_ead8)
    }

    fn framed(data: &[u8]) -> Vec<u8> {
        let length = (data.len() as u64).to_le_bytes();
        [&length[..], &plain_masked(&length).to_le_bytes(), data, &plain_masked(data).to_le_bytes()].concat()
    }

    fn outcome(bytes: &[u8]) -> Result<(Vec<&[u8]>, Option<usize>)> {
        let (mut records, mut found) = (Records::new(bytes), Vec::new());
        loop {
            match records.next()? {
                Next::Record(_, data) => found.push(data),
                Next::Cut(at) => return Ok((found, Some(at))),
                Next::End => return Ok((found, None)),
            }
        }
    }

    #[test]
    fn whole_files_are_read_to_their_end() {
        let file = [framed(b"one"), framed(b""), framed(b"three")].concat();
        assert_eq!(outcome(&file).unwrap(), (vec![&b"one"[..], b"", b"three"], None));
    }

    #[test]
    fn a_cut_at_any_byte_is_told_by_the_start_of_the_cut_record() {
        let file = [framed(b"one"), framed(b"three")].concat();
        for length in 0..file.len() {
            let (found, cut) = outcome(&file[..length]).unwrap();
            let want = match length {
                0 | 19 => None,
                1..19 => Some(0),
                _ => Some(19),
            };
            assert_eq!((found.len(), cut), (usize::from(length >= 19), want), "cut at {length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_an_error_at_its_record_even_in_the_last_one() {
        let file = [framed(b"one"), framed(b"three")].concat();
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = outcome(&damaged).unwrap_err();
            let start = if bit / 8 < 19 { "byte 0" } else { "byte 19" };
            assert_eq!(error.place(), Some(start), "bit {bit}");
        }
    }

    #[test]
    fn a_length_near_the_end_of_numbers_is_a_cut_and_allocates_nothing() {
        for length in [u64::MAX, 1 << 63, u64::MAX - 15] {
            let length = length.to_le_bytes();
            let file = [&length[..], &plain_masked(&length).to_le_bytes(), b"data"].concat();
            assert_eq!(outcome(&file).unwrap(), (vec![], Some(0)));
        }
    }
}
