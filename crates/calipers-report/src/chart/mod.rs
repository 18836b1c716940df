//! Pictures drawn as SVG, without a plotting library: a page that shows them needs no script, a
//! picture taken from it needs no page, and the same numbers give the same bytes.
//!
//! ```text
//! numbers --Lines, Bars, Forest, Heat, Scatter, Stacked, Histogram, Network, Reliability--> Svg
//! Svg     --to_string--> a file of its own, in light colours
//!         + palette::rules, light, dark--> the same picture in the colours of a page
//! ```

pub mod axis;
pub mod bars;
pub mod forest;
pub mod heat;
pub mod histogram;
pub mod lines;
pub mod network;
pub mod palette;
#[cfg(feature = "raster")]
pub mod raster;
pub mod reliability;
pub mod scatter;
pub mod sheet;
pub mod stacked;
pub mod svg;

mod canvas;
mod frame;

use crate::grid::Grid;

pub use axis::Axis;
pub use palette::Colour;
#[cfg(feature = "raster")]
pub use raster::png;
pub use svg::Svg;

/// One picture with what is said about it and what is behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// A name for files and links: ASCII letters, digits and hyphens, chosen by this project.
    pub slug: String,
    /// The heading.
    pub title: String,
    /// What is to be seen, in a sentence or two.
    pub caption: String,
    /// The picture itself.
    pub art: Art,
    /// The numbers behind it, by the name of the file that holds them.
    pub data: Vec<(String, Grid)>,
}

/// What a picture is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Art {
    /// One drawing.
    Svg(Svg),
    /// Several drawings of one thing, of which one is shown at a time, by name.
    Variants(Vec<(String, Svg)>),
    /// Images side by side.
    Panels(Vec<Panel>),
    /// Nothing could be drawn: what is missing, and why.
    Missing(String),
}

/// An image of pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub caption: String,
    /// A whole PNG file.
    pub png: Vec<u8>,
}
