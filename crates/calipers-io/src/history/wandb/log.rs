//! The frame of a W&B offline log: a head of 7 bytes, then blocks of 32 KiB with checksummed
//! chunks of records.

use calipers_core::{Error, Result};

/// The first bytes of every log.
pub(super) const IDENT: &[u8] = b":W&B";
const MAGIC: u16 = 0xbee1;
const VERSION: u8 = 0;
const HEAD: usize = 7;
const BLOCK: usize = 32 << 10;
/// Bytes before the data of a chunk: checksum, length and type.
const PIECE_HEAD: usize = 7;

/// What comes next in a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A whole record: where it starts and its data.
    Record(usize, &'a [u8]),
    /// A record that starts here and that the end of the file cuts off.
    Cut(usize),
    /// The end of the file.
    End,
}

/// The records of one log.
#[derive(Debug)]
pub(super) struct Log<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The record that spans several chunks, put together.
    joined: Vec<u8>,
}

/// One chunk of a record.
struct Chunk<'a> {
    at: usize,
    kind: Kind,
    data: &'a [u8],
}

/// Which part of its record a chunk is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Full,
    First,
    Middle,
    Last,
}

impl<'a> Log<'a> {
    /// Checks the head of the file.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let Some((head, _)) = bytes.split_first_chunk::<HEAD>() else {
            let error = Error::format("the file ends inside its head").at("byte 0");
            return Err(error.found(format_args!("{} bytes", bytes.len())).allowed("at least 7 bytes"));
        };
        let [ident @ .., low, high, version] = head;
        if ident != IDENT {
            let error = Error::format("this is no W&B offline log").at("byte 0");
            return Err(error.found(format_args!("{}", ident.escape_ascii())).allowed(":W&B"));
        }
        let magic = u16::from_le_bytes([*low, *high]);
        if magic != MAGIC {
            let error = Error::format("the magic number of the W&B log is wrong").at("byte 4");
            return Err(error.found(format_args!("{magic:#06x}")).allowed(format_args!("{MAGIC:#06x}")));
        }
        if *version != VERSION {
            let error = Error::format("unknown version of the W&B log").at("byte 6").found(version);
            return Err(error.allowed(VERSION).advice("export the run as CSV, JSON or parquet"));
        }
        Ok(Self { bytes, at: HEAD, joined: Vec::new() })
    }

    /// The next record; a wrong checksum is an error wherever it stands.
    pub(super) fn next(&mut self) -> Result<Next<'_>> {
        let mut start = None;
        loop {
            let Some(chunk) = self.chunk()? else {
                let rest = (self.at < self.bytes.len()).then_some(self.at);
                return Ok(start.or(rest).map_or(Next::End, Next::Cut));
            };
            match (chunk.kind, start) {
                (Kind::Full, None) => return Ok(Next::Record(chunk.at, chunk.data)),
                (Kind::First, None) => {
                    self.joined.clear();
                    self.joined.extend_from_slice(chunk.data);
                    start = Some(chunk.at);
                }
                (Kind::Middle, Some(_)) => self.joined.extend_from_slice(chunk.data),
                (Kind::Last, Some(start)) => {
                    self.joined.extend_from_slice(chunk.data);
                    return Ok(Next::Record(start, &self.joined));
                }
                (Kind::Full | Kind::First, Some(start)) => {
                    let error = Error::format("a record begins before the last one has ended");
                    let error = error.at(format_args!("byte {}", chunk.at));
                    return Err(error
                        .found(format_args!("the record of byte {start} without its end"))
                        .advice(DAMAGED));
                }
                (Kind::Middle | Kind::Last, None) => {
                    let error = Error::format("a record without its beginning");
                    return Err(error.at(format_args!("byte {}", chunk.at)).advice(DAMAGED));
                }
            }
        }
    }

    /// The next chunk; none at the end of the file or where a chunk is cut off, which leaves the
    /// position where it starts.
    fn chunk(&mut self) -> Result<Option<Chunk<'a>>> {
        let left = BLOCK - self.at % BLOCK;
        if left < PIECE_HEAD {
            self.at = self.bytes.len().min(self.at + left);
        }
        let at = self.at;
        let Some((head, rest)) = self.bytes[at..].split_first_chunk::<PIECE_HEAD>() else { return Ok(None) };
        let room = BLOCK - at % BLOCK - PIECE_HEAD;
        let [c0, c1, c2, c3, l0, l1, kind] = *head;
        let checksum = u32::from_le_bytes([c0, c1, c2, c3]);
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        let damaged = |what: &str| Error::format(what).at(format_args!("byte {at}")).advice(DAMAGED);
        let kind = match kind {
            1 => Kind::Full,
            2 => Kind::First,
            3 => Kind::Middle,
            4 => Kind::Last,
            other => return Err(damaged("unknown record type").found(other).allowed("1 to 4")),
        };
        if length > room {
            let error = damaged("a record passes the end of its block").found(format_args!("{length} bytes"));
            return Err(error.allowed(format_args!("at most {room} bytes")));
        }
        let Some(data) = rest.get(..length) else { return Ok(None) };
        let computed = crc32fast::hash(&self.bytes[at + PIECE_HEAD - 1..at + PIECE_HEAD + length]);
        if computed != checksum {
            let error = damaged("the checksum of a record is wrong");
            return Err(error
                .found(format_args!("{checksum:#010x}"))
                .allowed(format_args!("{computed:#010x}")));
        }
        self.at = at + PIECE_HEAD + length;
        Ok(Some(Chunk { at, kind, data }))
    }
}

const DAMAGED: &str = "the file is damaged here; copy it again from where it was written";

#[cfg(test)]
mod tests {
    use super::*;

    const IEEE: u32 = 0xedb8_8320;

    /// CRC-32, bit by bit.
    fn plain_checksum(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| (crc >> 1) ^ (IEEE & (crc & 1).wrapping_neg());
        !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
    }

    fn chunk(kind: u8, data: &[u8]) -> Vec<u8> {
        let checksum = plain_checksum(&[&[kind], data].concat());
        let length = data.len() as u16;
        [&checksum.to_le_bytes()[..], &length.to_le_bytes(), &[kind], data].concat()
    }

    fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
        [&b":W&B\xe1\xbe\0"[..], &chunks.concat()].concat()
    }

    fn outcome(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, Option<usize>)> {
        let (mut log, mut found) = (Log::open(bytes)?, Vec::new());
        loop {
            match log.next()? {
                Next::Record(_, data) => found.push(data.to_vec()),
                Next::Cut(at) => return Ok((found, Some(at))),
                Next::End => return Ok((found, None)),
            }
        }
    }

    #[test]
    fn pieces_are_put_together() {
        let log = file(&[chunk(1, b"one"), chunk(2, b"t"), chunk(3, b"w"), chunk(4, b"o"), chunk(1, b"")]);
        assert_eq!(outcome(&log).unwrap(), (vec![b"one".to_vec(), b"two".to_vec(), vec![]], None));
    }

    #[test]
    fn the_rest_of_a_block_below_seven_bytes_is_padding() {
        for left in 0..7 {
            let long = vec![b'x'; BLOCK - HEAD - PIECE_HEAD - left];
            let mut log = file(&[chunk(1, &long)]);
            assert_eq!(outcome(&log).unwrap(), (vec![long.clone()], None));
            log.resize(BLOCK, 0);
            assert_eq!(outcome(&log).unwrap(), (vec![long.clone()], None));
            log.extend(chunk(1, b"next"));
            assert_eq!(outcome(&log).unwrap(), (vec![long.clone(), b"next".to_vec()], None));
            log.truncate(BLOCK + 3);
            assert_eq!(outcome(&log).unwrap(), (vec![long], Some(BLOCK)));
        }
    }

    #[test]
    fn a_cut_at_any_byte_is_told_by_the_start_of_the_cut_record() {
        let log = file(&[chunk(1, b"one"), chunk(2, b"t"), chunk(3, b"w"), chunk(4, b"o")]);
        for length in 0..log.len() {
            let got = outcome(&log[..length]);
            match length {
                0..7 => assert!(got.is_err(), "cut at {length}"),
                7 => assert_eq!(got.unwrap(), (vec![], None)),
                8..17 => assert_eq!(got.unwrap(), (vec![], Some(7)), "cut at {length}"),
                17 => assert_eq!(got.unwrap().1, None),
                _ => assert_eq!(got.unwrap(), (vec![b"one".to_vec()], Some(17)), "cut at {length}"),
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_an_error_or_a_cut_before_the_damaged_record() {
        let log = file(&[chunk(1, b"one"), chunk(2, b"t"), chunk(4, b"wo")]);
        for bit in 0..log.len() * 8 {
            let mut damaged = log.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match outcome(&damaged) {
                Ok((found, Some(_))) => {
                    assert!([&b"one"[..]].starts_with(&found.iter().map(Vec::as_slice).collect::<Vec<_>>()))
                }
                Ok((found, None)) => panic!("bit {bit} went unnoticed: {found:?}"),
                Err(error) => assert!(error.place().unwrap().starts_with("byte "), "{error}"),
            }
        }
    }

    #[test]
    fn a_wrong_head_is_told_by_its_byte() {
        for (head, place) in
            [(b":W&C\xe1\xbe\0", "byte 0"), (b":W&B\xe1\xbf\0", "byte 4"), (b":W&B\xe1\xbe\x01", "byte 6")]
        {
            assert_eq!(Log::open(head).unwrap_err().place(), Some(place));
        }
    }

    #[test]
    fn pieces_of_unknown_type_or_out_of_order_are_told_by_their_byte() {
        let bad = [
            vec![chunk(1, b"one"), chunk(0, b"")],
            vec![chunk(1, b"one"), chunk(5, b"five")],
            vec![chunk(1, b"one"), chunk(3, b"w")],
            vec![chunk(1, b"one"), chunk(4, b"o")],
        ];
        for chunks in bad {
            assert_eq!(outcome(&file(&chunks)).unwrap_err().place(), Some("byte 17"));
        }
        for second in [chunk(1, b"one"), chunk(2, b"t")] {
            assert_eq!(outcome(&file(&[chunk(2, b"o"), second])).unwrap_err().place(), Some("byte 15"));
        }
    }

    #[test]
    fn a_piece_that_passes_its_block_is_refused_before_it_is_called_cut() {
        let long = chunk(1, &vec![b'x'; BLOCK - HEAD - PIECE_HEAD + 1]);
        let error = outcome(&file(&[long])).unwrap_err();
        assert!(error.to_string().contains("passes the end of its block"), "{error}");
    }
}
