//! A drawing as PNG, with a typeface that comes along, so that every machine makes the same pixels.

use std::sync::{Arc, LazyLock};

use calipers_core::{Error, Result};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::svg::Svg;

const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
/// No picture is larger than this in either direction.
const MOST_PIXELS: f32 = 16_384.0;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// The drawing on white paper, `scale` pixels for each of its own.
pub fn png(svg: &Svg, scale: f32) -> Result<Vec<u8>> {
    rendered(&svg.to_string(), scale, Color::WHITE)
}

fn rendered(svg: &str, scale: f32, paper: Color) -> Result<Vec<u8>> {
    let options =
        Options { font_family: "DejaVu Sans".into(), fontdb: Arc::clone(&FONTS), ..Options::default() };
    let failed = |what: &str| Error::value(format!("cannot draw the picture: {what}"));
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error.to_string()))?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|side| (side * scale).ceil());
    if !(width >= 1.0 && height >= 1.0 && width <= MOST_PIXELS && height <= MOST_PIXELS) {
        return Err(Error::value("the picture has no pixels or too many")
            .found(format!("{width} x {height}"))
            .allowed(format!("1 to {MOST_PIXELS} each way"))
            .advice("choose another scale"));
    }
    let mut pixels =
        Pixmap::new(width as u32, height as u32).ok_or_else(|| failed("there is no room for its pixels"))?;
    pixels.fill(paper);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{Anchor, Canvas, Paint, Type};
    use super::super::palette::Colour;
    use super::*;

    fn small() -> Svg {
        let mut canvas = Canvas::new(60.0, 20.0);
        canvas.rect([0.0, 0.0, 10.0, 10.0], 0.0, Paint::fill(Colour::Ink), Some("<tip>"));
        canvas.text([12.0, 15.0], "größe −1", Type::new(12.0, Anchor::Start));
        canvas.finish("title", "description")
    }

    #[test]
    fn words_are_drawn_without_any_font_on_the_machine() {
        let with = png(&small(), 2.0).unwrap();
        assert_eq!(&with[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(with, png(&small(), 2.0).unwrap());
        let without = rendered(&small().to_string().replace("größe −1", ""), 2.0, Color::WHITE).unwrap();
        assert_ne!(with, without);
    }

    #[test]
    fn a_scale_without_pixels_is_refused() {
        for scale in [0.0, -1.0, f32::NAN, 1e9] {
            assert!(png(&small(), scale).is_err(), "{scale}");
        }
    }
}
