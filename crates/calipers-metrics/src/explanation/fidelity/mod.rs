//! How predictions move when the explanation is removed or kept alone: labels, probabilities, numbers.

pub(super) mod compare;
pub(super) mod instances;
pub mod labels;
pub(super) mod predictions;
pub(super) mod probability;
pub(super) mod regression;
pub(super) mod robust;
pub(super) mod score_check;

use super::row::{Flips, Row, SideRow};

/// The explanation removed, or kept alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Plus,
    Minus,
}

/// What a prediction is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The prediction on the full graph.
    Model,
    /// The true label.
    Phenomenon,
}

pub(crate) const SIDES: [Side; 2] = [Side::Plus, Side::Minus];
pub(crate) const KINDS: [Of; 2] = [Of::Model, Of::Phenomenon];

impl Side {
    pub(crate) fn of(self, row: &Row) -> Option<&SideRow> {
        match self {
            Self::Plus => row.plus.as_deref(),
            Self::Minus => row.minus.as_deref(),
        }
    }
}

impl Of {
    /// Answers that count as changed.
    pub(crate) fn changed(self, flips: &Flips) -> Option<u64> {
        match self {
            Self::Model => Some(flips.changed),
            Self::Phenomenon => flips.truth.map(|truth| truth.lost + truth.gained),
        }
    }

    /// The one of two that belongs to this kind.
    pub(crate) fn pick<T>(self, model: T, phenomenon: T) -> T {
        match self {
            Self::Model => model,
            Self::Phenomenon => phenomenon,
        }
    }
}

/// Four places from the first on: one for each side and kind.
pub(crate) const fn place(first: usize, side: Side, of: Of) -> usize {
    first + 2 * side as usize + of as usize
}

/// What one side of a row must have.
macro_rules! need {
    ($($key:literal)*, $side:ident, $has:expr) => {
        Need { keys: &[$($key),*], met: |row| Side::$side.of(row).is_some_and($has) }
    };
}
pub(crate) use need;
