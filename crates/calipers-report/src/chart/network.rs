//! A small graph drawn with springs, the same way every time.

use super::canvas::{Anchor, Canvas, Paint, Path, Type, text_width};
use super::frame::{SMALL, WIDTH};
use super::palette::Colour;
use super::svg::Svg;

/// How often the springs pull.
const ROUNDS: usize = 300;
/// The side of the drawing in which nodes lie.
const SIDE: f64 = 380.0;

/// A graph of at most a few hundred nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// How each node looks, and what is said where the pointer rests.
    pub nodes: Vec<(Look, String)>,
    /// Pairs of nodes, and whether the edge stands out as wrong.
    pub edges: Vec<(u32, u32, bool)>,
    /// What the legend says.
    pub legend: Vec<(Look, String)>,
    /// What the legend says about edges that stand out.
    pub wrong: String,
}

/// How a node looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Network {
    /// The drawing.
    pub fn draw(&self) -> Svg {
        let places = places(self.nodes.len(), &self.edges);
        let top = 40.0;
        let mut canvas = Canvas::new(WIDTH, top + SIDE + 24.0);
        let wide = WIDTH - 48.0;
        let at = |node: u32| {
            let [x, y] = places.get(node as usize).copied().unwrap_or([0.5, 0.5]);
            [24.0 + wide * x, top + 8.0 + (SIDE - 8.0) * y]
        };
        let (mut right, mut wrong) = (Path::default(), Path::default());
        for &(u, v, bad) in &self.edges {
            let path = if bad { &mut wrong } else { &mut right };
            path.start(at(u));
            path.to(at(v));
        }
        canvas.path(right, Paint::line(Colour::Quiet, 1.1).faded(0.45), None);
        canvas.path(wrong, Paint::line(Colour::Bad, 3.0), None);
        let radius = if self.nodes.len() > 120 {
            4.0
        } else if self.nodes.len() > 40 {
            6.5
        } else {
            8.5
        };
        for (i, (look, tip)) in self.nodes.iter().enumerate() {
            canvas.circle(at(i as u32), radius, look.paint(), Some(tip));
        }
        let mut x = 30.0;
        for (look, name) in &self.legend {
            canvas.circle([x, 16.0], 6.0, look.paint(), None);
            canvas.text([x + 13.0, 20.0], name, Type::new(SMALL, Anchor::Start));
            x += text_width(name, SMALL) + 42.0;
        }
        if !wrong_is_empty(&self.edges) {
            canvas.line([x - 6.0, 16.0], [x + 12.0, 16.0], Paint::line(Colour::Bad, 3.0));
            canvas.text([x + 19.0, 20.0], &self.wrong, Type::new(SMALL, Anchor::Start));
        }
        canvas.finish(&self.title, &self.description)
    }
}

fn wrong_is_empty(edges: &[(u32, u32, bool)]) -> bool {
    edges.iter().all(|(_, _, bad)| !bad)
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
fn places(nodes: usize, edges: &[(u32, u32, bool)]) -> Vec<[f64; 2]> {
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
        for &(u, v, _) in edges {
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
        let ring: Vec<_> = (0..20).map(|i| (i, (i + 1) % 20, false)).collect();
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
        for (nodes, edges) in [(0, vec![]), (1, vec![(0, 0, true)]), (2, vec![(0, 1, true), (0, 9, false)])] {
            let network = Network {
                title: "t".into(),
                description: "d".into(),
                nodes: vec![(Look::Hollow, "node".into()); nodes],
                edges,
                legend: vec![],
                wrong: "violated".into(),
            };
            assert!(!network.draw().to_string().contains("NaN"));
        }
    }
}
