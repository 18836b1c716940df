//! Shares of a whole, one stacked bar a name.

use serde::Serialize;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Paint, Type, fitted, text_width};
use crate::chart::drawing::frame::{Entry, Legend, SMALL, Sign};
use crate::chart::drawing::palette::{Colour, LEVELS};

const ROW: f64 = 30.0;
/// The least width in which a share is written.
const ROOM: f64 = 34.0;

/// Named bars of shares that add up to 1, one below the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stacked {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The axis along the bars.
    pub axis: String,
    /// What each share is of, from left to right.
    pub parts: Vec<String>,
    /// Names and as many shares as there are parts.
    pub bars: Vec<(String, Vec<f64>)>,
}

impl Stacked {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let widest = self.bars.iter().map(|(name, _)| text_width(name, 13.0)).fold(0.0, f64::max);
        let left = (widest + 24.0).clamp(60.0, 0.32 * width);
        let entry = |(at, part): (usize, &'_ String)| (self.level(at), part.clone());
        let entries: Vec<(Colour, String)> = self.parts.iter().enumerate().map(entry).collect();
        let entries: Vec<Entry<'_>> =
            entries.iter().map(|(colour, name)| Entry { name, colour: *colour, sign: Sign::Block }).collect();
        let legend = Legend::new(&entries, width);
        let (right, top) = (width - 24.0, 14.0 + legend.height());
        let bottom = top + ROW * self.bars.len() as f64;
        let mut canvas = Canvas::new(width, bottom + 50.0);
        let axis = Axis::share(&self.axis);
        let at = |value: f64| left + (right - left) * axis.place(value).clamp(0.0, 1.0);
        for (value, label) in axis.ticks((right - left) / 90.0) {
            canvas.line([at(value), top], [at(value), bottom], Paint::line(Colour::Rule, 1.0));
            canvas.text([at(value), bottom + 17.0], &label, Type::new(SMALL, Anchor::Middle).quiet());
        }
        canvas.text([0.5 * (left + right), bottom + 40.0], &axis.title, Type::new(13.0, Anchor::Middle));
        legend.draw(&mut canvas, 8.0);
        for (i, (name, shares)) in self.bars.iter().enumerate() {
            let y = top + ROW * i as f64;
            let shown = fitted(name, 13.0, left - 22.0);
            canvas.text([left - 10.0, y + 0.5 * ROW + 4.5], &shown, Type::new(13.0, Anchor::End));
            let mut from = 0.0;
            for (part, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                let place = [at(from), y + 5.0, at(from + share) - at(from), ROW - 10.0];
                let paint = Paint::fill(self.level(part)).outlined(Colour::Paper, 0.8);
                canvas.rect(place, 0.0, paint, Some(&format!("{name}, {}: {share:.4}", self.parts[part])));
                if place[2] >= ROOM {
                    let middle = [place[0] + 0.5 * place[2], y + 0.5 * ROW + 4.0];
                    let set = Type::new(SMALL, Anchor::Middle).coloured(self.writing(part));
                    canvas.text(middle, &format!("{share:.2}"), set);
                }
                from += share;
            }
        }
        canvas.finish(&self.title, &self.description)
    }

    /// The first part stands out most.
    fn step(&self, part: usize) -> u8 {
        let last = self.parts.len().saturating_sub(1).max(1);
        let dark = usize::from(LEVELS - 4);
        (1 + dark - dark * part.min(last) / last) as u8
    }

    fn level(&self, part: usize) -> Colour {
        Colour::Level(self.step(part))
    }

    fn writing(&self, part: usize) -> Colour {
        Colour::OnLevel(self.step(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fill_the_bar_and_small_ones_are_not_written() {
        let bars = vec![("a<b>".into(), vec![0.75, 0.24, 0.01]), ("c".into(), vec![0.0, 0.0, 1.0])];
        let parts = ["rank 1", "rank 2", "rank 3"].map(String::from).into();
        let (title, description, axis) = ("t".into(), "d".into(), "share".into());
        let text = Stacked { title, description, axis, parts, bars }.draw(720.0).to_string();
        assert!(text.contains("a&lt;b&gt;") && text.contains(">0.75<") && !text.contains(">0.01<"), "{text}");
        assert!(text.contains("a&lt;b&gt;, rank 3: 0.0100"), "{text}");
    }
}
