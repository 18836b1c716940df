//! Figures as files of their own: one drawing, three formats, each in every style.

mod embedded;
mod font;
mod outline;
mod pdf;
mod png;
mod typeface;

use calipers_core::{Error, Result};

use super::drawing::Drawing;
use super::drawing::svg::Sheet;
use super::{Chart, Style};

/// A format in which a figure is written.
#[derive(Clone, Copy)]
pub struct FileFormat {
    /// Its name, which is also the ending of its files.
    pub name: &'static str,
    write: fn(&Drawing, Style) -> Result<Vec<u8>>,
}

/// Every format.
pub const FORMATS: [FileFormat; 3] = [
    FileFormat { name: "pdf", write: pdf::write },
    FileFormat { name: "svg", write: svg },
    FileFormat { name: "png", write: png::write },
];

/// The format of that name.
pub fn format(name: &str) -> Result<FileFormat> {
    FORMATS.into_iter().find(|format| format.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names = FORMATS.map(|format| format.name).join(", ");
        Error::usage("no such format of figures").found(name).allowed(names)
    })
}

/// A chart as a file: as wide as asked for in points, else as is usual in this style. Equal charts give
/// equal bytes on every machine.
pub fn write(chart: &Chart, format: FileFormat, width: Option<f64>, style: Style) -> Result<Vec<u8>> {
    let units = style.units(width, chart.is_wide())?;
    (format.write)(&chart.draw(units), style)
}

fn svg(drawing: &Drawing, style: Style) -> Result<Vec<u8>> {
    let sheet = Sheet { drawing, points: style.points(), ground: style.ground() };
    Ok(sheet.to_string().into_bytes())
}
