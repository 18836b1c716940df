//! When runs saturate, and what becomes of them afterwards.
//!
//! ```text
//! bar        how a value meets a threshold    by_preset  what runs add up to by the rule of the preset
//! first      where a curve saturates
//! aftermath  what follows, and its metrics    explain    one run in words
//! ```
//!
//! The other files hold metrics.

pub(crate) mod aftermath;
pub(crate) mod bar;
pub(crate) mod by_preset;
pub(crate) mod divergence;
pub(crate) mod explain;
pub(crate) mod first;
pub(crate) mod stability;
pub(crate) mod sustained;
pub(crate) mod sweep;
pub(crate) mod velocity;

use calipers_core::exact::rounded_quotient;

pub use by_preset::SATURATION_COUNT;
pub use divergence::{DIVERGENCE_NAIVE, DIVERGENCE_STRICT, DIVERGENCE_WISE};
pub use stability::{STABILITY_NAIVE, STABILITY_STRICT, STABILITY_WISE};
pub use sweep::{SWEEP_DIVERGENCE, SWEEP_SATURATION_COUNT, SWEEP_STABILITY_WISE, SWEEP_VELOCITY_WISE};
pub use velocity::{VELOCITY_NAIVE, VELOCITY_STRICT, VELOCITY_WISE};

/// A share of a whole, rounded once.
fn share(part: u64, whole: u64) -> f64 {
    rounded_quotient(part.into(), whole.into())
}
