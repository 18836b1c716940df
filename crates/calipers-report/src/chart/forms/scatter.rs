//! Points in a plane, with curves of equal value behind them.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Paint, Path, Type};
use crate::chart::drawing::frame::{Entry, Frame, SMALL, Sign};
use crate::chart::drawing::marker::marker;
use crate::chart::drawing::palette::Colour;

/// More points than these of one cloud are drawn as a density.
const MOST_POINTS: usize = 600;
/// The side of a place in which many points are drawn as one, in pixels.
const PLACE: f64 = 6.0;

/// Clouds of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scatter {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The height of the plot in pixels.
    pub height: f64,
    /// The clouds, the first one lowest.
    pub clouds: Vec<Cloud>,
    /// Curves behind the points, with what stands at their end.
    pub contours: Vec<(String, Vec<(f64, f64)>)>,
    /// Values of y with a name: dashed lines across.
    pub levels: Vec<(f64, String)>,
}

/// Points of one colour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cloud {
    /// The name in the legend; without one it is not there.
    pub name: Option<String>,
    /// The colour.
    pub colour: Colour,
    /// The points.
    pub points: Vec<Point>,
    /// Whether points are rings.
    pub hollow: bool,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Where it lies.
    pub x: f64,
    /// Where it lies.
    pub y: f64,
    /// How large it is.
    pub radius: f64,
    /// The text of the tooltip.
    pub tip: String,
}

impl Scatter {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let legend: Vec<Entry<'_>> = self
            .clouds
            .iter()
            .filter_map(|cloud| {
                let sign = if cloud.hollow { Sign::Ring } else { Sign::Dot };
                Some(Entry { name: cloud.name.as_deref()?, colour: cloud.colour, sign })
            })
            .collect();
        let (mut canvas, frame) = Frame::new(&self.x, &self.y, [width, self.height], &legend);
        for (name, points) in &self.contours {
            let path = Path::through(points.iter().map(|(x, y)| frame.at(*x, *y)));
            canvas.path(path, Paint::line(Colour::Quiet, 1.0).faded(0.7), None);
            if let Some((x, y)) = points.last() {
                let [x, y] = frame.at(*x, *y);
                canvas.text([x - 4.0, y - 4.0], name, Type::new(SMALL, Anchor::End).quiet().with_halo());
            }
        }
        let clouds = self.clouds.iter().flat_map(|cloud| &cloud.points);
        let points: Vec<[f64; 2]> = clouds.map(|point| frame.at(point.x, point.y)).collect();
        for (value, name) in &self.levels {
            frame.level(&mut canvas, *value, name, &points);
        }
        for cloud in &self.clouds {
            if cloud.points.len() <= MOST_POINTS {
                let paint = if cloud.hollow {
                    Paint::fill(Colour::Paper).outlined(cloud.colour, 2.0)
                } else {
                    Paint::fill(cloud.colour).outlined(Colour::Paper, 0.8).faded(0.8)
                };
                for Point { x, y, radius, tip } in &cloud.points {
                    let at = frame.at(*x, *y);
                    if cloud.hollow {
                        canvas.circle(at, *radius, paint, Some(tip));
                    } else {
                        marker(&mut canvas, cloud.colour, at, *radius, paint, Some(tip));
                    }
                }
            } else {
                let places = cloud.points.iter().map(|point| frame.at(point.x, point.y));
                for (share, dots) in densities(places) {
                    let pen = Paint::line(cloud.colour, PLACE).faded(0.2 + 0.8 * share);
                    canvas.path(dots, pen, None);
                }
            }
        }
        canvas.finish(&self.title, &self.description)
    }
}

/// One dot for all points in a place, deeper the more there are, in four depths.
fn densities(points: impl Iterator<Item = [f64; 2]>) -> Vec<(f64, Path)> {
    let mut counts: BTreeMap<(i32, i32), u64> = BTreeMap::new();
    for [x, y] in points {
        *counts.entry(((x / PLACE).floor() as i32, (y / PLACE).floor() as i32)).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(1);
    let mut depths: [Path; 4] = Default::default();
    for ((i, j), count) in counts {
        // Equal factors are equal steps: 1 in the first depth, the most in the last.
        let bits = |n: u64| f64::from(u64::BITS - n.leading_zeros());
        let depth = ((bits(count) - 1.0) / (bits(most) - 1.0).max(1.0) * 3.0).round() as usize;
        depths[depth.min(3)].dot([PLACE * (f64::from(i) + 0.5), PLACE * (f64::from(j) + 0.5)]);
    }
    depths.into_iter().enumerate().map(|(i, path)| (i as f64 / 3.0, path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_become_a_density_of_bounded_size() {
        let point = |i: u32| {
            let spread = f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
            Point { x: spread, y: f64::from(i) / 1e5, radius: 4.0, tip: format!("unit {i}") }
        };
        let scatter = Scatter {
            title: "t".into(),
            description: "d".into(),
            x: Axis::share("x"),
            y: Axis::share("y"),
            height: 300.0,
            clouds: vec![Cloud {
                name: None,
                colour: Colour::Series(0),
                points: (0..100_000).map(point).collect(),
                hollow: false,
            }],
            contours: Vec::new(),
            levels: Vec::new(),
        };
        let text = scatter.draw(720.0).to_string();
        assert!(text.len() < 120_000, "{}", text.len());
        assert_eq!(text, scatter.draw(720.0).to_string());
    }
}
