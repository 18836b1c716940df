//! The frame of a plot: where it lies on the paper, grid, axes and legend.

use super::canvas::{Anchor, Canvas, Paint, Type, fitted, text_width};
use super::marker::marker;
use super::palette::Colour;
use crate::chart::axis::Axis;

/// The width for which heights are given.
const NATURAL: f64 = 720.0;
/// The size of most words.
pub(crate) const SMALL: f64 = 12.0;
/// The most entries of a legend.
const MOST_ENTRIES: usize = 12;

/// Something a legend explains.
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) colour: Colour,
    pub(crate) sign: Sign,
}

/// How the legend shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Line,
    /// A line with the markers of its colour.
    Marked,
    Dashed,
    Stroke,
    Dot,
    Ring,
    Block,
}

/// How high something is on a drawing of this width, of which the natural height is given: narrow
/// drawings are lower, but not in proportion.
pub(crate) fn height(natural: f64, width: f64) -> f64 {
    natural * (width / NATURAL).clamp(0.6, 1.0)
}

/// A plot with two axes.
pub(crate) struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl<'a> Frame<'a> {
    /// A canvas of the given width with a plot of the given natural height; legend above, axes drawn.
    pub(crate) fn new(
        x: &'a Axis,
        y: &'a Axis,
        [width, natural]: [f64; 2],
        legend: &[Entry<'_>],
    ) -> (Canvas, Self) {
        let legend = Legend::new(legend, width);
        let top = 14.0 + legend.height();
        let plot = height(natural, width);
        let ticks = y.ticks(plot / 60.0);
        let widest = ticks.iter().map(|(_, label)| text_width(label, SMALL)).fold(0.0, f64::max);
        let left = (widest + 40.0).clamp(52.0, 130.0);
        let frame = Self { x, y, left, top, width: width - left - 20.0, height: plot };
        let mut canvas = Canvas::new(width, top + plot + 54.0);
        legend.draw(&mut canvas, (left - 36.0).min(30.0));
        frame.axes(&mut canvas);
        (canvas, frame)
    }

    /// Where a value of x lies on the paper.
    pub(crate) fn at_x(&self, value: f64) -> f64 {
        self.left + self.width * self.x.place(value)
    }

    /// Where a value of y lies on the paper.
    pub(crate) fn at_y(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.place(value))
    }

    /// Where a point lies on the paper.
    pub(crate) fn at(&self, x: f64, y: f64) -> [f64; 2] {
        [self.at_x(x), self.at_y(y)]
    }

    /// Left, top, right and bottom of the plot.
    pub(crate) fn edges(&self) -> [f64; 4] {
        [self.left, self.top, self.left + self.width, self.top + self.height]
    }

    /// A line across the plot at a value of y, named at the end and on the side where its name hides the
    /// fewest of the points that are drawn.
    pub(crate) fn level(&self, canvas: &mut Canvas, value: f64, name: &str, points: &[[f64; 2]]) {
        let [left, top, right, bottom] = self.edges();
        let y = self.at_y(value);
        canvas.line([left, y], [right, y], Paint::line(Colour::Ink, 1.2).dashed());
        let words = fitted(name, SMALL, right - left);
        let wide = text_width(&words, SMALL) + 10.0;
        let hidden = |(is_left, below): &(bool, bool)| {
            let from = if *is_left { left } else { right - wide };
            let rows = if *below { y + 2.0..y + 20.0 } else { y - 20.0..y - 2.0 };
            let inside = |[x, y]: &&[f64; 2]| (from..=from + wide).contains(x) && rows.contains(y);
            points.iter().filter(inside).count()
        };
        let fits = |(_, below): &(bool, bool)| if *below { bottom - y > 20.0 } else { y - top > 18.0 };
        let places = [(false, false), (true, false), (false, true), (true, true)];
        let best = places.into_iter().filter(fits).min_by_key(hidden).unwrap_or_default();
        let (x, anchor) = if best.0 { (left + 4.0, Anchor::Start) } else { (right - 4.0, Anchor::End) };
        let dy = if best.1 { 15.0 } else { -6.0 };
        canvas.text([x, y + dy], &words, Type::new(SMALL, anchor).with_halo());
    }

    /// A line down the plot at a value of x, named at its top.
    pub(crate) fn post(&self, canvas: &mut Canvas, value: f64, name: &str, line: usize) {
        let [left, top, right, bottom] = self.edges();
        let x = self.at_x(value);
        canvas.line([x, top], [x, bottom], Paint::line(Colour::Ink, 1.2).dashed());
        let words = fitted(name, SMALL, 0.5 * (right - left));
        let (dx, anchor) = if x > 0.5 * (left + right) { (-6.0, Anchor::End) } else { (6.0, Anchor::Start) };
        canvas.text([x + dx, top + 14.0 + 16.0 * line as f64], &words, Type::new(SMALL, anchor).with_halo());
    }

    fn axes(&self, canvas: &mut Canvas) {
        let [left, top, right, bottom] = self.edges();
        let rule = Paint::line(Colour::Rule, 1.0);
        for (value, label) in self.y.ticks(self.height / 60.0) {
            let y = self.at_y(value);
            canvas.line([left, y], [right, y], rule);
            canvas.text([left - 8.0, y + 4.0], &label, Type::new(SMALL, Anchor::End).quiet());
        }
        for (value, label) in self.x.ticks(self.width / 80.0) {
            let x = self.at_x(value);
            canvas.line([x, bottom], [x, bottom + 5.0], Paint::line(Colour::Quiet, 1.0));
            canvas.text([x, bottom + 19.0], &label, Type::new(SMALL, Anchor::Middle).quiet());
        }
        canvas.line([left, bottom], [right, bottom], Paint::line(Colour::Quiet, 1.0));
        let title = Type::new(13.0, Anchor::Middle);
        let words = fitted(&self.x.title, 13.0, right - left);
        canvas.text([0.5 * (left + right), bottom + 42.0], &words, title);
        let words = fitted(&self.y.title, 13.0, bottom - top + 40.0);
        canvas.text([16.0, 0.5 * (top + bottom)], &words, title.turned());
    }
}

/// What signs and colours mean, in rows above a plot.
pub(crate) struct Legend<'e>(Vec<LegendRow<'e>>);

type LegendRow<'e> = Vec<(f64, String, &'e Entry<'e>)>;

impl<'e> Legend<'e> {
    /// Rows of entries on a drawing of this width.
    pub(crate) fn new(entries: &'e [Entry<'e>], width: f64) -> Self {
        Self::of_at_most(MOST_ENTRIES, entries, width)
    }

    /// The same with room for more entries.
    pub(crate) fn of_at_most(most: usize, entries: &'e [Entry<'e>], width: f64) -> Self {
        let width = width - 40.0;
        let mut rows: Vec<LegendRow<'e>> = Vec::new();
        let mut used = f64::INFINITY;
        for entry in entries.iter().take(most) {
            let name = fitted(entry.name, SMALL, width - 46.0);
            let wide = text_width(&name, SMALL) + 46.0;
            if used + wide > width {
                rows.push(Vec::new());
                used = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((used, name, entry));
            }
            used += wide;
        }
        Self(rows)
    }

    /// How high it is.
    pub(crate) fn height(&self) -> f64 {
        20.0 * self.0.len() as f64
    }

    /// Draws it at the top of a drawing.
    pub(crate) fn draw(&self, canvas: &mut Canvas, left: f64) {
        for (i, row) in self.0.iter().enumerate() {
            for (offset, name, entry) in row {
                let place = [left + offset, 12.0 + 20.0 * i as f64];
                sign(canvas, entry, place);
                canvas.text([place[0] + 27.0, place[1] + 4.0], name, Type::new(SMALL, Anchor::Start));
            }
        }
    }
}

fn sign(canvas: &mut Canvas, entry: &Entry<'_>, [x, y]: [f64; 2]) {
    let (from, to, middle) = ([x, y], [x + 20.0, y], [x + 10.0, y]);
    let line = Paint::line(entry.colour, 2.4);
    match entry.sign {
        Sign::Line => canvas.line(from, to, line),
        Sign::Marked => {
            canvas.line(from, to, line);
            let paint = Paint::fill(entry.colour).outlined(Colour::Paper, 1.0);
            marker(canvas, entry.colour, middle, 4.5, paint, None);
        }
        Sign::Dashed => canvas.line(from, to, Paint::line(entry.colour, 1.3).dashed()),
        Sign::Stroke => {
            let ends = [[x + 13.0, y - 6.0], [x + 13.0, y + 6.0]];
            canvas.line(ends[0], ends[1], Paint::line(entry.colour, 1.6));
        }
        Sign::Dot => marker(canvas, entry.colour, [x + 13.0, y], 4.5, Paint::fill(entry.colour), None),
        Sign::Ring => {
            let ring = Paint::fill(Colour::Paper).outlined(entry.colour, 2.0);
            canvas.circle([x + 13.0, y], 4.5, ring, None);
        }
        Sign::Block => {
            // A fixed colour may be that of the paper.
            let paint = Paint::fill(entry.colour).outlined(Colour::Quiet, 0.6);
            canvas.rect([x + 6.0, y - 6.0, 12.0, 12.0], 2.0, paint, None);
        }
    }
}
