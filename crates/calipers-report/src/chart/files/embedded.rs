//! The letters of a page as a font inside its file: those that occur, what they mean, how wide they are.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use sha2::{Digest, Sha256};
use subsetter::GlyphRemapper;

use super::pdf::packed;
use super::typeface::{FILE, Letter};

/// Numbers of glyphs are those of characters: the encoding has two bytes each.
const ENCODING: Name<'static> = Name(b"Identity-H");
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The letters that a page shows.
#[derive(Default)]
pub(super) struct Embedded {
    numbers: GlyphRemapper,
    /// By their number in the embedded font: the character, and the width in thousandths of the size.
    letters: BTreeMap<u16, (char, f32)>,
}

impl Embedded {
    /// The number of a letter in the embedded font.
    pub(super) fn number(&mut self, letter: &Letter, em: f32) -> u16 {
        let number = self.numbers.remap(letter.glyph);
        self.letters.entry(number).or_insert((letter.character, 1000.0 * letter.width / em));
        number
    }

    /// Whether the page has no words.
    pub(super) fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Writes the font under a number.
    pub(super) fn write(&self, pdf: &mut Pdf, font: Ref, mut new: impl FnMut() -> Ref) -> Option<()> {
        let file = subsetter::subset(FILE, 0, &self.numbers).ok()?;
        let [letters, descriptor, meaning, outlines] = std::array::from_fn(|_| new());
        let name = format!("{}+DejaVuSans", tag(&file));
        let name = Name(name.as_bytes());
        pdf.type0_font(font)
            .base_font(name)
            .encoding_predefined(ENCODING)
            .descendant_font(letters)
            .to_unicode(meaning);
        let mut written = pdf.cid_font(letters);
        written.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM);
        written.font_descriptor(descriptor).default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = written.widths();
        for (number, (_, width)) in &self.letters {
            widths.same(*number, *number, *width);
        }
        widths.finish();
        written.finish();
        // The measures of DejaVu Sans, in thousandths of the size.
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(-1021.0, -463.0, 1793.0, 1232.0))
            .italic_angle(0.0)
            .ascent(928.0)
            .descent(-236.0)
            .cap_height(729.0)
            .stem_v(90.0)
            .font_file2(outlines);
        let mut cmap = UnicodeCmap::new(Name(b"Calipers"), SYSTEM);
        for (number, (character, _)) in &self.letters {
            cmap.pair(*number, *character);
        }
        pdf.cmap(meaning, &cmap.finish());
        pdf.stream(outlines, &packed(&file)).filter(Filter::FlateDecode);
        Some(())
    }
}

/// Six letters that tell this choice of letters from others, as the format wants.
fn tag(file: &[u8]) -> String {
    Sha256::digest(file).iter().take(6).map(|byte| char::from(b'A' + byte % 26)).collect()
}
