//! Several drawings on one sheet, as a figure of a paper has them.

use super::canvas::{Anchor, Canvas, Type};
use super::svg::Svg;

const GAP: f64 = 18.0;
const HEADING: f64 = 24.0;
/// The width of a drawing that stands beside others.
const TILE: f64 = 480.0;

/// Rows of drawings, each below its heading. `title` and `description` are what a screen reader says.
pub fn sheet(title: &str, description: &str, rows: &[Vec<(String, Svg)>]) -> Svg {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let scale = |svg: &Svg| if columns > 1 { TILE / svg.width() } else { 1.0 };
    let tile = if columns > 1 {
        TILE
    } else {
        rows.iter().flatten().map(|(_, svg)| svg.width()).fold(0.0, f64::max)
    };
    let height = |row: &Vec<(String, Svg)>| {
        HEADING + row.iter().map(|(_, svg)| svg.height() * scale(svg)).fold(0.0, f64::max)
    };
    let whole: f64 = rows.iter().map(height).sum();
    let width = columns as f64 * (tile + GAP) + GAP;
    let mut canvas = Canvas::new(width, whole + (rows.len() + 1) as f64 * GAP);
    let mut y = GAP;
    for row in rows {
        for (column, (heading, svg)) in row.iter().enumerate() {
            let x = GAP + column as f64 * (tile + GAP);
            canvas.text([x, y + 12.0], heading, Type::new(14.0, Anchor::Start).bold());
            canvas.place([x, y + HEADING], scale(svg), svg);
        }
        y += height(row) + GAP;
    }
    canvas.finish(title, description)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(width: f64) -> Svg {
        Canvas::new(width, 100.0).finish("t", "d")
    }

    #[test]
    fn drawings_side_by_side_have_one_width_and_stand_below_their_headings() {
        let rows = [vec![("a <b>".to_owned(), drawing(720.0)), ("c".to_owned(), drawing(480.0))], vec![]];
        let sheet = sheet("t", "d", &rows);
        assert_eq!(sheet.width().to_bits(), (2.0 * 480.0 + 3.0 * GAP).to_bits());
        let text = sheet.to_string();
        assert!(text.contains("a &lt;b&gt;") && text.contains("scale(0.67)"), "{text}");
        assert!(text.contains(&format!("translate({} {})", 480.0 + 2.0 * GAP, GAP + HEADING)), "{text}");
    }
}
