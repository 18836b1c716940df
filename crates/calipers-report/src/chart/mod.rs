//! Pictures drawn without a plotting library: a page that shows them needs no script, a picture taken
//! from it needs no page, and the same numbers give the same bytes.
//!
//! ```text
//! numbers --forms--> Chart --draw(width)--> Drawing, one list of shapes
//! Drawing --drawing::svg--> markup of a page, whose colours follow the page
//!         --files--> a file of its own: SVG, PDF or PNG, in a style and at a width
//! ```

mod axis;
mod drawing;
pub mod files;
mod forms;
mod image;
mod style;

use serde::Serialize;

use crate::grid::Grid;

pub use axis::{Axis, compact};
pub use drawing::Drawing;
pub use drawing::palette::{self, Colour};
pub use forms::{
    bars, forest, heat, histogram, images, lines, network, reliability, scatter, sheet, stacked,
};
pub use image::Image;
pub use style::{Style, points};

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
    /// The unit that it shows, where it shows one.
    pub unit: Option<String>,
}

/// What a picture is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Art {
    /// One chart.
    Chart(Chart),
    /// Several charts of one thing, of which one is shown at a time, by name.
    Variants(Vec<(String, Chart)>),
    /// Nothing could be drawn: what is missing, and why.
    Missing(String),
}

/// What can be drawn: numbers and names, without a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Chart {
    /// Bars beside their names.
    Bars(bars::Bars),
    /// Differences with their intervals.
    Forest(forest::Forest),
    /// A table as a field of colour.
    Heat(heat::Heat),
    /// How often values fall where.
    Histogram(histogram::Histogram),
    /// Images side by side.
    Images(images::Images),
    /// Curves.
    Lines(lines::Lines),
    /// A graph.
    Network(network::Network),
    /// How honest confidence is.
    Reliability(reliability::Reliability),
    /// Points in a plane.
    Scatter(scatter::Scatter),
    /// Several charts on one sheet.
    Sheet(sheet::Sheet),
    /// Shares of a whole.
    Stacked(stacked::Stacked),
}

impl Chart {
    /// The drawing, as wide as given; most words are 12 units high.
    pub fn draw(&self, width: f64) -> Drawing {
        match self {
            Self::Bars(bars) => bars.draw(width),
            Self::Forest(forest) => forest.draw(width),
            Self::Heat(heat) => heat.draw(width),
            Self::Histogram(histogram) => histogram.draw(width),
            Self::Images(images) => images.draw(width),
            Self::Lines(lines) => lines.draw(width),
            Self::Network(network) => network.draw(width),
            Self::Reliability(reliability) => reliability.draw(width),
            Self::Scatter(scatter) => scatter.draw(width),
            Self::Sheet(sheet) => sheet.draw(width),
            Self::Stacked(stacked) => stacked.draw(width),
        }
    }

    /// Whether it needs the width of a page, not that of a column.
    pub fn is_wide(&self) -> bool {
        matches!(self, Self::Forest(_) | Self::Sheet(_) | Self::Images(_))
    }
}
