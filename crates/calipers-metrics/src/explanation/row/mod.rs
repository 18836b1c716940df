//! What is kept of one explanation: counts and exact sums by kind of evidence, never a ratio.

mod check;
pub(super) mod measure;
pub(super) mod needs;
pub(super) mod reading;

use std::collections::BTreeMap;

use calipers_core::CompactSum;
use serde::{Deserialize, Serialize};

/// One measured explanation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which keys there are.
    pub keys: Keys,
    /// What looked wrong in the arrays.
    pub noticed: Noticed,
    /// Keys that nothing uses.
    pub unused: Vec<String>,
    /// The instances that count, when predictions can be compared.
    pub instances: Option<u64>,
    /// With the explanation removed: fidelity+.
    pub plus: Option<Box<SideRow>>,
    /// With only the explanation kept: fidelity-.
    pub minus: Option<Box<SideRow>>,
    /// How far the predicted distributions lie apart.
    pub faithfulness: Option<Box<FaithfulnessRow>>,
    /// The same as the published code sees it; only in preset `pyg`.
    pub published: Option<PublishedKl>,
    /// Masks.
    pub mask: Option<Box<MaskRow>>,
    /// A given fidelity curve.
    pub curve: Option<Box<CurveRow>>,
    /// The axis of the sweeps.
    pub sweep_x: Vec<f64>,
}

impl Row {
    /// Whether both may come from one explanation: its keys, axes, instances, and the size of masks and
    /// of their truth.
    pub(super) fn same_truth(&self, other: &Self) -> bool {
        let known = |row: &Self| (row.keys, row.unused.clone(), row.instances, row.sweep_x.clone());
        let elements = |row: &Self| row.mask.as_ref().map(|mask| mask.elements);
        // Of several truths, the one that a prediction fits best is compared with.
        let positives = |row: &Self| {
            let agreement = row.mask.as_ref()?.agreement.as_ref()?;
            Some((agreement.truth, agreement.confusion.positives()))
        };
        let axis = |row: &Self| row.curve.as_ref().map(|curve| curve.x.clone());
        known(self) == known(other)
            && elements(self) == elements(other)
            && axis(self) == axis(other)
            && match (positives(self), positives(other)) {
                (Some((this, ours)), Some((that, theirs))) => this != that || ours == theirs,
                (ours, theirs) => ours == theirs,
            }
    }
}

/// Which keys of predictions and targets a unit has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    /// `y_hat`.
    pub y_hat: bool,
    /// `y`, beside `y_hat`.
    pub y: bool,
    /// `y_sub`, beside `y_hat`.
    pub y_sub: bool,
    /// `y_comp`, beside `y_hat`.
    pub y_comp: bool,
    /// `target_mask` or `target_masks`.
    pub target: bool,
}

/// Warnings that only the arrays can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noticed {
    /// A mask value equals the threshold.
    pub value_at_threshold: bool,
    /// A target holds values other than 0 and 1.
    pub soft_truth: bool,
    /// All mask values are equal.
    pub constant_mask: bool,
    /// Only 0 and 1 occur in the mask.
    pub binary_mask: bool,
    /// A largest score occurs twice, or a binary score sits on its boundary.
    pub argmax_tie: bool,
    /// Declared logits are rows of probabilities.
    pub looks_like_probs: bool,
    /// A row of probabilities sums to 1 only roughly.
    pub not_normalised: bool,
    /// The three predictions are the same numbers.
    pub mask_without_effect: bool,
    /// The published code applies a sigmoid.
    pub sigmoid_applied: bool,
}

/// Predictions compared with the one on the full graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// Labels.
    pub labels: Option<Flips>,
    /// The probability of the predicted class.
    pub model: Option<Deviation>,
    /// The probability of the true class.
    pub phenomenon: Option<Deviation>,
    /// Predicted numbers.
    pub regression: Option<RegressionRow>,
    /// Labels at each point of the sweep.
    pub sweep: Vec<Flips>,
    /// Predictions on random perturbations.
    pub robust: Option<RobustRow>,
}

/// How many labels change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flips {
    /// Instances whose label differs from the one on the full graph.
    pub changed: u64,
    /// What that does to the truth, where true labels are known.
    pub truth: Option<Shift>,
}

/// Right answers lost and gained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shift {
    /// Right on the full graph and wrong here.
    pub lost: u64,
    /// Wrong on the full graph and right here.
    pub gained: u64,
}

/// Sums over instances of a drop in probability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// Of its size.
    pub absolute: CompactSum,
    /// Of the drop itself.
    pub signed: CompactSum,
}

/// Sums over the values of all instances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegressionRow {
    /// Of the absolute differences.
    pub absolute: CompactSum,
    /// Of the squared differences.
    pub squared: CompactSum,
    /// How many values there are.
    pub values: u64,
}

/// Predictions on random perturbations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RobustRow {
    /// How many perturbations.
    pub samples: u64,
    /// Labels that differ, over instances and samples.
    pub changed: u64,
    /// The drop of the predicted class's probability, over instances and samples.
    pub model: Option<CompactSum>,
    /// The drop of the true class's probability, over instances and samples.
    pub phenomenon: Option<CompactSum>,
}

/// The Kullback-Leibler divergence in both directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaithfulnessRow {
    /// Of the full graph's distribution from the explanation's.
    pub forward: DivergenceRow,
    /// Of the explanation's distribution from the full graph's.
    pub reversed: DivergenceRow,
}

/// Sums over instances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DivergenceRow {
    /// Of 1 - exp(-KL).
    pub unfaithfulness: CompactSum,
    /// Of the finite divergences.
    pub finite: CompactSum,
    /// How many are infinite.
    pub infinite: u64,
}

/// What the published code makes of the two distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedKl {
    /// The sum over all instances and classes, unless one of the next two holds.
    pub sum: CompactSum,
    /// Some class has probability 0 on the full graph alone.
    pub infinite: bool,
    /// Some class has probability 0 in both.
    pub nan: bool,
    /// The type in which the code computes.
    pub precision: Precision,
}

/// A floating point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// Half precision.
    Half,
    /// Half precision with the range of single precision.
    Brain,
    /// Single precision.
    Single,
    /// Double precision.
    Double,
}

/// One mask, alone and against its truth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MaskRow {
    /// How many elements.
    pub elements: u64,
    /// Elements above the threshold.
    pub selected: u64,
    /// Elements that are 0.
    pub zeros: u64,
    /// Sum of |m|, up to a power of two.
    pub mass: CompactSum,
    /// Sum of |m| ln |m|, up to the same.
    pub mass_log: CompactSum,
    /// Sum of (2i - n - 1) |m| in ascending order, up to the same.
    pub gini: CompactSum,
    /// Against the truth.
    pub agreement: Option<AgreementRow>,
    /// Each node or edge type alone.
    pub types: BTreeMap<String, TypeRow>,
    /// Against the masks of perturbed inputs; `None` inside where a mask is 0 everywhere.
    pub stability: Option<StabilityRow>,
}

/// A mask against its truth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgreementRow {
    /// Which of several truths.
    pub truth: u64,
    /// Elements by selection and truth.
    pub confusion: Confusion,
    /// 2 (positives above negatives) + ties, over all pairs.
    pub twice_auroc: u128,
    /// Sum over distinct values of (true positives at it) * (precision down to it).
    pub precision: CompactSum,
    /// Where the P highest values lie.
    pub top: Top,
    /// Sum of |m| in the truth, on the scale of [`MaskRow::mass`].
    pub mass: CompactSum,
}

/// Elements by selection and truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// Selected and true.
    pub tp: u64,
    /// Selected and not true.
    pub fp: u64,
    /// Neither.
    pub tn: u64,
    /// True and not selected.
    pub fn_: u64,
}

/// The P highest values, P being the size of the truth; those at the last level compete for the
/// places that are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Top {
    /// True elements above the last level.
    pub hits: u64,
    /// Places left at the last level.
    pub slots: u64,
    /// Elements at the last level.
    pub ties: u64,
    /// True elements at the last level.
    pub tie_hits: u64,
}

/// One node or edge type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeRow {
    /// How many elements.
    pub elements: u64,
    /// Elements above the threshold.
    pub selected: u64,
    /// Against the truth: the counts, and twice the auroc numerator.
    pub agreement: Option<(Confusion, u128)>,
}

/// How far the masks of perturbed inputs lie from the mask; `None` where a mask is 0 everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StabilityRow {
    /// The largest 1 - cos.
    pub cosine_max: Option<f64>,
    /// The mean 1 - cos.
    pub cosine_mean: Option<f64>,
    /// The largest relative distance.
    pub sensitivity: Option<f64>,
}

/// A given fidelity curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveRow {
    /// fid+ at each point.
    pub pos: Vec<f64>,
    /// fid- at each point.
    pub neg: Vec<f64>,
    /// The axis, if given.
    pub x: Option<Vec<f64>>,
    /// The type in which the published code computes.
    pub precision: Precision,
}

impl Confusion {
    /// All elements.
    pub fn elements(&self) -> u64 {
        self.tp + self.fp + self.tn + self.fn_
    }

    /// Elements in the truth.
    pub fn positives(&self) -> u64 {
        self.tp + self.fn_
    }

    /// Elements outside the truth.
    pub fn negatives(&self) -> u64 {
        self.fp + self.tn
    }
}
