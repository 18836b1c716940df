//! A small graph drawn with springs, the same way every time.

use serde::Serialize;

use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Anchor, Canvas, Paint, Path, Type, text_width};
use crate::chart::drawing::frame::{SMALL, height};
use crate::chart::drawing::palette::Colour;

/// How often the springs pull.
const ROUNDS: usize = 300;
/// The natural height of the part in which nodes lie.
const HEIGHT: f64 = 380.0;

/// A graph of a few hundred nodes at most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Network {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// How each node looks, and what is said where the pointer rests.
    pub nodes: Vec<(Look, String)>,
    /// Where each node lies in the unit square: [`places`].
    pub places: Vec<[f64; 2]>,
    /// Pairs of nodes and how their edge looks.
    pub edges: Vec<(u32, u32, Stroke)>,
    /// What the legend says about nodes.
    pub legend: Vec<(Look, String)>,
    /// What the legend says about edges.
    pub strokes: Vec<(Stroke, String)>,
}

/// How a node looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Filled.
    Full(Colour),
    /// Filled, with a rim that stands out as wrong.
    Wrong(Colour),
    /// A ring.
    Hollow,
    /// A ring in a colour.
    Ringed(Colour),
}

/// How an edge looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stroke {
    /// A thin line.
    Plain,
    /// A thick line.
    Thick(Colour),
    /// A line as wide as its weight, from 0 to [`WIDEST`].
    Weighted(Colour, u8),
    /// The same, standing back.
    Pale(u8),
    /// A dashed line.
    Dashed(Colour),
}

/// The weight of the widest line.
pub const WIDEST: u8 = 10;

impl Network {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let rows = self.legend_rows(width);
        let (top, side) = (20.0 + 20.0 * rows.len() as f64, height(HEIGHT, width));
        let mut canvas = Canvas::new(width, top + side + 16.0);
        let at = |node: u32| {
            let [x, y] = self.places.get(node as usize).copied().unwrap_or([0.5, 0.5]);
            [20.0 + (width - 40.0) * x, top + (side - 8.0) * y]
        };
        let mut strokes = vec![Stroke::Plain];
        for (_, _, stroke) in &self.edges {
            if !strokes.contains(stroke) {
                strokes.push(*stroke);
            }
        }
        for stroke in strokes {
            let mut path = Path::default();
            for &(u, v, _) in self.edges.iter().filter(|(_, _, own)| *own == stroke) {
                path.start(at(u));
                path.to(at(v));
            }
            canvas.path(path, stroke.paint(self.edges.len() > MANY_EDGES), None);
        }
        let room = (width - 40.0) * side / self.nodes.len().max(1) as f64;
        let radius = (0.24 * room.sqrt()).clamp(3.0, 8.5);
        for (i, (look, tip)) in self.nodes.iter().enumerate() {
            canvas.circle(at(i as u32), radius, look.paint(), Some(tip));
        }
        for (i, row) in rows.iter().enumerate() {
            let y = 14.0 + 20.0 * i as f64;
            for (x, sign, name) in row {
                match sign {
                    Ok(look) => canvas.circle([*x + 10.0, y], 6.0, look.paint(), None),
                    Err(stroke) => canvas.line([*x, y], [*x + 20.0, y], stroke.paint(false)),
                }
                canvas.text([*x + 27.0, y + 4.0], name, Type::new(SMALL, Anchor::Start));
            }
        }
        canvas.finish(&self.title, &self.description)
    }

    /// The legend in rows.
    fn legend_rows(&self, width: f64) -> Vec<Vec<Sign<'_>>> {
        let nodes = self.legend.iter().map(|(look, name)| (Ok(*look), name.as_str()));
        let edges = self.strokes.iter().map(|(stroke, name)| (Err(*stroke), name.as_str()));
        let (mut rows, mut used) = (Vec::new(), f64::INFINITY);
        for (sign, name) in nodes.chain(edges) {
            let wide = text_width(name, SMALL) + 46.0;
            if used + wide > width - 20.0 {
                rows.push(Vec::new());
                used = 16.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((used, sign, name));
            }
            used += wide;
        }
        rows
    }
}

/// Where a sign of the legend stands, the node or edge that it shows, and what it says.
type Sign<'a> = (f64, Result<Look, Stroke>, &'a str);

/// From so many edges on they are thin and pale: nodes are what is looked at.
const MANY_EDGES: usize = 250;

impl Stroke {
    fn paint(self, many: bool) -> Paint {
        match self {
            Self::Plain if many => Paint::line(Colour::Quiet, 0.7).faded(0.35),
            Self::Plain => Paint::line(Colour::Quiet, 1.1).faded(0.5),
            Self::Thick(colour) => Paint::line(colour, 3.0),
            Self::Weighted(colour, weight) => Paint::line(colour, width(weight)),
            Self::Pale(weight) => Paint::line(Colour::Quiet, width(weight)).faded(0.45),
            Self::Dashed(colour) => Paint::line(colour, 1.8).dashed(),
        }
    }
}

/// How wide the line of a weight is; also the least of them is seen.
fn width(weight: u8) -> f64 {
    0.8 + 4.2 * f64::from(weight) / f64::from(WIDEST)
}

impl Look {
    fn paint(self) -> Paint {
        match self {
            Self::Full(colour) => Paint::fill(colour).outlined(Colour::Paper, 1.5),
            Self::Wrong(colour) => Paint::fill(colour).outlined(Colour::Bad, 3.0),
            Self::Hollow => Paint::fill(Colour::Paper).outlined(Colour::Quiet, 1.5),
            Self::Ringed(colour) => Paint::fill(Colour::Paper).outlined(colour, 2.5),
        }
    }
}

/// A place in the unit square for each node: neighbours attract each other, all nodes repel each
/// other (Fruchterman and Reingold 1991). Only the four operations and square roots, so that every
/// machine draws the same picture.
pub fn places(nodes: usize, edges: &[(u32, u32)]) -> Vec<[f64; 2]> {
    let n = nodes.max(1) as f64;
    let start = |i: usize| {
        let spread = |i: f64, step: f64| (i * step).fract();
        [spread(i as f64 + 0.5, 0.754_877_666_246_692_8), spread(i as f64 + 0.5, 0.569_840_290_998_053_3)]
    };
    let mut at: Vec<[f64; 2]> = (0..nodes).map(start).collect();
    let reach = 0.8 / n.sqrt();
    for round in 0..ROUNDS {
        let heat = 0.1 * (1.0 - round as f64 / ROUNDS as f64) + 0.001;
        let mut push: Vec<[f64; 2]> =
            at.iter().map(|[x, y]| [1.2 * (0.5 - x) * reach, 1.2 * (0.5 - y) * reach]).collect();
        for i in 0..nodes {
            for j in 0..i {
                let [dx, dy] = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
                let force = reach * reach / (dx * dx + dy * dy).max(1e-6);
                for (node, sign) in [(i, 1.0), (j, -1.0)] {
                    push[node][0] += sign * dx * force;
                    push[node][1] += sign * dy * force;
                }
            }
        }
        for &(u, v) in edges {
            let (u, v) = (u as usize, v as usize);
            if u == v || u >= nodes || v >= nodes {
                continue;
            }
            let [dx, dy] = [at[u][0] - at[v][0], at[u][1] - at[v][1]];
            let force = (dx * dx + dy * dy).sqrt() / reach;
            for (node, sign) in [(u, -1.0), (v, 1.0)] {
                push[node][0] += sign * dx * force;
                push[node][1] += sign * dy * force;
            }
        }
        for (place, [dx, dy]) in at.iter_mut().zip(push) {
            let length = (dx * dx + dy * dy).sqrt().max(1e-12);
            let step = length.min(heat) / length;
            *place = [place[0] + dx * step, place[1] + dy * step];
        }
    }
    fill(at)
}

/// Stretches the places to the unit square.
fn fill(at: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let span = |k: usize| {
        let low = at.iter().map(|place| place[k]).fold(f64::INFINITY, f64::min);
        let high = at.iter().map(|place| place[k]).fold(f64::NEG_INFINITY, f64::max);
        (low, (high - low).max(1e-9))
    };
    let (x, y) = (span(0), span(1));
    let even = |value: f64, (low, span): (f64, f64)| if span > 1e-6 { (value - low) / span } else { 0.5 };
    at.iter().map(|place| [even(place[0], x), even(place[1], y)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_lie_apart_inside_the_picture_and_always_at_the_same_place() {
        let ring: Vec<_> = (0..20).map(|i| (i, (i + 1) % 20)).collect();
        let found = places(22, &ring);
        assert_eq!(found, places(22, &ring));
        for (i, a) in found.iter().enumerate() {
            assert!(a.iter().all(|x| (0.0..=1.0).contains(x)), "{a:?}");
            for b in &found[..i] {
                assert!((a[0] - b[0]).abs() + (a[1] - b[1]).abs() > 0.01, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn odd_graphs_are_drawn() {
        for (nodes, edges) in [(0, vec![]), (1, vec![(0, 0)]), (2, vec![(0, 1), (0, 9)])] {
            let network = Network {
                title: "t".into(),
                description: "d".into(),
                nodes: vec![(Look::Hollow, "node".into()); nodes],
                places: places(nodes, &edges),
                edges: edges.into_iter().map(|(u, v)| (u, v, Stroke::Thick(Colour::Bad))).collect(),
                legend: vec![],
                strokes: vec![(Stroke::Plain, "edge".into())],
            };
            assert!(!network.draw(300.0).to_string().contains("NaN"));
        }
    }
}
