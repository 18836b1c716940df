//! The typeface that comes along: the outlines of its letters and how far they stand apart.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::gpos::{PairAdjustment, PositioningSubtable};
use ttf_parser::{Face, GlyphId, OutlineBuilder, Tag};

/// DejaVu Sans, cut to Latin, Greek, Cyrillic and common signs.
const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");

/// The letters, and the pairs of them that stand closer together.
pub(super) struct Typeface {
    face: Face<'static>,
    /// What stands for a character that the typeface lacks: its own sign for that is blank.
    missing: GlyphId,
    pairs: Option<PairAdjustment<'static>>,
}

impl Typeface {
    pub(super) fn new() -> Option<Self> {
        let face = Face::parse(FONT, 0).ok()?;
        let (missing, pairs) = (face.glyph_index('□')?, pairs(&face));
        Some(Self { face, missing, pairs })
    }

    /// The outline of words whose line begins at the origin, and their width; letters stand `apart`
    /// by that share of their size. As in SVG, blanks count once between words and not at all
    /// around them.
    pub(super) fn set(&self, words: &str, size: f32, apart: f32) -> (Option<Path>, f32) {
        let em = f32::from(self.face.units_per_em());
        let mut pen = Pen { path: PathBuilder::new(), contour: PathBuilder::new(), scale: size / em, x: 0.0 };
        let mut before = None;
        let words = words.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        for c in words.chars() {
            let glyph = self.face.glyph_index(c).unwrap_or(self.missing);
            pen.x += before.map_or(0.0, |before| self.farther(before, glyph) + apart * em);
            self.face.outline_glyph(glyph, &mut pen);
            pen.x += f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0));
            before = Some(glyph);
        }
        (pen.path.finish(), pen.scale * pen.x)
    }

    /// How much farther than usual a letter stands from the one before, in units of the typeface;
    /// less than 0 for pairs that stand closer.
    fn farther(&self, before: GlyphId, glyph: GlyphId) -> f32 {
        let found = self.pairs.as_ref().and_then(|pairs| {
            let row = pairs.coverage().get(before)?;
            match pairs {
                PairAdjustment::Format1 { sets, .. } => sets.get(row)?.get(glyph),
                PairAdjustment::Format2 { classes, matrix, .. } => {
                    matrix.get((classes.0.get(before), classes.1.get(glyph)))
                }
            }
        });
        found.map_or(0.0, |(first, _)| f32::from(first.x_advance))
    }
}

/// The table of pairs; this typeface has one.
fn pairs(face: &Face<'static>) -> Option<PairAdjustment<'static>> {
    let table = face.tables().gpos?;
    let kerning = table.features.find(Tag::from_bytes(b"kern"))?;
    match table.lookups.get(kerning.lookup_indices.get(0)?)?.subtables.get(0)? {
        PositioningSubtable::Pair(pairs) => Some(pairs),
        _ => None,
    }
}

/// Draws letters one after the other, whose units are those of the typeface and point upwards.
struct Pen {
    path: PathBuilder,
    contour: PathBuilder,
    scale: f32,
    /// Where the letter begins.
    x: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> [f32; 2] {
        [self.scale * (self.x + x), -self.scale * y]
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let [x, y] = self.at(x, y);
        self.contour.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let [x, y] = self.at(x, y);
        self.contour.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ([x1, y1], [x, y]) = (self.at(x1, y1), self.at(x, y));
        self.contour.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ([x1, y1], [x2, y2], [x, y]) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.contour.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.contour.close();
        let contour = std::mem::take(&mut self.contour).finish();
        // Some letters carry a lone point, which a pen would make a dot.
        if let Some(contour) = contour.filter(|contour| !contour.bounds().is_empty()) {
            self.path.push_path(&contour);
        }
    }
}

#[cfg(test)]
mod tests {
    use tiny_skia::PathSegment;

    use super::*;

    fn width(words: &str) -> f32 {
        Typeface::new().unwrap().set(words, 2048.0, 0.0).1
    }

    #[test]
    fn letters_have_the_outlines_and_widths_of_the_typeface() {
        let (path, wide) = Typeface::new().unwrap().set("H", 2048.0, 0.0);
        let bounds = path.unwrap().bounds();
        let found = [bounds.left(), bounds.top(), bounds.right(), bounds.bottom(), wide];
        assert_eq!(found.map(|x| x as i32), [201, -1493, 1339, 0, 1540]);
        assert!(Typeface::new().unwrap().set("", 12.0, 0.0).0.is_none());
    }

    #[test]
    fn some_pairs_stand_closer_and_bold_ones_farther_apart() {
        assert!(width("AV") < width("A") + width("V"));
        assert_eq!(width("HH").to_bits(), (2.0 * width("H")).to_bits());
        let apart = Typeface::new().unwrap().set("HHH", 2048.0, 0.125).1;
        assert_eq!(apart.to_bits(), (3.0 * width("H") + 2.0 * 256.0).to_bits());
    }

    #[test]
    fn blanks_count_once_and_only_between_words() {
        assert_eq!(width("  a   b ").to_bits(), width("a b").to_bits());
        assert!(width("a b") > width("ab"));
    }

    #[test]
    fn a_letter_of_parts_has_all_of_them() {
        let top = |words| Typeface::new().unwrap().set(words, 12.0, 0.0).0.unwrap().bounds().top();
        assert!(top("ö") < top("o") - 1.0);
    }

    #[test]
    fn a_lone_point_of_a_letter_is_no_part_of_it() {
        let path = Typeface::new().unwrap().set("u", 12.0, 0.0).0.unwrap();
        let contours = path.segments().filter(|segment| matches!(segment, PathSegment::MoveTo(_)));
        assert_eq!(contours.count(), 1);
    }

    #[test]
    fn what_the_typeface_lacks_is_a_box() {
        let typeface = Typeface::new().unwrap();
        assert_eq!(typeface.set("日", 12.0, 0.0), typeface.set("□", 12.0, 0.0));
        assert!(typeface.set("日", 12.0, 0.0).0.is_some());
    }
}
