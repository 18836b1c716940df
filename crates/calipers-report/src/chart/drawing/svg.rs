//! A drawing as SVG text: coordinates with two decimals, every word escaped, nothing from outside.

use std::fmt::{self, Display, Formatter};

use calipers_core::error::printable;

use super::Drawing;
use super::canvas::{Anchor, Paint, Path, Shape, Step, Type};
use super::palette::{Colour, Ground};

/// The typefaces, the first of which a machine has; the last is the one that comes along for PNG.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/// The text stands alone: a valid file in light colours, without outside references.
impl Display for Drawing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Writer { f, ground: Ground::Light }.drawing(self)
    }
}

/// A drawing as a file of its own: on a sheet of paper, its lengths in points.
pub(crate) struct Sheet<'a> {
    pub(crate) drawing: &'a Drawing,
    /// Points for each unit.
    pub(crate) points: f64,
    pub(crate) ground: Ground,
}

impl Display for Sheet<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        Writer { f, ground: self.ground }.sheet(self)?;
        f.write_str("\n")
    }
}

/// Writes markup in the colours of one paper.
struct Writer<'w, 'f> {
    f: &'w mut Formatter<'f>,
    ground: Ground,
}

/// The hundredths that are drawn of a number; what is not finite lies at the origin.
pub(crate) fn hundredths(x: f64) -> f64 {
    if x.is_finite() { (x * 100.0).round() } else { 0.0 }
}

/// A number with at most two decimals.
fn number(x: f64) -> String {
    let hundredths = hundredths(x);
    let (whole, rest) = ((hundredths / 100.0).trunc().abs(), (hundredths % 100.0).abs());
    let sign = if hundredths < 0.0 { "-" } else { "" };
    match rest as u32 {
        0 => format!("{sign}{whole:.0}"),
        tenths if tenths % 10 == 0 => format!("{sign}{whole:.0}.{}", tenths / 10),
        hundredths => format!("{sign}{whole:.0}.{hundredths:02}"),
    }
}

/// Text that is neither markup nor forbidden in XML.
fn escaped(text: &str) -> String {
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

impl Writer<'_, '_> {
    /// The drawing at its natural size.
    fn drawing(&mut self, drawing: &Drawing) -> fmt::Result {
        let (width, height) = (number(drawing.width), number(drawing.height));
        self.root(drawing, &width, &height, "")
    }

    /// The drawing in points, on paper of its colour.
    fn sheet(&mut self, sheet: &Sheet<'_>) -> fmt::Result {
        let size = |units: f64| format!("{}pt", number(sheet.points * units));
        let (width, height) = (size(sheet.drawing.width), size(sheet.drawing.height));
        let paper = Colour::Paper.css_on(sheet.ground);
        let paper = format!("<rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>");
        self.root(sheet.drawing, &width, &height, &paper)
    }

    fn root(&mut self, drawing: &Drawing, width: &str, height: &str, paper: &str) -> fmt::Result {
        let view = [drawing.width, drawing.height].map(number);
        write!(
            self.f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {} {}\" role=\"img\" font-family=\"{FONTS}\">\
             <title>{}</title><desc>{}</desc>{paper}",
            view[0],
            view[1],
            escaped(&drawing.title),
            escaped(&drawing.description),
        )?;
        drawing.shapes.iter().try_for_each(|shape| self.shape(shape))?;
        self.f.write_str("</svg>")
    }

    /// One element, with its parts.
    fn shape(&mut self, shape: &Shape) -> fmt::Result {
        match shape {
            Shape::Rect { place: [x, y, w, h], round, paint, tip } => {
                let place = [("x", x), ("y", y), ("width", w), ("height", h), ("rx", round)];
                self.element("rect", &place, paint, tip.as_deref())
            }
            Shape::Circle { centre: [x, y], radius, paint, tip } => {
                self.element("circle", &[("cx", x), ("cy", y), ("r", radius)], paint, tip.as_deref())
            }
            Shape::Line { ends: [[x1, y1], [x2, y2]], paint } => {
                self.element("line", &[("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)], paint, None)
            }
            Shape::Path { path, paint, tip } => {
                self.f.write_str("<path d=\"")?;
                write_course(self.f, path)?;
                write!(self.f, "\"{}", self.attributes(paint))?;
                self.end("path", tip.as_deref())
            }
            Shape::Text { place, words, set } => self.text(*place, words, *set),
            Shape::Image { place: [x, y, w, h], image } => {
                let [x, y, w, h] = [x, y, w, h].map(|side| number(*side));
                write!(
                    self.f,
                    "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" \
                     preserveAspectRatio=\"none\" image-rendering=\"pixelated\" href=\"{}\"/>",
                    image.address()
                )
            }
            Shape::Placed { corner: [x, y], shapes } => {
                let (x, y) = (number(*x), number(*y));
                write!(self.f, "<g transform=\"translate({x} {y})\">")?;
                shapes.iter().try_for_each(|shape| self.shape(shape))?;
                self.f.write_str("</g>")
            }
        }
    }

    /// An element that numbers place.
    fn element(
        &mut self,
        name: &str,
        place: &[(&str, &f64)],
        paint: &Paint,
        tip: Option<&str>,
    ) -> fmt::Result {
        write!(self.f, "<{name}")?;
        for (key, value) in place {
            write!(self.f, " {key}=\"{}\"", number(**value))?;
        }
        self.f.write_str(&self.attributes(paint))?;
        self.end(name, tip)
    }

    /// The end of an element, after the tip that is shown where the pointer rests.
    fn end(&mut self, name: &str, tip: Option<&str>) -> fmt::Result {
        match tip {
            Some(tip) => write!(self.f, "><title>{}</title></{name}>", escaped(tip)),
            None => self.f.write_str("/>"),
        }
    }

    /// Words, twice where they have a rim.
    fn text(&mut self, [x, y]: [f64; 2], words: &str, set: Type) -> fmt::Result {
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
        let setting = format!("{place} font-size=\"{}\"{anchor}{weight}", number(set.size));
        let words = escaped(words);
        if let Some(rim) = set.rim() {
            let rim = self.attributes(&rim);
            write!(self.f, "<text {setting}{rim} aria-hidden=\"true\">{words}</text>")?;
        }
        let ink = self.attributes(&Paint::fill(set.colour));
        write!(self.f, "<text {setting}{ink}>{words}</text>")
    }

    /// Fill, outline and opacity as attributes, and the classes by which a page changes their colours.
    fn attributes(&self, paint: &Paint) -> String {
        let mut classes = Vec::new();
        let mut text = String::new();
        match paint.fill {
            Some(colour) => {
                classes.extend(colour.name().map(|name| format!("f-{name}")));
                text += &format!(" fill=\"{}\"", colour.css_on(self.ground));
            }
            None => text += " fill=\"none\"",
        }
        if let Some((colour, width)) = paint.line {
            classes.extend(colour.name().map(|name| format!("s-{name}")));
            text += &format!(" stroke=\"{}\" stroke-width=\"{}\"", colour.css_on(self.ground), number(width));
            text += " stroke-linejoin=\"round\" stroke-linecap=\"round\"";
        }
        if paint.dashed {
            text += " stroke-dasharray=\"5 4\"";
        }
        if paint.opacity < 1.0 {
            text += &format!(" opacity=\"{}\"", number(paint.opacity));
        }
        if !classes.is_empty() {
            text += &format!(" class=\"{}\"", classes.join(" "));
        }
        text
    }
}

/// Writes what the pen does.
fn write_course(f: &mut Formatter<'_>, path: &Path) -> fmt::Result {
    path.0.iter().try_for_each(|step| match step {
        Step::Start([x, y]) => write!(f, "M{} {}", number(*x), number(*y)),
        Step::To([x, y]) => write!(f, "L{} {}", number(*x), number(*y)),
        Step::Dot([x, y]) => write!(f, "M{} {}h0", number(*x), number(*y)),
        Step::Close => f.write_str("Z"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::super::palette::Colour;
    use super::*;

    #[test]
    fn coordinates_have_two_decimals_and_no_surprises() {
        let shown = [0.0, -0.0, -0.004, 1.005, 12.5, -3.07, 100.0, f64::NAN, f64::INFINITY, 1e-9].map(number);
        assert_eq!(shown, ["0", "0", "0", "1", "12.5", "-3.07", "100", "0", "0", "0"]);
    }

    #[test]
    fn every_shape_has_its_markup() {
        let pen = Paint::line(Colour::Fixed([1, 2, 3]), 1.5);
        let stroke = " fill=\"none\" stroke=\"#010203\" stroke-width=\"1.5\" stroke-linejoin=\"round\" \
                      stroke-linecap=\"round\"";
        let mut inner = Canvas::new(5.0, 5.0);
        let mut path = Path::through([[0.0, 1.0], [2.0, 3.0]]);
        path.close();
        path.dot([4.0, 5.0]);
        inner.path(path, pen, Some("a tip"));
        inner.path(Path::default(), pen, None);
        inner.line([1.0, 2.0], [3.0, 4.0], pen.dashed().faded(0.5));
        let mut canvas = Canvas::new(10.0, 20.0);
        canvas.place([1.0, 2.0], inner.finish("", ""));
        canvas.rect([1.0, 2.0, -3.0, 4.0], 2.0, Paint::fill(Colour::Ink).outlined(Colour::Paper, 1.0), None);
        canvas.text([1.0, 2.0], "up", Type::new(9.0, Anchor::End).bold().turned());
        let text = canvas.finish("", "").to_string();
        let body = text.split_once("</desc>").unwrap().1;
        let expected = [
            "<g transform=\"translate(1 2)\">",
            &format!("<path d=\"M0 1L2 3ZM4 5h0\"{stroke}><title>a tip</title></path>"),
            "<line x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4\"",
            &format!("{stroke} stroke-dasharray=\"5 4\" opacity=\"0.5\"/></g>"),
            "<rect x=\"1\" y=\"2\" width=\"0\" height=\"4\" rx=\"2\" fill=\"#1a1f29\" stroke=\"#ffffff\" ",
            "stroke-width=\"1\" stroke-linejoin=\"round\" stroke-linecap=\"round\" class=\"f-ink s-paper\"/>",
            "<text transform=\"translate(1 2) rotate(-90)\" font-size=\"9\" text-anchor=\"end\" ",
            "font-weight=\"600\" fill=\"#1a1f29\" class=\"f-ink\">up</text></svg>",
        ];
        assert_eq!(body, expected.concat());
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
