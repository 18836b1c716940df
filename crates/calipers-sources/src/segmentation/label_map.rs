//! Label maps from images and arrays, into buffers that are used again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype};
use calipers_io::image::{Beside, Geometry, Image, Pixels, Reader};
use calipers_metrics::segmentation::Space;
use calipers_metrics::segmentation::{Grid, LabelMap, MapData};

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
    ) -> Result<()> {
        decode(bytes, beside, &mut self.image)?;
        (self.shape, self.geometry) = (self.image.shape(), self.image.geometry().cloned());
        (self.held, self.empty_segments) = (Held::Image, false);
        let rule = legend.rule.map(|rule| rule.of_image(file, legend.unlabelled)).transpose()?;
        let Pixels::Rgb(pixels) = self.image.pixels() else {
            let Some(_) = rule else { return Ok(()) };
            return Err(Error::value("a rule for colours, but the picture has none")
                .found("a grey or palette image")
                .allowed("mode RGB")
                .advice("leave out --truth-rgb or --pred-rgb where the images hold the ids themselves"));
        };
        if legend.colours.is_empty() && rule.is_none() {
            return Err(without_table(pixels));
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

/// The most colours that a message shows.
const COLOURS_SHOWN: usize = 6;

/// What a configuration would have to say about the colours of a picture.
fn without_table(pixels: &[[u8; 3]]) -> Error {
    let colours: BTreeSet<[u8; 3]> = pixels.iter().copied().collect();
    let shown = || colours.iter().take(COLOURS_SHOWN).copied();
    let more = if colours.len() > COLOURS_SHOWN { ", .." } else { "" };
    let grey = colours.iter().all(|[red, green, blue]| red == green && green == blue);
    let entry = |colour: [u8; 3]| match grey {
        true => format!("\"{}\" = {}", hex(colour), colour[0]),
        false => format!("\"{}\" = \"CLASS\"", hex(colour)),
    };
    let entries: Vec<String> = shown().map(entry).collect();
    let found: Vec<String> = shown().map(hex).collect();
    Error::value("an RGB image is a label map only with a table of colours")
        .found(format!("mode RGB, {} colours: {}{more}", colours.len(), found.join(", ")))
        .allowed("grey or palette images, a class for each colour, or a rule")
        .advice(format!(
            "--truth-rgb and --pred-rgb know ids, panoptic:FILE and ade20k; else write labels.colors = {{ {}{more} }} into a file that ends in .toml, and give it first",
            entries.join(", ")
        ))
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The options under which an array that is no label map can be read as scores over a map of this size.
/// They follow from its axes and the values of a few pixels.
pub fn as_scores(array: &Array, (height, width): (usize, usize)) -> Option<String> {
    let (&[a, b, c] | &[1, a, b, c]) = array.shape() else { return None };
    let [a, b, c] = [a, b, c].map(|axis| axis as usize);
    let channels_first = (b, c) == (height, width);
    if !array.dtype().is_float() || (!channels_first && (a, b) != (height, width)) {
        return None;
    }
    let values = array.to_f64s().ok()?;
    let pixels = height * width;
    let some = (0..pixels).step_by((pixels / 64).max(1));
    let read = |pixel: usize| -> Vec<f64> {
        match channels_first {
            true => (0..a).map(|channel| values[channel * pixels + pixel]).collect(),
            false => values[pixel * c..(pixel + 1) * c].to_vec(),
        }
    };
    let near_one = |sum: f64| (sum - 1.0).abs() < 0.02;
    let mut kinds = [true; 2];
    for scores in some.map(read) {
        let sum: f64 = scores.iter().sum();
        kinds[0] &= scores.iter().all(|x| (0.0..=1.0).contains(x)) && near_one(sum);
        kinds[1] &= scores.iter().all(|x| *x <= 0.0) && near_one(scores.iter().map(|x| x.exp()).sum());
    }
    let kind = match kinds {
        [true, _] => "probs",
        [_, true] => "log-probs",
        _ => "logits",
    };
    Some(format!("--kind={kind}{}", if channels_first { "" } else { " --layout=HWC" }))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[u64], values: &[f64]) -> Array {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        Array::shared(Dtype::F64, shape.to_vec(), std::sync::Arc::new(bytes)).unwrap()
    }

    #[test]
    fn what_scores_are_is_proposed_from_their_axes_and_values() {
        let said = |shape: &[u64], values: &[f64]| as_scores(&array(shape, values), (1, 2));
        assert_eq!(said(&[3, 1, 2], &[0.0; 6]).as_deref(), Some("--kind=logits"));
        let probs = [0.2, 0.5, 0.3, 0.5, 0.5, 0.0];
        assert_eq!(said(&[3, 1, 2], &probs).as_deref(), Some("--kind=probs"));
        assert_eq!(said(&[1, 2, 2], &[0.25, 0.75, 0.5, 0.5]).as_deref(), Some("--kind=probs --layout=HWC"));
        let logs = [0.25_f64, 0.75, 0.5, 0.5].map(f64::ln);
        assert_eq!(said(&[1, 2, 2], &logs).as_deref(), Some("--kind=log-probs --layout=HWC"));
        assert_eq!(said(&[3, 4, 5], &[0.0; 60]), None);
        assert_eq!(said(&[1, 2], &[0.0; 2]), None);
    }

    #[test]
    fn colours_of_a_picture_become_entries_of_a_configuration() {
        let said = without_table(&[[128, 64, 128], [0, 0, 0]]).to_string();
        assert!(said.contains("2 colours: #000000, #804080"), "{said}");
        assert!(
            said.contains("labels.colors = { \"#000000\" = \"CLASS\", \"#804080\" = \"CLASS\" }"),
            "{said}"
        );
        let grey = without_table(&[[7, 7, 7], [7, 7, 7]]).to_string();
        assert!(grey.contains("{ \"#070707\" = 7 }"), "{grey}");
    }
}
