//! Where two surfaces are farthest apart: the slice through that place, for pictures.

use calipers_core::{Error, Result};

use super::grid::Grid;
use super::nearest::Search;
use super::points::{Points, points};
use super::settings::{Convention, Surface};
use crate::segmentation::labels::{ClassMaps, decided};
use crate::segmentation::protocol::Segmentation;
use crate::segmentation::unit::Unit;

/// The slice of a unit through the element of one class that is farthest from the other surface.
#[derive(Clone, Debug, PartialEq)]
pub struct FarthestSlice {
    /// The class.
    pub class: usize,
    /// Which slice it is, from 0.
    pub slice: usize,
    /// How many slices the unit has.
    pub slices: usize,
    /// The largest distance.
    pub largest: f64,
    /// The classes of the slice.
    pub maps: ClassMaps,
    /// The elements of the true and of the predicted surface in the slice, each with its distance.
    pub surfaces: [Vec<(usize, f64)>; 2],
}

/// The slice of a unit with the largest distance of any class that both truth and prediction have; `None`
/// where there is no such class. Distances are those between centres of elements, also where the convention
/// measures between corners.
pub fn farthest_slice(protocol: &Segmentation, unit: &Unit<'_>) -> Result<Option<FarthestSlice>> {
    let decided = decided(protocol, unit)?;
    let grid = match unit {
        Unit::Spatial { grid, .. } => *grid,
        _ => Grid::new(&[decided.height, decided.width], None)?,
    };
    if decided.truth.len() > u32::MAX as usize {
        return Err(Error::value("the volume is too large for a picture"));
    }
    let convention = match protocol.surface.as_ref().unwrap_or(const { &Surface::STRICT }).convention {
        Convention::Deepmind => Convention::Strict,
        other => other,
    };
    let foreground: Vec<usize> = protocol.foreground().collect();
    let wanted = |class: usize| foreground.binary_search(&class).is_ok();
    let of = |map: &[u16]| points(map, &grid, protocol.classes(), &wanted, convention);
    let sides = [of(&decided.truth), of(&decided.pred)];
    let mut search = Search::new(sides[0].axes, grid.spacing().unwrap_or([1.0; 3]));
    let mut farthest: Option<(f64, usize, u32)> = None;
    for class in foreground {
        for (place, squared) in distances(&mut search, &sides, class).into_iter().flatten() {
            // Of equal ones the first.
            if farthest.is_none_or(|(known, ..)| squared > known) {
                farthest = Some((squared, class, place));
            }
        }
    }
    let Some((squared, class, place)) = farthest else { return Ok(None) };
    let length = decided.height * decided.width;
    let slice = place as usize / length.max(1);
    let surfaces = distances(&mut search, &sides, class).map(|side| {
        let inside = side.into_iter().filter(|(place, _)| *place as usize / length == slice);
        inside.map(|(place, squared)| (place as usize % length, squared.sqrt())).collect()
    });
    let (slices, maps) = (decided.slices(), decided.maps(slice));
    Ok(Some(FarthestSlice { class, slice, slices, largest: squared.sqrt(), maps, surfaces }))
}

/// The points of both surfaces of a class with their squared distances; none where one side has none.
fn distances(search: &mut Search, sides: &[Points; 2], class: usize) -> [Vec<(u32, f64)>; 2] {
    let [truth, pred] = sides.each_ref().map(|points| points.places[class].as_slice());
    if truth.is_empty() || pred.is_empty() {
        return [Vec::new(), Vec::new()];
    }
    [(truth, pred), (pred, truth)]
        .map(|(from, to)| from.iter().copied().zip(search.squared_distances(from, to)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::protocol::config::Config;
    use crate::segmentation::unit::{LabelMap, MapData, Prediction};

    #[test]
    fn the_slice_goes_through_the_place_that_is_farthest() {
        let config = serde_json::json!({"labels": {"original": 2, "background": 0}, "measure": ["surface"]});
        let protocol = serde_json::from_value::<Config>(config).unwrap().resolve().unwrap();
        // Two slices of 2 x 5: one element each in the first, and one that is predicted far away in the second.
        let map = |labels| LabelMap { width: 5, height: 4, data: MapData::U8(labels) };
        let first_rows = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut predicted = first_rows;
        predicted[14] = 1;
        let unit = Unit::Spatial {
            grid: Grid::new(&[2, 2, 5], Some(&[3.0, 1.0, 0.5])).unwrap(),
            truth: map(&first_rows),
            pred: Prediction::Labels(map(&predicted)),
        };
        let found = farthest_slice(&protocol, &unit).unwrap().unwrap();
        assert_eq!((found.class, found.slice, found.slices), (1, 1, 2));
        assert_eq!(found.largest.to_bits(), 2.0f64.to_bits());
        assert_eq!(found.surfaces, [vec![(0, 0.0)], vec![(0, 0.0), (4, 2.0)]]);
        assert_eq!(found.maps.truth[..5], [Some(1), Some(0), Some(0), Some(0), Some(0)]);
    }
}
