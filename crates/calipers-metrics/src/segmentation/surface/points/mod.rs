//! The points of the surfaces of all classes of a map: centres of elements, or corners of the grid.

mod corners;
mod elements;
mod surfels;

pub(super) use surfels::weights;

use super::grid::Grid;
use super::settings::Convention;
use crate::segmentation::labels::ClassId;

/// The points of every class, each list in the order of the grid.
pub(super) struct Points {
    /// The axes of the grid that they lie on.
    pub(super) axes: [usize; 3],
    /// Positions on the grid by class.
    pub(super) places: Vec<Vec<u32>>,
    /// The neighbourhood of each corner by class; empty where points are elements.
    pub(super) codes: Vec<Vec<u8>>,
}

/// The surface points of the classes that are wanted, in a map whose void is [`ClassId::VOID`].
pub(super) fn points<T: ClassId>(
    map: &[T],
    grid: &Grid,
    classes: usize,
    wanted: &dyn Fn(usize) -> bool,
    convention: Convention,
) -> Points {
    match convention {
        Convention::Strict => elements::elements(map, grid, classes, wanted, false),
        Convention::Medpy | Convention::Monai => elements::elements(map, grid, classes, wanted, true),
        Convention::Deepmind => corners::corners(map, grid, classes, wanted),
    }
}

/// How many flags are looked at together where most are not set.
const BLOCK: usize = 8;

/// Calls `hit` for each position whose flag is set.
fn each_set(flags: &[u8], mut hit: impl FnMut(usize)) {
    let (blocks, rest) = flags.as_chunks::<BLOCK>();
    for (block, flags) in blocks.iter().enumerate() {
        if u64::from_ne_bytes(*flags) != 0 {
            let set = flags.iter().enumerate().filter(|(_, flag)| **flag != 0);
            set.for_each(|(at, _)| hit(block * BLOCK + at));
        }
    }
    let first = blocks.len() * BLOCK;
    let set = rest.iter().enumerate().filter(|(_, flag)| **flag != 0);
    set.for_each(|(at, _)| hit(first + at));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const CLASSES: usize = 3;

    /// A label, void, no prediction or, outside the grid, nothing.
    fn label(map: &[u8], axes: [usize; 3], at: [i64; 3]) -> Option<u8> {
        let [z, y, x] = [0, 1, 2].map(|k| usize::try_from(at[k]).ok().filter(|at| *at < axes[k]));
        Some(map[(z? * axes[1] + y?) * axes[2] + x?])
    }

    fn places(axes: [usize; 3]) -> impl Iterator<Item = [i64; 3]> {
        let [depth, height, width] = axes.map(|length| length as i64);
        (0..depth).flat_map(move |z| (0..height).flat_map(move |y| (0..width).map(move |x| [z, y, x])))
    }

    fn elements_slowly(map: &[u8], axes: [usize; 3], class: u8, void_is_other: bool) -> Vec<u32> {
        let first_axis = usize::from(axes[0] == 1);
        let makes_surface = |neighbour: Option<u8>| match neighbour {
            None => true,
            Some(u8::VOID) => void_is_other,
            Some(other) => other != class,
        };
        let is_surface = |at: [i64; 3]| {
            let towards = |axis: usize, step: i64| {
                let mut beside = at;
                beside[axis] += step;
                makes_surface(label(map, axes, beside))
            };
            label(map, axes, at) == Some(class)
                && (first_axis..3).any(|axis| towards(axis, -1) || towards(axis, 1))
        };
        let all = (0..).zip(places(axes));
        all.filter(|(_, at)| is_surface(*at)).map(|(place, _)| place).collect()
    }

    fn corners_slowly(map: &[u8], axes: [usize; 3], class: u8) -> BTreeMap<u32, u8> {
        let flat = axes[0] == 1;
        let grid = [if flat { 1 } else { axes[0] + 1 }, axes[1] + 1, axes[2] + 1];
        let slices: &[i64] = if flat { &[0] } else { &[-1, 0] };
        let all = if flat { 0b1111 } else { 0b1111_1111 };
        let code = |[z, y, x]: [i64; 3]| {
            let mut code = 0u8;
            for dz in slices {
                for dy in [-1, 0] {
                    for dx in [-1, 0] {
                        let inside = label(map, axes, [z + dz, y + dy, x + dx]) == Some(class);
                        code = code << 1 | u8::from(inside);
                    }
                }
            }
            code
        };
        let codes = (0..).zip(places(grid).map(code));
        codes.filter(|(_, code)| *code != 0 && *code != all).collect()
    }

    fn maps() -> impl Strategy<Value = ([usize; 3], Vec<u8>)> {
        let label = prop_oneof![4 => 0..CLASSES as u8, 1 => Just(CLASSES as u8), 1 => Just(u8::VOID)];
        ([1usize..5, 1usize..6, 1usize..23], prop::collection::vec(label, 5 * 6 * 23), 1usize..5).prop_map(
            |(axes, labels, patch)| {
                let axes = Grid::new(&axes, None).unwrap().axes();
                let patched = places(axes).map(|at| {
                    let [z, y, x] = at.map(|at| at as usize / patch);
                    labels[(z * 6 + y) * 23 + x]
                });
                (axes, patched.collect())
            },
        )
    }

    proptest! {
        #[test]
        fn the_points_are_those_of_the_definitions((axes, map) in maps()) {
            let grid = Grid::new(&axes, None).unwrap();
            for convention in [Convention::Strict, Convention::Medpy, Convention::Deepmind] {
                let found = points(&map, &grid, CLASSES, &|class| class != 1, convention);
                prop_assert!(found.places[1].is_empty());
                for class in [0, 2] {
                    let (places, codes) = (&found.places[class], &found.codes[class]);
                    if convention == Convention::Deepmind {
                        let found: BTreeMap<u32, u8> = places.iter().copied().zip(codes.iter().copied()).collect();
                        prop_assert_eq!(found, corners_slowly(&map, axes, class as u8));
                        prop_assert_eq!(places.len(), codes.len());
                    } else {
                        let slowly = elements_slowly(&map, axes, class as u8, convention == Convention::Medpy);
                        prop_assert_eq!(places, &slowly);
                    }
                }
            }
        }
    }
}
