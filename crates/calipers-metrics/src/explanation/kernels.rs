//! The arithmetic of the family as pure functions over slices, for callers without units.

pub use super::curve::{characterization, curve_area};
pub use super::faithfulness::distributions::Declared;
pub use super::faithfulness::divergence::divergence;
pub use super::fidelity::compare::flips;
pub use super::mask::confusion::{mask_auroc, mask_confusion};
pub use super::row::{Confusion, DivergenceRow, FaithfulnessRow, Flips, Precision, PublishedKl, Shift};

/// The same as the published code computes it, in its own precision.
pub mod published {
    pub use super::super::published::slices::{
        MaskValues, characterization_f32, characterization_f64, curve_area_f32, curve_area_f64, mask_sigmoid,
    };
    pub use super::super::published::{
        auroc, characterization, kl_of_logits, kl_sum, model_fidelity, phenomenon_fidelity, ratio,
        takes_for_logits, unfaithfulness,
    };
}
