//! How long work tells that it goes on, and hears that it should stop.

use calipers_core::{Result, stop};

/// The share of nodes whose largest class score is that of their label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Over the nodes trained on.
    pub train: f64,
    /// Over the nodes kept for validation, if there are any.
    pub val: Option<f64>,
}

/// Where the work stands.
pub enum Status<'a> {
    /// An epoch of training is over.
    Epoch {
        /// Epochs done.
        epoch: u32,
        /// The cross-entropy the epoch began with, dropout included.
        loss: f64,
        /// Measures the model as it stands, without dropout; costs one forward pass.
        accuracy: &'a dyn Fn() -> Accuracy,
    },
    /// A step of the attack's descent is over.
    Step {
        /// Steps done.
        step: u32,
        /// The mean tanh of the margins the step began with.
        loss: f64,
        /// Expected number of flips after the step.
        used: f64,
        /// Flips allowed.
        allowed: usize,
    },
    /// A sample of flips within the budget was tried.
    Sample {
        /// Samples within the budget so far.
        sample: u32,
        /// The lowest loss so far.
        loss: f64,
        /// Flips of the best sample.
        used: usize,
        /// Flips allowed.
        allowed: usize,
    },
}

/// Someone who follows long work.
pub trait Watch: Sync {
    /// Told after every piece of work; `false` asks to stop.
    fn step(&self, done: u64, total: u64, status: Status<'_>) -> bool;
}

/// Nobody: the work runs to its end in silence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn step(&self, _done: u64, _total: u64, _status: Status<'_>) -> bool {
        true
    }
}

pub(crate) fn tell(watch: &dyn Watch, done: u64, total: u64, status: Status<'_>) -> Result<()> {
    if watch.step(done, total, status) { Ok(()) } else { Err(stop::interrupted()) }
}
