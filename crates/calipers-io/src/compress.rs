//! gzip and bzip2 files, inflated in memory up to a limit.

use std::io::{ErrorKind, Read};

use bzip2::bufread::MultiBzDecoder;
use calipers_core::{Error, Result};
use flate2::bufread::MultiGzDecoder;

use crate::file::empty;
use crate::limits;

/// How a file is compressed, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz`
    Gzip,
    /// `.bz2`
    Bzip2,
}

impl Compression {
    /// The compression that a file name announces, and the name without that ending.
    pub fn of_name(file_name: &str) -> (Self, &str) {
        let endings = [(".gz", Self::Gzip), (".bz2", Self::Bzip2)];
        let found = endings.iter().find_map(|(end, kind)| Some((*kind, file_name.strip_suffix(end)?)));
        found.unwrap_or((Self::None, file_name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "file",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// Output up to this size is never a bomb, however little it was inflated from.
pub(crate) const HARMLESS: u64 = 16 << 20;

/// All bytes of a compressed file, of all its members in turn. Fails at a wrong checksum, when the
/// file is cut or goes on after the last member, and when it inflates to more than `limit` bytes or
/// by more than [`limits::INFLATE_RATIO`].
pub fn inflate(bytes: &[u8], compression: Compression, limit: u64) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Err(empty());
    }
    let bomb = (bytes.len() as u64).saturating_mul(limits::INFLATE_RATIO).max(HARMLESS);
    let limit = limit.min(if compression == Compression::None { u64::MAX } else { bomb });
    match compression {
        Compression::None => drain(bytes, |rest| rest.len(), compression, bytes.len(), limit),
        Compression::Gzip => {
            drain(MultiGzDecoder::new(bytes), |gz| gz.get_ref().len(), compression, bytes.len(), limit)
        }
        Compression::Bzip2 => {
            drain(MultiBzDecoder::new(bytes), |bz| bz.get_ref().len(), compression, bytes.len(), limit)
        }
    }
}

fn drain<R: Read>(
    mut reader: R,
    left: impl Fn(&R) -> usize,
    compression: Compression,
    length: usize,
    limit: u64,
) -> Result<Vec<u8>> {
    let name = compression.name();
    let mut out = Vec::new();
    let mut block = vec![0; 64 << 10];
    loop {
        let read = match reader.read(&mut block) {
            Ok(0) => return Ok(out),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                let cut = error.kind() == ErrorKind::UnexpectedEof;
                let what = if cut { "the file ends too early" } else { "the data is damaged" };
                return Err(Error::format(format!("{name}: {what}"))
                    .at(format!("byte {}", length - left(&reader)))
                    .found(error)
                    .advice("copy or write the file again"));
            }
        };
        if (out.len() + read) as u64 > limit {
            return Err(Error::format(format!("{name}: the file inflates too much"))
                .at(format!("byte {}", length - left(&reader)))
                .found(format!("more than {limit} bytes from {length}"))
                .allowed(format!("{limit} bytes"))
                .advice("inflate it by hand, if it is what it should be"));
        }
        out.try_reserve(read).map_err(|_| Error::io("not enough memory for the inflated file"))?;
        out.extend_from_slice(&block[..read]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bz2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn samples() -> [(Compression, Vec<u8>, Vec<u8>); 2] {
        let text: Vec<u8> =
            (0..200_u32).flat_map(|i| format!("{} {}\n", i, i * i % 97).into_bytes()).collect();
        let (one, two) = text.split_at(700);
        [
            (Compression::Gzip, [gz(one), gz(two)].concat(), text.clone()),
            (Compression::Bzip2, [bz2(one), bz2(two)].concat(), text.clone()),
        ]
    }

    #[test]
    fn the_name_says_the_compression() {
        assert_eq!(Compression::of_name("a.g6.gz"), (Compression::Gzip, "a.g6"));
        assert_eq!(Compression::of_name("a.bz2"), (Compression::Bzip2, "a"));
        assert_eq!(Compression::of_name("a.gz.txt"), (Compression::None, "a.gz.txt"));
    }

    #[test]
    fn all_members_are_inflated_one_after_the_other() {
        for (kind, packed, text) in samples() {
            assert_eq!(inflate(&packed, kind, 1 << 20).unwrap(), text);
            assert_eq!(inflate(&packed, kind, text.len() as u64).unwrap(), text);
            assert!(inflate(&packed, kind, text.len() as u64 - 1).unwrap_err().to_string().contains("byte"));
        }
        assert_eq!(inflate(b"plain", Compression::None, 5).unwrap(), b"plain");
        assert!(inflate(b"plain", Compression::None, 4).is_err());
        assert!(inflate(b"", Compression::Gzip, 5).unwrap_err().to_string().contains("empty file"));
    }

    #[test]
    fn a_cut_file_gives_an_error_or_exactly_its_first_members() {
        for (kind, packed, text) in samples() {
            for end in 1..packed.len() {
                match inflate(&packed[..end], kind, 1 << 20) {
                    Err(error) => assert!(error.place().is_some_and(|place| place.starts_with("byte"))),
                    Ok(out) => assert_eq!(out, text[..700]),
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_never_changes_the_text() {
        for (kind, packed, text) in samples() {
            for bit in 0..packed.len() * 8 {
                let mut damaged = packed.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                if let Ok(out) = inflate(&damaged, kind, 1 << 20) {
                    assert_eq!(out, text, "bit {bit}");
                }
            }
        }
    }

    #[test]
    fn bytes_after_the_last_member_are_refused() {
        for (kind, packed, _) in samples() {
            for tail in [&b"x"[..], &[0; 9], b"garbage that is longer than a header"] {
                assert!(inflate(&[&packed[..], tail].concat(), kind, 1 << 20).is_err());
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_the_memory() {
        let bomb = bz2(&vec![0; 40 << 20]);
        assert!(bomb.len() < 10_000);
        let error = inflate(&bomb, Compression::Bzip2, u64::MAX).unwrap_err().to_string();
        assert!(error.contains("inflates too much"), "{error}");
        assert_eq!(inflate(&bz2(&vec![0; 2 << 20]), Compression::Bzip2, u64::MAX).unwrap().len(), 2 << 20);
    }
}
