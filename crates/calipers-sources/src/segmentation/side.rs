//! One side of the pairs: a folder of files, or one file that holds the arrays of all units.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Notes, Result};
use calipers_io::array::{self, ArrayFile, Arrays, Reader};
use calipers_io::column::{self, Column, Table};
use calipers_io::file::InputFile;
use calipers_io::format::instead_of;
use calipers_io::place::{self, Kind};
use calipers_io::{image, limits};

use super::space::keys_of;
use crate::array_file;
use crate::inputs::{Inputs, role, role_of_column};
use crate::walk::{self, given_folder};

/// The endings of files that hold one unit.
pub fn endings() -> Vec<&'static str> {
    let mut endings = image::FORMATS.endings();
    endings.extend(container_endings());
    endings
}

/// The endings of files that hold many.
pub fn container_endings() -> Vec<&'static str> {
    array::FORMATS.endings_where(is_read)
}

/// Whether arrays stored in this way are read: a list of sets of arrays is no unit.
fn is_read(reader: &Reader) -> bool {
    matches!(reader, Reader::One { .. } | Reader::Named(_))
}

/// The name of a file without the ending that says its format; none where it says none that is read.
fn read_as(file: &str) -> Option<&str> {
    if image::FORMATS.by_name(file).is_some() {
        return Some(image::FORMATS.stem(file));
    }
    array_file::reader(file).as_ref().is_some_and(is_read).then(|| array::FORMATS.stem(file))
}

/// The name of a file without the ending that says its format.
pub(super) fn stem(file: &str) -> &str {
    read_as(file).unwrap_or(file)
}

/// Truth, predictions, or the predictions of one head.
pub struct Side {
    /// The path as given, with `/`.
    pub shown: String,
    /// What it is.
    pub kind: SideKind,
    /// What its files are read as.
    pub notes: Notes,
}

/// What a path stands for.
pub enum SideKind {
    /// A folder, one file per unit.
    Folder(PathBuf),
    /// An image, one unit.
    Image(PathBuf, image::Reader),
    /// A container, one array a unit; its file.
    Arrays(Arrays, Arc<InputFile>),
    /// A parquet file in which each row of one column is a unit; the file.
    Column(Box<Rows>, Arc<InputFile>),
    /// A container, one slab of the leading axis a unit; its file.
    Slabs(Box<dyn ArrayFile>, Arc<InputFile>),
}

/// A column of a parquet file.
pub struct Rows {
    /// Its cells.
    pub column: Column,
    /// What the units are called, by row.
    names: Vec<String>,
}

/// Where in its side the array of one unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file at this path below the folder.
    File(Box<str>),
    /// The side itself.
    Whole,
    /// Under the unit's own name.
    Key,
    /// At this place of the leading axis.
    Slab(u64),
    /// In this row of the column.
    Row(u64),
}

impl Side {
    /// Opens a folder, a container or an image; `word` says what it is read as.
    pub fn open(path: &Path, word: &str, inputs: &Inputs) -> Result<Self> {
        let shown = place::shown(&path.display().to_string());
        inputs.come_from(path);
        let shown = shown.trim_end_matches('/').to_owned();
        if let Some((file, name)) = column::address(path) {
            return Self::column(&file, &name, shown, word, inputs);
        }
        if place::kind(path).map_err(|error| error.in_file(&shown))? == Kind::Folder {
            let notes = role(word, Some(given_folder(&shown)));
            return Ok(Self { shown, kind: SideKind::Folder(path.to_path_buf()), notes });
        }
        let notes = role(word, None);
        if let Some(format) = image::FORMATS.by_name(&shown) {
            return Ok(Self { shown, kind: SideKind::Image(path.to_path_buf(), format.reader), notes });
        }
        let Some(reader) = array_file::reader(&shown).filter(is_read) else {
            return Err(Error::value("neither a folder nor a container of arrays nor an image")
                .in_file(&shown)
                .allowed(format!("a folder, or a file that ends in {}", endings().join(" ")))
                .advice(instead_of(&shown).unwrap_or("give the folder that holds the file")));
        };
        let file = inputs.stream(path, &shown, &notes)?.0;
        let kind = Self::container(reader, file).map_err(|error| error.in_file(&shown))?;
        Ok(Self { shown, kind, notes })
    }

    fn column(file: &Path, name: &str, shown: String, word: &str, inputs: &Inputs) -> Result<Self> {
        let notes = role_of_column(word, name);
        let of_file = place::shown(&file.display().to_string());
        let file = inputs.stream(file, &of_file, &notes)?.0;
        let rows = Table::open(Arc::clone(&file) as Arc<_>)
            .and_then(|table| Ok(Rows { column: table.column(name)?, names: table.unit_names()? }));
        let rows = Box::new(rows.map_err(|error| error.in_file(&of_file))?);
        Ok(Self { shown, kind: SideKind::Column(rows, file), notes })
    }

    fn container(reader: Reader, file: Arc<InputFile>) -> Result<SideKind> {
        let source = Arc::clone(&file) as Arc<_>;
        match reader {
            Reader::One { open, .. } => Ok(SideKind::Slabs(open(source)?, file)),
            Reader::Named(open) => Ok(SideKind::Arrays(open(source)?, file)),
            Reader::Sets(_) => Err(Error::value("a list of sets of arrays is no container")),
        }
    }

    /// The units by name, in byte order, each once.
    pub fn units(&self, suffix: Option<&str>, flat: bool, inputs: &Inputs) -> Result<Vec<(String, Place)>> {
        let mut units = match &self.kind {
            SideKind::Folder(folder) => self.files(folder, suffix, flat, inputs)?,
            SideKind::Image(..) => {
                let file = self.shown.rsplit('/').next().unwrap_or_default();
                vec![(image::FORMATS.stem(file).to_owned(), Place::Whole)]
            }
            SideKind::Arrays(arrays, _) => {
                let keys = keys_of(arrays).map_err(|error| error.in_file(&self.shown))?;
                keys.into_iter().map(|key| (key, Place::Key)).collect()
            }
            SideKind::Column(rows, _) => {
                (0..).zip(&rows.names).map(|(row, name)| (name.clone(), Place::Row(row))).collect()
            }
            SideKind::Slabs(file, _) => {
                let slabs = match file.shape() {
                    [slabs, _, _, ..] => *slabs,
                    other => {
                        return Err(Error::value(
                            "a container needs an axis of units before those of an image",
                        )
                        .in_file(&self.shown)
                        .found(format!("shape {other:?}")));
                    }
                };
                (0..slabs).map(|index| (format!("{index:06}"), Place::Slab(index))).collect()
            }
        };
        units.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        if let Some(pair) = units.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [first, second] = [&pair[0], &pair[1]].map(|(name, place)| self.shown_place(name, place));
            return Err(Error::new(ErrorKind::Duplicate, format!("two files for unit '{}'", pair[0].0))
                .found(format!("{first} and {second}"))
                .advice(
                    "leave one, or choose by --truth-suffix and --pred-suffix; without --flat folders count",
                ));
        }
        if let Some(long) = units.iter().find(|unit| unit.0.len() > limits::NAME) {
            return Err(Error::value("a unit name is too long")
                .in_file(self.shown_place(&long.0, &long.1))
                .found(format!("{} bytes", long.0.len()))
                .allowed(format!("{} bytes", limits::NAME)));
        }
        Ok(units)
    }

    fn files(
        &self,
        folder: &Path,
        suffix: Option<&str>,
        flat: bool,
        inputs: &Inputs,
    ) -> Result<Vec<(String, Place)>> {
        let wanted = |name: &str| match suffix {
            Some(suffix) => name.len() > suffix.len() && name.ends_with(suffix),
            None => read_as(name).is_some(),
        };
        let mut units = Vec::new();
        for file in walk::below(folder, inputs, &wanted)? {
            let Some(stem) = read_as(&file) else {
                return Err(Error::value("the ending of the file says no format")
                    .in_file(format!("{}/{file}", self.shown))
                    .allowed(endings().join(" ")));
            };
            let name = suffix.map_or(stem, |suffix| &file[..file.len() - suffix.len()]);
            let name = if flat { name.rsplit('/').next().unwrap_or(name) } else { name };
            units.push((name.to_owned(), Place::File(file.into_boxed_str())));
        }
        Ok(units)
    }

    /// The files of a folder that can be read, by their paths below it; none where the side is no folder.
    pub(super) fn below(&self) -> Option<Vec<String>> {
        match &self.kind {
            SideKind::Folder(folder) => {
                walk::below(folder, &Inputs::default(), &|name| read_as(name).is_some()).ok()
            }
            _ => None,
        }
    }

    /// A unit's file or array as messages name it.
    pub fn shown_place(&self, name: &str, place: &Place) -> String {
        match place {
            Place::File(file) => format!("{}/{file}", self.shown),
            Place::Whole => self.shown.clone(),
            Place::Key => format!("{}, key {name}", self.shown),
            Place::Slab(index) => format!("{}, unit {index}", self.shown),
            Place::Row(_) => format!("{}, unit {name}", self.shown),
        }
    }

    /// Whether its units are slices of one array of three axes.
    pub fn is_stack(&self) -> bool {
        matches!(&self.kind, SideKind::Slabs(file, _) if file.shape().len() == 3)
    }

    /// Whether the file of a unit may be read.
    pub fn may_read(&self, place: &Place, inputs: &Inputs) -> bool {
        match place {
            Place::File(file) => inputs.may_read(&format!("{}/{file}", self.shown)),
            Place::Whole => inputs.may_read(&self.shown),
            Place::Key | Place::Slab(_) | Place::Row(_) => true,
        }
    }

    /// Fails when the container was changed since it was opened.
    pub fn unchanged(&self) -> Result<()> {
        match &self.kind {
            SideKind::Folder(_) | SideKind::Image(..) => Ok(()),
            SideKind::Arrays(_, file) | SideKind::Slabs(_, file) | SideKind::Column(_, file) => {
                file.unchanged().map_err(|error| error.in_file(&self.shown))
            }
        }
    }
}
