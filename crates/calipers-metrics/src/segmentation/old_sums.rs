//! Sums as they were; gone when every line reads from `calipers_core::Sums`.
#![expect(dead_code, reason = "the readings from sums are being moved into the metric lines")]

use calipers_core::CompactSum;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    Whole(i128),
    Number(f64),
    Exact(CompactSum),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sum {
    Whole(i128),
    Number(f64),
}

impl Sum {
    pub(crate) fn whole(self) -> i128 {
        match self {
            Self::Whole(sum) => sum,
            Self::Number(_) => 0,
        }
    }

    pub(crate) fn number(self) -> f64 {
        match self {
            Self::Whole(sum) => sum as f64,
            Self::Number(sum) => sum,
        }
    }
}

impl From<u64> for Term {
    fn from(count: u64) -> Self {
        Self::Whole(count.into())
    }
}

impl From<f64> for Term {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&CompactSum> for Term {
    fn from(sum: &CompactSum) -> Self {
        Self::Exact(sum.clone())
    }
}
