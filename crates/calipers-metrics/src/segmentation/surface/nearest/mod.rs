//! The distance from each point of one surface to the nearest point of another one, exactly.
//!
//! Squared distances are ((d0 s0)^2 + (d1 s1)^2) + (d2 s2)^2, every operation rounded to a double: with
//! spacing 1 whole numbers, hence exact. Rounded operations are monotone: what is at least as far along every
//! axis is at least as far. The search relies on nothing else, so that it finds the very minimum of the
//! formula over all points.
//!
//! Most points have a neighbour a few elements away. [`near`] looks for it row by row in a map of bits. What
//! lies farther is left to a [`tree`] over the points.

mod near;
mod tree;

use self::near::Bits;
use self::tree::Tree;

/// A place on the grid: slice, row, column.
type Place = [u32; 3];

/// Columns that share what is known of the query before.
const COLUMNS_PER_MEMORY: usize = 8;

/// How far points are apart along each axis.
#[derive(Clone, Copy, Debug)]
struct Steps([f64; 3]);

impl Steps {
    /// The squared distance of two places, from the number of elements between them along each axis.
    fn squared(self, apart: Place) -> f64 {
        let [a, b, c] = [0, 1, 2].map(|axis| {
            let length = f64::from(apart[axis]) * self.0[axis];
            length * length
        });
        (a + b) + c
    }

    fn between(self, a: Place, b: Place) -> f64 {
        self.squared([0, 1, 2].map(|axis| a[axis].abs_diff(b[axis])))
    }
}

/// A query that was answered, from which the next one nearby learns.
#[derive(Clone, Copy)]
struct Answered {
    query: Place,
    nearest: Place,
    squared: f64,
}

/// Searches between lists of points on one grid.
pub(super) struct Search {
    axes: [usize; 3],
    steps: Steps,
    bits: Bits,
}

impl Search {
    /// A search on a grid of points.
    pub(super) fn new(axes: [usize; 3], spacing: [f64; 3]) -> Self {
        let steps = Steps(spacing);
        Self { axes, steps, bits: Bits::new(axes, steps) }
    }

    /// The squared distance of each point to the nearest of the others, of which there is at least one.
    pub(super) fn squared_distances(&mut self, points: &[u32], others: &[u32]) -> Vec<f64> {
        others.iter().for_each(|other| self.bits.flip(self.place(*other)));
        let mut tree = None;
        let mut memory: Vec<Option<Answered>> = vec![None; self.axes[2].div_ceil(COLUMNS_PER_MEMORY)];
        let mut squared = |point: &u32| {
            let query = self.place(*point);
            let known = &mut memory[query[2] as usize / COLUMNS_PER_MEMORY];
            // A neighbour whose nearest point is far has shown that there is nothing close to look at.
            let is_far = known.is_some_and(|known| {
                known.squared.sqrt() - self.steps.between(query, known.query).sqrt() > self.bits.reach()
            });
            if !is_far && let Some(squared) = self.bits.nearest(query) {
                return squared;
            }
            let tree = tree.get_or_insert_with(|| {
                Tree::new(others.iter().map(|other| self.place(*other)).collect(), self.steps)
            });
            let nearest = tree.nearest(query, known.map(|known| known.nearest));
            let squared = self.steps.between(query, nearest);
            *known = Some(Answered { query, nearest, squared });
            squared
        };
        let squared = points.iter().map(&mut squared).collect();
        others.iter().for_each(|other| self.bits.flip(self.place(*other)));
        squared
    }

    fn place(&self, place: u32) -> Place {
        let [_, height, width] = self.axes.map(|length| length as u32);
        let row = place / width;
        [row / height, row % height, place % width]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every pair.
    fn slowly(axes: [usize; 3], spacing: [f64; 3], points: &[u32], others: &[u32]) -> Vec<f64> {
        let search = Search::new(axes, spacing);
        let of = |point: &u32| {
            let to = |other: &u32| search.steps.between(search.place(*point), search.place(*other));
            others.iter().map(to).fold(f64::INFINITY, f64::min)
        };
        points.iter().map(of).collect()
    }

    fn bits(distances: &[f64]) -> Vec<u64> {
        distances.iter().map(|distance| distance.to_bits()).collect()
    }

    fn spacings() -> impl Strategy<Value = [f64; 3]> {
        prop_oneof![
            Just([1.0; 3]),
            Just([2.0, 0.75, 0.75]),
            Just([0.7, 1.3, 0.9]),
            Just([30.0, 0.1, 7.0]),
            [0.01..9.0, 0.01..9.0, 0.01..9.0],
        ]
    }

    proptest! {
        #[test]
        fn every_distance_is_the_smallest_of_all_pairs(
            axes in prop_oneof![[1usize..2, 1usize..200, 1usize..200], [1usize..30, 1usize..30, 1usize..90]],
            spacing in spacings(),
            near in prop::collection::vec((any::<u32>(), 0u32..30), 1..40),
            other in prop::collection::vec(any::<u32>(), 1..40),
        ) {
            let places = axes.iter().product::<usize>() as u32;
            let sorted = |mut list: Vec<u32>| {
                list.sort_unstable();
                list.dedup();
                list
            };
            // Some points lie in a cluster, others anywhere.
            let points = sorted(near.iter().map(|(place, step)| (place % places / 3 + step) % places).collect());
            let others = sorted(other.iter().map(|place| place % places).collect());
            let mut search = Search::new(axes, spacing);
            for (points, others) in [(&points, &others), (&others, &points), (&points, &points)] {
                let found = search.squared_distances(points, others);
                prop_assert_eq!(bits(&found), bits(&slowly(axes, spacing, points, others)));
            }
        }
    }

    #[test]
    fn far_objects_are_found_through_the_tree() {
        let axes = [1, 300, 300];
        let block = |first: u32| (0..90).map(|k| first + k % 9 + 300 * (k / 9)).collect::<Vec<u32>>();
        let (points, others) = (block(310), block(250 * 300 + 200));
        for spacing in [[1.0; 3], [1.0, 0.3, 2.7]] {
            let found = Search::new(axes, spacing).squared_distances(&points, &others);
            assert_eq!(bits(&found), bits(&slowly(axes, spacing, &points, &others)));
        }
    }
}
