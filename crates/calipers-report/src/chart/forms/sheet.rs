//! Several drawings on one sheet, as a figure of a paper has them.

use serde::Serialize;

use crate::chart::Chart;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Type, fitted};

const GAP: f64 = 18.0;
const HEADING: f64 = 24.0;
/// The least width of a drawing that stands beside others.
const LEAST: f64 = 250.0;

/// Rows of drawings, each below its heading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// Headings and drawings.
    pub rows: Vec<Vec<(String, Chart)>>,
}

impl Sheet {
    /// The drawing, as wide as given: side by side where there is room, else below each other.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let most = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let tile_of = |columns: usize| (width - GAP * (columns - 1) as f64) / columns as f64;
        let columns = if tile_of(most) >= LEAST { most } else { 1 };
        let tile = tile_of(columns);
        let (mut y, mut placed) = (0.0, Vec::new());
        for row in self.rows.iter().flat_map(|row| row.chunks(columns)) {
            let drawings: Vec<Drawing> = row.iter().map(|(_, chart)| chart.draw(tile)).collect();
            let height = drawings.iter().map(Drawing::height).fold(0.0, f64::max);
            for (column, ((heading, _), drawing)) in row.iter().zip(drawings).enumerate() {
                placed.push((column as f64 * (tile + GAP), y, heading, drawing));
            }
            y += HEADING + height + GAP;
        }
        let mut canvas = Canvas::new(width, (y - GAP).max(1.0));
        for (x, y, heading, drawing) in placed {
            let words = fitted(heading, 13.0, tile);
            canvas.text([x, y + 15.0], &words, Type::new(13.0, Anchor::Start).bold());
            canvas.place([x, y + HEADING], drawing);
        }
        canvas.finish(&self.title, &self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;
    use crate::chart::lines::Lines;

    #[test]
    fn drawings_stand_side_by_side_where_there_is_room() {
        let lines = Chart::Lines(Lines {
            title: "t".into(),
            description: "d".into(),
            x: Axis::share("x"),
            y: Axis::share("y"),
            curves: Vec::new(),
            levels: Vec::new(),
            signs: Vec::new(),
        });
        let rows = vec![vec![("a <b>".to_owned(), lines.clone()), ("c".to_owned(), lines)], vec![]];
        let sheet = Sheet { title: "t".into(), description: "d".into(), rows };
        let (wide, narrow) = (sheet.draw(700.0), sheet.draw(400.0));
        assert!(narrow.height() > 1.5 * wide.height());
        let text = wide.to_string();
        assert!(
            text.contains("a &lt;b&gt;") && text.contains(&format!("translate({} {HEADING})", 341.0 + GAP))
        );
        assert_eq!(narrow.width().to_bits(), 400.0f64.to_bits());
    }
}
