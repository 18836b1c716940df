//! The tables of formats: every line has a fixture that is recognised and read and a fuzz target, and
//! nobody but the tables decides by the ending of a file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::format::{Format, Formats};
use calipers_io::graph::{GraphOptions, lines};
use calipers_io::history::{Wanted, delimited, of_file, of_folder};
use calipers_io::image::Image;
use calipers_io::{archive, array, graph, history, image, score};

/// A fixture: its path below the folder, and its bytes.
type Fixture = (String, Vec<u8>);

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn repository() -> PathBuf {
    here().join("../..")
}

/// All files below a folder whose names end in one of the endings, or all of them.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn fixtures(folder: &str) -> Vec<Fixture> {
    let folder = here().join("tests").join(folder);
    let mut found = Vec::new();
    files(&folder, &mut found);
    found.sort();
    let name = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    found.into_iter().map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

/// Whether a fixture is recognised by its name and, where that tells, by its content.
fn recognised<R>(formats: &Formats<R>, format: &Format<R>, (name, bytes): &Fixture) -> bool {
    let first =
        formats.iter().find(|other| other.endings.iter().any(|ending| format.endings.contains(ending)));
    let by_name =
        format.ending_of(name).is_some() && (first != Some(format) || formats.by_name(name) == Some(format));
    let by_content = formats.by_content(bytes);
    // A format that narrows another one has its endings and is told by name alone.
    let is_wider = |other: &Format<R>| format.endings.iter().all(|ending| other.endings.contains(ending));
    by_name
        && match format.magic {
            Some(_) => by_content == Some(format),
            None => by_content.is_none_or(is_wider),
        }
}

/// Every line of a table has a fixture that is recognised and read, and a fuzz target.
fn check<R>(kind: &str, formats: &Formats<R>, folders: &[&str], read: impl Fn(&R, &Fixture) -> Result<()>) {
    let fixtures: Vec<Fixture> = folders.iter().flat_map(|folder| fixtures(folder)).collect();
    for format in formats.iter() {
        let mut mine = fixtures.iter().filter(|fixture| recognised(formats, format, fixture));
        assert!(mine.any(|fixture| read(&format.reader, fixture).is_ok()), "{kind}/{format} has no fixture");
        assert!(is_fuzzed(kind, format.name), "no fuzz target covers {kind}/{format}");
    }
}

/// Whether the first lines of a fuzz target say that it covers a format.
fn is_fuzzed(kind: &str, name: &str) -> bool {
    let mut targets = Vec::new();
    files(&repository().join("fuzz/fuzz_targets"), &mut targets);
    let manifest = fs::read_to_string(repository().join("fuzz/Cargo.toml")).unwrap();
    let word = format!("{kind}/{name}");
    targets.iter().any(|target| {
        let text = fs::read_to_string(target).unwrap();
        let covers = text.lines().filter_map(|line| line.strip_prefix("//! Covers: "));
        let file = target.file_name().unwrap().to_str().unwrap();
        manifest.contains(&format!("fuzz_targets/{file}\""))
            && covers.flat_map(|line| line.trim_end_matches('.').split(", ")).any(|covered| covered == word)
    })
}

#[test]
fn every_image_format_has_a_fixture_and_a_fuzz_target() {
    let volumes = fixtures("fixtures/volumes");
    check("image", &image::FORMATS, &["fixtures/images", "fixtures/volumes"], |read, (_, bytes)| {
        let mut beside = |name: &str| {
            let found = volumes.iter().find(|(file, _)| file.ends_with(name));
            found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| Error::io("there is no such file"))
        };
        read(bytes, &mut beside, &mut Image::default())
    });
}

#[test]
fn every_array_format_has_a_fixture_and_a_fuzz_target() {
    check("array", &array::FORMATS, &["fixtures/arrays"], |reader, (_, bytes)| {
        let source: array::Source = Arc::new(bytes.clone());
        match reader {
            array::Reader::One { open, decode } => {
                open(source)?.read_all()?;
                decode(bytes.clone()).map(drop)
            }
            array::Reader::Named(open) => open(source).map(drop),
            array::Reader::Sets(open) => open(source).map(drop),
        }
    });
}

#[test]
fn every_graph_format_has_a_fixture_and_a_fuzz_target() {
    let folders = ["fixtures/graphs", "fixtures/pickles", "fixtures/arrays"];
    check("graph", &graph::FORMATS, &folders, |reader, (_, bytes)| match reader {
        graph::Reader::One { read, .. } => read(bytes, &GraphOptions::default()).map(drop),
        graph::Reader::Lines { header, read, .. } => lines(*header, bytes)?
            .into_iter()
            .try_for_each(|(line, range)| read(&bytes[range], line).map(drop)),
        graph::Reader::Several { read, .. } => read(bytes).map(drop),
        graph::Reader::DataSet(read) => {
            let beside =
                |ending: &str| fs::read(here().join(format!("tests/fixtures/graphs/RING{ending}"))).unwrap();
            let (indicator, labels) = (beside(graph::tu::INDICATOR), beside(graph::tu::LABELS));
            read(&graph::tu::Files { edges: bytes, indicator: &indicator, labels: Some(&labels) }).map(drop)
        }
        // Read by the table of array formats.
        graph::Reader::Arrays => Ok(()),
    });
}

#[test]
fn every_archive_format_has_a_fixture_and_a_fuzz_target() {
    check("archive", &archive::FORMATS, &["fixtures/archives"], |open, (name, bytes)| {
        let members = open(Arc::new(bytes.clone()))?;
        assert_eq!(members.paths(), ["gt/1.txt", "gt/deep/2.txt"], "{name}");
        let file = members.open("gt/deep/2.txt")?.unwrap();
        let mut text = [0; 4];
        file.read_exact_at(&mut text, 0).unwrap();
        assert_eq!((file.size(), &text), (4, b"two\n"), "{name}");
        Ok(())
    });
}

#[test]
fn every_score_format_has_a_fixture_and_a_fuzz_target() {
    let folders = ["fixtures/scores", "fixtures/arrays"];
    check("score", &score::FORMATS, &folders, |reader, (_, bytes)| match reader {
        score::Reader::Values(read) => read(bytes).map(drop),
        score::Reader::Set(read) => read(bytes, 4).map(drop),
        score::Reader::Units(read) => read(bytes).map(drop),
        // Read by the table of array formats.
        score::Reader::Arrays => Ok(()),
    });
    check("optimum", &score::OPTIMA, &folders, |read, (_, bytes)| read(bytes).map(drop));
    check("confusion", &score::CONFUSIONS, &folders, |read, (_, bytes)| read(bytes).map(drop));
}

#[test]
fn every_history_format_has_a_fixture_and_a_fuzz_target() {
    let fixtures: Vec<Fixture> =
        ["histories", "../../../oracles/training/formats"].into_iter().flat_map(fixtures).collect();
    for format in history::FORMATS.iter() {
        let is_mine = |(name, bytes): &&Fixture| {
            let file = name.rsplit('/').next().unwrap();
            if format.name == "dvclive" {
                return name.contains("plots/metrics/");
            }
            match of_folder(file) {
                Some(found) if found == format => format.magic.is_none() || format.begins(bytes),
                _ => format.ending_of(file).is_some() && of_file(bytes, file, false).unwrap() == Some(format),
            }
        };
        let read = |(name, bytes): &Fixture| {
            let (wanted, options) = (Wanted::default(), delimited::Options::default());
            match format.reader {
                history::Reader::Table { whole, .. } => whole(name, bytes, &wanted, &options).map(drop),
                history::Reader::Runs { whole, .. } => {
                    whole(bytes.clone(), &wanted, &options)?.try_for_each(|run| run.map(drop))
                }
                history::Reader::Folder if format.name == "dvclive" => {
                    let wanted = Wanted { numbers: vec!["val/acc".into()], ..Wanted::default() };
                    history::dvclive::read(&[("val/acc", bytes)], &wanted).map(drop)
                }
                history::Reader::Folder => {
                    history::mlflow::read(&[(history::RUN_META, bytes)], &wanted).map(drop)
                }
            }
        };
        let mut mine = fixtures.iter().filter(is_mine);
        assert!(mine.any(|fixture| read(fixture).is_ok()), "history/{format} has no fixture");
        assert!(is_fuzzed("history", format.name), "no fuzz target covers history/{format}");
    }
}

/// Files that look at an ending and are right to: none of them decides how data is read.
const EXCEPTIONS: [(&str, &str); 10] = [
    ("crates/calipers-io/src/format.rs", "the tables themselves"),
    ("crates/calipers-io/src/array/npz.rs", "the names of the members of an archive"),
    ("crates/calipers-io/src/array/format.rs", "the names of the members of an archive"),
    ("crates/calipers-cli/src/commands/families/robustness/mod.rs", "a configuration among the inputs"),
    ("crates/calipers-sources/src/segmentation/classes.rs", "a file of class names, no data"),
    (
        "crates/calipers-sources/src/segmentation/meant/colours.rs",
        "lists of segments that a message may propose",
    ),
    (
        "crates/calipers-sources/src/training/discover/unread.rs",
        "archives of other tools, which are not read",
    ),
    ("crates/calipers-cli/src/emit.rs", "the names of output files"),
    ("crates/calipers-cli/src/serve/library.rs", "the names of files that this program wrote"),
    ("crates/calipers-sources/src/run/resume/folder.rs", "the names of parts that this program wrote"),
];

#[test]
fn nobody_else_decides_by_the_ending_of_a_file() {
    let mut sources = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &mut sources);
    }
    let looks = ["has_ending(", "ends_with(\".", "ends_with(b\".", "strip_suffix(\".", ".extension()"];
    for path in sources {
        let name = path.strip_prefix(repository()).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in (1..).zip(code.lines()) {
            let is_number = line.contains("strip_suffix(\".0\")");
            let excepted = EXCEPTIONS.iter().any(|(file, _)| *file == name);
            let decides = looks.iter().any(|look| line.contains(look)) && !is_number && !excepted;
            assert!(!decides, "{name}:{number} decides by an ending: ask a table of calipers-io");
        }
    }
}
