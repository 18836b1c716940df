//! Corner points of the grid whose neighbourhood holds elements in and out of a class.

use super::{Points, each_set};
use crate::segmentation::labels::ClassId;
use crate::segmentation::surface::grid::Grid;

/// The corners of the classes that are wanted. The corner at a place lies before the element there; its code
/// has one bit for each element around it, in the order of the array, the first one highest. The outside
/// of the image is of no class, like void.
pub(super) fn corners<T: ClassId>(
    map: &[T],
    grid: &Grid,
    classes: usize,
    wanted: &dyn Fn(usize) -> bool,
) -> Points {
    let [depth, height, width] = grid.axes();
    // An image has one layer of corners, a volume one more than slices.
    let slices: &[usize] = if grid.is_volume() { &[1, 0] } else { &[0] };
    let layers = if grid.is_volume() { depth + 1 } else { 1 };
    let axes = [layers, height + 1, width + 1];
    let wanted: Vec<bool> = (0..classes).map(wanted).collect();
    let (mut places, mut codes) = (vec![Vec::new(); classes], vec![Vec::new(); classes]);
    // The rows around a row of corners, each with one void element before and behind.
    let mut rows = vec![vec![T::VOID; width + 2]; 2 * slices.len()];
    let mut flags = vec![0u8; width + 1];
    for (layer, line) in (0..layers).flat_map(|layer| (0..=height).map(move |line| (layer, line))) {
        let around = slices.iter().flat_map(|dz| [1, 0].map(|dy| (dz, dy)));
        for (row, (dz, dy)) in rows.iter_mut().zip(around) {
            let (z, y) = (layer.wrapping_sub(*dz), line.wrapping_sub(dy));
            match z < depth && y < height {
                true => row[1..=width].copy_from_slice(&map[(z * height + y) * width..][..width]),
                false => row[1..=width].fill(T::VOID),
            }
        }
        flags.fill(0);
        for row in &rows {
            let first = &rows[0][..=width];
            for (((flag, first), before), behind) in flags.iter_mut().zip(first).zip(row).zip(&row[1..]) {
                *flag |= u8::from(before != first) | u8::from(behind != first);
            }
        }
        let start = (layer * (height + 1) + line) * (width + 1);
        each_set(&flags, |x| {
            let mut labels = [T::VOID; 8];
            let around = rows.iter().flat_map(|row| [row[x], row[x + 1]]);
            labels.iter_mut().zip(around).for_each(|(label, here)| *label = here);
            let labels = &labels[..2 * rows.len()];
            for (at, label) in labels.iter().enumerate() {
                let class = label.index();
                let is_new = *label != T::VOID && !labels[..at].contains(label);
                if is_new && wanted.get(class).is_some_and(|wanted| *wanted) {
                    let code = labels.iter().fold(0, |code, other| code << 1 | u8::from(other == label));
                    places[class].push((start + x) as u32);
                    codes[class].push(code);
                }
            }
        });
    }
    Points { axes, places, codes }
}
