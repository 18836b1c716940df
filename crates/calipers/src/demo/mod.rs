//! Data sets made from a seed, so that every family can be seen at work without a download.

pub mod explanation;
pub mod independent_set;
pub mod robustness;
mod scene;
pub mod segmentation;
pub mod training;

use std::fs;
use std::path::Path;

use calipers_core::{Error, Result};
use calipers_sources::output;

/// One array of a safetensors file: name, type, shape and little-endian bytes.
struct Tensor {
    name: &'static str,
    dtype: &'static str,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Writes arrays as a safetensors file: a length, a JSON head, the bytes.
fn write_safetensors(path: &Path, tensors: &[Tensor]) -> Result<()> {
    let mut head = serde_json::Map::new();
    let mut at = 0;
    for tensor in tensors {
        let end = at + tensor.bytes.len();
        let entry =
            serde_json::json!({"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [at, end]});
        head.insert(tensor.name.into(), entry);
        at = end;
    }
    let mut head = serde_json::Value::Object(head).to_string().into_bytes();
    // The data begins at a multiple of 8.
    head.resize(head.len().next_multiple_of(8), b' ');
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(&head);
    tensors.iter().for_each(|tensor| file.extend_from_slice(&tensor.bytes));
    output::write(path, &file)
}

fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| {
        Error::io(format!("cannot create the folder: {}", error.kind())).in_file(path.display())
    })
}
