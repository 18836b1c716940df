//! The outlines of shapes; none where there is nothing to see.

use tiny_skia::{Path, PathBuilder, Rect, Transform};

use crate::chart::drawing::canvas::{self, Anchor, Shape, Step, Type};
use crate::chart::drawing::svg::hundredths;

/// How far the handles of a cubic curve reach along the sides of a quarter circle of radius one.
const QUARTER: f32 = 0.552_284_8;

/// A number as the text of the drawing has it, with two decimals, so that all formats agree.
pub(super) fn rounded(x: f64) -> f32 {
    (hundredths(x) / 100.0) as f32
}

/// The outline of a shape that is one.
pub(super) fn of(shape: &Shape) -> Option<Path> {
    match shape {
        Shape::Rect { place, round, .. } => rect(place.map(rounded), rounded(*round)),
        Shape::Circle { centre, radius, .. } => circle(centre.map(rounded), rounded(*radius)),
        Shape::Line { ends, .. } => line(ends.map(|end| end.map(rounded))),
        Shape::Path { path, .. } => course(path),
        Shape::Text { .. } | Shape::Image { .. } | Shape::Placed { .. } => None,
    }
}

/// Where a line of words of this width begins, and which way it runs.
pub(super) fn line_of(place: [f64; 2], set: Type, width: f32) -> Transform {
    let before = match set.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * width,
        Anchor::End => width,
    };
    let [x, y] = place.map(rounded);
    let turn = if set.upright { [1.0, 0.0, 0.0, 1.0] } else { [0.0, -1.0, 1.0, 0.0] };
    Transform::from_row(turn[0], turn[1], turn[2], turn[3], x, y).pre_translate(-before, 0.0)
}

/// A rectangle with round corners.
fn rect([x, y, w, h]: [f32; 4], round: f32) -> Option<Path> {
    if w <= 0.0 || h <= 0.0 {
        return None;
    }
    if round <= 0.0 {
        return Rect::from_xywh(x, y, w, h).map(PathBuilder::from_rect);
    }
    let (right, bottom) = (x + w, y + h);
    let (rx, ry) = (round.min(0.5 * w), round.min(0.5 * h));
    let (kx, ky) = ((1.0 - QUARTER) * rx, (1.0 - QUARTER) * ry);
    let mut pen = PathBuilder::new();
    pen.move_to(x + rx, y);
    pen.line_to(right - rx, y);
    pen.cubic_to(right - kx, y, right, y + ky, right, y + ry);
    pen.line_to(right, bottom - ry);
    pen.cubic_to(right, bottom - ky, right - kx, bottom, right - rx, bottom);
    pen.line_to(x + rx, bottom);
    pen.cubic_to(x + kx, bottom, x, bottom - ky, x, bottom - ry);
    pen.line_to(x, y + ry);
    pen.cubic_to(x, y + ky, x + kx, y, x + rx, y);
    pen.close();
    pen.finish()
}

/// A circle.
fn circle([x, y]: [f32; 2], radius: f32) -> Option<Path> {
    if radius > 0.0 { PathBuilder::from_circle(x, y, radius) } else { None }
}

/// A straight line.
fn line([from, to]: [[f32; 2]; 2]) -> Option<Path> {
    let mut pen = PathBuilder::new();
    pen.move_to(from[0], from[1]);
    pen.line_to(to[0], to[1]);
    pen.finish()
}

/// The course of a pen.
fn course(path: &canvas::Path) -> Option<Path> {
    let mut pen = PathBuilder::new();
    for step in &path.0 {
        match step {
            Step::Start(place) => {
                let [x, y] = place.map(rounded);
                pen.move_to(x, y);
            }
            Step::To(place) => {
                let [x, y] = place.map(rounded);
                pen.line_to(x, y);
            }
            Step::Dot(place) => {
                let [x, y] = place.map(rounded);
                pen.move_to(x, y);
                pen.line_to(x, y);
            }
            Step::Close => pen.close(),
        }
    }
    pen.finish()
}
