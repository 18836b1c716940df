//! Explanations of graph neural networks: fidelity, faithfulness, agreement with a truth, curves.
//!
//! A unit is one explanation: the arrays that are known of it, by key. `y_hat` is the prediction on the
//! full graph, `y_sub` with only the explanation kept, `y_comp` with the explanation removed.
//!
//! ```
//! use calipers_core::{Accumulator, Value};
//! use calipers_metrics::explanation::fidelity::labels::FID_PLUS_MODEL;
//! use calipers_metrics::explanation::{Array, Evidence, Explanation, NumberSlice};
//!
//! fn unit<'a>(y_hat: &'a [i64], y_comp: &'a [i64]) -> calipers_core::Result<Evidence<'a>> {
//!     let mut unit = Evidence::new();
//!     unit.insert("y_hat", Array::new([y_hat.len()], NumberSlice::Int(y_hat))?);
//!     unit.insert("y_comp", Array::new([y_comp.len()], NumberSlice::Int(y_comp))?);
//!     Ok(unit)
//! }
//! let mut whole = Accumulator::new(Explanation::default());
//! whole.update("molecule 1", unit(&[1, 0], &[0, 0])?)?;
//! let mut shard = Accumulator::new(Explanation::default());
//! shard.update("molecule 2", unit(&[1], &[1])?)?;
//! whole.merge(shard)?;
//! // One prediction of three changes without its explanation.
//! let changed = FID_PLUS_MODEL.read(whole.protocol(), &whole.rows());
//! assert_eq!(changed, Value::Number(1.0 / 3.0));
//! assert_eq!(whole.finish().get("explanation.fid_plus_model"), Some(&changed));
//! # Ok::<(), calipers_core::Error>(())
//! ```

pub mod curve;
mod faithfulness;
pub mod fidelity;
mod mask;
mod metrics;
mod protocol;
mod published;
pub mod row;
mod stability;
mod unit;
mod warnings;

pub use calipers_core::NumberSlice;
pub use mask::values::{MaskValues, mask_edges, mask_values};
pub use protocol::{Explanation, MaskScores, Options, Preset, Scores, Task};
pub use row::Row;
pub use row::needs::missing_keys;
pub use unit::{Array, Evidence};

/// The arithmetic of the family as pure functions over slices, for callers without units.
pub mod kernels {
    pub use super::curve::{characterization, curve_area};
    pub use super::faithfulness::distributions::Declared;
    pub use super::faithfulness::divergence::divergence;
    pub use super::fidelity::compare::flips;
    pub use super::mask::confusion::{mask_auroc, mask_confusion};
    pub use super::row::{Confusion, DivergenceRow, FaithfulnessRow, Flips, Precision, PublishedKl, Shift};

    /// The same as the published code computes it, in its own precision.
    pub mod published {
        pub use super::super::published::slices::{
            characterization_f32, characterization_f64, curve_area_f32, curve_area_f64,
        };
        pub use super::super::published::{
            auroc, characterization, kl_of_logits, kl_sum, model_fidelity, phenomenon_fidelity, ratio,
            takes_for_logits, unfaithfulness,
        };
    }
}
