//! Label maps from images and arrays, into buffers that are used again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::array_file::shape_text;
use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype};
use calipers_io::image::{Beside, Geometry, Image, Pixels, Reader};
use calipers_metrics::segmentation::Space;
use calipers_metrics::segmentation::{Grid, LabelMap, MapData};

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
}

/// Where the ids are.
#[derive(Clone, Copy, Default)]
enum Held {
    #[default]
    Image,
    Array,
    Ids,
}

/// How the pixels of a picture become ids.
pub struct Legend<'a> {
    /// The id of each colour.
    pub colours: &'a Colours,
    /// Which ids are declared.
    pub space: Space,
    /// Whether nobody reads a pixel, by the picture's height and width and the pixel's position; its colour
    /// may then be any.
    pub unread: &'a dyn Fn((usize, usize), usize) -> bool,
}

impl MapBuffer {
    /// Decodes an image file; colours become ids by the table.
    pub fn decode(
        &mut self,
        decode: Reader,
        bytes: &[u8],
        beside: Beside<'_>,
        legend: &Legend<'_>,
    ) -> Result<()> {
        decode(bytes, beside, &mut self.image)?;
        (self.shape, self.geometry) = (self.image.shape(), self.image.geometry().cloned());
        self.held = Held::Image;
        if let Pixels::Rgb(pixels) = self.image.pixels() {
            if legend.colours.is_empty() {
                return Err(Error::value("an RGB image is a label map only with a table of colours")
                    .found("mode RGB")
                    .allowed("grey or palette images")
                    .advice("save the ids themselves, or give [labels] colors in a configuration"));
            }
            if legend.space != Space::Original {
                return Err(Error::value("colours stand for original classes, but other ids are declared")
                    .found("mode RGB")
                    .advice("save the ids themselves"));
            }
            let size = (self.image.height(), self.image.width());
            by_colour(pixels, size, legend, &mut self.ids)?;
            self.held = Held::Ids;
        }
        Ok(())
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
    ids: &mut Vec<i64>,
) -> Result<()> {
    ids.clear();
    ids.try_reserve(pixels.len()).map_err(|_| Error::io("not enough memory for the label map"))?;
    // Neighbours mostly have one colour, so that the table is asked rarely.
    let mut last: Option<([u8; 3], i64)> = None;
    for (index, pixel) in pixels.iter().enumerate() {
        let known = last.filter(|(colour, _)| colour == pixel).map(|(_, id)| id);
        let Some(id) = known.or_else(|| legend.colours.get(pixel).copied()) else {
            if !(legend.unread)(size, index) {
                return Err(unknown_colour(*pixel, index, size.1, legend.colours));
            }
            ids.push(UNREAD);
            continue;
        };
        last = Some((*pixel, id));
        ids.push(id);
    }
    Ok(())
}

fn unknown_colour(pixel: [u8; 3], index: usize, width: usize, colours: &Colours) -> Error {
    let text = |[red, green, blue]: [u8; 3]| format!("#{red:02x}{green:02x}{blue:02x}");
    let mut known: Vec<String> = colours.keys().take(8).map(|colour| text(*colour)).collect();
    if colours.len() > 8 {
        known.push(format!("{} more", colours.len() - 8));
    }
    Error::value("a colour is not in the table")
        .at(format!("x = {}, y = {}", index % width, index / width))
        .found(text(pixel))
        .allowed(known.join(", "))
        .advice("add it to [labels] colors")
}
