//! The nearest point where it is far: points halved again and again, each part in its smallest box.

use super::{Place, Steps};

/// Parts of at most this many points are not halved.
const LEAF: usize = 8;

struct Node {
    low: Place,
    high: Place,
    /// Its points.
    first: u32,
    end: u32,
    /// The second half; the first one follows the node itself. None where points are not halved.
    second: Option<u32>,
}

/// Points in nested boxes.
pub(super) struct Tree {
    points: Vec<Place>,
    nodes: Vec<Node>,
    steps: Steps,
}

/// The nearest point so far.
struct Best {
    point: Place,
    squared: f64,
}

impl Tree {
    /// A tree over these points, at least one.
    pub(super) fn new(points: Vec<Place>, steps: Steps) -> Self {
        let end = points.len();
        let mut tree = Self { points, nodes: Vec::with_capacity(2 * end.div_ceil(LEAF)), steps };
        tree.halve(0, end);
        tree
    }

    fn halve(&mut self, first: usize, end: usize) {
        let points = &mut self.points[first..end];
        let (low, high) = points.iter().fold(([u32::MAX; 3], [0; 3]), |(low, high), point| {
            let both =
                |of: fn(u32, u32) -> u32, ends: Place| [0, 1, 2].map(|axis| of(ends[axis], point[axis]));
            (both(u32::min, low), both(u32::max, high))
        });
        let node = self.nodes.len();
        let (start, stop) = (first as u32, end as u32);
        self.nodes.push(Node { low, high, first: start, end: stop, second: None });
        if points.len() <= LEAF {
            return;
        }
        let length = |axis: usize| f64::from(high[axis] - low[axis]) * self.steps.0[axis];
        let longest = (0..3).max_by(|a, b| length(*a).total_cmp(&length(*b))).unwrap_or(2);
        let middle = points.len() / 2;
        points.select_nth_unstable_by_key(middle, |point| point[longest]);
        self.halve(first, first + middle);
        self.nodes[node].second = Some(self.nodes.len() as u32);
        self.halve(first + middle, end);
    }

    /// The point nearest to a place; the search is short where a near one is known.
    pub(super) fn nearest(&self, query: Place, known: Option<Place>) -> Place {
        let point = known.unwrap_or(self.points[0]);
        let mut best = Best { point, squared: self.steps.between(query, point) };
        self.search(0, query, &mut best);
        best.point
    }

    fn search(&self, node: usize, query: Place, best: &mut Best) {
        let Node { first, end, second, .. } = self.nodes[node];
        let Some(second) = second else {
            for &point in &self.points[first as usize..end as usize] {
                let squared = self.steps.between(query, point);
                if squared < best.squared {
                    *best = Best { point, squared };
                }
            }
            return;
        };
        let mut halves = [node + 1, second as usize].map(|half| (self.to_box(half, query), half));
        if halves[1].0 < halves[0].0 {
            halves.swap(0, 1);
        }
        for (squared, half) in halves {
            if squared < best.squared {
                self.search(half, query, best);
            }
        }
    }

    /// No point of the node is closer.
    fn to_box(&self, node: usize, query: Place) -> f64 {
        let Node { low, high, .. } = &self.nodes[node];
        let outside =
            |axis: usize| low[axis].saturating_sub(query[axis]).max(query[axis].saturating_sub(high[axis]));
        self.steps.squared([0, 1, 2].map(outside))
    }
}
