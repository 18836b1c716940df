//! The reliability diagram: how often a model is right at each confidence.

use serde::Serialize;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Paint, Path, Type};
use crate::chart::drawing::frame::{Entry, Legend, SMALL, Sign, height};
use crate::chart::drawing::palette::Colour;
use crate::number::rounded;

/// Bins of confidence over [0, 1].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The bins in order, of equal width.
    pub bins: Vec<Bin>,
    /// A few words about the whole, shown inside.
    pub note: String,
    /// What is counted.
    pub counted: String,
}

/// One bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// How many predictions fall into it.
    pub count: f64,
    /// Their mean confidence; none for an empty bin.
    pub confidence: Option<f64>,
    /// The share that is right; none for an empty bin.
    pub accuracy: Option<f64>,
}

/// Where the two plots lie on the paper.
struct Place {
    left: f64,
    right: f64,
    top: f64,
    middle: f64,
    below: f64,
    bottom: f64,
}

impl Place {
    fn x(&self, share: f64) -> f64 {
        self.left + (self.right - self.left) * share
    }

    fn y(&self, share: f64) -> f64 {
        self.middle - (self.middle - self.top) * share
    }
}

impl Reliability {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let entries = [
            ("right", Colour::Series(0), Sign::Block),
            ("gap to the confidence", Colour::Series(1), Sign::Block),
            ("perfectly calibrated", Colour::Ink, Sign::Dashed),
        ];
        let entries = entries.map(|(name, colour, sign)| Entry { name, colour, sign });
        let legend = Legend::new(&entries, width);
        let top = 14.0 + legend.height();
        let middle = top + height(310.0, width);
        let below = middle + 22.0;
        let place = Place {
            left: 70.0,
            right: width - 20.0,
            top,
            middle,
            below,
            bottom: below + height(74.0, width),
        };
        let mut canvas = Canvas::new(width, place.bottom + 54.0);
        legend.draw(&mut canvas, 30.0);
        self.scaffold(&mut canvas, &place);
        let wide = (place.right - place.left) / self.bins.len().max(1) as f64;
        let gap = if wide > 8.0 { 1.0 } else { 0.3 };
        let most = self.bins.iter().map(|bin| bin.count).fold(0.0, f64::max).max(1.0);
        for (i, bin) in self.bins.iter().enumerate() {
            let x = place.left + wide * i as f64 + gap;
            let high = (place.bottom - place.below) * bin.count / most;
            let tip = format!("{} {}", rounded(bin.count), self.counted);
            let count = Paint::fill(Colour::Quiet).faded(0.6);
            canvas.rect([x, place.bottom - high, wide - 2.0 * gap, high], gap, count, Some(&tip));
            let (Some(confidence), Some(accuracy)) = (bin.confidence, bin.accuracy) else { continue };
            let tip = format!("confidence {}, right {}, {tip}", rounded(confidence), rounded(accuracy));
            let (right, said) = (place.y(accuracy), place.y(confidence));
            let bar = Paint::fill(Colour::Series(0)).faded(0.85);
            canvas.rect([x, right, wide - 2.0 * gap, place.middle - right], gap, bar, Some(&tip));
            let apart = Paint::fill(Colour::Series(1)).faded(0.35).outlined(Colour::Series(1), 1.0);
            let ends = [x, right.min(said), wide - 2.0 * gap, (right - said).abs()];
            canvas.rect(ends, gap, apart, Some(&tip));
        }
        let perfect = Path::through([0.0, 1.0].map(|share| [place.x(share), place.y(share)]));
        canvas.path(perfect, Paint::line(Colour::Ink, 1.3).dashed(), None);
        let note = Type::new(13.0, Anchor::Start).bold().with_halo();
        canvas.text([place.left + 12.0, place.top + 20.0], &self.note, note);
        canvas.finish(&self.title, &self.description)
    }

    fn scaffold(&self, canvas: &mut Canvas, place: &Place) {
        let Place { left, right, top, middle, below, bottom } = *place;
        let quiet = Type::new(SMALL, Anchor::End).quiet();
        for (share, label) in Axis::share("").ticks(5.0) {
            canvas.line([left, place.y(share)], [right, place.y(share)], Paint::line(Colour::Rule, 1.0));
            canvas.text([left - 8.0, place.y(share) + 4.0], &label, quiet);
            let at = [place.x(share), bottom + 18.0];
            canvas.text(at, &label, Type::new(SMALL, Anchor::Middle).quiet());
        }
        for y in [middle, bottom] {
            canvas.line([left, y], [right, y], Paint::line(Colour::Quiet, 1.0));
        }
        let axis = Type::new(13.0, Anchor::Middle);
        canvas.text([0.5 * (left + right), bottom + 42.0], "confidence", axis);
        canvas.text([16.0, 0.5 * (top + middle)], "share that is right", axis.turned());
        canvas.text([16.0, 0.5 * (below + bottom)], &self.counted, axis.turned());
    }
}
