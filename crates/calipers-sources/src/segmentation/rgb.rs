//! Rules by which the colours of a picture are ids: `ids`, `panoptic:FILE` and `ade20k`.

use std::collections::BTreeMap;
use std::path::Path;

use calipers_core::{Error, ErrorKind, Result};
use calipers_io::place;
use calipers_metrics::segmentation::Config;
use calipers_metrics::segmentation::labels::Originals;
use serde::Deserialize;

use crate::inputs::{Inputs, role};

/// How a rule with a file begins.
const PANOPTIC: &str = "panoptic:";
/// What the file of a rule is read as.
const SEGMENTS: &str = "segments";
/// What may be written.
const RULES: &str = "ids, panoptic:FILE.json or ade20k";

/// A rule, ready to be asked.
#[derive(Debug)]
pub enum Rule {
    /// R + 256 G + 65536 B is the original label.
    Ids,
    /// The same number is a segment, whose category is the original label.
    Panoptic(Segments),
    /// R div 10 x 256 + G is the original label; B, the instance, is not used.
    Ade20k,
}

/// The rules of both sides.
#[derive(Debug, Default)]
pub struct Rules {
    /// That of the truth.
    pub truth: Option<Rule>,
    /// That of the predictions.
    pub pred: Option<Rule>,
}

/// The categories of the segments of every image.
#[derive(Debug)]
pub struct Segments {
    /// The file, as it was given.
    shown: String,
    /// By the last part of the image's path, without its ending.
    images: BTreeMap<String, BTreeMap<u32, i64>>,
    categories: BTreeMap<i64, String>,
}

impl Rules {
    /// Reads what the configuration names.
    pub fn read(config: &Config, inputs: &Inputs) -> Result<Self> {
        let rule = |text: &Option<String>, flag| {
            text.as_deref().map(|text| Rule::read(text, flag, inputs)).transpose()
        };
        let data = &config.data;
        Ok(Self { truth: rule(&data.truth_rgb, "--truth-rgb")?, pred: rule(&data.pred_rgb, "--pred-rgb")? })
    }

    /// The categories of the first file, where nothing else names the classes.
    fn classes(&self) -> Option<Originals> {
        let segments = [&self.truth, &self.pred].into_iter().flatten().find_map(|rule| match rule {
            Rule::Panoptic(segments) => Some(segments),
            Rule::Ids | Rule::Ade20k => None,
        })?;
        Some(Originals(segments.categories.clone()))
    }
}

/// Without classes of its own a configuration has the categories of its panoptic file.
pub fn name_classes(config: &mut Config) -> Result<()> {
    if config.labels.original.is_none() {
        // The files are recorded when the maps are read.
        config.labels.original = Rules::read(config, &Inputs::default())?.classes();
    }
    Ok(())
}

/// A rule whose file lies relative to a folder.
pub fn below(rule: &str, folder: &Path) -> String {
    match rule.strip_prefix(PANOPTIC) {
        Some(file) => format!("{PANOPTIC}{}", place::below(folder, Path::new(file)).display()),
        None => rule.to_owned(),
    }
}

impl Rule {
    /// The rule of that name; `flag` is where it was given.
    pub fn read(text: &str, flag: &str, inputs: &Inputs) -> Result<Self> {
        match (text, text.strip_prefix(PANOPTIC)) {
            ("ids", _) => Ok(Self::Ids),
            ("ade20k", _) => Ok(Self::Ade20k),
            (_, Some(file)) if !file.is_empty() => Segments::read(file, inputs).map(Self::Panoptic),
            _ => Err(Error::usage(format!("{flag} names no rule")).found(text).allowed(RULES)),
        }
    }

    /// The rule for one image; `unlabelled` is the id of a pixel without a label.
    pub fn of_image<'a>(&'a self, file: &str, unlabelled: Option<i64>) -> Result<ImageRule<'a>> {
        let segments = match self {
            Self::Ids => return Ok(ImageRule::Ids),
            Self::Ade20k => return Ok(ImageRule::Ade20k(unlabelled)),
            Self::Panoptic(segments) => segments,
        };
        let name = stem(file);
        let of_image = segments.images.get(name).ok_or_else(|| {
            Error::value("the image has no annotation")
                .found(name)
                .allowed(format!("the file_name of an annotation in {}", segments.shown))
        })?;
        Ok(ImageRule::Segments { of_image, unlabelled, shown: &segments.shown })
    }
}

/// How the colours of one image become ids.
#[derive(Clone, Copy, Debug)]
pub enum ImageRule<'a> {
    /// The number itself.
    Ids,
    /// The number of a class.
    Ade20k(Option<i64>),
    /// The category of a segment.
    Segments {
        /// The segments that the image has.
        of_image: &'a BTreeMap<u32, i64>,
        /// The id of segment 0.
        unlabelled: Option<i64>,
        /// The file that says so.
        shown: &'a str,
    },
}

impl ImageRule<'_> {
    /// The id of a colour; the error says nothing of where it is.
    pub fn id(&self, [red, green, blue]: [u8; 3]) -> Result<i64> {
        let number = u32::from_le_bytes([red, green, blue, 0]);
        match self {
            Self::Ids => Ok(number.into()),
            Self::Ade20k(unlabelled) => {
                let class = i64::from(red / 10) * 256 + i64::from(green);
                Ok(unlabelled.filter(|_| class == 0).unwrap_or(class))
            }
            Self::Segments { unlabelled: Some(unlabelled), .. } if number == 0 => Ok(*unlabelled),
            Self::Segments { of_image, shown, .. } => of_image.get(&number).copied().ok_or_else(|| {
                Error::value("a segment is not in segments_info")
                    .found(format!("segment {number}"))
                    .allowed(format!("0 or the segments of the image in {shown}"))
            }),
        }
    }

    /// Whether segments are listed that none of these colours is of.
    pub fn has_empty(&self, pixels: &[[u8; 3]]) -> bool {
        let Self::Segments { of_image, .. } = self else { return false };
        let mut missing: std::collections::BTreeSet<u32> = of_image.keys().copied().collect();
        let mut last = None;
        for pixel in pixels {
            if last != Some(pixel) {
                missing.remove(&u32::from_le_bytes([pixel[0], pixel[1], pixel[2], 0]));
                last = Some(pixel);
            }
        }
        !missing.is_empty()
    }
}

/// The last part of a path without its ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').filter(|at| *at > 0).map_or(name, |at| &name[..at])
}

/// What COCO writes: `annotations` and `categories`.
#[derive(Deserialize)]
struct File {
    annotations: Vec<Annotation>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Annotation {
    file_name: String,
    segments_info: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    id: u32,
    category_id: i64,
}

#[derive(Deserialize)]
struct Category {
    id: i64,
    name: String,
}

impl Segments {
    fn read(file: &str, inputs: &Inputs) -> Result<Self> {
        let shown = place::shown(file);
        let bytes = inputs.read(Path::new(file), &shown, &role(SEGMENTS, None))?;
        Self::parse(&bytes, &shown).map_err(|error| error.in_file(&shown))
    }

    fn parse(bytes: &[u8], shown: &str) -> Result<Self> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| {
            Error::format("not the panoptic form of COCO")
                .at(format!("line {}, column {}", error.line(), error.column()))
                .found(error.to_string().split(" at line").next().unwrap_or_default())
                .allowed("annotations with file_name and segments_info, and categories with id and name")
        })?;
        let mut categories = BTreeMap::new();
        for category in file.categories {
            if categories.insert(category.id, category.name).is_some() {
                return Err(twice("a category", category.id));
            }
        }
        let mut images = BTreeMap::new();
        for annotation in file.annotations {
            let name = stem(&annotation.file_name).to_owned();
            let mut segments = BTreeMap::new();
            for Segment { id, category_id } in annotation.segments_info {
                if !categories.contains_key(&category_id) {
                    return Err(Error::value("a category that is not listed")
                        .at(format!("image {name}, segment {id}"))
                        .found(category_id)
                        .allowed("the ids in categories"));
                }
                if segments.insert(id, category_id).is_some() {
                    return Err(twice("a segment", id).at(format!("image {name}")));
                }
            }
            if images.insert(name.clone(), segments).is_some() {
                return Err(twice("an image", name));
            }
        }
        Ok(Self { shown: shown.to_owned(), images, categories })
    }
}

fn twice(what: &str, found: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Duplicate, format!("{what} is listed twice")).found(found).allowed("each once")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COCO: &str = r#"{"images": [], "annotations": [
        {"image_id": 1, "file_name": "val/a.png", "segments_info": [{"id": 66065, "category_id": 7, "iscrowd": 1}, {"id": 2, "category_id": 9}]},
        {"image_id": 2, "file_name": "b.png", "segments_info": []}],
        "categories": [{"id": 7, "name": "road"}, {"id": 9, "name": "sky"}]}"#;

    fn panoptic(text: &str) -> Result<Segments> {
        Segments::parse(text.as_bytes(), "coco.json")
    }

    #[test]
    fn the_worked_examples_hold() {
        assert_eq!(Rule::Ids.of_image("x.png", None).unwrap().id([17, 2, 1]).unwrap(), 66065);
        assert_eq!(Rule::Ade20k.of_image("x.png", Some(255)).unwrap().id([40, 12, 3]).unwrap(), 1036);
        assert_eq!(Rule::Ade20k.of_image("x.png", Some(255)).unwrap().id([9, 0, 3]).unwrap(), 255);
    }

    #[test]
    fn segments_are_those_of_the_image() {
        let rule = Rule::Panoptic(panoptic(COCO).unwrap());
        let image = rule.of_image("deep/a.png", Some(255)).unwrap();
        assert_eq!((image.id([17, 2, 1]).unwrap(), image.id([0, 0, 0]).unwrap()), (7, 255));
        assert!(image.id([1, 0, 0]).unwrap_err().to_string().contains("segment 1"));
        assert!(image.has_empty(&[[17, 2, 1]]) && !image.has_empty(&[[17, 2, 1], [2, 0, 0]]));
        let error = rule.of_image("c.png", None).unwrap_err().to_string();
        assert!(error.contains("no annotation") && error.contains("coco.json"), "{error}");
    }

    #[test]
    fn a_damaged_file_is_refused_with_its_place() {
        for (from, to, words) in [
            (r#""id": 2,"#, r#""id": 66065,"#, "a segment is listed twice"),
            (r#""category_id": 9"#, r#""category_id": 8"#, "a category that is not listed"),
            (r#""b.png""#, r#""x/a.jpg""#, "an image is listed twice"),
            (r#""id": 9,"#, r#""id": 7,"#, "a category is listed twice"),
            (r#""id": 2,"#, r#""id": 2, "id": 3,"#, "line 2"),
            (r#""categories""#, r#""classes""#, "categories"),
            (r#""id": 2,"#, r#""id": -2,"#, "line 2"),
        ] {
            assert!(COCO.contains(from));
            let error = panoptic(&COCO.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(words), "{to}: {error}");
        }
    }
}
