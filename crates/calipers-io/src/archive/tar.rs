//! Tar archives: ustar, with the long names of pax and GNU.
//!
//! Files of blocks of 512 bytes: a header, the content rounded up to whole blocks, and so on; two blocks of
//! zeros at the end. Whatever is no regular file or folder is refused, and so is an archive that stops
//! without its end: it would look like one with fewer files.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use calipers_core::{Error, Result};

use super::{Members, member_path, twice};
use crate::array::{read_at, read_range};
use crate::file::{ReadAt, empty};
use crate::limits;

/// The unit of everything.
pub(super) const BLOCK: usize = 512;
/// Most bytes of a header's extension.
const EXTENSION: u64 = 1 << 20;

/// An archive of which the headers have been read.
pub(super) struct Tar {
    source: Arc<dyn ReadAt>,
    /// Where the content of each file is, and how long it is.
    files: BTreeMap<String, (u64, u64)>,
}

/// What extended headers say about the next file.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    size: Option<u64>,
}

/// Whether bytes begin as an archive does.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

impl Tar {
    /// Reads and checks all headers.
    pub(super) fn open(source: Arc<dyn ReadAt>) -> Result<Self> {
        if source.size() == 0 {
            return Err(empty());
        }
        let mut tar = Self { source, files: BTreeMap::new() };
        let (mut at, mut extended) = (0, Extended::default());
        let mut header = [0; BLOCK];
        loop {
            if at + BLOCK as u64 > tar.source.size() {
                return Err(broken(at, "the archive ends too early"));
            }
            read_at(&*tar.source, &mut header, at)?;
            if header.iter().all(|byte| *byte == 0) {
                tar.check_end(at)?;
                return Ok(tar);
            }
            at = tar.entry(&header, at, &mut extended)?;
        }
    }

    /// Reads the entry whose header stands at `at`; returns where the next one is.
    fn entry(&mut self, header: &[u8; BLOCK], at: u64, extended: &mut Extended) -> Result<u64> {
        check_sum(header, at)?;
        if !begins(header) {
            return Err(broken(at, "a header of another format than ustar"));
        }
        let kind = header[156];
        let data = at + BLOCK as u64;
        let own_size = number(&header[124..136]).ok_or_else(|| broken(at, "a size is no number"))?;
        let is_extension = matches!(kind, b'x' | b'g' | b'L' | b'K');
        let size = if is_extension { own_size } else { extended.size.unwrap_or(own_size) };
        let whole = size.checked_next_multiple_of(BLOCK as u64).and_then(|length| data.checked_add(length));
        let next = whole.filter(|_| size <= self.source.size()).filter(|next| *next <= self.source.size());
        let next = next.ok_or_else(|| broken(at, "the archive ends too early"))?;
        if is_extension {
            self.extension(kind, data, size, at, extended)?;
            return Ok(next);
        }
        let name = extended.path.take().unwrap_or_else(|| header_name(header));
        extended.size = None;
        let shown =
            || format!("member {}", String::from_utf8_lossy(&name).chars().take(80).collect::<String>());
        let what = match kind {
            b'0' | b'7' | 0 => None,
            b'5' => {
                let path = name.strip_suffix(b"/").unwrap_or(&name);
                member_path("tar", &[path, b"/"].concat())?;
                return Ok(next);
            }
            b'1' | b'2' => Some("a link"),
            b'3' | b'4' | b'6' => Some("a device or a pipe"),
            b'S' => Some("a sparse file"),
            _ => Some("an entry of an unknown kind"),
        };
        if let Some(what) = what {
            return Err(Error::format(format!("tar: a member is {what}"))
                .at(shown())
                .allowed("files and folders")
                .advice("write the archive again with what links lead to (tar -h)"));
        }
        if let Some(path) = member_path("tar", &name)? {
            if self.files.len() == limits::ARCHIVE_MEMBERS {
                return Err(Error::format("tar: too many members in the archive")
                    .allowed(format!("at most {}", limits::ARCHIVE_MEMBERS)));
            }
            if self.files.insert(path.clone(), (data, size)).is_some() {
                return Err(twice("tar", &path));
            }
        }
        Ok(next)
    }

    /// What an extended header says about the file that follows it.
    fn extension(&self, kind: u8, data: u64, size: u64, at: u64, extended: &mut Extended) -> Result<()> {
        if size > EXTENSION {
            return Err(broken(at, "an extended header is too long"));
        }
        let bytes = read_range(&*self.source, data, size)?;
        match kind {
            b'L' => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                extended.path = Some(bytes[..end].to_vec());
            }
            b'x' => pax(&bytes, extended).ok_or_else(|| broken(at, "a pax header is damaged"))?,
            // A default for all files; those that name or size them are of no use, and refused.
            b'g' => {
                let mut all = Extended::default();
                pax(&bytes, &mut all).ok_or_else(|| broken(at, "a pax header is damaged"))?;
                if all.path.is_some() || all.size.is_some() {
                    return Err(broken(at, "one name or size for all members"));
                }
            }
            // The target of a link, which is refused as a link.
            _ => {}
        }
        Ok(())
    }

    /// Two blocks of zeros, and nothing but zeros behind them.
    fn check_end(&self, at: u64) -> Result<()> {
        let size = self.source.size();
        if size - at < 2 * BLOCK as u64 {
            return Err(broken(at, "the archive ends too early"));
        }
        let mut from = at;
        while from < size {
            let bytes = read_range(&*self.source, from, (size - from).min(1 << 20))?;
            if let Some(other) = bytes.iter().position(|byte| *byte != 0) {
                return Err(broken(from + other as u64, "something follows the end of the archive"));
            }
            from += bytes.len() as u64;
        }
        Ok(())
    }
}

impl Members for Tar {
    fn paths(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.files.get(path).map(|(_, size)| *size)
    }

    fn open(&self, path: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let part = |(start, size): &(u64, u64)| -> Arc<dyn ReadAt> {
            Arc::new(Part { source: Arc::clone(&self.source), start: *start, size: *size })
        };
        Ok(self.files.get(path).map(part))
    }
}

/// A part of a file, read as a file.
struct Part {
    source: Arc<dyn ReadAt>,
    start: u64,
    size: u64,
}

impl ReadAt for Part {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.source.read_exact_at(buffer, self.start + offset)
    }
}

/// The name in a header: behind its prefix, where it has one.
fn header_name(header: &[u8; BLOCK]) -> Vec<u8> {
    let text = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    // GNU keeps dates where ustar has the prefix.
    let is_posix = &header[257..263] == b"ustar\0";
    if is_posix && !prefix.is_empty() { [&prefix[..], b"/", &name].concat() } else { name }
}

/// An octal number, or since GNU one of 256 digits behind a byte with its highest bit set.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let digits = [&[field[0] & 0x7f], &field[1..]].concat();
        let wide = digits.len() - 8;
        return digits[..wide]
            .iter()
            .all(|digit| *digit == 0)
            .then(|| digits[wide..].iter().fold(0, |number, digit| number << 8 | u64::from(*digit)));
    }
    let digits = field.iter().copied().skip_while(|byte| *byte == b' ');
    let digits: Vec<u8> = digits.take_while(|byte| !matches!(byte, 0 | b' ')).collect();
    digits.iter().try_fold(0_u64, |number, digit| match digit {
        b'0'..=b'7' => number.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// The sum of the header's bytes, its own field taken as blanks.
fn check_sum(header: &[u8; BLOCK], at: u64) -> Result<()> {
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    let field: u64 = header[148..156].iter().map(|byte| u64::from(*byte)).sum();
    let sum = sum - field + 8 * u64::from(b' ');
    match number(&header[148..156]) {
        Some(said) if said == sum => Ok(()),
        said => Err(broken(at, "the checksum of a header is wrong")
            .found(sum)
            .allowed(said.map_or("a number".into(), |said| said.to_string()))),
    }
}

/// Records of the form `LENGTH KEY=VALUE\n`; those that say what a file is and where are kept.
fn pax(mut bytes: &[u8], extended: &mut Extended) -> Option<()> {
    while !bytes.is_empty() {
        let blank = bytes.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(&bytes[..blank]).ok()?.parse().ok()?;
        let (record, rest) = bytes.split_at_checked(length)?;
        let record = record.get(blank + 1..)?.strip_suffix(b"\n")?;
        let equals = record.iter().position(|byte| *byte == b'=')?;
        match (&record[..equals], &record[equals + 1..]) {
            (b"path", path) => extended.path = Some(path.to_vec()),
            (b"size", size) => extended.size = Some(std::str::from_utf8(size).ok()?.parse().ok()?),
            // The content would be a map of pieces, not the file.
            (key, _) if key.starts_with(b"GNU.sparse.") => return None,
            _ => {}
        }
        bytes = rest;
    }
    Some(())
}

fn broken(at: u64, what: &str) -> Error {
    Error::format(format!("tar: {what}"))
        .at(format!("byte {at}"))
        .advice("the file is cut, damaged or no tar archive: copy or write it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, kind: u8, size: usize) -> [u8; BLOCK] {
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        header
    }

    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = header(name, kind, content.len()).to_vec();
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    fn open(entries: &[Vec<u8>]) -> Result<Tar> {
        Tar::open(Arc::new([entries.concat(), vec![0; 2 * BLOCK]].concat()))
    }

    fn content(tar: &Tar, path: &str) -> Vec<u8> {
        let file = tar.open(path).unwrap().unwrap();
        read_range(&*file, 0, file.size()).unwrap()
    }

    #[test]
    fn files_are_read_at_random_and_folders_are_none() {
        let tar = open(&[entry("./b/", b'5', b""), entry("./b/x", b'0', b"one"), entry("a", 0, &[7; 513])]);
        let tar = tar.unwrap();
        assert_eq!(tar.paths(), ["a", "b/x"]);
        assert_eq!((content(&tar, "b/x"), content(&tar, "a")), (b"one".to_vec(), vec![7; 513]));
        let file = tar.open("b/x").unwrap().unwrap();
        assert!(file.read_exact_at(&mut [0; 2], 2).is_err(), "it ends where the file does");
        assert!(tar.open("b").unwrap().is_none());
    }

    #[test]
    fn long_names_are_those_of_pax_and_gnu() {
        let (pax, gnu) = ("p".repeat(150), "g".repeat(200));
        let record = format!("{} path={pax}\n", 5 + 5 + pax.len());
        let record = format!("{} path={pax}\n", record.len());
        let tar = open(&[
            entry("x", b'x', record.as_bytes()),
            entry("p", b'0', b"1"),
            entry("././@LongLink", b'L', format!("{gnu}\0").as_bytes()),
            entry("g", b'0', b"2"),
            entry("c", b'g', b"12 comment=\n"),
            entry("plain", b'0', b"3"),
        ]);
        assert_eq!(tar.unwrap().paths(), [gnu.as_str(), "plain", pax.as_str()]);
    }

    #[test]
    fn whatever_is_no_file_is_refused_by_its_name() {
        for (kind, word) in [
            (b'1', "a link"),
            (b'2', "a link"),
            (b'3', "a device"),
            (b'6', "a pipe"),
            (b'S', "sparse"),
            (b'V', "unknown kind"),
        ] {
            let error = open(&[entry("odd", kind, b"")]).map(drop).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("member odd"), "{error}");
        }
        let twice = open(&[entry("a", b'0', b"1"), entry("./a", b'0', b"1")]).map(drop);
        assert!(twice.unwrap_err().to_string().contains("two members have one name"));
        assert!(open(&[entry("../a", b'0', b"1")]).is_err());
    }

    #[test]
    fn a_cut_or_damaged_archive_never_has_fewer_files() {
        let whole = [entry("a", b'0', b"one"), entry("b", b'0', &[1; 700]), vec![0; 2 * BLOCK]].concat();
        for end in 0..whole.len() {
            assert!(Tar::open(Arc::new(whole[..end].to_vec())).is_err(), "{end} bytes");
        }
        for bit in (0..BLOCK * 8).chain(2 * BLOCK * 8..3 * BLOCK * 8) {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let same = Tar::open(Arc::new(damaged)).is_ok_and(|tar| tar.paths() != ["a", "b"]);
            assert!(!same, "bit {bit}");
        }
        let longer = [&whole[..], &entry("c", b'0', b"hidden")].concat();
        assert!(Tar::open(Arc::new(longer)).is_err());
    }

    #[test]
    fn large_sizes_are_read_in_both_notations() {
        assert_eq!(number(b"00000000017\0"), Some(15));
        assert_eq!(number(&[0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1]), Some((2 << 32) + 1));
        assert_eq!((number(b"9\0"), number(&[0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])), (None, None));
    }
}
