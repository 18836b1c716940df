//! PyTorch files (`torch.save`, 1.6 and later): a zip archive with a pickle and one member for each
//! storage. The pickle is read as data; nothing is executed.

use std::sync::Arc;

use calipers_core::{Error, Result};

use self::tensor::Tensor;
use super::{Array, Arrays, Decode, Dtype, empty_file};
use crate::archive::zip::Archive;
use crate::file::ReadAt;
use crate::pickle::{self, Node, Pickle, Value};

mod pyg;
mod tensor;
mod write;

pub use write::write_to;

/// What `torch.save` writes for dictionaries of tensors.
const TENSORS: [&str; 19] = [
    "collections.OrderedDict",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter",
    "torch.FloatStorage",
    "torch.DoubleStorage",
    "torch.HalfStorage",
    "torch.BFloat16Storage",
    "torch.LongStorage",
    "torch.IntStorage",
    "torch.ShortStorage",
    "torch.CharStorage",
    "torch.ByteStorage",
    "torch.BoolStorage",
    "torch.storage.UntypedStorage",
    "torch.uint16",
    "torch.uint32",
    "torch.uint64",
    "torch.Size",
];

/// The same, and the objects of PyG.
static WITH_OBJECTS: [&str; TENSORS.len() + pyg::ALLOWED.len()] = {
    let mut all = [""; TENSORS.len() + pyg::ALLOWED.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = if place < TENSORS.len() { TENSORS[place] } else { pyg::ALLOWED[place - TENSORS.len()] };
        place += 1;
    }
    all
};

/// Opens a file that holds a dictionary of tensors, a list of such dictionaries, or objects of PyG. Tensors
/// are read when they are asked for; numbers, texts and lists of them become arrays too.
pub fn open(source: Arc<dyn ReadAt>) -> Result<Vec<Arrays>> {
    let (reader, bytes) = Reader::open(source)?;
    reader.units(&bytes, &WITH_OBJECTS).map_err(|error| pyg::with_advice(error).at(PICKLE))
}

/// Opens a file that holds the state dict of a model: one dictionary of tensors, little-endian.
pub fn open_state_dict(source: Arc<dyn ReadAt>) -> Result<Arrays> {
    let (reader, bytes) = Reader::open(source)?;
    if reader.big_endian {
        return Err(Error::format("pt: the file is big-endian")
            .at("member byteorder")
            .found("big")
            .allowed("little")
            .advice("load it and save it again on a little-endian machine"));
    }
    let units = reader.units(&bytes, &TENSORS).map_err(|error| {
        let error = error.at(PICKLE);
        match holds(&bytes, b"_modules") && holds(&bytes, b"_parameters") {
            true => error.advice("this is a pickled module: save state_dict() instead"),
            false if error.what().contains("nothing was executed") => {
                error.advice("a checkpoint holds tensors alone: save state_dict() instead")
            }
            false => error,
        }
    })?;
    match <[Arrays; 1]>::try_from(units) {
        Ok([dict]) => Ok(dict),
        Err(units) => Err(Error::format("pt: one state dict is expected")
            .at(PICKLE)
            .found(format!("a list of {}", units.len()))
            .advice("save state_dict() instead")),
    }
}

/// The text that says which class of PyG the arrays are of, where its keys have types.
pub const CLASS: &str = "class";
/// The class of objects with several types of nodes and edges.
pub const HETERO_DATA: &str = "HeteroData";

const PICKLE: &str = "member data.pkl";

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(bytes, word).is_some()
}

impl Reader {
    /// Finds the pickle of an archive and reads it.
    fn open(source: Arc<dyn ReadAt>) -> Result<(Self, Vec<u8>)> {
        let mut first = [0; 2];
        match source.size() {
            0 => return Err(empty_file()),
            1 => {}
            _ => super::read_at(&*source, &mut first, 0)?,
        }
        if first == [0x80, 2] {
            return Err(Error::format("pt: this is the format of PyTorch before 1.6")
                .at("byte 0")
                .advice("load it and save it again with torch.save of a later version"));
        }
        let archive = Archive::open(source, "pt")?;
        let folders: Vec<&str> = archive.names().filter_map(|name| name.strip_suffix("data.pkl")).collect();
        let folder = match folders[..] {
            [folder] if folder.is_empty() || folder.ends_with('/') => folder.to_string(),
            _ => {
                return Err(Error::format("pt: the archive must have one member data.pkl")
                    .found(archive.names().take(20).collect::<Vec<_>>().join(", "))
                    .advice("write the file with torch.save"));
            }
        };
        let big_endian = match archive.read(&format!("{folder}byteorder"))?.as_deref() {
            None | Some(b"little") => false,
            Some(b"big") => true,
            Some(other) => {
                let found = String::from_utf8_lossy(other).chars().take(80).collect::<String>();
                return Err(Error::format("pt: unknown byte order")
                    .at("member byteorder")
                    .found(found)
                    .allowed("little, big"));
            }
        };
        let bytes = archive.read(&format!("{folder}data.pkl"))?.unwrap_or_default();
        Ok((Self { archive: Arc::new(archive), folder, big_endian }, bytes))
    }
}

struct Reader {
    archive: Arc<Archive>,
    folder: String,
    big_endian: bool,
}

impl Reader {
    fn units(&self, bytes: &[u8], allowed: &'static [&'static str]) -> Result<Vec<Arrays>> {
        let pickle = pickle::parse(bytes, allowed)?;
        let root = pickle.root();
        // A list may hold one dictionary, or a dictionary one list, any number of times.
        let mut budget = bytes.len();
        if let Some((data, slices)) = pyg::processed(&pickle, root) {
            let keys = match items(&pickle, data) {
                Some(pairs) => pyg::given(&pickle, pairs),
                None => pyg::keys(&pickle, data)?.unwrap_or_default(),
            };
            return match slices {
                None => Ok(vec![self.data(&pickle, &keys, &mut budget)?]),
                Some(slices) => {
                    let arrays = self.arrays(&pickle, &keys, &mut budget)?;
                    pyg::cut(arrays, &self.dict(&pickle, slices, &mut budget)?)
                }
            };
        }
        let is_one = items(&pickle, root).is_some() || pickle.object(root).is_some();
        let roots = if is_one { &[root][..] } else { pickle.sequence(root).unwrap_or_default() };
        if roots.is_empty() {
            return Err(not_a_dict(&pickle, root));
        }
        roots.iter().map(|root| self.unit(&pickle, *root, &mut budget)).collect()
    }

    /// A dictionary, or an object of PyG.
    fn unit(&self, pickle: &Pickle<'_>, root: Value, budget: &mut usize) -> Result<Arrays> {
        if let Some(stores) = pyg::stores(pickle, root)? {
            let mut all = Arrays { stored: Default::default(), texts: Default::default() };
            all.texts.insert(CLASS.to_owned(), HETERO_DATA.to_owned());
            for (end, pairs) in stores {
                let arrays = self.arrays(pickle, &pairs, budget)?;
                all.stored.extend(arrays.stored.into_iter().map(|(key, decode)| (key + &end, decode)));
            }
            return Ok(all);
        }
        match pyg::keys(pickle, root)? {
            None => self.dict(pickle, root, budget),
            Some(keys) => self.data(pickle, &keys, budget),
        }
    }

    /// The keys of an object of PyG, and how many nodes it has where something says it.
    fn data(&self, pickle: &Pickle<'_>, keys: Pairs<'_>, budget: &mut usize) -> Result<Arrays> {
        let mut arrays = self.arrays(pickle, keys, budget)?;
        let rows = |wanted: &str| {
            let value = keys.iter().find(|(key, _)| pickle.text(*key) == Some(wanted))?.1;
            Tensor::parse(pickle, pickle.object(value)?).ok()?.rows()
        };
        pyg::say_nodes(&mut arrays, rows);
        Ok(arrays)
    }

    fn dict(&self, pickle: &Pickle<'_>, root: Value, budget: &mut usize) -> Result<Arrays> {
        let pairs = items(pickle, root).ok_or_else(|| not_a_dict(pickle, root))?;
        self.arrays(pickle, pairs, budget)
    }

    fn arrays(&self, pickle: &Pickle<'_>, pairs: Pairs<'_>, budget: &mut usize) -> Result<Arrays> {
        spend(budget, pairs.len())?;
        let mut arrays = Arrays { stored: Default::default(), texts: Default::default() };
        for (key, value) in pairs {
            // Keys that are not text cannot be asked for.
            let Some(key) = pickle.text(*key) else { continue };
            let decode = match self.decoder(pickle, *value, budget) {
                Ok(decode) => decode,
                Err(Unreadable::Value(error)) => Box::new(move || Err(error.clone())),
                Err(Unreadable::File(error)) => return Err(error.at(format!("key {key}"))),
            };
            if arrays.stored.insert(key.to_string(), decode).is_some() {
                return Err(Error::format("pt: a key occurs twice").at(format!("key {key}")));
            }
        }
        Ok(arrays)
    }

    fn decoder(
        &self,
        pickle: &Pickle<'_>,
        value: Value,
        budget: &mut usize,
    ) -> std::result::Result<Decode, Unreadable> {
        if let Some(object) = pickle.object(value)
            && object.class.starts_with("torch._utils._rebuild")
        {
            let tensor = Tensor::parse(pickle, object).map_err(Unreadable::File)?;
            let (archive, big_endian) = (Arc::clone(&self.archive), self.big_endian);
            let member = format!("{}data/{}", self.folder, tensor.storage);
            tensor
                .check(archive.size(&member))
                .map_err(|error| Unreadable::File(error.at(format!("member {member}"))))?;
            return Ok(Box::new(move || {
                let bytes = archive.read(&member)?.unwrap_or_default();
                tensor.gather(&bytes, big_endian)
            }));
        }
        if let Some(values) = pickle.sequence(value) {
            spend(budget, values.len()).map_err(Unreadable::File)?;
        }
        let array = plain(pickle, value).ok_or_else(|| {
            let error = Error::value("pt: neither a tensor nor a number, a text or a list of one of them");
            Unreadable::Value(error.found(pickle.describe(value)))
        })?;
        Ok(Box::new(move || Ok(array.clone())))
    }
}

/// Keys and values.
type Pairs<'p> = &'p [(Value, Value)];

/// Whether a bad value spoils the file, or only itself.
enum Unreadable {
    File(Error),
    Value(Error),
}

fn spend(budget: &mut usize, values: usize) -> Result<()> {
    let left = budget.checked_sub(values);
    *budget = left.ok_or_else(|| Error::format("pt: one dictionary or list is stored many times"))?;
    Ok(())
}

/// The pairs of a dictionary of either kind.
fn items<'a>(pickle: &'a Pickle<'_>, value: Value) -> Option<Pairs<'a>> {
    match pickle.node(value)? {
        Node::Dict(pairs) => Some(pairs),
        Node::Object(object) if object.class == "collections.OrderedDict" => Some(&object.items),
        _ => None,
    }
}

fn not_a_dict(pickle: &Pickle<'_>, value: Value) -> Error {
    Error::format("pt: a dictionary of tensors is expected, or a list of them")
        .found(pickle.describe(value))
        .advice("save it as torch.save({\"edge_index\": ..., \"logits\": ...}, file)")
}

/// Numbers, texts and lists of them as arrays.
fn plain(pickle: &Pickle<'_>, value: Value) -> Option<Array> {
    match pickle.sequence(value) {
        Some(values) => plain_elements(pickle, values, vec![values.len() as u64]),
        None => plain_elements(pickle, &[value], Vec::new()),
    }
}

fn plain_elements(pickle: &Pickle<'_>, values: &[Value], shape: Vec<u64>) -> Option<Array> {
    let as_texts =
        || values.iter().map(|value| pickle.text(*value).map(str::to_string)).collect::<Option<Vec<_>>>();
    let Some(first) = values.first() else { return Some(Array::from_bytes(Dtype::I64, shape, Vec::new())) };
    let (dtype, bytes) = match first {
        Value::Int(_) => (
            Dtype::I64,
            gather(values, |value| match value {
                Value::Int(number) => Some(number.to_le_bytes()),
                _ => None,
            })?,
        ),
        Value::Float(_) => (
            Dtype::F64,
            gather(values, |value| match value {
                Value::Float(number) => Some(number.to_le_bytes()),
                _ => None,
            })?,
        ),
        Value::Bool(_) => (
            Dtype::Bool,
            gather(values, |value| match value {
                Value::Bool(truth) => Some([u8::from(truth)]),
                _ => None,
            })?,
        ),
        Value::None => return None,
        Value::Node(_) => return Some(Array::from_texts(shape, as_texts()?)),
    };
    Some(Array::from_bytes(dtype, shape, bytes))
}

/// The bytes of all elements, if all are of one kind.
fn gather<const N: usize>(values: &[Value], element: impl Fn(Value) -> Option<[u8; N]>) -> Option<Vec<u8>> {
    values.iter().map(|value| element(*value)).collect::<Option<Vec<_>>>().map(|elements| elements.concat())
}
