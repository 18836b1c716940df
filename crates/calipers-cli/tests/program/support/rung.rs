//! A small graph, its splits and a checkpoint as files, for the commands of the RUNG model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::support::{Bench, f64s, i64s, npy, npz};

/// Two rings of four nodes with one edge between them; features and labels tell the rings apart.
pub const EDGES: [(i64, i64); 9] = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (3, 4)];
pub const LABELS: [i64; 8] = [0, 0, 0, 0, 1, 1, 1, 1];

/// The edges, each once.
pub fn edges(edges: &[(i64, i64)]) -> Vec<u8> {
    i64s(&[edges.len(), 2], &edges.iter().flat_map(|(i, j)| [*i, *j]).collect::<Vec<_>>())
}

/// Features of three columns.
pub fn features() -> Vec<f64> {
    (0..8)
        .flat_map(|node| if node < 4 { [1.0, 0.0, 0.5] } else { [0.0, 1.0, f64::from(node) / 8.0] })
        .collect()
}

/// The graph under the keys of array files.
pub fn keyed() -> Vec<(&'static str, Vec<u8>)> {
    vec![("edges", edges(&EDGES)), ("features", f64s(&[8, 3], &features())), ("labels", i64s(&[8], &LABELS))]
}

/// Members with some replaced or added.
pub fn with(
    mut members: Vec<(&'static str, Vec<u8>)>,
    changes: &[(&'static str, Vec<u8>)],
) -> Vec<(&'static str, Vec<u8>)> {
    for (key, bytes) in changes {
        match members.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => old.clone_from(bytes),
            None => members.push((key, bytes.clone())),
        }
    }
    members
}

/// Entries of a matrix as compressed rows under a prefix.
pub fn csr(prefix: &str, nodes: usize, entries: &[(i64, i64, f64)]) -> Vec<(String, Vec<u8>)> {
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|(i, j, _)| (*i, *j));
    let starts: Vec<i64> =
        (0..=nodes).map(|row| sorted.iter().filter(|(i, _, _)| *i < row as i64).count() as i64).collect();
    let columns: Vec<i64> = sorted.iter().map(|(_, j, _)| *j).collect();
    let data: Vec<f64> = sorted.iter().map(|(_, _, value)| *value).collect();
    vec![
        (format!("{prefix}shape"), i64s(&[2], &[nodes as i64; 2])),
        (format!("{prefix}indptr"), i64s(&[nodes + 1], &starts)),
        (format!("{prefix}indices"), i64s(&[columns.len()], &columns)),
        (format!("{prefix}data"), f64s(&[data.len()], &data)),
    ]
}

/// Both directions of edges, with weight 1.
pub fn both(edges: &[(i64, i64)]) -> Vec<(i64, i64, f64)> {
    edges.iter().flat_map(|&(i, j)| [(i, j, 1.0), (j, i, 1.0)]).collect()
}

/// An archive of members with owned names.
pub fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    npz(&members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>())
}

/// A sparse matrix as scipy saves it.
pub fn scipy(nodes: usize, entries: &[(i64, i64, f64)]) -> Vec<u8> {
    let mut members = csr("", nodes, entries);
    members.push(("format".into(), npy("|S3", &[], b"csr")));
    archive(&members)
}

/// A safetensors file of f32 tensors.
pub fn safetensors(
    metadata: Option<&BTreeMap<&str, &str>>,
    tensors: &[(&str, &[usize], Vec<f32>)],
) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    if let Some(metadata) = metadata {
        header.insert("__metadata__".into(), json!(metadata));
    }
    for (name, shape, values) in tensors {
        let begin = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header.insert(
            (*name).into(),
            json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()]}),
        );
    }
    let text = Json::Object(header).to_string();
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &data].concat()
}

/// The settings of the checkpoint.
pub fn metadata() -> BTreeMap<&'static str, &'static str> {
    [
        ("model", "rung"),
        ("format", "1"),
        ("penalty", "mcp"),
        ("weights", "exact"),
        ("gamma", "3"),
        ("lambda_hat", "0.9"),
        ("k", "10"),
    ]
    .into()
}

/// Weights that tell the two rings apart: 3 features, 2 hidden units, 2 classes.
pub fn weights() -> Vec<(&'static str, &'static [usize], Vec<f32>)> {
    vec![
        ("mlp.0.weight", &[2, 3], vec![2.0, 0.0, 0.5, 0.0, 2.0, -0.5]),
        ("mlp.0.bias", &[2], vec![0.1, -0.1]),
        ("mlp.1.weight", &[2, 2], vec![1.5, -0.5, -0.5, 1.25]),
        ("mlp.1.bias", &[2], vec![0.0, 0.25]),
    ]
}

pub fn checkpoint() -> Vec<u8> {
    safetensors(Some(&metadata()), &weights())
}

/// Graph `g.npz`, splits `s.json` (one) and `two.json`, checkpoint `m.safetensors`, flips `f.npy`.
pub fn bench() -> Bench {
    let bench = Bench::new();
    let split = r#"{"train": [0, 4], "val": [1], "test": [2, 3, 5, 6, 7]}"#;
    bench
        .write("g.npz", npz(&keyed()))
        .write("s.json", split)
        .write("two.json", format!(r#"[{split}, {{"train": [1, 5], "test": [0, 4]}}]"#))
        .write("m.safetensors", checkpoint())
        .write("f.npy", i64s(&[2, 2], &[0, 5, 3, 4]));
    bench
}

/// The options that most lines begin with.
pub const GRAPH: &str = "--graph g.npz --splits s.json --model m.safetensors";

/// The folder of real data, or a line that says the test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn real_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/robustness");
    if !folder.is_dir() {
        eprintln!("skipped: the folder of real data is not beside the project");
        return None;
    }
    Some(folder.canonicalize().unwrap())
}

/// A PyTorch file: its pickle and further members.
pub fn pt(pickle: &[u8], members: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in [("data.pkl", pickle)].iter().chain(members) {
        archive.start_file(format!("archive/{name}"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
