//! The files a run has read: path, length and hash of each, in as little memory as they need.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Result};

/// A BLAKE3 hash; shown in hexadecimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl From<blake3::Hash> for Digest {
    fn from(hash: blake3::Hash) -> Self {
        Self(*hash.as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // One way to write a hash: reports are compared as text.
        let hash = blake3::Hash::from_hex(text).ok().map(Self::from).filter(|hash| hash.to_string() == text);
        hash.ok_or_else(|| {
            Error::format("not a BLAKE3 hash").found(text).allowed("64 lower-case hexadecimal digits")
        })
    }
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub blake3: Digest,
    /// What a family adds, such as the detected format.
    pub notes: BTreeMap<String, String>,
}

/// Files by path, in byte order of the paths, each once. A clone shares the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFiles(Arc<Vec<(Box<str>, Input)>>);

impl InputFiles {
    /// Sorts what was read. Refuses a path with two contents.
    pub fn new(mut files: Vec<(Box<str>, Input)>) -> Result<Self> {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        for pair in files.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            same(&pair[0].0, &pair[0].1, &pair[1].1)?;
        }
        files.dedup_by(|a, b| a.0 == b.0);
        files.shrink_to_fit();
        Ok(Self(Arc::new(files)))
    }

    /// Paths and files.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Input)> + Clone {
        self.0.iter().map(|(path, input)| (&**path, input))
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&Input> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(path)).ok()?;
        Some(&self.0[at].1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files of both. Refuses a path with two contents.
    pub(crate) fn merged(&self, other: &Self) -> Result<Self> {
        if other.is_empty() || Arc::ptr_eq(&self.0, &other.0) {
            return Ok(self.clone());
        }
        if self.is_empty() {
            return Ok(other.clone());
        }
        Self::new(self.0.iter().chain(other.0.iter()).cloned().collect())
    }
}

fn same(path: &str, ours: &Input, theirs: &Input) -> Result<()> {
    if ours == theirs {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Conflict, "one input path with two contents")
        .in_file(path)
        .found(format!(
            "{} bytes, blake3 {} and {} bytes, blake3 {}",
            ours.bytes, ours.blake3, theirs.bytes, theirs.blake3
        ))
        .advice("the file changed in the meantime: measure again, all shards of it"))
}

impl FromIterator<(String, Input)> for InputFiles {
    /// Of a path that occurs twice the first file is kept.
    fn from_iter<T: IntoIterator<Item = (String, Input)>>(files: T) -> Self {
        let mut files: Vec<_> =
            files.into_iter().map(|(path, input)| (path.into_boxed_str(), input)).collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files.dedup_by(|a, b| a.0 == b.0);
        Self(Arc::new(files))
    }
}

impl Serialize for InputFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for InputFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // A map sorts and drops what is double; the state then differs from its bytes and is refused.
        let files = BTreeMap::<Box<str>, Input>::deserialize(deserializer)?;
        Ok(Self(Arc::new(files.into_iter().collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: u64) -> Input {
        Input { bytes, blake3: Digest([7; 32]), notes: BTreeMap::new() }
    }

    fn files(files: &[(&str, u64)]) -> Result<InputFiles> {
        let files = files.iter().map(|&(path, bytes)| (path.into(), input(bytes))).collect();
        InputFiles::new(files)
    }

    #[test]
    fn files_are_kept_once_in_order_of_their_paths() {
        let some = files(&[("b", 2), ("a", 1), ("b", 2)]).unwrap();
        assert_eq!(
            some.iter().map(|(path, input)| (path, input.bytes)).collect::<Vec<_>>(),
            [("a", 1), ("b", 2)]
        );
        assert_eq!((some.get("b").map(|file| file.bytes), some.get("c")), (Some(2), None));
        let more = some.merged(&files(&[("c", 3), ("a", 1)]).unwrap()).unwrap();
        assert_eq!(more, files(&[("a", 1), ("b", 2), ("c", 3)]).unwrap());
    }

    #[test]
    fn one_path_with_two_contents_is_refused() {
        assert!(files(&[("a", 1), ("a", 2)]).is_err());
        let text = files(&[("a", 1)]).unwrap().merged(&files(&[("a", 2)]).unwrap()).unwrap_err().to_string();
        assert!(text.contains("one input path with two contents") && text.contains("0707"), "{text}");
    }

    #[test]
    fn a_hash_is_read_back_from_its_one_spelling() {
        let digest = Digest([0xab; 32]);
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        for bad in ["", "ab12", &"AB".repeat(32), &"zz".repeat(32)] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
