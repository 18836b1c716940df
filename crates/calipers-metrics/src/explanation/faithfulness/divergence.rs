//! How far the distribution predicted from the explanation lies from the one on the full graph.

use calipers_core::ExactSum;

use super::distributions::{Declared, Distributions, Divergences};
use crate::explanation::fidelity::instances::Instances;
use crate::explanation::fidelity::predictions::{Holds, Predictions, Y_HAT};
use crate::explanation::row::{DivergenceRow, FaithfulnessRow};
use calipers_core::NumberSlice;

/// How many scores are looked at together.
const BLOCK: usize = 640;

/// Sums over instances in both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faithfulness {
    forward: Direction,
    reversed: Direction,
    divergences: Divergences,
}

/// Sums over instances in one direction.
#[derive(Clone, Debug, Default)]
struct Direction {
    unfaithfulness: ExactSum,
    finite: ExactSum,
    infinite: u64,
}

impl Faithfulness {
    /// Adds a block of instances.
    pub(crate) fn add(&mut self, p: &mut Distributions, q: &mut Distributions) {
        let Self { forward, reversed, divergences } = self;
        divergences.between(p, q);
        forward.add_divergences(&divergences.forward);
        reversed.add_divergences(&divergences.reversed);
        divergences.saturate();
        forward.unfaithfulness.add_slice(&divergences.forward);
        reversed.unfaithfulness.add_slice(&divergences.reversed);
    }
}

impl Direction {
    fn add_divergences(&mut self, divergences: &[f64]) {
        let infinite = divergences.iter().filter(|divergence| divergence.is_infinite()).count();
        if infinite == 0 {
            self.finite.add_slice(divergences);
        } else {
            self.infinite += infinite as u64;
            self.finite.extend(divergences.iter().copied().filter(|divergence| divergence.is_finite()));
        }
    }
}

impl From<Direction> for DivergenceRow {
    fn from(direction: Direction) -> Self {
        let Direction { unfaithfulness, finite, infinite } = direction;
        Self { unfaithfulness: unfaithfulness.into(), finite: finite.into(), infinite }
    }
}

impl From<Faithfulness> for FaithfulnessRow {
    fn from(sums: Faithfulness) -> Self {
        Self { forward: sums.forward.into(), reversed: sums.reversed.into() }
    }
}

/// The sums over all instances of `[N, C]` scores (`[N]` for binary ones), which must be free of
/// NaN and +inf and equally long.
pub fn divergence(
    declared: Declared,
    y_hat: NumberSlice<'_>,
    y_sub: NumberSlice<'_>,
    columns: usize,
) -> FaithfulnessRow {
    let columns = columns.max(1);
    let rows = y_hat.len() / columns;
    let p = Predictions {
        key: Y_HAT,
        holds: Holds::Scores,
        data: y_hat,
        leads: 1,
        instances: rows,
        columns,
        has_columns: true,
    };
    let (q, all) = (Predictions { data: y_sub, ..p }, Instances::All(rows));
    let mut sums = Faithfulness::default();
    let mut values = Vec::new();
    let (mut one, mut other) = (Distributions::default(), Distributions::default());
    let step = (BLOCK / columns).max(1);
    for start in (0..rows).step_by(step) {
        let range = start..rows.min(start + step);
        all.widen(&p, range.clone(), &mut values);
        one.soften(declared, &values, columns);
        all.widen(&q, range, &mut values);
        other.soften(declared, &values, columns);
        sums.add(&mut one, &mut other);
    }
    sums.into()
}
