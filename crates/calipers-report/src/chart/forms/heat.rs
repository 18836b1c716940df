//! A table of shares as a field of colour.

use serde::Serialize;

use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Paint, Type, fitted, text_width};
use crate::chart::drawing::frame::SMALL;
use crate::chart::drawing::palette::{Colour, LEVELS};

/// The least room for a name: words are never smaller than the others to fit.
const ROOM: f64 = SMALL + 0.5;
/// The size of what stands in cells.
const CELL: f64 = 11.5;

/// A heat map. Draw a few dozen rows at most: the caller chooses which.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// As many cells per row as there are columns.
    pub cells: Vec<Vec<Field>>,
    /// What the lowest and the highest step mean.
    pub scale: [String; 2],
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// The number it stands for; none for a cell without a value.
    pub value: Option<f64>,
    /// How deep its colour is, 0 to 1; none for a cell that is no part of the scale.
    pub share: Option<f64>,
    /// What stands in it, where there is room.
    pub text: String,
    /// The text of the tooltip.
    pub tip: String,
}

impl Field {
    /// Whether nothing stands in it however large it is.
    fn is_blank(&self) -> bool {
        self.value.is_none_or(|value| value <= 0.0)
    }
}

impl Heat {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let name_width =
            |names: &[String]| names.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max);
        let left = (name_width(&self.rows) + 44.0).clamp(70.0, (0.32 * width).min(190.0));
        let columns = self.columns.len().max(1) as f64;
        let side = ((width - left - 16.0) / columns).min(84.0);
        let high = side.clamp(ROOM, 44.0);
        let turned = name_width(&self.columns) > side - 6.0;
        let head = if turned { name_width(&self.columns).min(130.0) + 34.0 } else { 48.0 };
        let rows = self.rows.len() as f64;
        let (right, bottom) = (left + side * columns, head + high * rows);
        let mut canvas = Canvas::new(width, bottom + 52.0);

        // Where columns are narrower than a name is high, every so many of them are named: they stand
        // in the order of the rows.
        let every = if turned { (ROOM / side).ceil().max(1.0) as usize } else { 1 };
        for (i, name) in self.columns.iter().enumerate().step_by(every) {
            let x = left + side * (i as f64 + 0.5);
            let (words, set) = if turned {
                (fitted(name, SMALL, 130.0), Type::new(SMALL, Anchor::Start).turned())
            } else {
                (fitted(name, SMALL, side), Type::new(SMALL, Anchor::Middle))
            };
            canvas.text([if turned { x + 0.35 * SMALL } else { x }, head - 8.0], &words, set);
        }
        for (i, name) in self.rows.iter().enumerate() {
            let y = head + high * (i as f64 + 0.5) + 0.35 * SMALL;
            canvas.text([left - 8.0, y], &fitted(name, SMALL, left - 36.0), Type::new(SMALL, Anchor::End));
        }
        let axis = Type::new(13.0, Anchor::Middle).bold();
        canvas.text([0.5 * (left + right), 16.0], &self.column_title, axis);
        canvas.text([16.0, 0.5 * (head + bottom)], &self.row_title, axis.turned());
        // Numbers in some cells only would look as if the others had none.
        let fits = |field: &Field| text_width(&field.text, CELL) < side - 1.0;
        let written = high > CELL && self.cells.iter().flatten().all(|field| field.is_blank() || fits(field));
        for (i, row) in self.cells.iter().enumerate() {
            for (j, field) in row.iter().enumerate() {
                let place = [left + side * j as f64, head + high * i as f64, side, high];
                Self::field(&mut canvas, place, field, written);
            }
        }
        self.key(&mut canvas, left.min(0.25 * width), width - 8.0, bottom + 22.0);
        canvas.finish(&self.title, &self.description)
    }

    fn field(canvas: &mut Canvas, [x, y, w, h]: [f64; 4], field: &Field, written: bool) {
        let gap = if w > 14.0 { 1.0 } else { 0.5 };
        let place = [x + gap, y + gap, w - 2.0 * gap, h - 2.0 * gap];
        let colour = field.share.map(Colour::level);
        let paint = match colour {
            Some(colour) => Paint::fill(colour),
            None => Paint::line(Colour::Rule, 1.0),
        };
        canvas.rect(place, 2.0_f64.min(0.15 * w), paint, Some(&field.tip));
        if written && !field.is_blank() {
            let writing = match colour {
                Some(Colour::Level(k)) => Colour::OnLevel(k),
                _ => Colour::Quiet,
            };
            let set = Type::new(CELL, Anchor::Middle).coloured(writing);
            canvas.text([x + 0.5 * w, y + 0.5 * h + 0.35 * CELL], &field.text, set);
        }
    }

    /// What the lowest and the highest colour mean, as wide as there is room.
    fn key(&self, canvas: &mut Canvas, left: f64, right: f64, y: f64) {
        let [low, high] = &self.scale;
        let least = 4.0 * f64::from(LEVELS) + text_width(low, SMALL) + 20.0;
        let high = fitted(high, SMALL, right - left - least);
        let words = text_width(low, SMALL) + text_width(&high, SMALL) + 20.0;
        let step = ((right - left - words) / f64::from(LEVELS)).clamp(4.0, 11.0);
        canvas.text([left, y + 11.0], low, Type::new(SMALL, Anchor::Start).quiet());
        let from = left + text_width(low, SMALL) + 10.0;
        for k in 0..LEVELS {
            let place = [from + step * f64::from(k), y + 1.0, step, 12.0];
            canvas.rect(place, 0.0, Paint::fill(Colour::Level(k)), None);
        }
        let to = from + step * f64::from(LEVELS) + 10.0;
        canvas.text([to, y + 11.0], &high, Type::new(SMALL, Anchor::Start).quiet());
    }
}
