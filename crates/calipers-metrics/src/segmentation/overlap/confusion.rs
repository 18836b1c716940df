//! The confusion matrix of one image, packed: what a data set of small images takes most memory for.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::segmentation::row::sparse::Sparse;

/// The cells of a confusion matrix that are not 0: (truth, predicted) -> pixels. The predicted class
/// C (one past the last) stands for no prediction.
///
/// Of every cell, in order, the bytes hold the step from the truth before, the predicted class and
/// the pixels, seven bits a byte, lowest first; the last byte of a number is below 128.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confusion(Box<[u8]>);

/// Truth class, predicted class.
pub type Cell = (u32, u32);

impl Confusion {
    /// Every cell and its pixels, in order.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, u64)> + Clone + '_ {
        let (mut rest, mut truth) = (&*self.0, 0);
        std::iter::from_fn(move || {
            truth += number(&mut rest)? as u32;
            let pred = number(&mut rest)? as u32;
            Some(((truth, pred), number(&mut rest)?))
        })
    }

    /// The pixels of a cell.
    pub fn get(&self, cell: Cell) -> u64 {
        self.cells().find(|(known, _)| *known == cell).map_or(0, |(_, pixels)| pixels)
    }

    /// All pixels.
    pub fn pixels(&self) -> i128 {
        self.cells().map(|(_, pixels)| i128::from(pixels)).sum()
    }

    /// The pixels of every true class that occurs.
    pub(crate) fn truth(&self) -> BTreeMap<u32, u64> {
        let mut pixels_of = BTreeMap::new();
        for ((truth, _), pixels) in self.cells() {
            *pixels_of.entry(truth).or_default() += pixels;
        }
        pixels_of
    }

    fn pack(cells: impl Iterator<Item = (Cell, u64)>) -> Self {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for ((truth, pred), pixels) in cells {
            for number in [u64::from(truth - before), u64::from(pred), pixels] {
                write(number, &mut bytes);
            }
            before = truth;
        }
        Self(bytes.into())
    }
}

fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn number(rest: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, tail) = rest.split_first()?;
        *rest = tail;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
        shift += 7;
    }
}

impl From<BTreeMap<Cell, u64>> for Confusion {
    fn from(cells: BTreeMap<Cell, u64>) -> Self {
        Self::pack(cells.into_iter())
    }
}

impl FromIterator<(Cell, u64)> for Confusion {
    fn from_iter<T: IntoIterator<Item = (Cell, u64)>>(cells: T) -> Self {
        cells.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl Serialize for Confusion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.cells().collect::<Box<[_]>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Confusion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cells = Box::<[(Cell, u64)]>::deserialize(deserializer)?;
        let cells = Sparse::try_from(cells).map_err(D::Error::custom)?;
        Ok(Self::pack(cells.iter().map(|(cell, pixels)| (*cell, *pixels))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cells_come_back_as_they_were(
            cells in prop::collection::btree_map((0u32..70_000, any::<u32>()), any::<u64>(), 0..60),
        ) {
            let packed = Confusion::from(cells.clone());
            prop_assert!(packed.cells().eq(cells.iter().map(|(cell, pixels)| (*cell, *pixels))));
            let text = serde_json::to_string(&packed).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&Sparse::from(cells)).unwrap());
            prop_assert_eq!(serde_json::from_str::<Confusion>(&text).unwrap(), packed);
        }
    }

    #[test]
    fn cells_out_of_order_are_refused() {
        for bad in ["[[[1,0],3],[[0,0],5]]", "[[[0,0],3],[[0,0],5]]"] {
            assert!(serde_json::from_str::<Confusion>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_cell_of_a_small_image_takes_four_bytes() {
        let cells: Confusion = (0..19).map(|class| ((class, 18 - class), 200)).collect();
        assert_eq!(cells.0.len(), 4 * 19);
        assert_eq!((cells.get((3, 15)), cells.get((3, 3)), cells.pixels()), (200, 0, 3800));
    }
}
