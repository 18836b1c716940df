//! How a sum is written: only the bytes that count, and only one way for equal sums.

use serde::{Deserialize, Serialize};

use super::fixed_point::{FixedPoint, LIMBS, SignMagnitude};
use super::{Canonical, ExactSum};

/// 2^62 terms of the largest magnitude need no more bytes.
const MAX_BYTES: usize = 270;

/// A sum as it is written. A finite one is the magnitude as little-endian bytes without zeros at
/// either end, in units of 2^(8 `lowest` - 1074); zero has no bytes and a `lowest` of 0.
#[derive(Serialize, Deserialize)]
pub(super) struct Wire {
    sort: Sort,
    lowest: u16,
    magnitude: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
enum Sort {
    Positive,
    Negative,
    PlusInfinity,
    MinusInfinity,
    Nan,
}

impl From<ExactSum> for Wire {
    fn from(sum: ExactSum) -> Self {
        let Canonical { finite, infinite } = sum.canonical();
        let sort = match (infinite.positive, infinite.negative) {
            (false, false) if finite.negative => Sort::Negative,
            (false, false) => Sort::Positive,
            (true, true) => Sort::Nan,
            (true, false) => Sort::PlusInfinity,
            (false, true) => Sort::MinusInfinity,
        };
        let bytes: Vec<u8> = finite.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let lowest = bytes.iter().position(|&byte| byte != 0).unwrap_or(0);
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(lowest, |last| last + 1);
        Self { sort, lowest: lowest as u16, magnitude: bytes[lowest..end].to_vec() }
    }
}

impl TryFrom<Wire> for ExactSum {
    type Error = &'static str;

    fn try_from(Wire { sort, lowest, magnitude }: Wire) -> Result<Self, Self::Error> {
        let mut sum = Self::new();
        match (magnitude.first(), magnitude.last()) {
            (Some(0), _) | (_, Some(0)) => return Err("an exact sum is padded with zero bytes"),
            (None, _) if lowest != 0 => return Err("an exact sum without digits has a place for them"),
            (None, _) => match sort {
                Sort::Positive => {}
                Sort::Negative => return Err("an exact sum is a negative zero"),
                Sort::PlusInfinity => sum.add(f64::INFINITY),
                Sort::MinusInfinity => sum.add(f64::NEG_INFINITY),
                Sort::Nan => sum.add(f64::NAN),
            },
            (Some(_), _) => {
                let negative = match sort {
                    Sort::Positive => false,
                    Sort::Negative => true,
                    _ => return Err("an exact sum that is not finite has digits"),
                };
                let mut bytes = [0; 4 * LIMBS];
                let place = usize::from(lowest)..usize::from(lowest) + magnitude.len();
                bytes[..MAX_BYTES]
                    .get_mut(place)
                    .ok_or("an exact sum has more digits than any sum of numbers")?
                    .copy_from_slice(&magnitude);
                let (limbs, _) = bytes.as_chunks();
                let limbs = std::array::from_fn(|i| u32::from_le_bytes(limbs[i]));
                sum.finite = FixedPoint::from(&SignMagnitude { negative, limbs });
            }
        }
        Ok(sum)
    }
}
