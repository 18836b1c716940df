//! Differences with their intervals beside the line that stands for none: a forest plot.

use serde::Serialize;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Paint, Path, Type, fitted, text_width};
use crate::chart::drawing::frame::SMALL;
use crate::chart::drawing::palette::Colour;

const ROW: f64 = 26.0;
/// The room that the ticks of an axis take.
const TICKS: f64 = 24.0;
/// The room between two axes.
const GAP: f64 = 12.0;

/// Named differences, one below the other. Those of one axis can be compared with each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forest {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// What lies to the left and to the right of no difference.
    pub sides: [String; 2],
    /// What the axes measure, and which way is better.
    pub axis: String,
    /// The differences of each axis from top to bottom.
    pub groves: Vec<Vec<Tree>>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// The text of the tooltip.
    pub tip: String,
}

impl Forest {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let trees = || self.groves.iter().flatten();
        let wide = |words: fn(&Tree) -> &str, size: f64| {
            trees().map(|tree| text_width(words(tree), size)).fold(0.0, f64::max)
        };
        let left = (wide(|tree| &tree.name, 13.0) + 24.0).clamp(60.0, 0.32 * width);
        let right = width - (wide(|tree| &tree.words, SMALL) + 16.0).clamp(50.0, 0.26 * width);
        let top = 30.0;
        let height = |grove: &Vec<Tree>| ROW * grove.len() as f64 + TICKS + GAP;
        let bottom = top + self.groves.iter().map(height).sum::<f64>();
        let mut canvas = Canvas::new(width, bottom + 26.0);
        let middle = 0.5 * (left + right);
        let [worse, better] = &self.sides;
        let side = |words: &str| fitted(words, SMALL, 0.5 * (right - left) - 16.0);
        canvas.text(
            [left, top - 12.0],
            &format!("← {}", side(worse)),
            Type::new(SMALL, Anchor::Start).quiet(),
        );
        canvas.text(
            [right, top - 12.0],
            &format!("{} →", side(better)),
            Type::new(SMALL, Anchor::End).quiet(),
        );
        let mut y = top;
        for grove in &self.groves {
            planted(&mut canvas, grove, [left, right], y);
            y += height(grove);
        }
        let axis = fitted(&self.axis, 13.0, width - 16.0);
        let half = 0.5 * text_width(&axis, 13.0);
        let middle = middle.clamp(half + 8.0, (width - half - 8.0).max(half + 8.0));
        canvas.text([middle, bottom + 12.0], &axis, Type::new(13.0, Anchor::Middle));
        canvas.finish(&self.title, &self.description)
    }
}

/// The trees of one axis, its ticks below them and a line at no difference.
fn planted(canvas: &mut Canvas, grove: &[Tree], [left, right]: [f64; 2], top: f64) {
    let ends = |tree: &Tree| tree.interval.unwrap_or([tree.value; 2]);
    let values = grove.iter().flat_map(|tree| [tree.value].into_iter().chain(ends(tree))).chain([0.0]);
    let axis = Axis::around("", values);
    let at = |value: f64| left + (right - left) * axis.place(value).clamp(0.0, 1.0);
    let bottom = top + ROW * grove.len() as f64;
    for (value, label) in axis.ticks((right - left) / 80.0) {
        canvas.line([at(value), top], [at(value), bottom + 4.0], Paint::line(Colour::Rule, 1.0));
        canvas.text([at(value), bottom + 17.0], &label, Type::new(SMALL, Anchor::Middle).quiet());
    }
    canvas.line([left, bottom], [right, bottom], Paint::line(Colour::Quiet, 1.0));
    canvas.line([at(0.0), top - 4.0], [at(0.0), bottom + 4.0], Paint::line(Colour::Ink, 1.4));
    for (i, tree) in grove.iter().enumerate() {
        let y = top + ROW * (i as f64 + 0.5);
        let name = fitted(&tree.name, 13.0, left - 22.0);
        canvas.text([left - 10.0, y + 4.5], &name, Type::new(13.0, Anchor::End));
        canvas.text([right + 10.0, y + 4.0], &tree.words, Type::new(SMALL, Anchor::Start));
        if tree.interval.is_some() {
            let ends = ends(tree);
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

    fn places(groves: Vec<Vec<Tree>>) -> Vec<f64> {
        let sides = ["a".into(), "b".into()];
        let (title, description, axis) = ("t".into(), "d".into(), "gain".into());
        let text = Forest { title, description, sides, axis, groves }.draw(960.0).to_string();
        assert!(text.contains("&lt;miou&gt;") && !text.contains("<miou>"));
        let places = text.split("cx=\"").skip(1);
        places.map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap()).collect()
    }

    #[test]
    fn gains_lie_right_of_no_difference_and_nothing_leaves_the_plot() {
        let grove = vec![tree(0.0, None), tree(1e9, Some([-3e9, 2e9])), tree(-1e-9, Some([-2e-9, 1e-9]))];
        let places = places(vec![grove]);
        assert!(places[1] > places[0] && places[2] <= places[0], "{places:?}");
        assert!(places.iter().all(|place| (60.0..910.0).contains(place)), "{places:?}");
    }

    #[test]
    fn trees_of_one_axis_are_on_one_scale_and_others_on_their_own() {
        let together = places(vec![vec![tree(0.1, None), tree(0.2, None), tree(0.0, None)]]);
        let (near, far) = (together[0] - together[2], together[1] - together[2]);
        assert!((far - 2.0 * near).abs() < 0.5, "{together:?}");
        let apart = places(vec![vec![tree(0.1, None)], vec![tree(50.0, None)]]);
        assert!((apart[0] - apart[1]).abs() < 0.5, "{apart:?}");
    }
}
