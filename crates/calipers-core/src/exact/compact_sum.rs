//! An exact sum at rest: only the bytes that count, as rows keep it by the thousands.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::exact::ExactSum;

/// An [`ExactSum`] to which nothing is added any more. Equal sums have equal bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactSum(Box<[u8]>);

impl CompactSum {
    /// The sum as a number, rounded once.
    pub fn value(&self) -> f64 {
        self.to_sum().value()
    }

    /// The sum in the form that is added to.
    pub fn to_sum(&self) -> ExactSum {
        postcard::from_bytes(&self.0).expect("these bytes were written by `from` below and by nobody else")
    }

    /// Adds it to a sum.
    pub fn add_to(&self, sum: &mut ExactSum) {
        sum.merge(&self.to_sum());
    }
}

impl From<&ExactSum> for CompactSum {
    fn from(sum: &ExactSum) -> Self {
        let bytes = postcard::to_stdvec(sum).expect("a sum always encodes into a growing buffer");
        Self(bytes.into_boxed_slice())
    }
}

impl From<ExactSum> for CompactSum {
    fn from(sum: ExactSum) -> Self {
        Self::from(&sum)
    }
}

impl FromIterator<f64> for CompactSum {
    fn from_iter<T: IntoIterator<Item = f64>>(terms: T) -> Self {
        terms.into_iter().collect::<ExactSum>().into()
    }
}

impl Default for CompactSum {
    /// The sum of no terms.
    fn default() -> Self {
        Self::from(&ExactSum::new())
    }
}

impl Serialize for CompactSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_sum().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CompactSum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ExactSum::deserialize(deserializer).map(|sum| Self::from(&sum))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost_at_rest(terms in prop::collection::vec(any::<f64>(), 0..20)) {
            let sum: ExactSum = terms.iter().copied().collect();
            let compact = CompactSum::from(&sum);
            prop_assert_eq!(&compact.to_sum(), &sum);
            let bytes = postcard::to_stdvec(&compact).unwrap();
            prop_assert_eq!(&bytes, &postcard::to_stdvec(&sum).unwrap());
            prop_assert_eq!(postcard::from_bytes::<CompactSum>(&bytes).unwrap(), compact);
        }
    }
}
