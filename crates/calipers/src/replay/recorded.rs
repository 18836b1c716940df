//! What a report says of its inputs: which file was given as what, and how it was read.

use std::collections::BTreeSet;
use std::path::PathBuf;

use calipers_core::input_files::{BELOW, JOIN, ROLE, column_of};
use calipers_core::{Error, Input, InputFiles, Result};
use calipers_io::place::shown_folder;
use serde_json::{Map, Value as Json};

/// Recorded inputs and the reading options beside them.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'a> {
    pub(super) inputs: &'a InputFiles,
    pub(super) reading: &'a Map<String, Json>,
}

impl Recorded<'_> {
    /// The paths that were given for a role: folders where files were found in one.
    pub(crate) fn given(&self, role: &str) -> Vec<PathBuf> {
        let of_role = |input: &Input| words(input, ROLE).any(|word| word == role);
        let files: Vec<(&str, &Input)> = self.inputs.iter().filter(|(_, input)| of_role(input)).collect();
        let mut given: BTreeSet<String> = BTreeSet::new();
        // A file that was read as two things may name two folders: the others decide which is meant.
        let mut unsure: Vec<Vec<&str>> = Vec::new();
        for (path, input) in files {
            if let Some(column) = column_of(&input.notes, role) {
                given.insert(format!("{path}:{column}"));
                continue;
            }
            match folders(path, input).as_slice() {
                [] => _ = given.insert(path.to_owned()),
                [only] => _ = given.insert(shown_folder(only)),
                several => unsure.push(several.to_vec()),
            }
        }
        for folders in unsure {
            if !folders.iter().any(|folder| given.contains(&shown_folder(folder))) {
                given.extend(folders.first().map(|folder| shown_folder(folder)));
            }
        }
        given.into_iter().map(PathBuf::from).collect()
    }

    /// The path that was given for a role that has at most one.
    pub(crate) fn one(&self, role: &str) -> Result<Option<PathBuf>> {
        let mut given = self.given(role);
        if given.len() > 1 {
            let paths: Vec<String> = given.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::value("inputs of several runs, which are not read again as one")
                .at(format!("role {role}"))
                .found(paths.join(" and "))
                .advice("verify the report of each run"));
        }
        Ok(given.pop())
    }

    /// The roles that begin so.
    pub(crate) fn roles(&self, beginning: &str) -> BTreeSet<String> {
        let roles = self.inputs.iter().flat_map(|(_, input)| words(input, ROLE));
        roles.filter(|word| word.starts_with(beginning)).map(str::to_owned).collect()
    }

    /// A reading option that is a word.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.reading.get(key).and_then(Json::as_str).map(str::to_owned)
    }

    /// A reading option that is a switch.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.reading.get(key).and_then(Json::as_bool).unwrap_or(false)
    }

    /// A reading option that is a number.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.reading.get(key).and_then(Json::as_u64)
    }

    /// A reading option that is a list.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        let words = self.reading.get(key).and_then(Json::as_array);
        words.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
    }
}

/// Refuses an input that was found in a folder which is none of its parents.
pub(super) fn check(path: &str, input: &Input) -> Result<()> {
    match input.notes.get(BELOW) {
        Some(below) if folders(path, input).is_empty() => {
            Err(Error::value("an input was found in a folder that it does not lie in")
                .in_file(path)
                .at(BELOW)
                .found(format!("{below:?}"))
                .allowed("a parent of the path, spelled as in the path"))
        }
        _ => Ok(()),
    }
}

fn words<'a>(input: &'a Input, key: &str) -> impl Iterator<Item = &'a str> {
    input.notes.get(key).into_iter().flat_map(|text| text.split(JOIN))
}

/// The given folders that a file was found in.
fn folders<'a>(path: &str, input: &'a Input) -> Vec<&'a str> {
    // As a run writes it: the root ends in a slash, and no other folder.
    let holds = |folder: &str| match folder {
        "/" => path.starts_with('/'),
        _ if folder.ends_with('/') => false,
        _ => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
    };
    match input.notes.get(BELOW) {
        None => Vec::new(),
        Some(whole) if holds(whole) => vec![whole],
        Some(_) => words(input, BELOW).filter(|folder| holds(folder)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::Digest;
    use calipers_sources::inputs::role;

    fn given(files: &[(&str, &str, Option<&str>)], word: &str) -> Vec<String> {
        let input = |&(path, word, below): &(&str, &str, Option<&str>)| {
            (path.into(), Input { bytes: 1, blake3: Digest::default(), notes: role(word, below) })
        };
        let inputs = InputFiles::new(files.iter().map(input).collect()).unwrap();
        let recorded = Recorded { inputs: &inputs, reading: &Map::new() };
        recorded.given(word).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn a_folder_stands_for_the_files_found_in_it() {
        let files = [("d/a", "input", Some("d")), ("d/e/b", "input", Some("d")), ("f", "input", None)];
        assert_eq!(given(&files, "input"), ["d", "f"]);
        assert_eq!(given(&files, "graph"), [""; 0]);
        assert_eq!(given(&[("/a", "input", Some("/"))], "input"), ["/"]);
        assert_eq!(given(&[("a, b/c", "input", Some("a, b"))], "input"), ["a, b"]);
    }

    #[test]
    fn a_column_is_given_with_its_file() {
        let noted = |role: &str, column: &str| {
            let notes = [("role", role), ("column", column)].map(|(key, text)| (key.into(), text.into()));
            Input { bytes: 1, blake3: Digest::default(), notes: std::sync::Arc::new(notes.into()) }
        };
        let files = [noted("truth", "mask"), noted("pred", "out")].map(|input| ("x.parquet".into(), input));
        let inputs = InputFiles::new(files.into()).unwrap();
        let recorded = Recorded { inputs: &inputs, reading: &Map::new() };
        let given = |role: &str| recorded.one(role).unwrap().unwrap().display().to_string();
        assert_eq!([given("truth"), given("pred")], ["x.parquet:mask", "x.parquet:out"]);
    }

    #[test]
    fn a_file_of_two_folders_belongs_to_the_one_its_neighbours_name() {
        let files = [
            ("d/e/a", "graph", Some("d")),
            ("d/e/a", "labels", Some("d/e")),
            ("d/e/b", "labels", Some("d/e")),
            ("d/g", "graph", Some("d")),
        ];
        assert_eq!(given(&files, "graph"), ["d"]);
        assert_eq!(given(&files, "labels"), ["d/e"]);
    }
}
