//! A drawing as PNG: the shapes of its text as pixels, with a typeface that comes along, so that
//! every machine makes the same ones.

use calipers_core::{Error, Result};
use tiny_skia::{
    Color, FillRule, FilterQuality, IntSize, LineCap, LineJoin, Path, Pixmap, PixmapPaint, Rect, Stroke,
    StrokeDash, Transform,
};

use super::outline;
use super::typeface::{BOLD, Typeface};
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Paint, Shape, Type};
use crate::chart::drawing::palette::{Colour, Ground};
use crate::chart::{Image, Style};

/// No picture is larger than this in either direction.
const MOST_PIXELS: f32 = 16_384.0;
/// Points per metre.
const METRE: f64 = 72.0 / 0.0254;

/// The drawing in a style. The file says how large it is in print.
pub(super) fn write(drawing: &Drawing, style: Style) -> Result<Vec<u8>> {
    let scale = (style.points() * style.pixels()) as f32;
    let pixels = drawn(drawing, scale, style.ground())?;
    let failed = |error: png::EncodingError| failed(&error.to_string());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixels.width(), pixels.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let per_metre = (style.pixels() * METRE).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header().map_err(failed)?;
    // The paper has no holes: every pixel is as solid as it can be.
    let solid: Vec<u8> = pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    writer.write_image_data(&solid).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Why there is no picture.
fn failed(what: &str) -> Error {
    Error::value(format!("cannot draw the picture: {what}"))
}

/// The pixels of a drawing, `scale` of them for each unit.
fn drawn(drawing: &Drawing, scale: f32, ground: Ground) -> Result<Pixmap> {
    let [width, height] =
        [drawing.width(), drawing.height()].map(|side| (outline::rounded(side) * scale).ceil());
    if !(width >= 1.0 && height >= 1.0 && width <= MOST_PIXELS && height <= MOST_PIXELS) {
        return Err(Error::value("the picture has no pixels or too many")
            .found(format!("{width} x {height}"))
            .allowed(format!("1 to {MOST_PIXELS} each way"))
            .advice("choose another width, or a format without pixels"));
    }
    let typeface = Typeface::new().ok_or_else(|| failed("its typeface is damaged"))?;
    let pixels =
        Pixmap::new(width as u32, height as u32).ok_or_else(|| failed("there is no room for its pixels"))?;
    let mut painter = Painter { typeface, ground, pixels };
    let [_, r, g, b] = Colour::Paper.rgb(ground).to_be_bytes();
    painter.pixels.fill(Color::from_rgba8(r, g, b, 255));
    painter.draw(&drawing.shapes, Transform::from_scale(scale, scale));
    Ok(painter.pixels)
}

/// Paints pixels of one picture.
struct Painter {
    typeface: Typeface,
    ground: Ground,
    pixels: Pixmap,
}

impl Painter {
    /// Draws shapes one over the other.
    fn draw(&mut self, shapes: &[Shape], to_pixels: Transform) {
        for shape in shapes {
            match shape {
                Shape::Placed { corner, shapes } => {
                    let [x, y] = corner.map(outline::rounded);
                    self.draw(shapes, to_pixels.pre_translate(x, y));
                }
                Shape::Text { place, words, set } => self.words(*place, words, *set, to_pixels),
                Shape::Image { place, image } => self.image(place.map(outline::rounded), image, to_pixels),
                Shape::Rect { paint, .. }
                | Shape::Circle { paint, .. }
                | Shape::Line { paint, .. }
                | Shape::Path { paint, .. } => self.path(outline::of(shape), *paint, to_pixels),
            }
        }
    }

    /// Draws words, the rim of which comes first.
    fn words(&mut self, place: [f64; 2], words: &str, set: Type, to_pixels: Transform) {
        let (letters, width) =
            self.typeface.set(words, outline::rounded(set.size), if set.bold { BOLD } else { 0.0 });
        let to_pixels = to_pixels.pre_concat(outline::line_of(place, set, width));
        if let Some(rim) = set.rim() {
            self.path(letters.clone(), rim, to_pixels);
        }
        let ink = Paint::fill(set.colour);
        let ink = if set.bold { ink.outlined(set.colour, f64::from(BOLD) * set.size) } else { ink };
        self.path(letters, ink, to_pixels);
    }

    /// Draws pixels as blocks.
    fn image(&mut self, [x, y, w, h]: [f32; 4], image: &Image, to_pixels: Transform) {
        let solid = image.pixels.iter().flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect();
        let size = IntSize::from_wh(image.width as u32, image.height as u32);
        let Some(pixels) = size.and_then(|size| Pixmap::from_vec(solid, size)) else { return };
        let (across, down) = (w / image.width as f32, h / image.height as f32);
        let to_pixels = to_pixels.pre_translate(x, y).pre_scale(across, down);
        // A photo that is made smaller is averaged; blocks of classes are not mixed.
        let quality = if to_pixels.sx < 1.0 { FilterQuality::Bilinear } else { FilterQuality::Nearest };
        let paint = PixmapPaint { quality, ..PixmapPaint::default() };
        self.pixels.draw_pixmap(0, 0, pixels.as_ref(), &paint, to_pixels, None);
    }

    /// Fills and outlines a path. What is faded is drawn apart, because where fill and outline overlap
    /// it would show twice.
    fn path(&mut self, path: Option<Path>, paint: Paint, to_pixels: Transform) {
        let Some(path) = path else { return };
        let opacity = outline::rounded(paint.opacity);
        if opacity >= 1.0 {
            paint_solid(&path, paint, self.ground, to_pixels, &mut self.pixels);
        } else if let Some((corner, mut layer)) = layer(&path, paint, to_pixels, &self.pixels) {
            let [x, y] = corner;
            let to_layer = to_pixels.post_translate(-x as f32, -y as f32);
            paint_solid(&path, paint, self.ground, to_layer, &mut layer);
            let faded = PixmapPaint { opacity, ..PixmapPaint::default() };
            self.pixels.draw_pixmap(x, y, layer.as_ref(), &faded, Transform::identity(), None);
        }
    }
}

/// Room for a painted path as far as it lies on the paper, and where its corner is.
fn layer(path: &Path, paint: Paint, to_pixels: Transform, pixels: &Pixmap) -> Option<([i32; 2], Pixmap)> {
    let paper = Rect::from_xywh(0.0, 0.0, pixels.width() as f32, pixels.height() as f32)?;
    let half = paint.line.map_or(0.0, |(_, width)| outline::rounded(0.5 * width));
    let reach = path.bounds().outset(half, half)?.transform(to_pixels)?.outset(1.0, 1.0)?;
    let room = reach.intersect(&paper)?.round_out()?;
    Some(([room.x(), room.y()], Pixmap::new(room.width(), room.height())?))
}

/// Fills and outlines a path as if it were not faded.
fn paint_solid(path: &Path, paint: Paint, ground: Ground, to_pixels: Transform, pixels: &mut Pixmap) {
    if let Some(colour) = paint.fill {
        pixels.fill_path(path, &solid(colour, ground), FillRule::Winding, to_pixels, None);
    }
    if let Some((colour, width)) = paint.line {
        let pen = Stroke {
            width: outline::rounded(width),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            dash: if paint.dashed { StrokeDash::new(vec![5.0, 4.0], 0.0) } else { None },
            ..Stroke::default()
        };
        pixels.stroke_path(path, &solid(colour, ground), &pen, to_pixels, None);
    }
}

/// A colour without gaps.
fn solid(colour: Colour, ground: Ground) -> tiny_skia::Paint<'static> {
    let [_, r, g, b] = colour.rgb(ground).to_be_bytes();
    let mut paint = tiny_skia::Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::drawing::canvas::{Anchor, Canvas, Path};

    const BLACK: Colour = Colour::Fixed([0, 0, 0]);

    /// What a drawing of 60 x 40 shows, a pixel for each of its own.
    fn shown(draw: impl FnOnce(&mut Canvas)) -> Pixmap {
        let mut canvas = Canvas::new(60.0, 40.0);
        draw(&mut canvas);
        drawn(&canvas.finish("title", "description"), 1.0, Ground::Light).unwrap()
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
        let drawing = canvas.finish("title", "description");
        let file = write(&drawing, Style::Paper).unwrap();
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(file, write(&drawing, Style::Paper).unwrap());
        let pixels = drawn(&drawing, 2.0, Ground::Light).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (120, 40));
        let dark = drawn(&drawing, 2.0, Ground::Dark).unwrap();
        assert_eq!(at(&dark, 119, 39), [0x17, 0x1b, 0x22]);
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
    fn a_placed_drawing_is_moved() {
        let mut inner = Canvas::new(60.0, 40.0);
        inner.rect([4.0, 4.0, 8.0, 8.0], 0.0, Paint::fill(BLACK), None);
        let inner = inner.finish("", "");
        let pixels = shown(|canvas| canvas.place([20.0, 10.0], inner));
        assert_eq!(ink(&pixels), [24, 14, 31, 21]);
    }

    #[test]
    fn pixels_of_an_image_are_blocks() {
        let image = Image { width: 2, height: 1, pixels: [[255, 0, 0], [0, 0, 255]].into() };
        let pixels = shown(|canvas| canvas.image([10.0, 5.0, 20.0, 10.0], &image));
        assert_eq!(ink(&pixels), [10, 5, 29, 14]);
        assert_eq!((at(&pixels, 19, 9), at(&pixels, 20, 9)), ([255, 0, 0], [0, 0, 255]));
    }

    #[test]
    fn a_scale_without_pixels_or_with_too_many_is_refused() {
        let drawing = Canvas::new(60.0, 20.0).finish("", "");
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 274.0, 1e9] {
            assert!(drawn(&drawing, scale, Ground::Light).is_err(), "{scale}");
        }
        assert!(drawn(&drawing, 273.0, Ground::Light).is_ok());
    }
}
