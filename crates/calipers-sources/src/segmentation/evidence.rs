//! The arrays of one unit, read from where the plan says they are.

use std::path::Path;

use blake3::Hash;
use calipers_core::{Error, Notes, Result};
use calipers_io::array::{self, Array, Arrays, Reader as ArrayReader};
use calipers_io::column::Cell;
use calipers_io::image;
use calipers_metrics::segmentation::{Grid, Kind, MissingHeads, Segmentation, Space};

use super::label_map::{Colours, Decoded, Legend, MapBuffer};
use super::meant::colours::unexplained;
use super::meant::scores::as_scores;
use super::plan::{HeadAt, Plan, PredSide, UnitPlan};
use super::rgb::Rules;
use super::side::{Place, Side, SideKind};
use super::space::{Said, Told, keys_of, spacing_of};
use crate::array_file;
use crate::inputs::{Inputs, role};

/// What files are read as that hold the data of another one.
const DATA: &str = "data";
/// Archives up to this size are read into memory at once; of larger ones only what is asked for.
const HELD: u64 = 1 << 20;

/// What every worker reads with.
pub struct Reader<'a> {
    /// Where everything is.
    pub plan: &'a Plan,
    /// The heads.
    pub protocol: &'a Segmentation,
    /// The ids of colours.
    pub colours: &'a Colours,
    /// The rules by which colours are ids.
    pub rules: &'a Rules,
    /// What options and configuration say of space.
    pub told: &'a Told,
    /// The record of files.
    pub inputs: &'a Inputs,
}

/// The memory of one worker, used for one unit after the other.
#[derive(Default)]
pub struct Buffers {
    /// The truth map.
    pub truth: MapBuffer,
    /// The predicted map.
    pub pred: MapBuffer,
    /// The scores of each head.
    pub scores: Vec<Option<Array>>,
    /// The axes of the unit.
    pub grid: Option<Grid>,
    bytes: Vec<u8>,
}

/// What a unit's files were, for the facts about them.
pub struct Contents {
    /// The hash of the truth.
    pub truth: Hash,
    /// Whether the prediction is the same bytes.
    pub identical: bool,
    /// Codes of warnings about the unit.
    pub facts: Vec<&'static str>,
}

/// One file or one part of a container.
enum Loaded {
    /// A picture, decoded into a map.
    Map,
    /// A picture of which nothing says what its colours stand for.
    Colours,
    /// One array.
    Array(Array),
    /// The arrays of an archive.
    Arrays(Arrays),
}

/// What a map holds, for the one who has to say how it is read.
pub enum Looked {
    /// Ids.
    Ids(Vec<i64>),
    /// Colours of which nothing says what they stand for.
    Colours(Vec<[u8; 3]>),
}

impl Reader<'_> {
    /// Reads a unit into the buffers.
    pub fn read(&self, unit: &UnitPlan, buffers: &mut Buffers) -> Result<Contents> {
        let named =
            |error: Error| error.in_file(self.plan.truth.shown_place(unit.name.as_str(), &unit.truth));
        let (truth, own) = self.truth(unit, buffers).map_err(named)?;
        let (labels, mut identical, mut said) = (self.labels(), false, Said::default());
        buffers.scores.clear();
        buffers.scores.resize(self.protocol.heads.len(), None);
        for (pred, place) in self.plan.preds.iter().zip(&unit.preds) {
            let Some(place) = place else { continue };
            let named = |error: Error| error.in_file(pred.side.shown_place(unit.name.as_str(), place));
            if labels {
                let (hash, space) = self.label_map(pred, unit, place, buffers).map_err(named)?;
                (identical, said) = (hash == truth, space);
            } else {
                said = self.scores(pred, unit, place, buffers).map_err(named)?;
            }
        }
        let settled = self.told.settle(&own, &said);
        let grid = settled.and_then(|settled| {
            let grid = buffers.truth.grid(settled.spacing.as_deref())?;
            if self.labels() {
                buffers.pred.grid(None)?.check_size(&grid)?;
            }
            Ok((grid, settled.facts))
        });
        let (grid, mut facts) = grid.map_err(|error| error.in_file(self.plan.shown(unit)))?;
        if buffers.truth.has_empty_segments() || (labels && buffers.pred.has_empty_segments()) {
            facts.push("empty-segments");
        }
        buffers.grid = Some(grid);
        Ok(Contents { truth, identical, facts })
    }

    /// Whether predictions are label maps; then there is one head.
    pub fn labels(&self) -> bool {
        self.protocol.heads.iter().any(|head| head.kind == Kind::Labels)
    }

    fn truth(&self, unit: &UnitPlan, buffers: &mut Buffers) -> Result<(Hash, Said)> {
        let (map, bytes) = (&mut buffers.truth, &mut buffers.bytes);
        let legend = Legend { rule: self.rules.truth.as_ref(), ..self.legend(self.protocol.truth_space) };
        let (loaded, hash) = self.load(&self.plan.truth, unit, &unit.truth, map, bytes, &legend)?;
        let (array, spacing) = match loaded {
            Loaded::Map => return Ok((hash, Said::new(buffers.truth.geometry(), None))),
            Loaded::Colours => return Err(unexplained(buffers.truth.colours().unwrap_or_default(), self)),
            Loaded::Array(array) => (array, side_spacing(&self.plan.truth)?),
            Loaded::Arrays(arrays) => (only(&arrays)?, spacing_of(&arrays)?),
        };
        buffers.truth.take(array)?;
        Ok((hash, Said::new(None, spacing)))
    }

    fn label_map(
        &self,
        pred: &PredSide,
        unit: &UnitPlan,
        place: &Place,
        buffers: &mut Buffers,
    ) -> Result<(Hash, Said)> {
        let Buffers { truth, pred: map, bytes, .. } = &mut *buffers;
        let (truth, labels) = (truth.map(), &self.protocol.labels);
        // What is predicted where truth is ignored is never read, but for bands that keep void.
        let unread = |size, at| {
            size == (truth.height, truth.width)
                && !self.protocol.conventions.keep_void_in_bands
                && truth.id(at).is_some_and(|id| labels.ignore.contains(&id))
        };
        let space = self.protocol.heads[pred.heads[0].head].space;
        let legend = Legend { unread: &unread, rule: self.rules.pred.as_ref(), ..self.legend(space) };
        let (loaded, hash) = self.load(&pred.side, unit, place, map, bytes, &legend)?;
        let (array, spacing) = match loaded {
            Loaded::Map => return Ok((hash, Said::new(buffers.pred.geometry(), None))),
            Loaded::Colours => return Err(unexplained(buffers.pred.colours().unwrap_or_default(), self)),
            Loaded::Array(array) => (array, side_spacing(&pred.side)?),
            Loaded::Arrays(arrays) => {
                let mut found = self.pick(&arrays, &pred.heads)?;
                let array = found.pop().flatten().ok_or_else(|| self.missing(&pred.heads[0], &arrays))?;
                (array, spacing_of(&arrays)?)
            }
        };
        let proposed = match self.protocol.heads.as_slice() {
            [_] => as_scores(&array, (truth.height, truth.width)),
            _ => None,
        };
        buffers.pred.take(array).map_err(|error| match proposed {
            Some(options) => error.again_with(options),
            None => error,
        })?;
        Ok((hash, Said::new(None, spacing)))
    }

    fn scores(&self, pred: &PredSide, unit: &UnitPlan, place: &Place, buffers: &mut Buffers) -> Result<Said> {
        let (map, bytes) = (&mut buffers.pred, &mut buffers.bytes);
        let head = &self.protocol.heads[pred.heads[0].head];
        let is_image = match place {
            Place::File(file) => image::FORMATS.by_name(file).is_some(),
            Place::Whole => true,
            // What a row holds is seen when it is read.
            Place::Key | Place::Slab(_) | Place::Row(_) => false,
        };
        let no_scores = || {
            Error::value("an image holds no scores")
                .at(format!("head {}", head.name))
                .advice("if these are label maps, say --kind labels")
        };
        if is_image {
            return Err(no_scores());
        }
        let spacing = match self.load(&pred.side, unit, place, map, bytes, &self.legend(Space::Original))?.0 {
            Loaded::Map | Loaded::Colours => return Err(no_scores()),
            Loaded::Array(array) => {
                if let [_, other, ..] = pred.heads.as_slice() {
                    return Err(Error::value("one array for several heads")
                        .found(format!("heads {} and {}", head.name, self.protocol.heads[other.head].name))
                        .advice("save an npz or safetensors file with one array for each head"));
                }
                buffers.scores[pred.heads[0].head] = Some(array);
                side_spacing(&pred.side)?
            }
            Loaded::Arrays(arrays) => {
                let found = self.pick(&arrays, &pred.heads)?;
                for (at, array) in pred.heads.iter().zip(found) {
                    buffers.scores[at.head] = array;
                }
                spacing_of(&arrays)?
            }
        };
        Ok(Said::new(None, spacing))
    }

    /// What a map holds, as it is stored; none where it cannot be read.
    pub(super) fn look(&self, side: &Side, unit: &UnitPlan, place: &Place) -> Option<Looked> {
        let (mut map, mut bytes) = (MapBuffer::default(), Vec::new());
        let legend = self.legend(Space::Original);
        match self.load(side, unit, place, &mut map, &mut bytes, &legend).ok()?.0 {
            Loaded::Colours => return Some(Looked::Colours(map.colours()?.to_vec())),
            Loaded::Map => {}
            Loaded::Array(array) => map.take(array).ok()?,
            Loaded::Arrays(arrays) => map.take(only(&arrays).ok()?).ok()?,
        }
        let map = map.map();
        (0..map.height * map.width).map(|at| map.id(at)).collect::<Option<_>>().map(Looked::Ids)
    }

    /// How a picture that is read everywhere becomes ids.
    fn legend(&self, space: Space) -> Legend<'_> {
        let unlabelled = self.protocol.labels.ignore.first().copied();
        Legend { colours: self.colours, rule: None, unlabelled, space, unread: &|_, _| false }
    }

    /// Reads a file or a part of a container; a picture goes into the map at once.
    fn load(
        &self,
        side: &Side,
        unit: &UnitPlan,
        place: &Place,
        map: &mut MapBuffer,
        bytes: &mut Vec<u8>,
        legend: &Legend<'_>,
    ) -> Result<(Loaded, Hash)> {
        match (&side.kind, place) {
            (SideKind::Folder(folder), Place::File(file)) => {
                let (path, shown) = (folder.join(&**file), format!("{}/{file}", side.shown));
                match image::FORMATS.by_name(file) {
                    Some(format) => {
                        let hash = self.inputs.read_into(&path, &shown, &side.notes, bytes)?;
                        self.decode(format.reader, (&path, &shown), hash, map, bytes, legend)
                    }
                    None => self.load_arrays(&path, &shown, &side.notes),
                }
            }
            (SideKind::Image(path, decode), _) => {
                let hash = self.inputs.read_into(path, &side.shown, &side.notes, bytes)?;
                self.decode(*decode, (path, &side.shown), hash, map, bytes, legend)
            }
            (SideKind::Arrays(arrays, _), _) => {
                let array =
                    arrays.get(unit.name.as_str())?.ok_or_else(|| Error::format("the array is gone"))?;
                Ok(whole(array))
            }
            (SideKind::Column(rows, _), Place::Row(row)) => match rows.column.filled(*row)? {
                Cell::Array(array) => Ok(whole(array)),
                Cell::Bytes(file) => self.load_cell(&file, unit.name.as_str(), map, legend),
            },
            (SideKind::Slabs(file, _), Place::Slab(index)) => Ok(whole(file.read_slab(*index)?)),
            _ => Err(Error::format("the place does not fit the container")),
        }
    }

    /// Reads the file that a cell holds: a picture or a single array by its first bytes.
    fn load_cell(
        &self,
        file: &[u8],
        unit: &str,
        map: &mut MapBuffer,
        legend: &Legend<'_>,
    ) -> Result<(Loaded, Hash)> {
        let hash = blake3::hash(file);
        if let Some(format) = image::FORMATS.by_content(file) {
            let mut beside = |_: &str| Err(Error::value("a file in a row has no file beside it"));
            // Rules look images up by their names without an ending.
            let name = format!("{unit}{}", format.endings.first().copied().unwrap_or_default());
            return match map.decode(format.reader, file, &mut beside, (legend, &name))? {
                Decoded::Ids => Ok((Loaded::Map, hash)),
                Decoded::Colours => Ok((Loaded::Colours, hash)),
            };
        }
        match array::FORMATS.by_content(file).map(|format| format.reader) {
            Some(ArrayReader::One { decode, .. }) => Ok((Loaded::Array(decode(file.to_vec())?), hash)),
            _ => Err(Error::format("the row holds no image and no array by its first bytes")
                .found(format!("{:02x?}, {} bytes in all", &file[..file.len().min(8)], file.len()))
                .allowed("a whole PNG, TIFF or npy file")
                .advice("write the bytes of each file as they are on the disk")),
        }
    }

    /// Decodes a picture; where its data lie in a file beside it, that one is read and recorded as well.
    fn decode(
        &self,
        decode: image::Reader,
        (path, shown): (&Path, &str),
        hash: Hash,
        map: &mut MapBuffer,
        bytes: &[u8],
        legend: &Legend<'_>,
    ) -> Result<(Loaded, Hash)> {
        let mut all = hash;
        let mut beside = |name: &str| {
            let folder = shown.rfind('/').map_or("", |slash| &shown[..=slash]);
            let shown = format!("{folder}{name}");
            let data = self.inputs.read(&path.with_file_name(name), &shown, &role(DATA, None))?;
            all = blake3::hash(&[*hash.as_bytes(), *blake3::hash(&data).as_bytes()].concat());
            Ok(data)
        };
        let loaded = match map.decode(decode, bytes, &mut beside, (legend, shown))? {
            Decoded::Ids => Loaded::Map,
            Decoded::Colours => Loaded::Colours,
        };
        Ok((loaded, all))
    }

    fn load_arrays(&self, path: &Path, shown: &str, notes: &Notes) -> Result<(Loaded, Hash)> {
        match array_file::reader(shown) {
            Some(ArrayReader::One { decode, .. }) => {
                let mut bytes = Vec::new();
                let hash = self.inputs.read_into(path, shown, notes, &mut bytes)?;
                Ok((Loaded::Array(decode(bytes)?), hash))
            }
            Some(ArrayReader::Named(open)) => {
                let (source, hash) = self.inputs.open_up_to(path, shown, notes, HELD)?;
                Ok((Loaded::Arrays(open(source)?), hash))
            }
            Some(ArrayReader::Sets(_)) | None => Err(Error::format("the ending says no format")),
        }
    }

    /// The array of each head: by key, or the only one of the file.
    fn pick(&self, arrays: &Arrays, heads: &[HeadAt]) -> Result<Vec<Option<Array>>> {
        if let [at] = heads
            && let [key] = keys_of(arrays)?.as_slice()
            && !at.explicit
        {
            return Ok(vec![arrays.get(key)?]);
        }
        let refuse = self.protocol.labels.missing_heads == MissingHeads::Error;
        let of_head = |at: &HeadAt| match arrays.get(&at.key)? {
            None if refuse => Err(self.missing(at, arrays)),
            found => Ok(found),
        };
        heads.iter().map(of_head).collect()
    }

    fn missing(&self, at: &HeadAt, arrays: &Arrays) -> Error {
        Error::value("the array of a head is missing")
            .at(format!("head {}, key {}", self.protocol.heads[at.head].name, at.key))
            .found(format!("keys {}", arrays.keys().join(", ")))
            .advice("name the array by `key`, or say --missing-heads marginalise to score without the head")
    }
}

/// The spacing of all units of a container.
fn side_spacing(side: &Side) -> Result<Option<Vec<f64>>> {
    match &side.kind {
        SideKind::Arrays(arrays, _) => spacing_of(arrays),
        _ => Ok(None),
    }
}

fn whole(array: Array) -> (Loaded, Hash) {
    let hash = blake3::hash(array.bytes());
    (Loaded::Array(array), hash)
}

fn only(arrays: &Arrays) -> Result<Array> {
    let keys = keys_of(arrays)?;
    let array = match keys.as_slice() {
        [key] => arrays.get(key)?,
        _ => None,
    };
    array.ok_or_else(|| {
        Error::value("a truth file holds one array")
            .found(format!("keys {}", keys.join(", ")))
            .advice("save the truth map alone, or give the file itself as --truth: then each array is a unit")
    })
}
