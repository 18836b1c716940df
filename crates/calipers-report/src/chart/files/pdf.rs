//! A drawing as PDF: outlines as paths, words as text that can be searched and copied, in the typeface
//! that comes along. The file says no time and no name of a machine: equal drawings are equal files.

use std::collections::BTreeMap;
use std::io::Write;

use calipers_core::{Error, Result};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle, TextRenderingMode};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use tiny_skia::{Path, PathSegment, Point, Transform};

use super::embedded::Embedded;
use super::outline;
use super::typeface::{BOLD, Typeface};
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Paint, Shape, Type};
use crate::chart::drawing::palette::{Colour, Ground};
use crate::chart::{Image, Style};

/// The name of the font in the content.
const FONT: Name<'static> = Name(b"F");

/// The drawing in a style, on one page of its own size.
pub(super) fn write(drawing: &Drawing, style: Style) -> Result<Vec<u8>> {
    let damaged = || Error::value("cannot draw the picture: its typeface is damaged");
    let mut page = Page {
        content: Content::new(),
        ground: style.ground(),
        typeface: Typeface::new().ok_or_else(damaged)?,
        letters: Embedded::default(),
        opacities: BTreeMap::new(),
        images: Vec::new(),
    };
    let scale = style.points() as f32;
    let [width, height] = [drawing.width(), drawing.height()].map(|side| scale * outline::rounded(side));
    // Units point downwards, points upwards.
    page.content.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
    page.content.set_line_cap(LineCapStyle::RoundCap).set_line_join(LineJoinStyle::RoundJoin);
    if page.ground == Ground::Dark {
        let paper = tiny_skia::Rect::from_xywh(0.0, 0.0, width / scale, height / scale);
        page.path(paper.map(tiny_skia::PathBuilder::from_rect), Paint::fill(Colour::Paper));
    }
    page.draw(&drawing.shapes);
    page.finish(drawing, [width, height]).ok_or_else(damaged)
}

/// The content of a page in the making, and what it refers to.
struct Page {
    content: Content,
    ground: Ground,
    typeface: Typeface,
    letters: Embedded,
    /// How solid shapes are, in thousandths, and the names of these states.
    opacities: BTreeMap<u16, String>,
    images: Vec<Image>,
}

impl Page {
    fn draw(&mut self, shapes: &[Shape]) {
        for shape in shapes {
            match shape {
                Shape::Placed { corner, shapes } => {
                    let [x, y] = corner.map(outline::rounded);
                    self.content.save_state().transform([1.0, 0.0, 0.0, 1.0, x, y]);
                    self.draw(shapes);
                    self.content.restore_state();
                }
                Shape::Text { place, words, set } => self.words(*place, words, *set),
                Shape::Image { place, image } => self.image(place.map(outline::rounded), image),
                Shape::Rect { paint, .. }
                | Shape::Circle { paint, .. }
                | Shape::Line { paint, .. }
                | Shape::Path { paint, .. } => self.path(outline::of(shape), *paint),
            }
        }
    }

    /// Fills and outlines a path.
    fn path(&mut self, path: Option<Path>, paint: Paint) {
        let Some(path) = path else { return };
        self.content.save_state();
        self.state(paint);
        self.course(&path);
        match (paint.fill, paint.line) {
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, Some(_)) => self.content.stroke(),
            (None, None) => self.content.end_path(),
        };
        self.content.restore_state();
    }

    /// The colours, the pen and the opacity of what follows.
    fn state(&mut self, paint: Paint) {
        if paint.opacity < 1.0 {
            let thousandths = (paint.opacity.max(0.0) * 1000.0).round() as u16;
            let next = format!("O{thousandths}");
            let name = self.opacities.entry(thousandths).or_insert(next);
            self.content.set_parameters(Name(name.as_bytes()));
        }
        if let Some(colour) = paint.fill {
            let [r, g, b] = self.rgb(colour);
            self.content.set_fill_rgb(r, g, b);
        }
        if let Some((colour, width)) = paint.line {
            let [r, g, b] = self.rgb(colour);
            self.content.set_stroke_rgb(r, g, b).set_line_width(outline::rounded(width));
        }
        if paint.dashed {
            self.content.set_dash_pattern([5.0, 4.0], 0.0);
        }
    }

    fn rgb(&self, colour: Colour) -> [f32; 3] {
        let [_, r, g, b] = colour.rgb(self.ground).to_be_bytes();
        [r, g, b].map(|part| f32::from(part) / 255.0)
    }

    fn course(&mut self, path: &Path) {
        let mut at = Point::zero();
        for segment in path.segments() {
            match segment {
                PathSegment::MoveTo(to) => _ = self.content.move_to(to.x, to.y),
                PathSegment::LineTo(to) => _ = self.content.line_to(to.x, to.y),
                PathSegment::QuadTo(handle, to) => {
                    // A curve with one handle is one with two, each two thirds of the way to it.
                    let near = |end: Point| {
                        let part = |end: f32, handle: f32| end + (handle - end) * 2.0 / 3.0;
                        [part(end.x, handle.x), part(end.y, handle.y)]
                    };
                    let ([x1, y1], [x2, y2]) = (near(at), near(to));
                    self.content.cubic_to(x1, y1, x2, y2, to.x, to.y);
                }
                PathSegment::CubicTo(a, b, to) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y);
                }
                PathSegment::Close => _ = self.content.close_path(),
            }
            if let PathSegment::MoveTo(to)
            | PathSegment::LineTo(to)
            | PathSegment::QuadTo(_, to)
            | PathSegment::CubicTo(_, _, to) = segment
            {
                at = to;
            }
        }
    }

    /// Words as text. Their rim is a path: as text it would be found twice.
    fn words(&mut self, place: [f64; 2], words: &str, set: Type) {
        let (bold, size) = (if set.bold { BOLD } else { 0.0 }, outline::rounded(set.size));
        let letters = self.typeface.letters(words, bold);
        if letters.is_empty() {
            return;
        }
        let (outlines, width) = self.typeface.set(words, size, bold);
        let line = outline::line_of(place, set, width);
        if let Some(rim) = set.rim() {
            self.path(outlines.and_then(|path| path.transform(line)), rim);
        }
        self.content.save_state();
        let ink = Paint::fill(set.colour);
        self.state(if set.bold { ink.outlined(set.colour, f64::from(bold * size)) } else { ink });
        // Letters stand upright where units point downwards.
        let Transform { sx, ky, kx, sy, tx, ty } = line;
        self.content.begin_text().set_font(FONT, size).set_text_matrix([sx, ky, -kx, -sy, tx, ty]);
        if set.bold {
            self.content.set_text_rendering_mode(TextRenderingMode::FillStroke);
        }
        let em = self.typeface.em();
        let mut shown = self.content.show_positioned();
        let mut items = shown.items();
        for letter in &letters {
            if letter.farther.abs() > 0.0 {
                items.adjust(-1000.0 * letter.farther / em);
            }
            let number = self.letters.number(letter, em);
            items.show(Str(&number.to_be_bytes()));
        }
        items.finish();
        shown.finish();
        self.content.end_text().restore_state();
    }

    /// Pixels as blocks, from the top down.
    fn image(&mut self, [x, y, w, h]: [f32; 4], image: &Image) {
        let name = format!("I{}", self.images.len());
        self.images.push(image.clone());
        self.content.save_state().transform([w, 0.0, 0.0, -h, x, y + h]);
        self.content.x_object(Name(name.as_bytes())).restore_state();
    }

    /// The whole file. Nothing if the typeface is damaged.
    fn finish(self, drawing: &Drawing, [width, height]: [f32; 2]) -> Option<Vec<u8>> {
        let mut next = Ref::new(1);
        let mut new = || next.bump();
        let [catalog, pages, page, content, info, font] = std::array::from_fn(|_| new());
        let states: Vec<(Ref, f32, String)> = self
            .opacities
            .into_iter()
            .map(|(thousandths, name)| (new(), f32::from(thousandths) / 1000.0, name))
            .collect();
        let images: Vec<(Ref, Image)> = self.images.into_iter().map(|image| (new(), image)).collect();

        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        let mut written = pdf.page(page);
        written.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(content);
        let mut resources = written.resources();
        if !self.letters.is_empty() {
            resources.fonts().pair(FONT, font);
        }
        let mut named = resources.ext_g_states();
        for (state, _, name) in &states {
            named.pair(Name(name.as_bytes()), *state);
        }
        named.finish();
        let mut named = resources.x_objects();
        for (i, (image, _)) in images.iter().enumerate() {
            named.pair(Name(format!("I{i}").as_bytes()), *image);
        }
        named.finish();
        resources.finish();
        written.finish();
        for (state, opacity, _) in states {
            pdf.ext_graphics(state).stroking_alpha(opacity).non_stroking_alpha(opacity);
        }
        for (id, image) in images {
            let pixels = packed(image.pixels.as_flattened());
            let mut object = pdf.image_xobject(id, &pixels);
            object.filter(Filter::FlateDecode);
            object.width(image.width as i32).height(image.height as i32);
            object.color_space().device_rgb();
            object.bits_per_component(8);
        }
        pdf.stream(content, &packed(&self.content.finish())).filter(Filter::FlateDecode);
        if !self.letters.is_empty() {
            self.letters.write(&mut pdf, font, new)?;
        }
        pdf.document_info(info).title(TextStr(&drawing.title)).producer(TextStr("Calipers"));
        Some(pdf.finish())
    }
}

/// Bytes in the compression of PDF.
pub(super) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Memory takes every byte.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}
