//! Surface elements: those with a face towards another label or the outside, of all classes in one pass.

use super::{Points, each_set};
use crate::segmentation::labels::ClassId;
use crate::segmentation::surface::grid::Grid;

/// The surface elements of the classes that are wanted. Void makes a surface where it counts as another
/// label.
pub(super) fn elements<T: ClassId>(
    map: &[T],
    grid: &Grid,
    classes: usize,
    wanted: &dyn Fn(usize) -> bool,
    void_is_other: bool,
) -> Points {
    let axes @ [depth, height, width] = grid.axes();
    let wanted: Vec<bool> = (0..classes).map(wanted).collect();
    let mut places = vec![Vec::new(); classes];
    let mut flags = vec![0u8; width];
    for row in 0..depth * height {
        let (first, y) = (row * width, row % height);
        let here = &map[first..first + width];
        flags.fill(0);
        compare(&mut flags[1..], &here[1..], &here[..width - 1], void_is_other);
        compare(&mut flags, &here[..width - 1], &here[1..], void_is_other);
        (flags[0], flags[width - 1]) = (1, 1);
        let mut beside = |has: bool, first: usize| {
            if has {
                compare(&mut flags, here, &map[first..first + width], void_is_other);
            } else {
                flags.fill(1);
            }
        };
        beside(y > 0, first.wrapping_sub(width));
        beside(y + 1 < height, first + width);
        if depth > 1 {
            beside(row >= height, first.wrapping_sub(height * width));
            beside(row + height < depth * height, first + height * width);
        }
        each_set(&flags, |x| {
            let class = here[x].index();
            if here[x] != T::VOID && wanted.get(class).is_some_and(|wanted| *wanted) {
                places[class].push((first + x) as u32);
            }
        });
    }
    Points { axes, places, codes: vec![Vec::new(); classes] }
}

/// Sets the flags of elements whose neighbours make a surface. Without branches, so that a row is compared
/// many elements at once.
fn compare<T: ClassId>(flags: &mut [u8], here: &[T], beside: &[T], void_is_other: bool) {
    if void_is_other {
        for ((flag, here), beside) in flags.iter_mut().zip(here).zip(beside) {
            *flag |= u8::from(here != beside);
        }
    } else {
        for ((flag, here), beside) in flags.iter_mut().zip(here).zip(beside) {
            *flag |= u8::from(here != beside) & u8::from(*beside != T::VOID);
        }
    }
}
