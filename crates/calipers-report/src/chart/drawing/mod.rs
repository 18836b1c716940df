//! A finished drawing: one list of shapes, which every file format writes.

pub(crate) mod canvas;
pub(crate) mod frame;
pub(crate) mod marker;
pub mod palette;
pub(crate) mod svg;

use canvas::Shape;

/// A drawing of shapes in units: most words are 12 units high.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) shapes: Vec<Shape>,
}

impl Drawing {
    /// The width in units.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The height in units.
    pub fn height(&self) -> f64 {
        self.height
    }
}
