//! A drawing as SVG text: coordinates with two decimals, every word escaped, nothing from outside.

use std::fmt::{self, Formatter};

use calipers_core::error::printable;

use super::canvas::{Anchor, Paint, Path, Shape, Step, Type};

/// The typefaces, the first of which a machine has; the last is the one that comes along for PNG.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/// A finished drawing. Its text stands alone: a valid file in light colours, without outside
/// references.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) shapes: Vec<Shape>,
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
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (width, height) = (number(self.width), number(self.height));
        write!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\
             <title>{}</title><desc>{}</desc>",
            escaped(&self.title),
            escaped(&self.description),
        )?;
        self.shapes.iter().try_for_each(|shape| write_shape(f, shape))?;
        f.write_str("</svg>")
    }
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

/// Writes one element, with its parts.
fn write_shape(f: &mut Formatter<'_>, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Rect { place: [x, y, w, h], round, paint, tip } => {
            let place = [("x", x), ("y", y), ("width", w), ("height", h), ("rx", round)];
            write_element(f, "rect", &place, paint, tip.as_deref())
        }
        Shape::Circle { centre: [x, y], radius, paint, tip } => {
            write_element(f, "circle", &[("cx", x), ("cy", y), ("r", radius)], paint, tip.as_deref())
        }
        Shape::Line { ends: [[x1, y1], [x2, y2]], paint } => {
            write_element(f, "line", &[("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)], paint, None)
        }
        Shape::Path { path, paint, tip } => {
            f.write_str("<path d=\"")?;
            write_course(f, path)?;
            write!(f, "\"{}", attributes(paint))?;
            write_end(f, "path", tip.as_deref())
        }
        Shape::Text { place, words, set } => write_text(f, *place, words, *set),
        Shape::Placed { corner: [x, y], scale, shapes } => {
            let (x, y, scale) = (number(*x), number(*y), number(*scale));
            write!(f, "<g transform=\"translate({x} {y}) scale({scale})\">")?;
            shapes.iter().try_for_each(|shape| write_shape(f, shape))?;
            f.write_str("</g>")
        }
    }
}

/// Writes an element that numbers place.
fn write_element(
    f: &mut Formatter<'_>,
    name: &str,
    place: &[(&str, &f64)],
    paint: &Paint,
    tip: Option<&str>,
) -> fmt::Result {
    write!(f, "<{name}")?;
    for (key, value) in place {
        write!(f, " {key}=\"{}\"", number(**value))?;
    }
    f.write_str(&attributes(paint))?;
    write_end(f, name, tip)
}

/// Ends an element, after the tip that is shown where the pointer rests.
fn write_end(f: &mut Formatter<'_>, name: &str, tip: Option<&str>) -> fmt::Result {
    match tip {
        Some(tip) => write!(f, "><title>{}</title></{name}>", escaped(tip)),
        None => f.write_str("/>"),
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

/// Writes words, twice where they have a rim.
fn write_text(f: &mut Formatter<'_>, [x, y]: [f64; 2], words: &str, set: Type) -> fmt::Result {
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
        write!(f, "<text {setting}{} aria-hidden=\"true\">{words}</text>", attributes(&rim))?;
    }
    write!(f, "<text {setting}{}>{words}</text>", attributes(&Paint::fill(set.colour)))
}

/// Fill, outline and opacity as attributes, and the classes by which a page changes their colours.
fn attributes(paint: &Paint) -> String {
    let mut classes = Vec::new();
    let mut text = String::new();
    match paint.fill {
        Some(colour) => {
            classes.extend(colour.name().map(|name| format!("f-{name}")));
            text += &format!(" fill=\"{}\"", colour.light());
        }
        None => text += " fill=\"none\"",
    }
    if let Some((colour, width)) = paint.line {
        classes.extend(colour.name().map(|name| format!("s-{name}")));
        text += &format!(" stroke=\"{}\" stroke-width=\"{}\"", colour.light(), number(width));
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
        canvas.place([1.0, 2.0], 0.5, &inner.finish("", ""));
        canvas.rect([1.0, 2.0, -3.0, 4.0], 2.0, Paint::fill(Colour::Ink).outlined(Colour::Paper, 1.0), None);
        canvas.text([1.0, 2.0], "up", Type::new(9.0, Anchor::End).bold().turned());
        let text = canvas.finish("", "").to_string();
        let body = text.split_once("</desc>").unwrap().1;
        let expected = [
            "<g transform=\"translate(1 2) scale(0.5)\">",
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
