//! The tables of the typeface that hold its letters, read as they lie in its file. Only the forms
//! that this one file has are known: it comes along, and no other is ever read.

use std::iter;

/// The bytes of a table; beyond their end there is nothing.
#[derive(Clone, Copy)]
struct Bytes(&'static [u8]);

impl Bytes {
    fn after(self, at: usize) -> Option<Self> {
        self.0.get(at..).map(Self)
    }

    fn byte(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn short(self, at: usize) -> Option<u16> {
        self.after(at)?.0.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    fn signed(self, at: usize) -> Option<i16> {
        self.short(at).map(u16::cast_signed)
    }

    fn long(self, at: usize) -> Option<usize> {
        self.after(at)?.0.first_chunk().and_then(|bytes| u32::from_be_bytes(*bytes).try_into().ok())
    }

    /// What begins as far on as a number at this place says.
    fn follow(self, at: usize) -> Option<Self> {
        self.after(self.short(at)?.into())
    }
}

/// A point of an outline: on it, or the handle of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) on: bool,
}

/// The letters by number, in units of which an em has [`Font::em`].
pub(super) struct Font {
    /// Units in the size of the typeface.
    pub(super) em: f32,
    characters: Bytes,
    widths: Bytes,
    /// How many letters have a width of their own; the others have the last one.
    wide: u16,
    places: Bytes,
    outlines: Bytes,
    pairs: Bytes,
}

impl Font {
    pub(super) fn new(file: &'static [u8]) -> Option<Self> {
        let file = Bytes(file);
        let table = |name: &[u8; 4]| {
            let mut entries = (0..usize::from(file.short(4)?)).filter_map(|i| file.after(12 + 16 * i));
            file.after(entries.find(|entry| entry.0.starts_with(name))?.long(8)?)
        };
        let (head, map, positions) = (table(b"head")?, table(b"cmap")?, table(b"GPOS")?);
        let characters = map.after(map.long(8)?)?;
        let long_places = head.short(50)? == 1;
        let font = Self {
            em: head.short(18)?.into(),
            characters,
            widths: table(b"hmtx")?,
            wide: table(b"hhea")?.short(34)?,
            places: table(b"loca")?,
            outlines: table(b"glyf")?,
            pairs: pairs(positions)?,
        };
        (long_places && characters.short(0)? == 4).then_some(font)
    }

    /// The letter for a character, if there is one.
    pub(super) fn letter(&self, c: char) -> Option<u16> {
        let (code, map) = (u16::try_from(u32::from(c)).ok()?, self.characters);
        let columns = usize::from(map.short(6)?);
        let at = (0..columns).step_by(2).find(|at| map.short(14 + at).is_some_and(|last| code <= last))?;
        let first = map.short(16 + columns + at)?;
        let letter = code.wrapping_add(map.short(16 + 2 * columns + at)?);
        (code >= first && letter != 0).then_some(letter)
    }

    /// How far on the next letter stands.
    pub(super) fn width(&self, letter: u16) -> Option<f32> {
        let at = 4 * usize::from(letter.min(self.wide.checked_sub(1)?));
        self.widths.short(at).map(f32::from)
    }

    /// How much farther than usual a letter stands from the one before; less than 0 for pairs that
    /// stand closer.
    pub(super) fn farther(&self, before: u16, letter: u16) -> Option<f32> {
        let pairs = self.pairs;
        let known = pairs.follow(2)?;
        (0..known.short(2)?).find(|i| known.short(4 + 2 * usize::from(*i)) == Some(before))?;
        let (row, column) = (class(pairs.follow(8)?, before), class(pairs.follow(10)?, letter));
        let columns = usize::from(pairs.short(14)?);
        pairs.signed(16 + 2 * (row * columns + column)).map(f32::from)
    }

    /// The closed courses of an outline.
    pub(super) fn contours(&self, letter: u16) -> Option<Vec<Vec<Point>>> {
        let at = |letter: usize| self.places.long(4 * letter);
        let (from, to) = (at(letter.into())?, at(usize::from(letter) + 1)?);
        if from == to {
            return Some(Vec::new());
        }
        let outline = self.outlines.after(from)?;
        match usize::try_from(outline.signed(0)?) {
            Ok(count) => simple(outline, count),
            Err(_) => self.composed(outline.after(10)?),
        }
    }

    /// The outlines of other letters, moved.
    fn composed(&self, mut part: Bytes) -> Option<Vec<Vec<Point>>> {
        let mut contours = Vec::new();
        loop {
            let flags = part.short(0)?;
            let (x, y, length) = if flags & 1 == 0 {
                (i16::from(part.byte(4)?.cast_signed()), i16::from(part.byte(5)?.cast_signed()), 6)
            } else {
                (part.signed(4)?, part.signed(6)?, 8)
            };
            // Numbers that are no distances, and parts that are scaled or turned, do not occur.
            if flags & 2 == 0 || flags & 0b1100_1000 != 0 {
                return None;
            }
            for mut contour in self.contours(part.short(2)?)? {
                for point in &mut contour {
                    (point.x, point.y) = (point.x + f32::from(x), point.y + f32::from(y));
                }
                contours.push(contour);
            }
            if flags & 0b10_0000 == 0 {
                return Some(contours);
            }
            part = part.after(length)?;
        }
    }
}

/// The table of pairs of the first feature, which is the distances: classes of letters against each
/// other, a number each.
fn pairs(positions: Bytes) -> Option<Bytes> {
    let features = positions.follow(6)?;
    let lookups = positions.follow(8)?;
    let kerning = features.follow(6)?;
    let lookup = lookups.follow(2 + 2 * usize::from(kerning.short(4)?))?;
    let pairs = lookup.follow(6)?;
    let known = features.after(2)?.0.starts_with(b"kern")
        && [0, 4, 6].map(|at| pairs.short(at)) == [Some(2), Some(4), Some(0)]
        && pairs.follow(2)?.short(0)? == 1
        && [8, 10].map(|at| pairs.follow(at).and_then(|classes| classes.short(0))) == [Some(2); 2];
    known.then_some(pairs)
}

/// The class of a letter; the first where it is in no other.
fn class(classes: Bytes, letter: u16) -> usize {
    let range = |i: u16| classes.after(4 + 6 * usize::from(i));
    let holds = |range: &Bytes| range.short(0) <= Some(letter) && Some(letter) <= range.short(2);
    let found = (0..classes.short(2).unwrap_or(0)).filter_map(range).find(holds);
    found.and_then(|range| range.short(4)).map_or(0, usize::from)
}

/// An outline of points that lie one after the other: flags first, then every x, then every y.
fn simple(outline: Bytes, count: usize) -> Option<Vec<Vec<Point>>> {
    let last = |i: usize| outline.short(10 + 2 * i).map(usize::from);
    let points = if count == 0 { 0 } else { last(count - 1)? + 1 };
    let mut at = 10 + 2 * count;
    // A program for screens of few pixels comes first.
    at += 2 + usize::from(outline.short(at)?);
    let mut flags: Vec<u8> = Vec::with_capacity(points);
    while flags.len() < points {
        let flag = outline.byte(at)?;
        let times = if flag & 8 == 0 { 0 } else { outline.byte(at + 1)? };
        flags.extend(iter::repeat_n(flag, 1 + usize::from(times)));
        at += if flag & 8 == 0 { 1 } else { 2 };
    }
    let xs = coordinates(outline, &mut at, &flags, 2, 16)?;
    let ys = coordinates(outline, &mut at, &flags, 4, 32)?;
    let point = |i: usize| Some(Point { x: *xs.get(i)?, y: *ys.get(i)?, on: flags.get(i)? & 1 == 1 });
    let mut from = 0;
    let contour = |i: usize| {
        let range = from..last(i)? + 1;
        from = range.end;
        range.map(point).collect()
    };
    (0..count).map(contour).collect()
}

/// One coordinate of every point, each a step from the one before: of a byte, whose sign the flag
/// has; none; or of two bytes.
fn coordinates(outline: Bytes, at: &mut usize, flags: &[u8], byte: u8, same: u8) -> Option<Vec<f32>> {
    let mut place = 0.0;
    let next = |flag: &u8| {
        let (step, length) = match (flag & byte != 0, flag & same != 0) {
            (true, true) => (f32::from(outline.byte(*at)?), 1),
            (true, false) => (-f32::from(outline.byte(*at)?), 1),
            (false, true) => (0.0, 0),
            (false, false) => (f32::from(outline.signed(*at)?), 2),
        };
        *at += length;
        place += step;
        Some(place)
    };
    flags.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::super::typeface::FILE;
    use super::*;

    #[test]
    fn every_character_has_a_width_and_an_outline_in_its_box() {
        let font = Font::new(FILE).unwrap();
        let letters: Vec<u16> = ('\0'..=char::MAX).filter_map(|c| font.letter(c)).collect();
        assert_eq!(letters.len(), 1784);
        for letter in letters {
            assert!(font.width(letter).is_some(), "{letter}");
            let points: Vec<Point> = font.contours(letter).unwrap().concat();
            // The box stands in front of the outline; of some composed letters it is rounded.
            let Some(at) = font.places.long(4 * usize::from(letter)).filter(|_| !points.is_empty()) else {
                continue;
            };
            let stated = [2, 4, 6, 8].map(|i| font.outlines.signed(at + i).unwrap());
            let far = |of: fn(&Point) -> f32, pick: fn(f32, f32) -> f32| {
                points.iter().map(of).reduce(pick).unwrap() as i16
            };
            let found = [
                far(|p| p.x, f32::min),
                far(|p| p.y, f32::min),
                far(|p| p.x, f32::max),
                far(|p| p.y, f32::max),
            ];
            let apart = (0..4).map(|i| found[i].abs_diff(stated[i])).max();
            assert!(apart <= Some(1), "{letter}: {found:?} {stated:?}");
        }
    }

    #[test]
    fn what_a_shortened_file_lacks_is_missing() {
        for length in (0..FILE.len()).step_by(97) {
            let Some(font) = Font::new(&FILE[..length]) else { continue };
            for c in ' '..='ÿ' {
                let letter = font.letter(c).unwrap_or(0);
                let _ = (font.contours(letter), font.width(letter), font.farther(letter, letter));
            }
        }
        assert!(Font::new(&FILE[..FILE.len() / 2]).is_none());
    }
}
