//! The numbers of one unit, as exact quotients or the reason why there are none.

use std::borrow::Cow;

use calipers_core::{CompactSum, Value};

use super::protocol::Robustness;
use super::row::{Decisions, FlipRow, Row, SpreadRow};
use calipers_core::exact::Rational;

/// Why there is no number.
pub(super) type Reason = Cow<'static, str>;
/// A number before it is rounded, or why there is none.
pub(super) type Reading = Result<Rational, Reason>;

pub(super) const NO_ATTACKED_EDGES: &str = "no attacked edges given";
pub(super) const BOTH_NEEDED: &str = "clean and attacked edges are both needed";
const NO_NODES: &str = "node subset is empty";
const NO_EDGES: &str = "attacked graph has no edges";
const NONE_ADDED: &str = "attack added no edge";
const NONE_KEPT: &str = "no clean edge was kept";
const NONE_REMOVED: &str = "attack removed no edge";
const TOO_LARGE: &str = "infinite: beyond the largest number";

/// A set of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    All,
    Added,
    Kept,
    Removed,
}

impl Edges {
    /// The differences over the set.
    pub(super) fn of(self, row: &Row) -> Result<&SpreadRow, Reason> {
        if self == Self::All {
            return row.all.as_ref().ok_or_else(|| NO_ATTACKED_EDGES.into());
        }
        let flips = flips(row)?;
        Ok(match self {
            Self::Added => &flips.added,
            Self::Kept => &flips.kept,
            _ => &flips.removed,
        })
    }

    /// What is said when the set is empty.
    pub(super) fn empty(self) -> &'static str {
        match self {
            Self::All => NO_EDGES,
            Self::Added => NONE_ADDED,
            Self::Kept => NONE_KEPT,
            Self::Removed => NONE_REMOVED,
        }
    }
}

/// A number that every unit has, or lacks for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    BiasTotal,
    BiasMean,
    BiasRelative,
    BiasTouchedShare,
    /// The order statistic at this place of [`super::bias::QUANTILES`].
    BiasQuantile(usize),
    MeanDiff(Edges),
    DiffRatio,
    Pruned(Edges),
    CleanAccuracy,
    RobustAccuracy,
    AccuracyDrop,
    AttackSuccessRate,
    FlipsAdded,
    FlipsRemoved,
    BudgetUsed,
}

impl Scalar {
    /// The number of one unit; in preset `rung-fork` what single precision makes of it.
    pub(super) fn of(self, protocol: &Robustness, row: &Row) -> Reading {
        let exact = self.exact(row)?;
        if !protocol.is_fork() {
            return Ok(exact);
        }
        let single = exact.nearest_single();
        if single.is_finite() { Ok(Rational::of(single.into())) } else { Err(TOO_LARGE.into()) }
    }

    fn exact(self, row: &Row) -> Reading {
        let bias = &row.bias;
        match self {
            Self::BiasTotal => Ok(bias.total.value()),
            Self::BiasMean => {
                unless(bias.per_node.is_empty(), NO_NODES)?;
                Ok(bias.total.value().over(&Rational::whole(bias.per_node.len() as i128)))
            }
            Self::BiasRelative => {
                unless(bias.energy.is_zero(), "clean features are all zero")?;
                Ok(bias.total.value().over(&bias.energy.value()))
            }
            Self::BiasTouchedShare => {
                let touched = flips(row)?.touched_bias.value();
                unless(bias.total.is_zero(), "bias is zero")?;
                Ok(touched.over(&bias.total.value()))
            }
            Self::BiasQuantile(place) => {
                bias.quantiles.get(place).map(|b| b.value()).ok_or_else(|| NO_NODES.into())
            }
            Self::MeanDiff(edges) => {
                let spread = not_empty(edges, row)?;
                Ok(exact(&spread.sum).over(&Rational::whole(spread.count)))
            }
            Self::DiffRatio => {
                let added = Self::MeanDiff(Edges::Added).exact(row)?;
                let kept = Self::MeanDiff(Edges::Kept).exact(row)?;
                unless(kept.is_zero(), "kept edges have no difference")?;
                Ok(added.over(&kept))
            }
            Self::Pruned(edges) => {
                let pruned = edges.of(row)?.pruned.ok_or("no cut-off given")?;
                Ok(Rational::ratio(pruned, not_empty(edges, row)?.count))
            }
            Self::FlipsAdded => Ok(Rational::whole(flips(row)?.added.count)),
            Self::FlipsRemoved => Ok(Rational::whole(flips(row)?.removed.count)),
            Self::BudgetUsed => {
                let flips = flips(row)?;
                unless(flips.clean_edges == 0, "clean graph has no edges")?;
                Ok(Rational::ratio(flips.flipped(), flips.clean_edges))
            }
            Self::CleanAccuracy | Self::RobustAccuracy | Self::AccuracyDrop | Self::AttackSuccessRate => {
                self.accuracy(row)
            }
        }
    }

    fn accuracy(self, row: &Row) -> Reading {
        let (tested, counts) = decisions(row)?;
        let (clean, attacked) = (i128::from(counts.correct_clean), i128::from(counts.correct_attacked));
        Ok(match self {
            Self::CleanAccuracy => Rational::ratio(clean, tested),
            Self::AccuracyDrop => Rational::ratio(clean - attacked, tested),
            Self::AttackSuccessRate => {
                unless(clean == 0, "no test node was correct on the clean graph")?;
                Rational::ratio(counts.broken, counts.correct_clean)
            }
            _ => Rational::ratio(attacked, tested),
        })
    }
}

impl FlipRow {
    /// How many edges were flipped.
    pub(super) fn flipped(&self) -> u64 {
        self.added.count + self.removed.count
    }
}

fn flips(row: &Row) -> Result<&FlipRow, Reason> {
    row.flips.as_ref().ok_or_else(|| BOTH_NEEDED.into())
}

fn not_empty(edges: Edges, row: &Row) -> Result<&SpreadRow, Reason> {
    let spread = edges.of(row)?;
    unless(spread.count == 0, edges.empty())?;
    Ok(spread)
}

fn decisions(row: &Row) -> Result<(u64, &Decisions), Reason> {
    let accuracy = &row.accuracy;
    unless(!accuracy.labelled, "no labels given")?;
    let tested = accuracy.tested.ok_or("no test nodes given")?;
    unless(tested == 0, "test set is empty")?;
    let counts = accuracy.decisions.as_ref().ok_or("features are not class scores")?;
    Ok((tested, counts))
}

fn unless(condition: bool, reason: &'static str) -> Result<(), Reason> {
    if condition { Err(reason.into()) } else { Ok(()) }
}

/// An exact sum as a quotient.
fn exact(sum: &CompactSum) -> Rational {
    let mut rest = sum.to_sum();
    let mut total = Rational::whole(0);
    while !rest.is_zero() {
        let term = rest.value();
        total = total.plus(&Rational::of(term));
        rest.add(-term);
    }
    total
}

/// The value that reports print.
pub(super) fn value(reading: Reading) -> Value {
    match reading.map(|number| number.nearest()) {
        Ok(number) => float(number),
        Err(reason) => Value::Undefined(reason),
    }
}

/// A float that reports print.
pub(super) fn float(number: f64) -> Value {
    if number.is_finite() { Value::Number(number) } else { Value::undefined(TOO_LARGE) }
}
