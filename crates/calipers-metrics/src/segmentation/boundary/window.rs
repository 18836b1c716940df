//! Joins over square windows, in time that hardly depends on the size of the window.
//!
//! A window of `2 reach + 1` columns is joined along its row first, then rows are joined downwards.
//! What lies outside the image joins nothing.

use calipers_core::stop::Turns;

use crate::segmentation::labels::ClassId;

/// An associative, commutative and idempotent operation.
pub(super) trait Join<V> {
    /// What changes nothing.
    const NEUTRAL: V;

    fn join(one: V, other: V) -> V;
}

/// Labels: the smaller one. Void is the largest label.
pub(super) struct Smaller;

impl<T: ClassId> Join<T> for Smaller {
    const NEUTRAL: T = T::VOID;

    #[inline(always)]
    fn join(one: T, other: T) -> T {
        one.min(other)
    }
}

/// Writes to `joined[i]` the join of `row[i..i + span]`, by windows of 1, 2, 4, .. columns; `row` is
/// used up, and `spare` is as long as it.
#[inline(always)]
pub(super) fn join_along<V: Copy, J: Join<V>>(row: &mut [V], spare: &mut [V], span: usize, joined: &mut [V]) {
    let (mut from, mut to) = (row, spare);
    let mut done = 1;
    let mut valid = joined.len() + span - 1;
    while done * 2 <= span {
        valid -= done;
        join_rows::<V, J>(&from[..valid], &from[done..done + valid], &mut to[..valid]);
        std::mem::swap(&mut from, &mut to);
        done *= 2;
    }
    let rest = span - done;
    join_rows::<V, J>(&from[..joined.len()], &from[rest..rest + joined.len()], joined);
}

#[inline(always)]
fn join_rows<V: Copy, J: Join<V>>(one: &[V], other: &[V], joined: &mut [V]) {
    for ((joined, &one), &other) in joined.iter_mut().zip(one).zip(other) {
        *joined = J::join(one, other);
    }
}

#[inline(always)]
fn join_into<V: Copy, J: Join<V>>(row: &[V], joined: &mut [V]) {
    for (joined, &row) in joined.iter_mut().zip(row) {
        *joined = J::join(*joined, row);
    }
}

/// Rows that come and go as windows move down an image.
pub(super) trait Rows<V> {
    /// Writes row y, each pixel joined along its row.
    fn load(&mut self, y: usize, row: &mut [V]);

    /// Takes row y, each pixel joined over its window.
    fn take(&mut self, y: usize, joined: &[V]);
}

/// Loads every row of an image once and has every row taken, in order, joined with all rows within `reach`.
///
/// Rows are taken in blocks of `2 reach + 1` rows. The rows that the first window of a block covers are
/// `above`, as many after them are `below`: the window of the i-th row of the block is `above` from i on,
/// joined upwards once for the whole block, and the first i rows of `below`, joined as they are loaded.
#[inline(always)]
pub(super) fn join_down<V: Copy, J: Join<V>>(
    height: usize,
    length: usize,
    reach: usize,
    rows: &mut impl Rows<V>,
) {
    let reach = reach.min(height.saturating_sub(1));
    let span = 2 * reach + 1;
    let mut above = vec![J::NEUTRAL; span * length];
    let mut below = above.clone();
    let mut head = vec![J::NEUTRAL; length];
    let mut joined = head.clone();
    for y in 0..height.min(reach + 1) {
        rows.load(y, &mut above[(reach + y) * length..][..length]);
    }
    let mut turns = Turns::every(16);
    for first in (0..height).step_by(span) {
        if turns.asked() {
            break;
        }
        for i in (1..span).rev() {
            let (upper, lower) = above.split_at_mut(i * length);
            join_into::<V, J>(&lower[..length], &mut upper[(i - 1) * length..]);
        }
        head.fill(J::NEUTRAL);
        for i in 0..span.min(height - first) {
            join_rows::<V, J>(&above[i * length..][..length], &head, &mut joined);
            rows.take(first + i, &joined);
            let next = first + i + reach + 1;
            let row = &mut below[i * length..][..length];
            if next < height {
                rows.load(next, row);
                join_into::<V, J>(row, &mut head);
            } else {
                row.fill(J::NEUTRAL);
            }
        }
        std::mem::swap(&mut above, &mut below);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined_slowly(map: &[u8], width: usize, height: usize, reach: usize) -> Vec<u8> {
        let near = |at: usize, size: usize| at.saturating_sub(reach)..(at + reach + 1).min(size);
        let smallest = |y, x| {
            near(y, height).flat_map(|v| near(x, width).map(move |u| map[v * width + u])).min().unwrap()
        };
        (0..height).flat_map(|y| (0..width).map(move |x| smallest(y, x))).collect()
    }

    struct Map<'a> {
        labels: &'a [u8],
        width: usize,
        reach: usize,
        joined: Vec<u8>,
    }

    impl Rows<u8> for Map<'_> {
        fn load(&mut self, y: usize, row: &mut [u8]) {
            let mut padded = vec![u8::MAX; self.width + 2 * self.reach];
            padded[self.reach..][..self.width].copy_from_slice(&self.labels[y * self.width..][..self.width]);
            let mut spare = padded.clone();
            join_along::<u8, Smaller>(&mut padded, &mut spare, 2 * self.reach + 1, row);
        }

        fn take(&mut self, y: usize, joined: &[u8]) {
            assert_eq!(y * self.width, self.joined.len());
            self.joined.extend_from_slice(joined);
        }
    }

    proptest! {
        #[test]
        fn windows_of_any_size_join_what_lies_in_them(
            (width, height, map) in (1usize..40, 1usize..40).prop_flat_map(|(width, height)| {
                (Just(width), Just(height), prop::collection::vec(any::<u8>(), width * height))
            }),
            reach in 0usize..50,
        ) {
            let mut fast = Map { labels: &map, width, reach, joined: Vec::new() };
            join_down::<u8, Smaller>(height, width, reach, &mut fast);
            prop_assert_eq!(fast.joined, joined_slowly(&map, width, height, reach));
        }
    }

    #[test]
    fn an_image_without_rows_has_no_windows() {
        let mut map = Map { labels: &[], width: 3, reach: 2, joined: Vec::new() };
        join_down::<u8, Smaller>(0, 3, 2, &mut map);
        assert!(map.joined.is_empty());
    }
}
