//! safetensors files, written: tensors in their order, metadata in the order of its names.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, json};

use super::METADATA;
use crate::array::{Array, Dtype};

/// Writes tensors with their metadata: equal ones give equal bytes.
pub fn write_to(
    tensors: &[(String, Array)],
    metadata: &BTreeMap<String, String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut header = Map::new();
    if !metadata.is_empty() {
        header.insert(METADATA.into(), json!(metadata));
    }
    let mut end = 0;
    for (name, tensor) in tensors {
        let begin = end;
        end += tensor.bytes().len();
        let about = json!({
            "dtype": dtype_name(tensor.dtype())?,
            "shape": tensor.shape(),
            "data_offsets": [begin, end],
        });
        header.insert(name.clone(), about);
    }
    let mut text = serde_json::Value::Object(header).to_string();
    // The tensors begin at a multiple of eight bytes.
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    tensors.iter().try_for_each(|(_, tensor)| out.write_all(tensor.bytes()))
}

fn dtype_name(dtype: Dtype) -> io::Result<&'static str> {
    Ok(match dtype {
        Dtype::Bool => "BOOL",
        Dtype::U8 => "U8",
        Dtype::U16 => "U16",
        Dtype::U32 => "U32",
        Dtype::U64 => "U64",
        Dtype::I8 => "I8",
        Dtype::I16 => "I16",
        Dtype::I32 => "I32",
        Dtype::I64 => "I64",
        Dtype::F16 => "F16",
        Dtype::BF16 => "BF16",
        Dtype::F32 => "F32",
        Dtype::F64 => "F64",
        Dtype::Text => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "safetensors files hold no text arrays"));
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::array::safetensors;

    fn two() -> (Vec<(String, Array)>, BTreeMap<String, String>) {
        let weight = Array::of_elements(&[2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, -6.5]).unwrap();
        let bias = Array::of_elements(&[2], &[0.5f32, f32::MIN_POSITIVE]).unwrap();
        let metadata = [("penalty", "mcp"), ("gamma", "6"), ("quote", "\"é\"")];
        let metadata = metadata.map(|(key, text)| (key.to_owned(), text.to_owned()));
        (vec![("b.weight".into(), weight), ("a.bias".into(), bias)], metadata.into())
    }

    #[test]
    fn tensors_and_metadata_are_read_again_by_us_and_by_another_reader() {
        let (tensors, metadata) = two();
        let mut bytes = Vec::new();
        write_to(&tensors, &metadata, &mut bytes).unwrap();
        let (arrays, read) = safetensors::open_with_metadata(Arc::new(bytes.clone())).unwrap();
        assert_eq!(read, metadata);
        for (name, tensor) in &tensors {
            assert_eq!(arrays.get(name).unwrap().as_ref(), Some(tensor));
        }
        let other = ::safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(other.tensor("a.bias").unwrap().data(), tensors[1].1.bytes());
        let mut none = Vec::new();
        write_to(&[], &BTreeMap::new(), &mut none).unwrap();
        assert!(safetensors::open_with_metadata(Arc::new(none)).unwrap().1.is_empty());
    }

    #[test]
    fn metadata_that_is_no_text_is_refused_only_where_it_is_asked_for() {
        let file = |header: &str| {
            let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
            bytes.extend(header.as_bytes());
            Arc::new(bytes)
        };
        for header in [r#"{"__metadata__":{"a":1}}"#, r#"{"__metadata__":{"a":"1","a":"2"}}"#] {
            assert!(safetensors::open(file(header)).is_ok());
            assert!(safetensors::open_with_metadata(file(header)).is_err(), "{header}");
        }
    }
}
