//! gzip and bzip2 files, inflated in memory up to a limit. What is inflated is of some other format.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use bzip2::bufread::MultiBzDecoder;
use calipers_core::{Error, Result};
use flate2::bufread::MultiGzDecoder;

use crate::file::empty;
use crate::format::{Format, Formats, line};
use crate::memory;

/// All bytes of a compressed file, of all its members in turn. Fails at a wrong checksum, when the
/// file is cut or goes on after the last member, and when it inflates to more than that many bytes: a
/// ratio would tell nothing, as deflate never passes 1,032 to 1.
pub type Reader = fn(&[u8], u64) -> Result<Vec<u8>>;

/// How a file is compressed, if at all.
pub type Compression = Option<&'static Format<Reader>>;

/// Every compression.
pub static FORMATS: Formats<Reader> = Formats(&[
    line("gzip", &[".gz"], Some(|bytes| bytes.starts_with(b"\x1f\x8b")), |bytes, limit| {
        drain("gzip", MultiGzDecoder::new(bytes), |gz| gz.get_ref().len(), bytes, limit)
    }),
    line("bzip2", &[".bz2"], Some(|bytes| bytes.starts_with(b"BZh")), |bytes, limit| {
        drain("bzip2", MultiBzDecoder::new(bytes), |bz| bz.get_ref().len(), bytes, limit)
    }),
]);

/// The bytes of a file without its compression.
pub fn inflated(bytes: Cow<'_, [u8]>, compression: Compression) -> Result<Cow<'_, [u8]>> {
    match compression {
        _ if bytes.is_empty() => Err(empty()),
        Some(format) => (format.reader)(&bytes, memory::allowed()).map(Cow::Owned),
        None => Ok(bytes),
    }
}

/// Output up to this size is never a bomb, however little it was inflated from.
pub(crate) const HARMLESS: u64 = 16 << 20;

fn drain<R: Read>(
    name: &str,
    mut reader: R,
    left: impl Fn(&R) -> usize,
    bytes: &[u8],
    limit: u64,
) -> Result<Vec<u8>> {
    let length = bytes.len();
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
            return Err(Error::value(format!("{name}: the file inflates too much"))
                .at(format!("byte {}", length - left(&reader)))
                .found(format!("more than {limit} bytes from {length}"))
                .allowed(format!("{limit} bytes"))
                .advice("allow more with --memory SIZE, if it is what it should be"));
        }
        if out.len() + read > out.capacity() {
            memory::ask("the inflated file", (out.len() + read) as u64)
                .map_err(|error| error.at(format!("byte {}", length - left(&reader))))?;
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

    fn samples() -> [(Reader, Vec<u8>, Vec<u8>); 2] {
        let text: Vec<u8> =
            (0..200_u32).flat_map(|i| format!("{} {}\n", i, i * i % 97).into_bytes()).collect();
        let (one, two) = text.split_at(700);
        let [gzip, bzip2] = ["gzip", "bzip2"].map(|name| FORMATS.called(name).unwrap().reader);
        [
            (gzip, [gz(one), gz(two)].concat(), text.clone()),
            (bzip2, [bz2(one), bz2(two)].concat(), text.clone()),
        ]
    }

    #[test]
    fn all_members_are_inflated_one_after_the_other() {
        for (inflate, packed, text) in samples() {
            assert_eq!(inflate(&packed, 1 << 20).unwrap(), text);
            assert_eq!(inflate(&packed, text.len() as u64).unwrap(), text);
            assert!(inflate(&packed, text.len() as u64 - 1).unwrap_err().to_string().contains("byte"));
        }
        assert_eq!(inflated(Cow::Borrowed(b"plain"), None).unwrap(), &b"plain"[..]);
        for compression in [None, FORMATS.called("gzip")] {
            let error = inflated(Cow::Borrowed(b""), compression).unwrap_err().to_string();
            assert!(error.contains("empty file"), "{error}");
        }
    }

    #[test]
    fn a_cut_file_gives_an_error_or_exactly_its_first_members() {
        for (inflate, packed, text) in samples() {
            for end in 1..packed.len() {
                match inflate(&packed[..end], 1 << 20) {
                    Err(error) => assert!(error.place().is_some_and(|place| place.starts_with("byte"))),
                    Ok(out) => assert_eq!(out, text[..700]),
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_never_changes_the_text() {
        for (inflate, packed, text) in samples() {
            for bit in 0..packed.len() * 8 {
                let mut damaged = packed.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                if let Ok(out) = inflate(&damaged, 1 << 20) {
                    assert_eq!(out, text, "bit {bit}");
                }
            }
        }
    }

    #[test]
    fn bytes_after_the_last_member_are_refused() {
        for (inflate, packed, _) in samples() {
            for tail in [&b"x"[..], &[0; 9], b"garbage that is longer than a header"] {
                assert!(inflate(&[&packed[..], tail].concat(), 1 << 20).is_err());
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_the_memory() {
        let bomb = bz2(&vec![0; 40 << 20]);
        assert!(bomb.len() < 10_000);
        let inflate = FORMATS.called("bzip2").unwrap().reader;
        let error = inflate(&bomb, 32 << 20).unwrap_err().to_string();
        assert!(error.contains("inflates too much"), "{error}");
        assert_eq!(inflate(&bz2(&vec![0; 2 << 20]), u64::MAX).unwrap().len(), 2 << 20);
    }
}
