//! Rules that say which sampling units come together: frames of a video, images of a patient.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use calipers_core::resample::Clusters;
use calipers_core::spelling::distance;
use calipers_core::{Digest, Error, ErrorKind, Input, InputFiles, Result};
use calipers_io::file::InputFile;
use calipers_io::history::FORMATS;
use regex::Regex;

use crate::inputs::role;

/// The role of a file of clusters among the inputs of a report.
pub const ROLE: &str = "clusters";
/// The column that names units.
const UNIT: &str = "unit";
/// The capture of an expression that is the cluster.
const CAPTURE: &str = "cluster";
const FORMS: &str = "none, folder, regex:PATTERN, FILE.csv:COLUMN or FILE.tsv:COLUMN";
/// How many columns a message names.
const NAMED: usize = 20;

/// Which sampling units come together.
#[derive(Clone, Debug)]
pub enum ClusterRule {
    /// None: units are independent.
    None,
    /// Those of one folder: the name up to its last `/`.
    Folder,
    /// Those for which an expression finds the same.
    Expression(Regex),
    /// Those with the same cell in a column of a table.
    Column {
        /// The table.
        file: PathBuf,
        /// The heading of the column.
        column: String,
    },
    /// As a mapping from names to clusters says.
    Mapping(BTreeMap<String, String>),
}

impl PartialEq for ClusterRule {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mapping(ours), Self::Mapping(theirs)) => ours == theirs,
            _ => self.to_string() == other.to_string(),
        }
    }
}

impl fmt::Display for ClusterRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Folder => f.write_str("folder"),
            Self::Expression(expression) => write!(f, "regex:{expression}"),
            Self::Column { file, column } => write!(f, "{}:{column}", shown(file)),
            Self::Mapping(_) => f.write_str("mapping"),
        }
    }
}

impl FromStr for ClusterRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::usage("no such rule for clusters").found(text).allowed(FORMS);
        if let Some(pattern) = text.strip_prefix("regex:") {
            return Regex::new(pattern).map(Self::Expression).map_err(|error| {
                Error::usage("the expression of a rule for clusters cannot be read")
                    .at(format!("regex:{pattern}"))
                    .found(error)
            });
        }
        match (text, text.rsplit_once(':')) {
            ("none", _) => Ok(Self::None),
            ("folder", _) => Ok(Self::Folder),
            (_, Some((file, column))) if ending(file).is_some() && !column.is_empty() => {
                Ok(Self::Column { file: file.into(), column: column.into() })
            }
            _ => Err(wrong()),
        }
    }
}

/// The ending of a table's name, as the table of formats writes it.
fn ending(file: &str) -> Option<&'static str> {
    FORMATS.called("csv")?.ending_of(file)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

impl ClusterRule {
    /// The cluster of every one of these sampling units that has one.
    pub fn clusters(&self, units: &[&str]) -> Result<Clusters> {
        let of = |cluster: &dyn Fn(&str) -> Option<String>| {
            let found = units.iter().filter_map(|unit| Some((unit.to_string(), cluster(unit)?)));
            Some(found.collect::<BTreeMap<_, _>>())
        };
        let plain = |of, lacks: &str| Clusters {
            rule: self.to_string(),
            of,
            lacks: lacks.into(),
            inputs: InputFiles::default(),
        };
        Ok(match self {
            Self::None => plain(None, ""),
            Self::Folder => {
                let folder = |unit: &str| unit.rsplit_once('/').map(|(folder, _)| folder.to_owned());
                plain(of(&folder), "lies in no folder: its name has no '/'")
            }
            Self::Expression(expression) => {
                plain(of(&|unit| matched(expression, unit)), "is not matched by the expression")
            }
            Self::Mapping(mapping) => plain(of(&|unit| mapping.get(unit).cloned()), "is not in the mapping"),
            Self::Column { file, column } => {
                let path = shown(file);
                let bytes = InputFile::open(file)
                    .and_then(|file| file.read_all())
                    .map_err(|error| error.in_file(&path))?;
                let all = table(&bytes, &path, column).map_err(|error| error.in_file(&path))?;
                let input =
                    Input { bytes: bytes.len() as u64, blake3: Digest::of(&bytes), notes: role(ROLE, None) };
                Clusters {
                    inputs: std::iter::once((path.clone(), input)).collect(),
                    ..plain(of(&|unit| all.get(unit).cloned()), &format!("has no row in {path}"))
                }
            }
        })
    }
}

/// The capture called `cluster`, else the first capture, else the whole match.
fn matched(expression: &Regex, unit: &str) -> Option<String> {
    let captures = expression.captures(unit)?;
    let named = expression.capture_names().flatten().any(|name| name == CAPTURE);
    let found = match (named, expression.captures_len()) {
        (true, _) => captures.name(CAPTURE),
        (false, 1) => captures.get(0),
        (false, _) => captures.get(1),
    };
    found.map(|found| found.as_str().to_owned())
}

/// The clusters of all units in a table.
fn table(bytes: &[u8], path: &str, column: &str) -> Result<BTreeMap<String, String>> {
    let tab = ending(path) == Some(".tsv");
    let mut reader = csv::ReaderBuilder::new().delimiter(if tab { b'\t' } else { b',' }).from_reader(
        // A mark of the encoding is no part of the first heading.
        bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
    );
    let unreadable = |error: csv::Error| {
        let line = error.position().map(|at| format!("line {}", at.line()));
        let error = Error::format(format!("the table cannot be read: {error}"));
        line.map_or_else(|| error.clone(), |line| error.clone().at(line))
    };
    let headings = reader.headers().map_err(unreadable)?.clone();
    let place = |wanted: &str| {
        headings.iter().position(|heading| heading == wanted).ok_or_else(|| no_column(wanted, &headings))
    };
    let (unit, cluster) = (place(UNIT)?, place(column)?);
    let mut all: BTreeMap<String, (String, u64)> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |at: usize| record.get(at).unwrap_or_default();
        if cell(cluster).is_empty() {
            return Err(Error::value("a unit has an empty cell in the column of clusters")
                .at(format!("line {line}, column {column}"))
                .found(format!("unit '{}'", cell(unit)))
                .advice("name the cluster of every unit"));
        }
        let known = all.get(cell(unit));
        if let Some((other, before)) = known.filter(|(other, _)| other != cell(cluster)) {
            return Err(Error::new(ErrorKind::Duplicate, format!("unit '{}' has two clusters", cell(unit)))
                .at(format!("lines {before} and {line}, column {column}"))
                .found(format!("'{other}' and '{}'", cell(cluster))));
        }
        all.entry(cell(unit).to_owned()).or_insert_with(|| (cell(cluster).to_owned(), line));
    }
    Ok(all.into_iter().map(|(unit, (cluster, _))| (unit, cluster)).collect())
}

fn no_column(wanted: &str, headings: &csv::StringRecord) -> Error {
    let found: Vec<&str> = headings.iter().take(NAMED).collect();
    let error = Error::value(format!("the table has no column '{wanted}'")).found(found.join(", "));
    match headings.iter().min_by_key(|heading| distance(heading, wanted)) {
        Some(near) if distance(near, wanted) <= 3 => error.advice(format!("did you mean {near}?")),
        _ => error.advice(format!("the table needs the columns '{UNIT}' and that of the rule")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(rule: &str, units: &[&str]) -> Vec<(String, String)> {
        let clusters = rule.parse::<ClusterRule>().unwrap().clusters(units).unwrap();
        assert_eq!(clusters.rule, rule);
        clusters.of.into_iter().flatten().collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(unit, cluster)| (unit.to_string(), cluster.to_string())).collect()
    }

    #[test]
    fn every_rule_finds_the_cluster_of_a_unit() {
        let units = &["seq0/001", "seq0/b/2", "x"];
        assert_eq!(clusters("folder", units), pairs(&[("seq0/001", "seq0"), ("seq0/b/2", "seq0/b")]));
        assert_eq!(clusters(r"regex:seq\d", units), pairs(&[("seq0/001", "seq0"), ("seq0/b/2", "seq0")]));
        assert_eq!(clusters(r"regex:(\d+)$", units), pairs(&[("seq0/001", "001"), ("seq0/b/2", "2")]));
        let named = r"regex:(\w+)/(?P<cluster>b)?";
        assert_eq!(clusters(named, units), pairs(&[("seq0/b/2", "b")]));
        assert_eq!(clusters("none", units), []);
    }

    #[test]
    fn a_table_names_clusters_in_any_of_its_columns() {
        let text = "unit,site,patient\na,x,\"p,1\"\nb,y,p2\nother,z,p3\na,x,\"p,1\"\n";
        let found = table(text.as_bytes(), "t.csv", "patient").unwrap();
        assert_eq!(found["a"], "p,1");
        let tabs = text.replace("\"p,1\"", "p1").replace(',', "\t");
        assert_eq!(table(tabs.as_bytes(), "T.TSV", "site").unwrap()["b"], "y");
    }

    #[test]
    fn a_bad_table_says_what_and_where() {
        let message = |text: &str| table(text.as_bytes(), "t.csv", "patient").unwrap_err().to_string();
        for (text, words) in [
            ("name,patient\n", &["no column 'unit'", "name, patient"][..]),
            ("unit,patients\n", &["no column 'patient'", "did you mean patients?"]),
            ("unit,patient\na,p\nb,\n", &["line 3", "'b'"]),
            ("unit,patient\na,p\na,q\n", &["lines 2 and 3", "'p' and 'q'"]),
            ("unit,patient\na\n", &["line 2"]),
        ] {
            let message = message(text);
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }

    #[test]
    fn what_is_no_rule_is_wrong_usage() {
        for (text, word) in [
            ("folders", "FILE.csv:COLUMN"),
            ("t.csv", "folder"),
            ("t.csv:", "folder"),
            ("regex:(", "unclosed"),
        ] {
            let error = text.parse::<ClusterRule>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(word), "{error}");
        }
        let windows = "C:\\t.csv:patient".parse::<ClusterRule>().unwrap();
        assert_eq!(windows.to_string(), "C:/t.csv:patient");
    }
}
