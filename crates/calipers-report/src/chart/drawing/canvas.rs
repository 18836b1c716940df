//! A drawing in the making: a list of shapes of a few kinds, in colours that have a purpose.
//! [`svg`](super::svg) and the formats in `files` write it.

use calipers_core::error::printable;

use super::Drawing;
use super::palette::Colour;
use crate::chart::Image;
use crate::text;

/// How a shape is painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Paint {
    pub(crate) fill: Option<Colour>,
    /// The colour of the outline and its width.
    pub(crate) line: Option<(Colour, f64)>,
    /// How solid fill and outline are together, 0 to 1.
    pub(crate) opacity: f64,
    pub(crate) dashed: bool,
}

impl Paint {
    pub(crate) fn fill(colour: Colour) -> Self {
        Self { fill: Some(colour), line: None, opacity: 1.0, dashed: false }
    }

    pub(crate) fn line(colour: Colour, width: f64) -> Self {
        Self { fill: None, line: Some((colour, width)), opacity: 1.0, dashed: false }
    }

    pub(crate) fn outlined(self, colour: Colour, width: f64) -> Self {
        Self { line: Some((colour, width)), ..self }
    }

    pub(crate) fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    pub(crate) fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }
}

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How words are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Type {
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) colour: Colour,
    pub(crate) bold: bool,
    pub(crate) upright: bool,
    pub(crate) halo: bool,
}

impl Type {
    pub(crate) fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, anchor, colour: Colour::Ink, bold: false, upright: true, halo: false }
    }

    pub(crate) fn quiet(self) -> Self {
        self.coloured(Colour::Quiet)
    }

    pub(crate) fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Turned to read upwards.
    pub(crate) fn turned(self) -> Self {
        Self { upright: false, ..self }
    }

    /// With a rim in the colour of the paper, so that lines below do not strike it through.
    pub(crate) fn with_halo(self) -> Self {
        Self { halo: true, ..self }
    }

    /// What the rim is painted with, before the words themselves.
    pub(crate) fn rim(self) -> Option<Paint> {
        self.halo.then(|| Paint::fill(Colour::Paper).outlined(Colour::Paper, 3.0))
    }
}

/// About how wide words of a size are; wide characters count twice.
pub(crate) fn text_width(words: &str, size: f64) -> f64 {
    0.58 * size * text::columns(words) as f64
}

/// Words cut to about a width, with an ellipsis.
pub(crate) fn fitted(words: &str, size: f64, width: f64) -> String {
    text::short(words, ((width / (0.58 * size)) as usize).max(2))
}

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Rect { place: [f64; 4], round: f64, paint: Paint, tip: Option<Box<str>> },
    Circle { centre: [f64; 2], radius: f64, paint: Paint, tip: Option<Box<str>> },
    Line { ends: [[f64; 2]; 2], paint: Paint },
    Path { path: Path, paint: Paint, tip: Option<Box<str>> },
    Text { place: [f64; 2], words: Box<str>, set: Type },
    Image { place: [f64; 4], image: Image },
    Placed { corner: [f64; 2], shapes: Vec<Shape> },
}

/// A drawing in the making.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    /// A rectangle with round corners; `tip` is shown where the pointer rests.
    pub(crate) fn rect(&mut self, [x, y, w, h]: [f64; 4], round: f64, paint: Paint, tip: Option<&str>) {
        let place = [x, y, w.max(0.0), h.max(0.0)];
        self.shapes.push(Shape::Rect { place, round, paint, tip: short(tip) });
    }

    /// A circle.
    pub(crate) fn circle(&mut self, centre: [f64; 2], radius: f64, paint: Paint, tip: Option<&str>) {
        self.shapes.push(Shape::Circle { centre, radius, paint, tip: short(tip) });
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: [f64; 2], to: [f64; 2], paint: Paint) {
        self.shapes.push(Shape::Line { ends: [from, to], paint });
    }

    /// A path.
    pub(crate) fn path(&mut self, path: Path, paint: Paint, tip: Option<&str>) {
        if !path.0.is_empty() {
            self.shapes.push(Shape::Path { path, paint, tip: short(tip) });
        }
    }

    /// Words, in one line.
    pub(crate) fn text(&mut self, place: [f64; 2], words: &str, set: Type) {
        self.shapes.push(Shape::Text { place, words: printable(words).into(), set });
    }

    /// Pixels, each a block of one colour.
    pub(crate) fn image(&mut self, place: [f64; 4], image: &Image) {
        self.shapes.push(Shape::Image { place, image: image.clone() });
    }

    /// Another drawing with its corner at a place.
    pub(crate) fn place(&mut self, corner: [f64; 2], drawing: Drawing) {
        self.shapes.push(Shape::Placed { corner, shapes: drawing.shapes });
    }

    /// The drawing; title and description are what a screen reader says.
    pub(crate) fn finish(self, title: &str, description: &str) -> Drawing {
        Drawing {
            width: self.width,
            height: self.height,
            title: text::short(title, 200),
            description: text::short(description, 1000),
            shapes: self.shapes,
        }
    }
}

/// What is shown where the pointer rests, cut to a length.
fn short(tip: Option<&str>) -> Option<Box<str>> {
    tip.map(|tip| text::short(tip, 160).into())
}

/// The course of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path(pub(crate) Vec<Step>);

/// What the pen does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Start([f64; 2]),
    To([f64; 2]),
    Dot([f64; 2]),
    Close,
}

impl Path {
    pub(crate) fn start(&mut self, place: [f64; 2]) {
        self.0.push(Step::Start(place));
    }

    pub(crate) fn to(&mut self, place: [f64; 2]) {
        self.0.push(Step::To(place));
    }

    /// A dot where the pen has round ends.
    pub(crate) fn dot(&mut self, place: [f64; 2]) {
        self.0.push(Step::Dot(place));
    }

    pub(crate) fn close(&mut self) {
        self.0.push(Step::Close);
    }

    /// Through all points in order.
    pub(crate) fn through(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let step = |(i, point)| if i == 0 { Step::Start(point) } else { Step::To(point) };
        Self(points.into_iter().enumerate().map(step).collect())
    }
}
