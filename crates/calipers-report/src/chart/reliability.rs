//! The reliability diagram: how often a model is right at each confidence.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Paint, Path, Type};
use super::frame::{SMALL, WIDTH};
use super::palette::Colour;
use super::svg::Svg;
use crate::number::rounded;

/// Bins of confidence over [0, 1].
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Bin {
    /// How many predictions fall into it.
    pub count: f64,
    /// Their mean confidence; none for an empty bin.
    pub confidence: Option<f64>,
    /// The share that is right; none for an empty bin.
    pub accuracy: Option<f64>,
}

const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 30.0;
const TOP: f64 = 34.0;
const MIDDLE: f64 = 344.0;
const BELOW: f64 = 366.0;
const BOTTOM: f64 = 440.0;

impl Reliability {
    /// The drawing.
    pub fn draw(&self) -> Svg {
        let mut canvas = Canvas::new(WIDTH, BOTTOM + 54.0);
        let at_x = |share: f64| LEFT + (RIGHT - LEFT) * share;
        let at_y = |share: f64| MIDDLE - (MIDDLE - TOP) * share;
        self.scaffold(&mut canvas, at_x, at_y);
        let wide = (RIGHT - LEFT) / self.bins.len().max(1) as f64;
        let most = self.bins.iter().map(|bin| bin.count).fold(0.0, f64::max).max(1.0);
        for (i, bin) in self.bins.iter().enumerate() {
            let x = LEFT + wide * i as f64 + 1.0;
            let high = (BOTTOM - BELOW) * bin.count / most;
            let tip = format!("{} {}", rounded(bin.count), self.counted);
            canvas.rect(
                [x, BOTTOM - high, wide - 2.0, high],
                1.0,
                Paint::fill(Colour::Quiet).faded(0.6),
                Some(&tip),
            );
            let (Some(confidence), Some(accuracy)) = (bin.confidence, bin.accuracy) else { continue };
            let tip = format!("confidence {}, right {}, {tip}", rounded(confidence), rounded(accuracy));
            let (right, said) = (at_y(accuracy), at_y(confidence));
            let bar = Paint::fill(Colour::Series(0)).faded(0.85);
            canvas.rect([x, right, wide - 2.0, MIDDLE - right], 1.5, bar, Some(&tip));
            let gap = Paint::fill(Colour::Series(1)).faded(0.35).outlined(Colour::Series(1), 1.0);
            canvas.rect([x, right.min(said), wide - 2.0, (right - said).abs()], 1.0, gap, Some(&tip));
        }
        let perfect = Path::through([[at_x(0.0), at_y(0.0)], [at_x(1.0), at_y(1.0)]]);
        canvas.path(perfect, Paint::line(Colour::Ink, 1.3).dashed(), None);
        let note = Type::new(13.0, Anchor::Start).bold().with_halo();
        canvas.text([LEFT + 12.0, TOP + 20.0], &self.note, note);
        canvas.finish(&self.title, &self.description)
    }

    fn scaffold(&self, canvas: &mut Canvas, at_x: impl Fn(f64) -> f64, at_y: impl Fn(f64) -> f64) {
        let quiet = Type::new(SMALL, Anchor::End).quiet();
        for (share, label) in Axis::share("").ticks(5.0) {
            canvas.line([LEFT, at_y(share)], [RIGHT, at_y(share)], Paint::line(Colour::Rule, 1.0));
            canvas.text([LEFT - 8.0, at_y(share) + 4.0], &label, quiet);
            let place = [at_x(share), BOTTOM + 18.0];
            canvas.text(place, &label, Type::new(SMALL, Anchor::Middle).quiet());
        }
        for y in [MIDDLE, BOTTOM] {
            canvas.line([LEFT, y], [RIGHT, y], Paint::line(Colour::Quiet, 1.0));
        }
        let axis = Type::new(13.0, Anchor::Middle);
        canvas.text([0.5 * (LEFT + RIGHT), BOTTOM + 42.0], "confidence", axis);
        canvas.text([16.0, 0.5 * (TOP + MIDDLE)], "share that is right", axis.turned());
        canvas.text([16.0, 0.5 * (BELOW + BOTTOM)], &self.counted, axis.turned());
        let legend = [(Colour::Series(0), "right"), (Colour::Series(1), "gap to the confidence")];
        let mut x = LEFT;
        for (colour, name) in legend {
            canvas.rect([x, 8.0, 12.0, 12.0], 2.0, Paint::fill(colour), None);
            canvas.text([x + 19.0, 18.0], name, Type::new(SMALL, Anchor::Start));
            x += 34.0 + super::canvas::text_width(name, SMALL);
        }
        canvas.line([x, 14.0], [x + 20.0, 14.0], Paint::line(Colour::Ink, 1.3).dashed());
        canvas.text([x + 27.0, 18.0], "perfectly calibrated", Type::new(SMALL, Anchor::Start));
    }
}
