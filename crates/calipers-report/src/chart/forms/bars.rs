//! Bars beside their names, with intervals.

use serde::Serialize;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Paint, Path, Type, fitted, text_width};
use crate::chart::drawing::frame::SMALL;
use crate::chart::drawing::palette::Colour;
use crate::number::rounded;

const ROW: f64 = 26.0;

/// Named values as bars, one below the other. Draw a few dozen at most: the caller chooses which.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bars {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The axis along the bars; it begins where bars begin.
    pub axis: Axis,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
    /// A value to compare with, and its name.
    pub reference: Option<(f64, String)>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length, or why it has none.
    pub value: Result<f64, String>,
    /// Where the value may lie.
    pub interval: Option<[f64; 2]>,
    /// What it is painted with.
    pub colour: Colour,
    /// The text of the tooltip.
    pub tip: String,
}

impl Bars {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let widest = self.bars.iter().map(|bar| text_width(&bar.name, 13.0)).fold(0.0, f64::max);
        let left = (widest + 24.0).clamp(60.0, 0.36 * width);
        let right = width - 66.0;
        let top = if self.reference.is_some() { 28.0 } else { 10.0 };
        let bottom = top + ROW * self.bars.len() as f64;
        let mut canvas = Canvas::new(width, bottom + 52.0);
        let at = |value: f64| left + (right - left) * self.axis.place(value).clamp(0.0, 1.0);

        for (value, label) in self.axis.ticks((right - left) / 90.0) {
            canvas.line([at(value), top], [at(value), bottom], Paint::line(Colour::Rule, 1.0));
            canvas.text([at(value), bottom + 18.0], &label, Type::new(SMALL, Anchor::Middle).quiet());
        }
        let middle = 0.5 * (left + right);
        canvas.text([middle, bottom + 42.0], &self.axis.title, Type::new(13.0, Anchor::Middle));
        for (i, bar) in self.bars.iter().enumerate() {
            let y = top + ROW * i as f64;
            let name = fitted(&bar.name, 13.0, left - 22.0);
            canvas.text([left - 10.0, y + 0.5 * ROW + 4.5], &name, Type::new(13.0, Anchor::End));
            match &bar.value {
                Ok(value) => {
                    let place = [left, y + 5.0, at(*value) - left, ROW - 10.0];
                    let rim = Paint::fill(bar.colour).outlined(Colour::Quiet, 0.6);
                    canvas.rect(place, 2.0, rim, Some(&bar.tip));
                    if let Some([low, high]) = bar.interval {
                        whisker(&mut canvas, at(low), at(high), y + 0.5 * ROW);
                    }
                    let number = Type::new(SMALL, Anchor::Start);
                    canvas.text([right + 10.0, y + 0.5 * ROW + 4.0], &rounded(*value), number);
                }
                Err(why) => {
                    let words = fitted(why, SMALL, right - left);
                    let set = Type::new(SMALL, Anchor::Start).quiet();
                    canvas.text([left + 8.0, y + 0.5 * ROW + 4.0], &words, set);
                    canvas.text([right + 10.0, y + 0.5 * ROW + 4.0], "–", set);
                }
            }
        }
        canvas.line([left, top], [left, bottom], Paint::line(Colour::Quiet, 1.0));
        if let Some((value, name)) = &self.reference {
            let x = at(*value);
            canvas.line([x, top - 4.0], [x, bottom], Paint::line(Colour::Ink, 1.2).dashed());
            let name = fitted(name, SMALL, right - left);
            let half = 0.5 * text_width(&name, SMALL);
            let x = x.clamp(left + half, (width - half - 8.0).max(left + half));
            canvas.text([x, top - 10.0], &name, Type::new(SMALL, Anchor::Middle));
        }
        canvas.finish(&self.title, &self.description)
    }
}

/// An interval: a line with ends, rimmed so that it shows on its bar.
fn whisker(canvas: &mut Canvas, low: f64, high: f64, y: f64) {
    let mut shape = Path::through([[low, y], [high, y]]);
    for x in [low, high] {
        shape.start([x, y - 4.0]);
        shape.to([x, y + 4.0]);
    }
    canvas.path(shape.clone(), Paint::line(Colour::Paper, 4.0).faded(0.8), None);
    canvas.path(shape, Paint::line(Colour::Ink, 1.6), None);
}
