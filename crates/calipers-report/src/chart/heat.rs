//! A table of shares as a field of colour.

use super::canvas::{Anchor, Canvas, Paint, Type, fitted, text_width};
use super::frame::{SMALL, WIDTH};
use super::palette::{Colour, LEVELS};
use super::svg::Svg;

/// A heat map. Draw a few dozen rows at most: the caller chooses which.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// What rows are.
    pub row_title: String,
    /// What columns are.
    pub column_title: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// As many cells a row as there are columns.
    pub cells: Vec<Vec<Field>>,
    /// What the lowest and the highest step mean.
    pub scale: [String; 2],
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// How deep its colour is, 0 to 1; none for a cell without a value.
    pub share: Option<f64>,
    /// What stands in it, where there is room.
    pub text: String,
    /// What is said where the pointer rests.
    pub tip: String,
}

impl Heat {
    /// The drawing.
    pub fn draw(&self) -> Svg {
        let name_width =
            |names: &[String]| names.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max);
        let left = (name_width(&self.rows) + 44.0).clamp(70.0, 190.0);
        let columns = self.columns.len().max(1) as f64;
        let side = ((WIDTH - left - 20.0) / columns).clamp(10.0, 84.0);
        let high = side.min(44.0);
        let turned = name_width(&self.columns) > side - 6.0;
        let head = if turned { name_width(&self.columns).min(130.0) + 34.0 } else { 48.0 };
        let rows = self.rows.len() as f64;
        let (right, bottom) = (left + side * columns, head + high * rows);
        let mut canvas = Canvas::new(WIDTH, bottom + 52.0);

        let size = (0.8 * high).min(SMALL);
        for (i, name) in self.columns.iter().enumerate() {
            let x = left + side * (i as f64 + 0.5);
            let (words, set) = if turned {
                (fitted(name, size, 130.0), Type::new(size, Anchor::Start).turned())
            } else {
                (fitted(name, size, side), Type::new(size, Anchor::Middle))
            };
            canvas.text([if turned { x + 0.35 * size } else { x }, head - 8.0], &words, set);
        }
        for (i, name) in self.rows.iter().enumerate() {
            let y = head + high * (i as f64 + 0.5) + 0.35 * size;
            canvas.text([left - 8.0, y], &fitted(name, size, left - 40.0), Type::new(size, Anchor::End));
        }
        let axis = Type::new(13.0, Anchor::Middle).bold();
        canvas.text([0.5 * (left + right), 16.0], &self.column_title, axis);
        canvas.text([16.0, 0.5 * (head + bottom)], &self.row_title, axis.turned());
        for (i, row) in self.cells.iter().enumerate() {
            for (j, field) in row.iter().enumerate() {
                let place = [left + side * j as f64, head + high * i as f64, side, high];
                self.field(&mut canvas, place, field);
            }
        }
        self.key(&mut canvas, left, bottom + 22.0);
        canvas.finish(&self.title, &self.description)
    }

    fn field(&self, canvas: &mut Canvas, [x, y, w, h]: [f64; 4], field: &Field) {
        let gap = if w > 14.0 { 1.0 } else { 0.5 };
        let place = [x + gap, y + gap, w - 2.0 * gap, h - 2.0 * gap];
        let Some(share) = field.share else {
            let empty = Paint::line(Colour::Rule, 1.0);
            canvas.rect(place, 2.0, empty, Some(&field.tip));
            return;
        };
        let colour = Colour::level(share);
        canvas.rect(place, 2.0, Paint::fill(colour), Some(&field.tip));
        let size = if h < 24.0 { 9.0 } else { 11.0 };
        if text_width(&field.text, size) < w - 3.0 && h >= 13.0 && share > 0.0 {
            let writing = match colour {
                Colour::Level(k) => Colour::OnLevel(k),
                other => other,
            };
            let set = Type::new(size, Anchor::Middle).coloured(writing);
            canvas.text([x + 0.5 * w, y + 0.5 * h + 0.35 * size], &field.text, set);
        }
    }

    fn key(&self, canvas: &mut Canvas, left: f64, y: f64) {
        let [low, high] = &self.scale;
        canvas.text([left, y + 11.0], low, Type::new(SMALL, Anchor::Start).quiet());
        let from = left + text_width(low, SMALL) + 10.0;
        for k in 0..LEVELS {
            let x = from + 11.0 * f64::from(k);
            canvas.rect([x, y + 1.0, 11.0, 12.0], 0.0, Paint::fill(Colour::Level(k)), None);
        }
        let to = from + 11.0 * f64::from(LEVELS) + 10.0;
        canvas.text([to, y + 11.0], high, Type::new(SMALL, Anchor::Start).quiet());
    }
}
