//! Readings of fidelity, robust fidelity and unfaithfulness.

use calipers_core::exact::rounded_quotient;
use calipers_core::{Rows, Value};

use super::curve::characterization;
use super::protocol::{Explanation, Preset};
use super::published;
use super::reading::{
    NO_INSTANCES, PUBLISHED_NAN, Reading, ZERO_WEIGHT, given, mean, pooled, pooled_mean, pooled_numbers,
};
use super::row::{Deviation, DivergenceRow, Flips, RegressionRow, RobustRow, Row, SideRow};

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

/// Which way a divergence runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Reversed,
}

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

    /// The drops in probability, where there are any.
    pub(crate) fn deviation(self, side: &SideRow) -> Option<&Deviation> {
        match self {
            Self::Model => side.model.as_ref(),
            Self::Phenomenon => side.phenomenon.as_ref(),
        }
    }
}

/// The sum of all counted instances.
pub(crate) fn num_instances(rows: &Rows<'_, Row>) -> Value {
    match rows.iter().filter_map(|row| row.instances).map(i128::from).reduce(|a, b| a + b) {
        Some(count) => Value::Count(count),
        None => given(None),
    }
}

pub(crate) fn changed(row: &Row, side: Side, of: Of) -> Option<(i128, u64)> {
    let flips = side.of(row)?.labels.as_ref()?;
    Some((i128::from(of.changed(flips)?), row.instances?))
}

/// The four fidelities.
pub(crate) fn fidelity(protocol: &Explanation, rows: &Rows<'_, Row>, side: Side, of: Of) -> Value {
    if protocol.preset == Preset::Pyg {
        return given(mean(rows.iter().filter_map(|row| published_fidelity(row, side, of))));
    }
    given(pooled(rows, |row| changed(row, side, of)))
}

/// What the published code returns for one unit.
pub(crate) fn published_fidelity(row: &Row, side: Side, of: Of) -> Option<Reading> {
    let flips = side.of(row)?.labels.as_ref()?;
    of.changed(flips)?;
    let instances = row.instances?;
    let value = match of {
        Of::Model => published::model_fidelity(flips, instances),
        Of::Phenomenon => published::phenomenon_fidelity(flips, instances),
    };
    Some(value.ok_or(PUBLISHED_NAN.into()))
}

/// The characterization score of the pooled fidelities.
pub(crate) fn characterization_of(protocol: &Explanation, rows: &Rows<'_, Row>, of: Of) -> Value {
    let total = |side: Side| {
        let found: Vec<_> = rows.iter().filter_map(|row| changed(row, side, of)).collect();
        let sums = || found.iter().fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + i128::from(more.1)));
        (!found.is_empty()).then(sums)
    };
    given(total(Side::Plus).zip(total(Side::Minus)).map(|((plus, of_plus), (minus, of_minus))| {
        if of_plus == 0 || of_minus == 0 {
            return Err(NO_INSTANCES.into());
        }
        let (p, q) = (rounded_quotient(plus, of_plus), rounded_quotient(of_minus - minus, of_minus));
        characterized(protocol, p, q)
    }))
}

/// The characterization score of fid+ and 1 - fid-.
pub(crate) fn characterized(protocol: &Explanation, p: f64, q: f64) -> Reading {
    characterization(p, q, protocol.pos_weight, protocol.neg_weight).ok_or(ZERO_WEIGHT.into())
}

/// The change of accuracy: right answers lost minus gained.
pub(crate) fn signed(rows: &Rows<'_, Row>, side: Side) -> Value {
    given(pooled(rows, |row| shifted(row, side)))
}

/// Right answers lost minus gained, and the instances.
pub(crate) fn shifted(row: &Row, side: Side) -> Option<(i128, u64)> {
    let truth = side.of(row)?.labels?.truth?;
    Some((i128::from(truth.lost) - i128::from(truth.gained), row.instances?))
}

/// The mean size of the drop in probability.
pub(crate) fn probability(rows: &Rows<'_, Row>, side: Side, of: Of) -> Value {
    given(pooled_mean(rows, |row| Some((&of.deviation(side.of(row)?)?.absolute, row.instances?))))
}

/// The mean drop in probability.
pub(crate) fn signed_probability(rows: &Rows<'_, Row>, side: Side, of: Of) -> Value {
    given(pooled_mean(rows, |row| Some((&of.deviation(side.of(row)?)?.signed, row.instances?))))
}

pub(crate) fn regression(row: &Row, side: Side) -> Option<&RegressionRow> {
    side.of(row)?.regression.as_ref()
}

/// The mean absolute difference of predicted numbers.
pub(crate) fn absolute_error(rows: &Rows<'_, Row>, side: Side) -> Value {
    given(pooled_mean(rows, |row| regression(row, side).map(|sums| (&sums.absolute, sums.values))))
}

/// The mean squared difference of predicted numbers.
pub(crate) fn squared_error(rows: &Rows<'_, Row>, side: Side) -> Value {
    given(pooled_mean(rows, |row| regression(row, side).map(|sums| (&sums.squared, sums.values))))
}

pub(crate) fn divergence(row: &Row, direction: Direction) -> Option<&DivergenceRow> {
    let sums = row.faithfulness.as_deref()?;
    Some(match direction {
        Direction::Forward => &sums.forward,
        Direction::Reversed => &sums.reversed,
    })
}

/// The mean of 1 - exp(-KL).
pub(crate) fn unfaithfulness(protocol: &Explanation, rows: &Rows<'_, Row>, direction: Direction) -> Value {
    if protocol.preset == Preset::Pyg {
        return given(mean(rows.iter().filter_map(published_unfaithfulness)));
    }
    let direction = if protocol.preset == Preset::Graphxai { Direction::Reversed } else { direction };
    given(pooled_mean(rows, |row| Some((&divergence(row, direction)?.unfaithfulness, row.instances?))))
}

/// What the published code returns for one unit.
pub(crate) fn published_unfaithfulness(row: &Row) -> Option<Reading> {
    let value = published::unfaithfulness(row.published.as_ref()?, row.instances?);
    Some(value.ok_or(PUBLISHED_NAN.into()))
}

/// The mean divergence.
pub(crate) fn mean_divergence(rows: &Rows<'_, Row>, direction: Direction) -> Value {
    let infinite: u64 =
        rows.iter().filter_map(|row| divergence(row, direction)).map(|sums| sums.infinite).sum();
    if infinite > 0 {
        let (without, with) = match direction {
            Direction::Forward => ("y_sub", "y_hat"),
            Direction::Reversed => ("y_hat", "y_sub"),
        };
        let reason = format!("infinite: {without} is 0 where {with} is not in {infinite} instances");
        return Value::Undefined(reason.into());
    }
    given(pooled_mean(rows, |row| Some((&divergence(row, direction)?.finite, row.instances?))))
}

pub(crate) fn robust(row: &Row, side: Side) -> Option<&RobustRow> {
    side.of(row)?.robust.as_ref()
}

/// The share of samples whose label differs.
pub(crate) fn robust_fidelity(rows: &Rows<'_, Row>, side: Side) -> Value {
    given(pooled_numbers(rows, |row| {
        let sums = robust(row, side)?;
        Some((sums.changed as f64 / sums.samples as f64, row.instances?))
    }))
}

fn robust_drop(rows: &Rows<'_, Row>, side: Side, of: Of) -> Option<Reading> {
    pooled_numbers(rows, |row| robust_drop_of(row, side, of))
}

/// The mean drop over the samples of one unit, summed over its instances, and the instances.
pub(crate) fn robust_drop_of(row: &Row, side: Side, of: Of) -> Option<(f64, u64)> {
    let sums = robust(row, side)?;
    let drop = match of {
        Of::Model => sums.model.as_ref()?,
        Of::Phenomenon => sums.phenomenon.as_ref()?,
    };
    Some((drop.value() / sums.samples as f64, row.instances?))
}

/// The mean drop in probability over samples.
pub(crate) fn robust_probability(rows: &Rows<'_, Row>, side: Side, of: Of) -> Value {
    given(robust_drop(rows, side, of))
}

/// What the explanation removed does more than the explanation kept.
pub(crate) fn robust_delta(rows: &Rows<'_, Row>, of: Of) -> Value {
    let (plus, minus) = (robust_drop(rows, Side::Plus, of), robust_drop(rows, Side::Minus, of));
    given(plus.zip(minus).map(|(plus, minus)| Ok(plus? - minus?)))
}
