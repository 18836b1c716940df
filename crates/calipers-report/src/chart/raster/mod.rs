//! A drawing as PNG: the shapes of its text as pixels, with a typeface that comes along, so that
//! every machine makes the same ones.

mod font;
mod outline;
mod typeface;

use calipers_core::{Error, Result};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Path, Pixmap, PixmapPaint, Rect, Stroke, StrokeDash, Transform,
};

use super::canvas::{Anchor, Paint, Shape, Type};
use super::palette::Colour;
use super::svg::{Svg, hundredths};
use typeface::Typeface;

/// No picture is larger than this in either direction.
const MOST_PIXELS: f32 = 16_384.0;
/// The width of the outline that makes letters bold, for a size of one: the typeface has one weight.
const BOLD: f32 = 0.045;

/// The drawing on white paper, `scale` pixels for each of its own.
pub fn png(svg: &Svg, scale: f32) -> Result<Vec<u8>> {
    drawn(svg, scale)?.encode_png().map_err(|error| failed(&error.to_string()))
}

/// Why there is no picture.
fn failed(what: &str) -> Error {
    Error::value(format!("cannot draw the picture: {what}"))
}

/// The pixels of a drawing.
fn drawn(svg: &Svg, scale: f32) -> Result<Pixmap> {
    let [width, height] = [svg.width(), svg.height()].map(|side| (rounded(side) * scale).ceil());
    if !(width >= 1.0 && height >= 1.0 && width <= MOST_PIXELS && height <= MOST_PIXELS) {
        return Err(Error::value("the picture has no pixels or too many")
            .found(format!("{width} x {height}"))
            .allowed(format!("1 to {MOST_PIXELS} each way"))
            .advice("choose another scale"));
    }
    let typeface = Typeface::new().ok_or_else(|| failed("its typeface is damaged"))?;
    let mut pixels =
        Pixmap::new(width as u32, height as u32).ok_or_else(|| failed("there is no room for its pixels"))?;
    pixels.fill(Color::WHITE);
    draw(&svg.shapes, &typeface, Transform::from_scale(scale, scale), &mut pixels);
    Ok(pixels)
}

/// A number as the text of the drawing has it, with two decimals, so that both pictures agree.
fn rounded(x: f64) -> f32 {
    (hundredths(x) / 100.0) as f32
}

/// Draws shapes one over the other.
fn draw(shapes: &[Shape], typeface: &Typeface, to_pixels: Transform, pixels: &mut Pixmap) {
    for shape in shapes {
        match shape {
            Shape::Rect { place, round, paint, .. } => {
                paint_path(outline::rect(place.map(rounded), rounded(*round)), *paint, to_pixels, pixels);
            }
            Shape::Circle { centre, radius, paint, .. } => {
                paint_path(outline::circle(centre.map(rounded), rounded(*radius)), *paint, to_pixels, pixels);
            }
            Shape::Line { ends, paint } => {
                paint_path(outline::line(ends.map(|end| end.map(rounded))), *paint, to_pixels, pixels);
            }
            Shape::Path { path, paint, .. } => {
                paint_path(outline::course(path), *paint, to_pixels, pixels);
            }
            Shape::Text { place, words, set } => {
                draw_words(*place, words, *set, typeface, to_pixels, pixels);
            }
            Shape::Placed { corner, scale, shapes } => {
                let ([x, y], scale) = (corner.map(rounded), rounded(*scale));
                let inside = to_pixels.pre_translate(x, y).pre_scale(scale, scale);
                draw(shapes, typeface, inside, pixels);
            }
        }
    }
}

/// Draws words, the rim of which comes first.
fn draw_words(
    place: [f64; 2],
    words: &str,
    set: Type,
    typeface: &Typeface,
    to_pixels: Transform,
    pixels: &mut Pixmap,
) {
    let bold = if set.bold { BOLD } else { 0.0 };
    let (letters, width) = typeface.set(words, rounded(set.size), bold);
    let before = match set.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * width,
        Anchor::End => width,
    };
    let [x, y] = place.map(rounded);
    let turn = if set.upright { [1.0, 0.0, 0.0, 1.0] } else { [0.0, -1.0, 1.0, 0.0] };
    let placed = Transform::from_row(turn[0], turn[1], turn[2], turn[3], x, y);
    let to_pixels = to_pixels.pre_concat(placed).pre_translate(-before, 0.0);
    if let Some(rim) = set.rim() {
        paint_path(letters.clone(), rim, to_pixels, pixels);
    }
    let ink = Paint::fill(set.colour);
    let ink = if set.bold { ink.outlined(set.colour, f64::from(BOLD) * set.size) } else { ink };
    paint_path(letters, ink, to_pixels, pixels);
}

/// Fills and outlines a path. What is faded is drawn apart, because where fill and outline overlap
/// it would show twice.
fn paint_path(path: Option<Path>, paint: Paint, to_pixels: Transform, pixels: &mut Pixmap) {
    let Some(path) = path else { return };
    let opacity = rounded(paint.opacity);
    if opacity >= 1.0 {
        paint_solid(&path, paint, to_pixels, pixels);
    } else if let Some((corner, mut layer)) = layer(&path, paint, to_pixels, pixels) {
        let [x, y] = corner;
        paint_solid(&path, paint, to_pixels.post_translate(-x as f32, -y as f32), &mut layer);
        let faded = PixmapPaint { opacity, ..PixmapPaint::default() };
        pixels.draw_pixmap(x, y, layer.as_ref(), &faded, Transform::identity(), None);
    }
}

/// Room for a painted path as far as it lies on the paper, and where its corner is.
fn layer(path: &Path, paint: Paint, to_pixels: Transform, pixels: &Pixmap) -> Option<([i32; 2], Pixmap)> {
    let paper = Rect::from_xywh(0.0, 0.0, pixels.width() as f32, pixels.height() as f32)?;
    let half = paint.line.map_or(0.0, |(_, width)| rounded(0.5 * width));
    let reach = path.bounds().outset(half, half)?.transform(to_pixels)?.outset(1.0, 1.0)?;
    let room = reach.intersect(&paper)?.round_out()?;
    Some(([room.x(), room.y()], Pixmap::new(room.width(), room.height())?))
}

/// Fills and outlines a path as if it were not faded.
fn paint_solid(path: &Path, paint: Paint, to_pixels: Transform, pixels: &mut Pixmap) {
    if let Some(colour) = paint.fill {
        pixels.fill_path(path, &solid(colour), FillRule::Winding, to_pixels, None);
    }
    if let Some((colour, width)) = paint.line {
        let pen = Stroke {
            width: rounded(width),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            dash: if paint.dashed { StrokeDash::new(vec![5.0, 4.0], 0.0) } else { None },
            ..Stroke::default()
        };
        pixels.stroke_path(path, &solid(colour), &pen, to_pixels, None);
    }
}

/// A colour without gaps.
fn solid(colour: Colour) -> tiny_skia::Paint<'static> {
    let [_, r, g, b] = colour.rgb().to_be_bytes();
    let mut paint = tiny_skia::Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{Canvas, Path};
    use super::*;

    const BLACK: Colour = Colour::Fixed([0, 0, 0]);

    /// What a drawing of 60 x 40 shows, a pixel for each of its own.
    fn shown(draw: impl FnOnce(&mut Canvas)) -> Pixmap {
        let mut canvas = Canvas::new(60.0, 40.0);
        draw(&mut canvas);
        drawn(&canvas.finish("title", "description"), 1.0).unwrap()
    }

    fn words(place: [f64; 2], words: &str, set: Type) -> Pixmap {
        shown(|canvas| canvas.text(place, words, set))
    }

    fn at(pixels: &Pixmap, x: u32, y: u32) -> [u8; 3] {
        let pixel = pixels.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    }

    /// Left, top, right and bottom of what is not white.
    fn ink(pixels: &Pixmap) -> [u32; 4] {
        let wide = pixels.width();
        let dark = (0..wide * pixels.height()).map(|i| (i % wide, i / wide));
        dark.filter(|(x, y)| at(pixels, *x, *y) != [255; 3])
            .fold([u32::MAX, u32::MAX, 0, 0], |[l, t, r, b], (x, y)| [l.min(x), t.min(y), r.max(x), b.max(y)])
    }

    /// How dark the picture is, in pixels of black.
    fn darkness(pixels: &Pixmap) -> f64 {
        pixels.pixels().iter().map(|pixel| 1.0 - f64::from(pixel.green()) / 255.0).sum()
    }

    #[test]
    fn the_same_drawing_is_the_same_file() {
        let mut canvas = Canvas::new(60.0, 20.0);
        canvas.rect([0.0, 0.0, 10.0, 10.0], 2.0, Paint::fill(Colour::Ink).faded(0.5), Some("<tip>"));
        canvas.text([12.0, 15.0], "größe −1", Type::new(12.0, Anchor::Start));
        let svg = canvas.finish("title", "description");
        let file = png(&svg, 2.0).unwrap();
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(file, png(&svg, 2.0).unwrap());
        assert_eq!((drawn(&svg, 2.0).unwrap().width(), drawn(&svg, 2.0).unwrap().height()), (120, 40));
    }

    #[test]
    fn a_rectangle_has_its_colour_its_rim_and_round_corners() {
        let paint = Paint::fill(Colour::Fixed([10, 20, 30])).outlined(Colour::Fixed([200, 0, 0]), 2.0);
        let pixels = shown(|canvas| canvas.rect([10.0, 10.0, 20.0, 20.0], 8.0, paint, None));
        assert_eq!(at(&pixels, 20, 20), [10, 20, 30]);
        assert_eq!((at(&pixels, 20, 9), at(&pixels, 20, 10)), ([200, 0, 0], [200, 0, 0]));
        assert_eq!((at(&pixels, 20, 8), at(&pixels, 10, 10)), ([255; 3], [255; 3]));
        assert_eq!(ink(&pixels), [9, 9, 30, 30]);
    }

    #[test]
    fn a_faded_shape_fades_as_a_whole() {
        let solid = Paint::fill(BLACK).outlined(BLACK, 4.0);
        let [whole, faded] = [solid, solid.faded(0.6)]
            .map(|paint| shown(|canvas| canvas.circle([45.0, 20.0], 15.0, paint, None)));
        assert_eq!(ink(&faded), ink(&whole));
        let [inside, rim] = [at(&faded, 45, 20), at(&faded, 31, 20)];
        assert!(inside == rim && inside[0].abs_diff(102) <= 1, "{inside:?} {rim:?}");
    }

    #[test]
    fn dashes_leave_gaps() {
        let pen = Paint::line(BLACK, 2.0);
        let [whole, dashed] =
            [pen, pen.dashed()].map(|pen| shown(|canvas| canvas.line([5.0, 20.0], [55.0, 20.0], pen)));
        // The first gap lies from 10 to 14, less the round ends of the dashes beside it.
        assert_eq!((at(&whole, 12, 20), at(&dashed, 12, 20)), ([0; 3], [255; 3]));
        assert_eq!((at(&whole, 7, 20), at(&dashed, 7, 20)), ([0; 3], [0; 3]));
    }

    #[test]
    fn a_line_without_length_is_a_dot() {
        let mut path = Path::default();
        path.dot([20.0, 20.0]);
        let dot = shown(|canvas| canvas.path(path, Paint::line(BLACK, 6.0), None));
        assert_eq!((ink(&dot), at(&dot, 20, 20)), ([17, 17, 22, 22], [0; 3]));
        let line = shown(|canvas| canvas.line([20.0, 20.0], [20.0, 20.0], Paint::line(BLACK, 6.0)));
        assert_eq!(dot, line);
    }

    #[test]
    fn what_has_no_extent_or_no_place_is_not_drawn() {
        let paint = Paint::fill(BLACK).outlined(BLACK, 2.0);
        let pixels = shown(|canvas| {
            canvas.rect([10.0, 10.0, 0.0, 20.0], 2.0, paint, None);
            canvas.circle([20.0, 20.0], 0.0, paint, None);
            canvas.circle([1e300, -1e300], 5.0, paint.faded(0.5), None);
            canvas.line([1e6, 10.0], [2e6, 10.0], paint.faded(0.5));
        });
        assert!(pixels.pixels().iter().all(|pixel| pixel.green() == 255));
    }

    #[test]
    fn words_lie_where_they_are_anchored() {
        let [start, middle, end] = [Anchor::Start, Anchor::Middle, Anchor::End]
            .map(|anchor| ink(&words([30.0, 20.0], "Hm", Type::new(12.0, anchor))));
        assert!(start[0] >= 30 && end[2] < 30, "{start:?} {end:?}");
        assert!(middle[0].abs_diff(60 - middle[2]) <= 2, "{middle:?}");
        assert!(start[1] >= 10 && start[3] == 19, "{start:?}");
    }

    #[test]
    fn turned_words_read_upwards() {
        let [left, top, right, bottom] =
            ink(&words([30.0, 38.0], "HHH", Type::new(12.0, Anchor::Start).turned()));
        assert!(right - left < 10 && bottom - top > 20, "{left} {top} {right} {bottom}");
        assert!(right == 29 && bottom < 38, "{left} {top} {right} {bottom}");
    }

    #[test]
    fn bold_words_are_darker_and_no_closer() {
        let set = Type::new(14.0, Anchor::Start);
        let [plain, bold] = [set, set.bold()].map(|set| words([5.0, 20.0], "Hill", set));
        assert!(darkness(&bold) > 1.2 * darkness(&plain));
        assert!(ink(&bold)[2] > ink(&plain)[2]);
    }

    #[test]
    fn a_halo_keeps_lines_off_the_words() {
        let over_ink = |set: Type| {
            shown(|canvas| {
                canvas.rect([0.0, 0.0, 60.0, 40.0], 0.0, Paint::fill(BLACK), None);
                canvas.text([20.0, 30.0], "H", set);
            })
        };
        let set = Type::new(20.0, Anchor::Start).coloured(BLACK);
        assert!(darkness(&over_ink(set)) > 2399.9);
        let rimmed = over_ink(set.with_halo());
        // A stem of the letter from 22 to 24, white paper between it and the rest.
        assert_eq!((at(&rimmed, 22, 20), at(&rimmed, 25, 20)), ([0; 3], [255; 3]));
    }

    #[test]
    fn a_placed_drawing_is_moved_and_scaled() {
        let mut inner = Canvas::new(60.0, 40.0);
        inner.rect([4.0, 4.0, 8.0, 8.0], 0.0, Paint::fill(BLACK), None);
        let inner = inner.finish("", "");
        let pixels = shown(|canvas| canvas.place([20.0, 10.0], 0.5, &inner));
        assert_eq!(ink(&pixels), [22, 12, 25, 15]);
    }

    #[test]
    fn a_scale_without_pixels_or_with_too_many_is_refused() {
        let svg = Canvas::new(60.0, 20.0).finish("", "");
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 274.0, 1e9] {
            assert!(png(&svg, scale).is_err(), "{scale}");
        }
        assert!(drawn(&svg, 273.0).is_ok());
    }
}
