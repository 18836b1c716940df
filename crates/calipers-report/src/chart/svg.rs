//! A drawing as SVG text: coordinates with two decimals, every word escaped, nothing from outside.

use std::fmt::{self, Write};

use calipers_core::error::printable;

use super::palette::Colour;
use crate::text;

/// The typefaces, the first of which a machine has; the last is the one that comes along for PNG.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/// A finished drawing. Its text stands alone: a valid file in light colours, without outside
/// references.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    description: String,
    body: String,
}

impl Svg {
    /// The width in pixels at natural size.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The height in pixels at natural size.
    pub fn height(&self) -> f64 {
        self.height
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (number(self.width), number(self.height));
        write!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\
             <title>{}</title><desc>{}</desc>{}</svg>",
            escaped(&self.title),
            escaped(&self.description),
            self.body
        )
    }
}

/// A number with at most two decimals; what is not finite lies at the origin.
pub(crate) fn number(x: f64) -> String {
    let hundredths = if x.is_finite() { (x * 100.0).round() } else { 0.0 };
    let (whole, rest) = ((hundredths / 100.0).trunc().abs(), (hundredths % 100.0).abs());
    let sign = if hundredths < 0.0 { "-" } else { "" };
    match rest as u32 {
        0 => format!("{sign}{whole:.0}"),
        tenths if tenths % 10 == 0 => format!("{sign}{whole:.0}.{}", tenths / 10),
        hundredths => format!("{sign}{whole:.0}.{hundredths:02}"),
    }
}

/// Text that is neither markup nor forbidden in XML.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// How a shape is painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    fill: Option<Colour>,
    line: Option<(Colour, f64)>,
    opacity: f64,
    dashes: Option<&'static str>,
}

impl Paint {
    pub(crate) fn fill(colour: Colour) -> Self {
        Self { fill: Some(colour), line: None, opacity: 1.0, dashes: None }
    }

    pub(crate) fn line(colour: Colour, width: f64) -> Self {
        Self { fill: None, line: Some((colour, width)), opacity: 1.0, dashes: None }
    }

    pub(crate) fn outlined(self, colour: Colour, width: f64) -> Self {
        Self { line: Some((colour, width)), ..self }
    }

    pub(crate) fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    pub(crate) fn dashed(self) -> Self {
        Self { dashes: Some("5 4"), ..self }
    }

    fn attributes(self) -> String {
        let mut classes = Vec::new();
        let mut text = String::new();
        match self.fill {
            Some(colour) => {
                classes.extend(colour.name().map(|name| format!("f-{name}")));
                text += &format!(" fill=\"{}\"", colour.light());
            }
            None => text += " fill=\"none\"",
        }
        if let Some((colour, width)) = self.line {
            classes.extend(colour.name().map(|name| format!("s-{name}")));
            text += &format!(" stroke=\"{}\" stroke-width=\"{}\"", colour.light(), number(width));
            text += " stroke-linejoin=\"round\" stroke-linecap=\"round\"";
        }
        if let Some(dashes) = self.dashes {
            text += &format!(" stroke-dasharray=\"{dashes}\"");
        }
        if self.opacity < 1.0 {
            text += &format!(" opacity=\"{}\"", number(self.opacity));
        }
        if !classes.is_empty() {
            text += &format!(" class=\"{}\"", classes.join(" "));
        }
        text
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    size: f64,
    anchor: Anchor,
    colour: Colour,
    bold: bool,
    upright: bool,
    halo: bool,
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
}

/// About how wide words of a size are; wide characters count twice.
pub(crate) fn text_width(words: &str, size: f64) -> f64 {
    0.58 * size * text::columns(words) as f64
}

/// Words cut to about a width, with an ellipsis.
pub(crate) fn fitted(words: &str, size: f64, width: f64) -> String {
    text::short(words, ((width / (0.58 * size)) as usize).max(2))
}

/// A drawing in the making.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// A rectangle with round corners; `tip` is shown where the pointer rests.
    pub(crate) fn rect(&mut self, [x, y, w, h]: [f64; 4], round: f64, paint: Paint, tip: Option<&str>) {
        let place = [("x", x), ("y", y), ("width", w.max(0.0)), ("height", h.max(0.0)), ("rx", round)];
        self.shape("rect", &place, paint, tip);
    }

    /// A circle.
    pub(crate) fn circle(&mut self, [x, y]: [f64; 2], radius: f64, paint: Paint, tip: Option<&str>) {
        self.shape("circle", &[("cx", x), ("cy", y), ("r", radius)], paint, tip);
    }

    /// A straight line.
    pub(crate) fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], paint: Paint) {
        self.shape("line", &[("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)], paint, None);
    }

    /// A path.
    pub(crate) fn path(&mut self, path: &Path, paint: Paint, tip: Option<&str>) {
        if !path.0.is_empty() {
            let _ = write!(self.body, "<path d=\"{}\"{}", path.0, paint.attributes());
            self.close("path", tip);
        }
    }

    /// Words, in one line.
    pub(crate) fn text(&mut self, [x, y]: [f64; 2], words: &str, set: Type) {
        let (x, y) = (number(x), number(y));
        let place = if set.upright {
            format!("x=\"{x}\" y=\"{y}\"")
        } else {
            format!("transform=\"translate({x} {y}) rotate(-90)\"")
        };
        let anchor = match set.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if set.bold { " font-weight=\"600\"" } else { "" };
        let attributes = format!("{place} font-size=\"{}\"{anchor}{weight}", number(set.size));
        let words = escaped(words);
        if set.halo {
            let rim = Paint::fill(Colour::Paper).outlined(Colour::Paper, 3.0).attributes();
            let _ = write!(self.body, "<text {attributes}{rim} aria-hidden=\"true\">{words}</text>");
        }
        let paint = Paint::fill(set.colour).attributes();
        let _ = write!(self.body, "<text {attributes}{paint}>{words}</text>");
    }

    /// Another drawing with its corner at a place.
    pub(crate) fn place(&mut self, [x, y]: [f64; 2], scale: f64, svg: &Svg) {
        let (x, y, scale) = (number(x), number(y), number(scale));
        let _ = write!(self.body, "<g transform=\"translate({x} {y}) scale({scale})\">{}</g>", svg.body);
    }

    /// The drawing; title and description are what a screen reader says.
    pub(crate) fn finish(self, title: &str, description: &str) -> Svg {
        Svg {
            width: self.width,
            height: self.height,
            title: text::short(title, 200),
            description: text::short(description, 1000),
            body: self.body,
        }
    }

    fn shape(&mut self, name: &str, place: &[(&str, f64)], paint: Paint, tip: Option<&str>) {
        let _ = write!(self.body, "<{name}");
        for (key, value) in place {
            let _ = write!(self.body, " {key}=\"{}\"", number(*value));
        }
        self.body += &paint.attributes();
        self.close(name, tip);
    }

    fn close(&mut self, name: &str, tip: Option<&str>) {
        match tip {
            Some(tip) => {
                let tip = escaped(&text::short(tip, 160));
                let _ = write!(self.body, "><title>{tip}</title></{name}>");
            }
            None => self.body.push_str("/>"),
        }
    }
}

/// The course of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(String);

impl Path {
    pub(crate) fn start(&mut self, [x, y]: [f64; 2]) {
        let _ = write!(self.0, "M{} {}", number(x), number(y));
    }

    pub(crate) fn to(&mut self, [x, y]: [f64; 2]) {
        let _ = write!(self.0, "L{} {}", number(x), number(y));
    }

    /// A dot where the pen has round ends.
    pub(crate) fn dot(&mut self, place: [f64; 2]) {
        self.start(place);
        self.0.push_str("h0");
    }

    pub(crate) fn close(&mut self) {
        self.0.push('Z');
    }

    /// Through all points in order.
    pub(crate) fn through(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut path = Self::default();
        for (i, point) in points.into_iter().enumerate() {
            if i == 0 { path.start(point) } else { path.to(point) }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_two_decimals_and_no_surprises() {
        let shown = [0.0, -0.0, -0.004, 1.005, 12.5, -3.07, 100.0, f64::NAN, f64::INFINITY, 1e-9].map(number);
        assert_eq!(shown, ["0", "0", "0", "1", "12.5", "-3.07", "100", "0", "0", "0"]);
    }

    #[test]
    fn names_never_become_markup() {
        let mut canvas = Canvas::new(10.0, 10.0);
        let name = "</text><script>alert(1)</script>\" onload='x'\u{0}\u{ffff}\u{202e}&";
        canvas.text([1.0, 2.0], name, Type::new(12.0, Anchor::Start).with_halo());
        canvas.rect([0.0, 0.0, 1.0, 1.0], 0.0, Paint::fill(Colour::Ink), Some(name));
        let text = canvas.finish(name, name).to_string();
        assert!(
            !text.contains("<script") && !text.contains("\" onload") && !text.contains('\u{0}'),
            "{text}"
        );
        assert!(text.contains("&lt;script&gt;") && text.contains("\\u{0}"), "{text}");
    }
}
