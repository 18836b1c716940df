//! Running the binary on files made on the spot.

pub mod explanation;
pub mod robustness;
pub mod rung;
pub mod segmentation;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use calipers_cli::keywords::text_in_keywords;
use serde_json::Value as Json;
use tempfile::TempDir;

/// A folder of its own for one test, and the binary run inside it.
pub struct Bench {
    folder: TempDir,
}

/// What one run said.
pub struct Said {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs `calipers` with the words of a line.
    pub fn run(&self, line: &str) -> Said {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_words(&self, words: &[&str]) -> Said {
        self.run_words_in(words, &[])
    }

    /// Runs `calipers` with the words of a line and these variables.
    #[cfg(feature = "remote")]
    pub fn run_in(&self, line: &str, variables: &[(&str, &str)]) -> Said {
        self.run_words_in(&line.split_whitespace().collect::<Vec<_>>(), variables)
    }

    fn run_words_in(&self, words: &[&str], variables: &[(&str, &str)]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_calipers"))
            .args(words)
            .envs(variables.iter().copied())
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        Said::from(output)
    }

    /// Runs `calipers` with the words of a line and bytes on standard input.
    pub fn run_on(&self, line: &str, input: &[u8]) -> Said {
        let mut child = Command::new(env!("CARGO_BIN_EXE_calipers"))
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that refuses its options closes the pipe unread.
        let _ = child.stdin.take().unwrap().write_all(input);
        Said::from(child.wait_with_output().unwrap())
    }

    /// Runs a line of a shell that finds `calipers`.
    pub fn shell(&self, line: &str) -> Said {
        let folder = Path::new(env!("CARGO_BIN_EXE_calipers")).parent().unwrap();
        let paths = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{paths}", folder.display());
        let output =
            Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(self.folder.path()).output();
        Said::from(output.unwrap())
    }

    /// Runs a measuring command and returns its report.
    pub fn report(&self, line: &str) -> Json {
        let said = self.run(&format!("{line} --json - --quiet"));
        assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
        serde_json::from_str(&said.stdout).unwrap()
    }

    /// Runs a command that must fail with a status and a message holding all of `parts`.
    pub fn refuses(&self, line: &str, status: i32, parts: &[&str]) {
        let said = self.run(line);
        assert_eq!(said.status, status, "{line}\n{}{}", said.stdout, said.stderr);
        for part in parts {
            assert!(
                said.stderr.contains(part),
                "'{part}' is missing in the answer to {line}:\n{}",
                said.stderr
            );
        }
        assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
        assert!(said.stdout.is_empty(), "{}", said.stdout);
    }
}

/// States and reports of two runs over two graphs.
pub fn two_runs() -> Bench {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.write(&format!("in/{name}.npz"), npz(&path3_unit()));
    }
    for name in ["x", "z"] {
        let line =
            format!("independent-set in --state {name}.state --json {name}.json --per-unit {name}.csv -q");
        let said = bench.run(&line);
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    bench
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let said = Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        said.check_keywords();
        said
    }
}

/// What no message says to a program: texts of libraries and their types.
const FOREIGN: [&str; 9] = [
    "serde",
    "expected struct",
    "invalid type",
    "invalid digit",
    "invalid float",
    "ParseInt",
    "panicked",
    "usize",
    "`calipers ",
];

impl Said {
    /// Every message that a test meets is one that a program can meet too: there it names arguments, and
    /// neither options nor commands. What the parser of the command line says is told elsewhere.
    fn check_keywords(&self) {
        let blocks = self.stderr.starts_with("error: ") && !self.stderr.contains("try '--help'");
        let lines = self.stderr.lines().filter(|line| blocks && !line.starts_with("     file: "));
        // What was found is quoted as it is.
        for line in lines.filter(|line| !line.starts_with("    found: ")) {
            let text = text_in_keywords(line);
            let option = text.match_indices("--").any(|(at, _)| {
                let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
                begins && text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
            });
            let foreign = FOREIGN.iter().find(|word| text.contains(**word));
            assert!(!option && foreign.is_none(), "no words of a program: {text}\n{}", self.stderr);
        }
    }
}

/// The value of a metric in a report, by its id without the family.
pub fn metric<'a>(report: &'a Json, id: &str) -> &'a Json {
    let full = format!("independent_set.{id}");
    report["metrics"].get(&full).unwrap_or_else(|| panic!("no {full} in the report"))
}

/// A folder or file that an oracle wrote.
pub fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles").join(path)
}

/// The cases of a golden file, each with the ids that it decides over.
pub fn golden_cases(path: &str) -> Vec<Json> {
    let mut file: Json = serde_json::from_str(&std::fs::read_to_string(golden(path)).unwrap()).unwrap();
    let pins = file["pins"].take();
    let mut cases = std::mem::take(file["cases"].as_array_mut().unwrap());
    for case in cases.iter_mut().filter(|case| case["pins"].is_null()) {
        case["pins"] = pins.clone();
    }
    cases
}

/// The report with those ids alone that a case decides over, without the prefix of the family.
pub fn pinned(report: &Json, pins: &Json) -> Json {
    let pins: Vec<&str> = pins.as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let mut kept = report.clone();
    for part in ["metrics", "undefined"] {
        let short = report[part].as_object().unwrap().iter().map(|(path, value)| {
            let (_, path) = path.split_once('.').unwrap();
            (path.to_owned(), value.clone())
        });
        let of_pins = |path: &str| path.split('.').next().is_some_and(|id| pins.contains(&id));
        kept[part] = Json::Object(short.filter(|(path, _)| of_pins(path)).collect());
    }
    kept
}

/// The codes of a report's warnings.
pub fn codes(report: &Json) -> Vec<&str> {
    report["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// An npy file, version 1.
pub fn npy(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let shape = match shape {
        [one] => format!("({one},)"),
        more => format!("({})", more.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (head.len() + 11) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&(head.len() as u16).to_le_bytes());
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(data);
    file
}

pub fn i64s(shape: &[usize], values: &[i64]) -> Vec<u8> {
    npy("<i8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

pub fn f64s(shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy("<f8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

pub fn texts(values: &[&str]) -> Vec<u8> {
    let width = values.iter().map(|value| value.chars().count()).max().unwrap_or(1).max(1);
    let mut data = Vec::new();
    for value in values {
        let mut letters: Vec<char> = value.chars().collect();
        letters.resize(width, '\0');
        data.extend(letters.iter().flat_map(|letter| (*letter as u32).to_le_bytes()));
    }
    npy(&format!("<U{width}"), &[values.len()], &data)
}

/// An npz archive of npy files.
pub fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (number, (name, bytes)) in members.iter().enumerate() {
        let method =
            if number % 2 == 0 { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The edges 0-1 and 1-2 of a path, in both directions.
pub fn path3() -> Vec<u8> {
    i64s(&[2, 4], &[0, 1, 1, 2, 1, 0, 2, 1])
}

/// A whole unit: a path of three nodes with logits and labels.
pub fn path3_unit() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("edge_index", path3()),
        ("logits", f64s(&[3], &[1.0, -1.0, 2.0])),
        ("labels", i64s(&[3], &[1, 0, 1])),
    ]
}

/// The folder of real data, where it exists beside the project.
pub fn real_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/independent_set");
    folder.is_dir().then(|| folder.canonicalize().unwrap())
}
