//! The files a run has read: path, length and hash of each, in as little memory as they need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Result};

/// A BLAKE3 hash; shown in hexadecimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        blake3::hash(bytes).into()
    }

    /// The 64 hexadecimal digits it is shown as.
    pub fn hex(&self) -> impl std::ops::Deref<Target = str> + use<> {
        blake3::Hash::from_bytes(self.0).to_hex()
    }
}

impl From<blake3::Hash> for Digest {
    fn from(hash: blake3::Hash) -> Self {
        Self(*hash.as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
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
    /// What the file was read as, and what a family adds, such as the detected format. Files alike
    /// share them.
    #[serde(with = "shared")]
    pub notes: Notes,
}

/// What is noted about a file, by key.
pub type Notes = Arc<BTreeMap<String, String>>;

/// The note that says what a file was read as: `truth`, `scores`, `config`; several words joined by
/// [`JOIN`].
pub const ROLE: &str = "role";
/// The note that says which given folder a file was found in; several joined by [`JOIN`].
pub const BELOW: &str = "below";
/// The note that says which column of the file was read; of a file with several roles one column per role,
/// in their order, joined by [`JOIN`].
pub const COLUMN: &str = "column";
/// What stands between the words of a file that was read as several things.
pub const JOIN: &str = ", ";

/// Notes are written as a plain map.
mod shared {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        notes: &Notes,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        notes.as_ref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Notes, D::Error> {
        BTreeMap::deserialize(deserializer).map(Arc::new)
    }
}

/// Files by path, in byte order of the paths, each once. A clone shares the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFiles(Arc<Vec<(Box<str>, Input)>>);

impl InputFiles {
    /// Sorts what was read. A file that was read as two things is kept once, as both. Refuses a path
    /// with two contents.
    pub fn new(mut files: Vec<(Box<str>, Input)>) -> Result<Self> {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let mut pool = Pool::default();
        let mut at = 0;
        while at < files.len() {
            let path = &files[at].0;
            let alike = at + files[at..].iter().take_while(|(other, _)| other == path).count();
            let mut notes = Arc::clone(&files[at].1.notes);
            for (_, again) in &files[at + 1..alike] {
                same(path, &files[at].1, again)?;
                notes = joined(&notes, &again.notes).ok_or_else(|| differs(path, &files[at].1, again))?;
            }
            files[at].1.notes = pool.shared(notes);
            at = alike;
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

    /// The files of both, in one pass over both. Refuses a path with two contents.
    pub fn merged(&self, other: &Self) -> Result<Self> {
        if other.is_empty() || Arc::ptr_eq(&self.0, &other.0) {
            return Ok(self.clone());
        }
        if self.is_empty() {
            return Ok(other.clone());
        }
        // Sorting takes two sorted runs as they are.
        Self::new(self.0.iter().chain(other.0.iter()).cloned().collect())
    }
}

/// One allocation for notes that are alike.
#[derive(Default)]
struct Pool {
    known: BTreeMap<Notes, ()>,
    /// The notes asked for last, which are mostly the next ones too.
    last: Notes,
}

impl Pool {
    fn shared(&mut self, notes: Notes) -> Notes {
        if Arc::ptr_eq(&notes, &self.last) {
            return notes;
        }
        if let Some((known, ())) = self.known.get_key_value(&notes) {
            self.last = Arc::clone(known);
        } else {
            self.known.insert(Arc::clone(&notes), ());
            self.last = notes;
        }
        Arc::clone(&self.last)
    }
}

/// The notes of a file that was read twice: roles and folders of both, all else alike; `None` where
/// it is not. Whoever comes first, the result is the same.
fn joined(ours: &Notes, theirs: &Notes) -> Option<Notes> {
    if ours == theirs {
        return Some(Arc::clone(ours));
    }
    let mut notes = BTreeMap::clone(ours);
    if ours.contains_key(COLUMN) || theirs.contains_key(COLUMN) {
        let mut columns = columns(ours)?;
        for (role, column) in self::columns(theirs)? {
            if columns.insert(role, column).is_some_and(|known| known != column) {
                return None;
            }
        }
        let list = |words: Vec<&str>| words.join(JOIN);
        notes.insert(ROLE.to_owned(), list(columns.keys().copied().collect()));
        notes.insert(COLUMN.to_owned(), list(columns.values().copied().collect()));
        let others = |notes: &Notes| notes.iter().filter(|(key, _)| *key != ROLE && *key != COLUMN).count();
        return (others(ours) == 0 && others(theirs) == 0).then(|| Arc::new(notes));
    }
    for (key, text) in theirs.iter() {
        match notes.get_mut(key) {
            Some(known) if known == text => {}
            Some(known) if key == ROLE || key == BELOW => {
                let words: BTreeSet<&str> = known.split(JOIN).chain(text.split(JOIN)).collect();
                *known = words.into_iter().collect::<Vec<_>>().join(JOIN);
            }
            Some(_) => return None,
            None => _ = notes.insert(key.clone(), text.clone()),
        }
    }
    Some(Arc::new(notes))
}

/// The column that was read for each role; none where the notes do not say it.
fn columns(notes: &Notes) -> Option<BTreeMap<&str, &str>> {
    let (roles, columns) = (notes.get(ROLE)?, notes.get(COLUMN)?);
    if !roles.contains(JOIN) {
        return Some(BTreeMap::from([(&**roles, &**columns)]));
    }
    let same = roles.split(JOIN).count() == columns.split(JOIN).count();
    same.then(|| roles.split(JOIN).zip(columns.split(JOIN)).collect())
}

/// The column of a file that was read for a role.
pub fn column_of<'n>(notes: &'n Notes, role: &str) -> Option<&'n str> {
    columns(notes)?.get(role).copied()
}

/// A file that two states have.
pub(crate) fn both(path: &str, ours: &Input, theirs: &Input) -> Result<Input> {
    same(path, ours, theirs)?;
    let notes = joined(&ours.notes, &theirs.notes).ok_or_else(|| differs(path, ours, theirs))?;
    Ok(Input { notes, ..ours.clone() })
}

fn same(path: &str, ours: &Input, theirs: &Input) -> Result<()> {
    if (ours.bytes, ours.blake3) == (theirs.bytes, theirs.blake3) {
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

fn differs(path: &str, ours: &Input, theirs: &Input) -> Error {
    Error::new(ErrorKind::Conflict, "one input path that was read in two ways")
        .in_file(path)
        .found(format!("{:?} and {:?}", ours.notes, theirs.notes))
        .advice("read all shards with the same options")
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
        deserializer.deserialize_map(Reading)
    }
}

/// Takes files in one by one.
struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = InputFiles;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files by their paths")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<InputFiles, A::Error> {
        let mut pool = Pool::default();
        let mut files: Vec<(Box<str>, Input)> = Vec::new();
        // Notes are shared at once: each of a million files would else hold a map of its own until the last.
        while let Some((path, mut input)) = map.next_entry::<Box<str>, Input>()? {
            input.notes = pool.shared(input.notes);
            files.push((path, input));
        }
        // What was not in order, or double, differs from the bytes of the state then, and is refused.
        if !files.is_sorted_by(|a, b| a.0 < b.0) {
            files.sort_by(|a, b| a.0.cmp(&b.0));
            files.dedup_by(|a, b| a.0 == b.0);
        }
        files.shrink_to_fit();
        Ok(InputFiles(Arc::new(files)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: u64) -> Input {
        Input { bytes, blake3: Digest([7; 32]), notes: Notes::default() }
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

    fn noted(path: &str, notes: &[(&str, &str)]) -> InputFiles {
        let notes = notes.iter().map(|(key, text)| ((*key).into(), (*text).into())).collect();
        let input = Input { notes: Arc::new(notes), ..input(1) };
        InputFiles::new(vec![(path.into(), input)]).unwrap()
    }

    #[test]
    fn a_file_read_as_two_things_is_kept_once_as_both_whoever_comes_first() {
        let labels = noted("f", &[(ROLE, "labels"), (BELOW, "a")]);
        let scores = noted("f", &[(ROLE, "scores"), (BELOW, "a")]);
        let both = labels.merged(&scores).unwrap();
        assert_eq!(both, scores.merged(&labels).unwrap());
        assert_eq!(both, both.merged(&scores).unwrap());
        assert_eq!(both, noted("f", &[(ROLE, "labels, scores"), (BELOW, "a")]));
        let alone = noted("f", &[(ROLE, "labels")]);
        assert_eq!(alone.merged(&labels).unwrap(), labels);
        assert!(noted("f", &[("x", "epoch")]).merged(&noted("f", &[("x", "step")])).is_err());
    }

    #[test]
    fn a_file_of_which_two_columns_were_read_is_kept_once_with_the_column_of_each_role() {
        let truth = noted("f", &[(ROLE, "truth"), (COLUMN, "a, b")]);
        assert_eq!(column_of(&truth.get("f").unwrap().notes, "truth"), Some("a, b"));
        let [truth, pred] = [("truth", "mask"), ("pred", "out")]
            .map(|(role, column)| noted("f", &[(ROLE, role), (COLUMN, column)]));
        let both = truth.merged(&pred).unwrap();
        assert_eq!(both, pred.merged(&truth).unwrap());
        assert_eq!(both, both.merged(&truth).unwrap());
        assert_eq!(both, noted("f", &[(ROLE, "pred, truth"), (COLUMN, "out, mask")]));
        let notes = &both.get("f").unwrap().notes;
        assert_eq!((column_of(notes, "pred"), column_of(notes, "truth")), (Some("out"), Some("mask")));
        assert!(truth.merged(&noted("f", &[(ROLE, "truth"), (COLUMN, "other")])).is_err());
    }

    #[test]
    fn files_alike_share_their_notes_also_when_read_back() {
        let files = noted("a", &[(ROLE, "truth")]).merged(&noted("b", &[(ROLE, "truth")])).unwrap();
        let bytes = postcard::to_stdvec(&files).unwrap();
        let back: InputFiles = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(back, files);
        for files in [files, back] {
            let notes: Vec<_> = files.iter().map(|(_, input)| Arc::as_ptr(&input.notes)).collect();
            assert_eq!(notes[0], notes[1]);
        }
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
