//! In which precision a number was stored before it was widened.

/// The type of a stored number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    /// Double precision, as every number in a text is taken.
    #[default]
    Double,
    /// Single precision.
    Single,
    /// Half precision of IEEE 754: 11 bits of mantissa.
    Half,
    /// The upper half of single precision: 8 bits of mantissa.
    Brain,
}

impl Stored {
    /// The nearest number of the type, ties to the even one; beyond its largest an infinity.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::Double => value,
            Self::Single => f64::from(value as f32),
            Self::Half => rounded(value, 11, -14, 65504.0),
            Self::Brain => rounded(value, 8, -126, f64::from_bits(0x47ef_e000_0000_0000)),
        }
    }

    /// What a column is that holds numbers of both types: the finer one, so that none is changed.
    pub fn finer(self, other: Self) -> Self {
        let rank = |stored| match stored {
            Self::Double => 3,
            Self::Single => 2,
            Self::Half => 1,
            Self::Brain => 0,
        };
        if rank(self) >= rank(other) { self } else { other }
    }
}

/// Rounds to a mantissa of this many bits; `lowest` is the exponent of the smallest normal number.
fn rounded(value: f64, bits: i32, lowest: i32, largest: f64) -> f64 {
    if !value.is_finite() || value.abs() <= 0.0 {
        return value;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(lowest);
    // The distance of neighbours here is a power of two, so that the quotient and the product are exact.
    let step = f64::from_bits(((exponent - bits + 1 + 1023) as u64) << 52);
    let nearest = (value / step).round_ties_even() * step;
    if nearest.abs() > largest { f64::INFINITY.copysign(value) } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_becomes_its_neighbour_in_the_type_it_was_stored_in() {
        assert_eq!(Stored::Double.round(0.9).to_bits(), 0.9_f64.to_bits());
        assert_eq!(Stored::Single.round(0.9).to_bits(), f64::from(0.9_f32).to_bits());
        assert_eq!(
            Stored::Half.round(3.0e-8).to_bits(),
            2.0_f64.powi(-24).to_bits(),
            "below the normal numbers"
        );
        for (value, half, brain) in [
            (0.9, 0.89990234375, 0.8984375),
            (1.0, 1.0, 1.0),
            (-2049.0, -2048.0, -2048.0),
            (65520.0, f64::INFINITY, 65536.0),
            (65519.0, 65504.0, 65536.0),
            (1e39, f64::INFINITY, f64::INFINITY),
            (0.0, 0.0, 0.0),
        ] {
            assert_eq!((Stored::Half.round(value), Stored::Brain.round(value)), (half, brain), "{value}");
        }
        assert!(Stored::Half.round(f64::NAN).is_nan());
    }

    #[test]
    fn a_rounded_number_stays_as_it_is() {
        for stored in [Stored::Single, Stored::Half, Stored::Brain] {
            let mut value = 1.0e-9;
            while value < 1.0e6 {
                let once = stored.round(value);
                assert_eq!(stored.round(once).to_bits(), once.to_bits(), "{stored:?} {value}");
                value *= 1.37;
            }
        }
    }
}
