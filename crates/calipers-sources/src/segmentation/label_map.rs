//! Label maps from images and arrays, into buffers that are used again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype};
use calipers_io::image::{Beside, Geometry, Image, Pixels, Reader};
use calipers_metrics::segmentation::Space;
use calipers_metrics::segmentation::{Grid, LabelMap, MapData};

use super::meant::colours::hex;
use super::rgb::Rule;
use crate::array_file::shape_text;

/// The id of each colour.
pub type Colours = BTreeMap<[u8; 3], i64>;

/// One label map and the memory it needs.
#[derive(Default)]
pub struct MapBuffer {
    image: Image,
    array: Option<Array>,
    ids: Vec<i64>,
    /// The axes as the file has them.
    shape: Vec<usize>,
    geometry: Option<Geometry>,
    held: Held,
    empty_segments: bool,
}

/// Where the ids are.
#[derive(Clone, Copy, Default)]
enum Held {
    #[default]
    Image,
    Array,
    Ids,
}

/// What a picture held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// The ids of the map, or colours that stand for them.
    Ids,
    /// Colours of which nothing says what they stand for.
    Colours,
}

/// How the pixels of a picture become ids.
pub struct Legend<'a> {
    /// The id of each colour.
    pub colours: &'a Colours,
    /// The rule in place of a table.
    pub rule: Option<&'a Rule>,
    /// The id of a pixel that a rule leaves without one.
    pub unlabelled: Option<i64>,
    /// Which ids are declared.
    pub space: Space,
    /// Whether nobody reads a pixel, by the picture's height and width and the pixel's position; its colour
    /// may then be any.
    pub unread: &'a dyn Fn((usize, usize), usize) -> bool,
}

impl MapBuffer {
    /// Decodes an image file of that path; colours become ids by the table or the rule.
    pub fn decode(
        &mut self,
        decode: Reader,
        bytes: &[u8],
        beside: Beside<'_>,
        (legend, file): (&Legend<'_>, &str),
    ) -> Result<Decoded> {
        decode(bytes, beside, &mut self.image)?;
        (self.shape, self.geometry) = (self.image.shape(), self.image.geometry().cloned());
        (self.held, self.empty_segments) = (Held::Image, false);
        let rule = legend.rule.map(|rule| rule.of_image(file, legend.unlabelled)).transpose()?;
        let Pixels::Rgb(pixels) = self.image.pixels() else {
            let Some(_) = rule else { return Ok(Decoded::Ids) };
            return Err(Error::value("a rule for colours, but the picture has none")
                .found("a grey or palette image")
                .allowed("mode RGB")
                .advice("leave out --truth-rgb or --pred-rgb where the images hold the ids themselves"));
        };
        if legend.colours.is_empty() && rule.is_none() {
            return Ok(Decoded::Colours);
        }
        if legend.space != Space::Original {
            return Err(Error::value("colours stand for original classes, but other ids are declared")
                .found("mode RGB")
                .advice("save the ids themselves"));
        }
        let size = (self.image.height(), self.image.width());
        let id = |pixel: [u8; 3]| match &rule {
            Some(rule) => rule.id(pixel),
            None => legend.colours.get(&pixel).copied().ok_or_else(|| unknown_colour(pixel, legend.colours)),
        };
        by_colour(pixels, size, legend, id, &mut self.ids)?;
        self.empty_segments = rule.is_some_and(|rule| rule.has_empty(pixels));
        self.held = Held::Ids;
        Ok(Decoded::Ids)
    }

    /// Takes an array of whole numbers with two axes, or three of a volume.
    pub fn take(&mut self, array: Array) -> Result<()> {
        let dtype = array.dtype();
        let shown = format!("{} {}", dtype.name(), shape_text(array.shape()));
        if dtype.is_float() {
            return Err(Error::value("a float array is no label map")
                .found(shown)
                .allowed("whole numbers")
                .advice("if these are scores, say --kind logits, log-probs or probs"));
        }
        if !matches!(array.shape().len(), 2 | 3) {
            return Err(Error::value("a label map has two axes, height and width, or three of a volume")
                .found(shown)
                .advice("if these are scores, say --kind logits, log-probs or probs"));
        }
        if array.is_empty() {
            return Err(Error::value("the label map has no pixels").found(shown));
        }
        // The array is in memory, so that its axes fit.
        self.empty_segments = false;
        self.shape = array.shape().iter().map(|length| *length as usize).collect();
        self.geometry = None;
        let as_it_is = match dtype {
            Dtype::U8 => true,
            Dtype::U16 => matches!(array.elements::<u16>(), Some(Cow::Borrowed(_))),
            Dtype::I64 => matches!(array.elements::<i64>(), Some(Cow::Borrowed(_))),
            _ => false,
        };
        if as_it_is {
            self.array = Some(array);
            self.held = Held::Array;
        } else {
            self.ids = array.to_i64s()?;
            self.held = Held::Ids;
        }
        Ok(())
    }

    /// The colours of the picture that was decoded; none where it has ids.
    pub fn colours(&self) -> Option<&[[u8; 3]]> {
        match self.image.pixels() {
            Pixels::Rgb(pixels) => Some(pixels),
            _ => None,
        }
    }

    /// Whether segments are listed for the picture that have no pixel in it.
    pub fn has_empty_segments(&self) -> bool {
        self.empty_segments
    }

    /// How the file says that the map lies in space.
    pub fn geometry(&self) -> Option<&Geometry> {
        self.geometry.as_ref()
    }

    /// The axes of the map, with a spacing.
    pub fn grid(&self, spacing: Option<&[f64]>) -> Result<Grid> {
        Grid::new(&self.shape, spacing)
    }

    /// The map; the rows of all slices of a volume stand one below the other.
    pub fn map(&self) -> LabelMap<'_> {
        let data = match (self.held, self.image.pixels(), &self.array) {
            (Held::Image, Pixels::U8(ids), _) => MapData::U8(ids),
            (Held::Image, Pixels::U16(ids), _) => MapData::U16(ids),
            (Held::Image, Pixels::I64(ids), _) => MapData::I64(ids),
            (Held::Array, _, Some(array)) => match (array.elements::<u16>(), array.elements::<i64>()) {
                (Some(Cow::Borrowed(ids)), _) => MapData::U16(ids),
                (_, Some(Cow::Borrowed(ids))) => MapData::I64(ids),
                _ => MapData::U8(array.bytes()),
            },
            _ => MapData::I64(&self.ids),
        };
        let (width, rows) = self.shape.split_last().map_or((0, &[][..]), |(width, rows)| (*width, rows));
        LabelMap { height: rows.iter().product(), width, data }
    }
}

/// The id of a pixel that nobody reads.
const UNREAD: i64 = i64::MIN;

fn by_colour(
    pixels: &[[u8; 3]],
    size: (usize, usize),
    legend: &Legend<'_>,
    id_of: impl Fn([u8; 3]) -> Result<i64>,
    ids: &mut Vec<i64>,
) -> Result<()> {
    ids.clear();
    ids.try_reserve(pixels.len()).map_err(|_| Error::io("not enough memory for the label map"))?;
    // Neighbours mostly have one colour, so that the table is asked rarely.
    let mut last: Option<([u8; 3], i64)> = None;
    for (index, pixel) in pixels.iter().enumerate() {
        let known = last.filter(|(colour, _)| colour == pixel).map(|(_, id)| id);
        let id = match known.map_or_else(|| id_of(*pixel), Ok) {
            Ok(id) => id,
            Err(_) if (legend.unread)(size, index) => {
                ids.push(UNREAD);
                continue;
            }
            Err(error) => return Err(error.at(format!("x = {}, y = {}", index % size.1, index / size.1))),
        };
        last = Some((*pixel, id));
        ids.push(id);
    }
    Ok(())
}

fn unknown_colour(pixel: [u8; 3], colours: &Colours) -> Error {
    let mut known: Vec<String> = colours.keys().take(8).map(|colour| hex(*colour)).collect();
    if colours.len() > 8 {
        known.push(format!("{} more", colours.len() - 8));
    }
    Error::value("a colour is not in the table")
        .found(hex(pixel))
        .allowed(known.join(", "))
        .advice("add it to [labels] colors")
}
