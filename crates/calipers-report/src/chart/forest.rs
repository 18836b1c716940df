//! Differences with their intervals around one line that stands for none: a forest plot.

use super::canvas::{Anchor, Canvas, Paint, Path, Type, fitted, text_width};
use super::frame::SMALL;
use super::palette::Colour;
use super::svg::Svg;

/// Names, differences and numbers side by side take more room than other drawings.
const WIDTH: f64 = 960.0;
const ROW: f64 = 26.0;
/// The room beside the longest interval, as a share of half the plot.
const ROOM: f64 = 0.94;

/// Named differences, one below the other, each on a scale of its own: numbers of different kinds
/// share no axis, but all of them share the line of no difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// What lies to the left and to the right of no difference.
    pub sides: [String; 2],
    /// The differences from top to bottom.
    pub trees: Vec<Tree>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Its name.
    pub name: String,
    /// How far it lies to the right.
    pub value: f64,
    /// Where it may lie.
    pub interval: Option<[f64; 2]>,
    /// What is written beside it.
    pub words: String,
    /// What it is painted with.
    pub colour: Colour,
    /// What is said where the pointer rests.
    pub tip: String,
}

impl Forest {
    /// The drawing.
    pub fn draw(&self) -> Svg {
        let wide = |words: fn(&Tree) -> &str, size: f64| {
            self.trees.iter().map(|tree| text_width(words(tree), size)).fold(0.0, f64::max)
        };
        let left = (wide(|tree| &tree.name, 13.0) + 24.0).clamp(60.0, 230.0);
        let right = WIDTH - (wide(|tree| &tree.words, SMALL) + 16.0).clamp(50.0, 230.0);
        let (top, half) = (30.0, 0.5 * (right - left));
        let (middle, bottom) = (left + half, top + ROW * self.trees.len() as f64);
        let mut canvas = Canvas::new(WIDTH, bottom + 8.0);
        let [worse, better] = &self.sides;
        let side = |words: &str| fitted(words, SMALL, half - 16.0);
        canvas.text(
            [middle - 10.0, top - 12.0],
            &format!("← {}", side(worse)),
            Type::new(SMALL, Anchor::End).quiet(),
        );
        canvas.text(
            [middle + 10.0, top - 12.0],
            &format!("{} →", side(better)),
            Type::new(SMALL, Anchor::Start).quiet(),
        );
        for (i, tree) in self.trees.iter().enumerate() {
            let y = top + ROW * (i as f64 + 0.5);
            canvas.line([left, y], [right, y], Paint::line(Colour::Rule, 1.0));
            let name = fitted(&tree.name, 13.0, left - 22.0);
            canvas.text([left - 10.0, y + 4.5], &name, Type::new(13.0, Anchor::End));
            canvas.text([right + 10.0, y + 4.0], &tree.words, Type::new(SMALL, Anchor::Start));
        }
        canvas.line([middle, top - 4.0], [middle, bottom], Paint::line(Colour::Quiet, 1.2));
        for (i, tree) in self.trees.iter().enumerate() {
            let y = top + ROW * (i as f64 + 0.5);
            let ends = tree.interval.unwrap_or([tree.value; 2]);
            let farthest = ends.iter().map(|end| end.abs()).fold(tree.value.abs(), f64::max);
            let scale = if farthest > 0.0 { ROOM * half / farthest } else { 0.0 };
            let at = |value: f64| middle + scale * value;
            if tree.interval.is_some() {
                let mut span = Path::through(ends.map(|end| [at(end), y]));
                for end in ends {
                    span.start([at(end), y - 4.0]);
                    span.to([at(end), y + 4.0]);
                }
                canvas.path(span, Paint::line(tree.colour, 2.2), None);
            }
            let dot = Paint::fill(tree.colour).outlined(Colour::Paper, 1.2);
            canvas.circle([at(tree.value), y], 5.0, dot, Some(&tree.tip));
        }
        canvas.finish(&self.title, &self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(value: f64, interval: Option<[f64; 2]>) -> Tree {
        Tree {
            name: "<miou>".into(),
            value,
            interval,
            words: "+0.1".into(),
            colour: Colour::Series(0),
            tip: "t".into(),
        }
    }

    #[test]
    fn no_difference_lies_in_the_middle_and_nothing_leaves_the_plot() {
        let trees = vec![tree(0.0, None), tree(1e9, Some([-3e9, 2e9])), tree(-1e-9, Some([-2e-9, 1e-9]))];
        let forest =
            Forest { title: "t".into(), description: "d".into(), sides: ["a".into(), "b".into()], trees };
        let text = forest.draw().to_string();
        assert!(text.contains("&lt;miou&gt;") && !text.contains("<miou>"));
        let places =
            text.split("cx=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap());
        let places: Vec<f64> = places.collect();
        assert!(places[1] > places[0] && places[2] < places[0], "{places:?}");
        assert!(places.iter().all(|place| (60.0..WIDTH - 50.0).contains(place)), "{places:?}");
    }
}
