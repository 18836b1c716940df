//! Images side by side, with what their colours mean.

use serde::Serialize;

use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Type, fitted};
use crate::chart::drawing::frame::{Entry, Legend, SMALL, Sign};
use crate::chart::{Colour, Image};

const GAP: f64 = 10.0;
const CAPTION: f64 = 22.0;
/// The most entries of the legend: classes and the colours of mistakes.
const MOST_ENTRIES: usize = 32;
/// The least width of an image beside others.
const LEAST: f64 = 170.0;

/// Images of one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Images {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The images in order.
    pub panels: Vec<Panel>,
    /// What colours mean.
    pub legend: Vec<(Colour, String)>,
}

/// An image and what it shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// What it shows.
    pub caption: String,
    /// Its pixels.
    pub image: Image,
}

impl Images {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let entries: Vec<Entry<'_>> = self
            .legend
            .iter()
            .map(|(colour, name)| Entry { name, colour: *colour, sign: Sign::Block })
            .collect();
        let legend = Legend::of_at_most(MOST_ENTRIES, &entries, width);
        let fit = ((width + GAP) / (LEAST + GAP)) as usize;
        let columns = self.panels.len().clamp(1, fit.max(1));
        // Four images in three columns leave a hole; in two they do not.
        let columns = self.panels.len().max(1).div_ceil(self.panels.len().max(1).div_ceil(columns));
        let side = (width - GAP * (columns - 1) as f64) / columns as f64;
        let high = |panel: &Panel| {
            let [wide, high] = [panel.image.width, panel.image.height].map(|side| side.max(1) as f64);
            (side * high / wide).min(2.0 * side)
        };
        let mut y = 4.0 + legend.height();
        let mut placed = Vec::new();
        for row in self.panels.chunks(columns) {
            let tallest = row.iter().map(high).fold(0.0, f64::max);
            for (column, panel) in row.iter().enumerate() {
                let x = column as f64 * (side + GAP);
                placed.push((panel, [x, y, side, high(panel)], y + tallest));
            }
            y += tallest + CAPTION;
        }
        let mut canvas = Canvas::new(width, y + 4.0);
        legend.draw(&mut canvas, 0.0);
        for (panel, place, below) in placed {
            canvas.image(place, &panel.image);
            let words = fitted(&panel.caption, SMALL, side);
            let middle = place[0] + 0.5 * place[2];
            canvas.text([middle, below + 15.0], &words, Type::new(SMALL, Anchor::Middle));
        }
        canvas.finish(&self.title, &self.description)
    }
}
