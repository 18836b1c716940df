//! The typeface that comes along: words as outlines.

use tiny_skia::{Path, PathBuilder};

use super::font::{Font, Point};

/// DejaVu Sans, cut to Latin, Greek, Cyrillic and common signs.
pub(super) const FILE: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");

/// The width of the outline that makes letters bold, for a size of one: the typeface has one weight.
pub(super) const BOLD: f32 = 0.045;

/// What words are set with.
pub(super) struct Typeface {
    font: Font,
    /// What stands for a character that the typeface lacks: its own sign for that is blank.
    missing: u16,
}

/// A letter in its line.
pub(super) struct Letter {
    pub(super) character: char,
    pub(super) glyph: u16,
    /// How much farther than usual it stands from the one before, in units of the typeface.
    pub(super) farther: f32,
    /// How far on the next one stands, in the same units.
    pub(super) width: f32,
}

impl Typeface {
    pub(super) fn new() -> Option<Self> {
        let font = Font::new(FILE)?;
        let missing = font.letter('□')?;
        Some(Self { font, missing })
    }

    /// Units in the size of the typeface.
    pub(super) fn em(&self) -> f32 {
        self.font.em
    }

    /// The letters of words, `apart` by that share of their size. As in SVG, blanks count once between
    /// words and not at all around them.
    pub(super) fn letters(&self, words: &str, apart: f32) -> Vec<Letter> {
        let words = words.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let mut before = None;
        let letter = |character: char| {
            let glyph = self.font.letter(character).unwrap_or(self.missing);
            let farther = before
                .map_or(0.0, |before| self.font.farther(before, glyph).unwrap_or(0.0) + apart * self.font.em);
            before = Some(glyph);
            Letter { character, glyph, farther, width: self.font.width(glyph).unwrap_or(0.0) }
        };
        words.chars().map(letter).collect()
    }

    /// The outline of words whose line begins at the origin, and their width.
    pub(super) fn set(&self, words: &str, size: f32, apart: f32) -> (Option<Path>, f32) {
        let mut pen = Pen { path: PathBuilder::new(), scale: size / self.font.em, x: 0.0 };
        for letter in self.letters(words, apart) {
            pen.x += letter.farther;
            self.font.contours(letter.glyph).iter().flatten().for_each(|contour| pen.draw(contour));
            pen.x += letter.width;
        }
        (pen.path.finish(), pen.scale * pen.x)
    }
}

/// Draws letters one after the other, whose units are those of the typeface and point upwards.
struct Pen {
    path: PathBuilder,
    scale: f32,
    /// Where the letter begins.
    x: f32,
}

impl Pen {
    fn at(&self, point: Point) -> [f32; 2] {
        [self.scale * (self.x + point.x), -self.scale * point.y]
    }

    /// Draws a closed course. Between two handles it passes through the middle.
    fn draw(&mut self, contour: &[Point]) {
        // Some letters carry a lone point, which a pen would make a dot.
        let [first, .., last] = contour else { return };
        let start = match (first.on, last.on) {
            (true, _) => *first,
            (false, true) => *last,
            (false, false) => middle(*first, *last),
        };
        let [x, y] = self.at(start);
        self.path.move_to(x, y);
        let mut handle = None;
        for &point in contour.iter().skip(usize::from(first.on)) {
            match handle {
                None if point.on => self.line_to(point),
                None => {}
                Some(handle) if point.on => self.curve_to(handle, point),
                Some(handle) => self.curve_to(handle, middle(handle, point)),
            }
            handle = (!point.on).then_some(point);
        }
        if let Some(handle) = handle {
            self.curve_to(handle, start);
        }
        self.path.close();
    }

    fn line_to(&mut self, point: Point) {
        let [x, y] = self.at(point);
        self.path.line_to(x, y);
    }

    fn curve_to(&mut self, handle: Point, point: Point) {
        let ([x1, y1], [x, y]) = (self.at(handle), self.at(point));
        self.path.quad_to(x1, y1, x, y);
    }
}

fn middle(a: Point, b: Point) -> Point {
    Point { x: 0.5 * (a.x + b.x), y: 0.5 * (a.y + b.y), on: true }
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
