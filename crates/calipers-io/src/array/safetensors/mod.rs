//! safetensors files: a JSON header, then the tensors without gaps.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use calipers_core::{Error, Result};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value as Json;

use super::{Array, Arrays, Decode, Dtype, byte_count, empty_file, read_range};
use crate::file::ReadAt;
use crate::limits;

mod write;

pub use write::write_to;

/// Opens a file; its tensors are read when they are asked for. What is no text in `__metadata__` is
/// ignored.
pub fn open(source: Arc<dyn ReadAt>) -> Result<Arrays> {
    let (arrays, metadata) = opened::<Json>(source)?;
    let texts = match metadata {
        Some(Json::Object(entries)) => entries.into_iter().filter_map(|(key, value)| match value {
            Json::String(text) => Some((key, text)),
            _ => None,
        }),
        _ => return Ok(arrays),
    };
    Ok(Arrays { texts: texts.collect(), ..arrays })
}

/// Opens a file; its tensors are read when they are asked for. Also returns `__metadata__`, which
/// must hold texts alone.
pub fn open_with_metadata(source: Arc<dyn ReadAt>) -> Result<(Arrays, BTreeMap<String, String>)> {
    let (arrays, metadata) = opened::<Texts>(source)?;
    Ok((arrays, metadata.unwrap_or_default().0))
}

fn opened<M: DeserializeOwned>(source: Arc<dyn ReadAt>) -> Result<(Arrays, Option<M>)> {
    let size = source.size();
    if size == 0 {
        return Err(empty_file());
    }
    let short = || broken(size, "the file ends inside the header");
    let after = size.checked_sub(8).ok_or_else(short)?;
    let length =
        read_range(&*source, 0, 8)?.as_chunks().0.first().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if length > limits::SAFETENSORS_HEADER {
        return Err(broken(0, "the header is too long")
            .found(format!("{length} bytes"))
            .allowed(format!("at most {} bytes", limits::SAFETENSORS_HEADER)));
    }
    let data = after.checked_sub(length).ok_or_else(short)?;
    let text = read_range(&*source, 8, length)?;
    if text.first() != Some(&b'{') {
        return Err(broken(8, "the header is not a JSON object"));
    }
    let odd = |error: &dyn fmt::Display| broken(8, "the header is not as the format wants it").found(error);
    let text = std::str::from_utf8(&text).map_err(|error| odd(&error))?;
    let Header { mut tensors, metadata } = serde_json::from_str(text).map_err(|error| odd(&error))?;
    tensors.sort_by_key(|(_, tensor)| tensor.data_offsets);
    let mut end = 0;
    for (name, tensor) in &tensors {
        tensor.check(end).map_err(|error| error.at(format!("tensor {name}")))?;
        end = tensor.data_offsets.1;
    }
    if end != data {
        return Err(broken(size, format!("the header says {end} bytes, the file has {data}")));
    }
    let entry = |(name, tensor): (String, Tensor)| {
        let source = Arc::clone(&source);
        let decode: Decode = Box::new(move || tensor.read(&*source, 8 + length));
        (name, decode)
    };
    let stored = tensors.into_iter().map(entry).collect();
    Ok((Arrays { stored, texts: BTreeMap::new() }, metadata))
}

/// The name in the header that is no tensor.
const METADATA: &str = "__metadata__";

fn broken(byte: u64, what: impl fmt::Display) -> Error {
    Error::format(format!("safetensors: {what}"))
        .at(format!("byte {byte}"))
        .advice("copy or write the file again")
}

/// The tensors in the order of the text; serde would let the last of two equal names win.
struct Header<M> {
    tensors: Vec<(String, Tensor)>,
    metadata: Option<M>,
}

/// Texts by name, no name twice.
#[derive(Default)]
struct Texts(BTreeMap<String, String>);

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

impl Tensor {
    fn check(&self, start: u64) -> Result<()> {
        let (begin, end) = self.data_offsets;
        if begin != start || end < begin {
            return Err(Error::format("safetensors: tensors overlap or leave a hole")
                .found(format!("bytes {begin} to {end}"))
                .allowed(format!("a start at byte {start}")));
        }
        if self.shape.len() > limits::RANK {
            return Err(Error::format("safetensors: too many axes")
                .found(self.shape.len())
                .allowed(limits::RANK));
        }
        // Types that cannot be read are refused when they are asked for, not before.
        let size = known(&self.dtype).map(|dtype| byte_count(&self.shape, dtype.size()));
        match size {
            Some(size) if size != Some(end - begin) => Err(Error::format(
                "safetensors: the size does not fit the shape",
            )
            .found(format!("{} bytes for {} {:?}", end - begin, self.dtype, self.shape))),
            _ => Ok(()),
        }
    }

    fn read(&self, source: &dyn ReadAt, data: u64) -> Result<Array> {
        let (begin, end) = self.data_offsets;
        let dtype = known(&self.dtype).ok_or_else(|| {
            Error::format("safetensors: this dtype is not supported")
                .found(&self.dtype)
                .allowed("BOOL, U8 to U64, I8 to I64, F16, BF16, F32, F64")
        })?;
        Ok(Array::from_bytes(dtype, self.shape.clone(), read_range(source, data + begin, end - begin)?))
    }
}

fn known(name: &str) -> Option<Dtype> {
    Some(match name {
        "BOOL" => Dtype::Bool,
        "U8" => Dtype::U8,
        "U16" => Dtype::U16,
        "U32" => Dtype::U32,
        "U64" => Dtype::U64,
        "I8" => Dtype::I8,
        "I16" => Dtype::I16,
        "I32" => Dtype::I32,
        "I64" => Dtype::I64,
        "F16" => Dtype::F16,
        "BF16" => Dtype::BF16,
        "F32" => Dtype::F32,
        "F64" => Dtype::F64,
        _ => return None,
    })
}

impl<'de, M: Deserialize<'de>> Deserialize<'de> for Header<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor(PhantomData))
    }
}

struct HeaderVisitor<M>(PhantomData<M>);

impl<'de, M: Deserialize<'de>> Visitor<'de> for HeaderVisitor<M> {
    type Value = Header<M>;

    crate::expecting!("an object of tensors");

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header<M>, A::Error> {
        let mut names = std::collections::BTreeSet::new();
        let (mut tensors, mut metadata) = (Vec::new(), None);
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("the key {name} occurs twice")));
            }
            if name == METADATA {
                metadata = Some(map.next_value()?);
            } else {
                tensors.push((name, map.next_value()?));
            }
        }
        Ok(Header { tensors, metadata })
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    crate::expecting!("an object of texts");

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Texts, A::Error> {
        let mut texts = BTreeMap::new();
        while let Some((name, text)) = map.next_entry::<String, String>()? {
            if texts.insert(name.clone(), text).is_some() {
                return Err(A::Error::custom(format!("the key {name} of {METADATA} occurs twice")));
            }
        }
        Ok(Texts(texts))
    }
}
