//! How the parts tell where they are.

use crate::model::Unwatched;
use crate::model::watch::Watch;

/// Follows one part after another.
pub trait Stage {
    /// This many parts are to come.
    fn start(&self, parts: usize);
    /// A part begins; what it returns follows its steps.
    fn begin(&self, name: &str) -> Box<dyn Watch + '_>;
    /// A part was finished before.
    fn skip(&self);
}

/// Follows nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unseen;

impl Stage for Unseen {
    fn start(&self, _: usize) {}

    fn begin(&self, _: &str) -> Box<dyn Watch + '_> {
        Box::new(Unwatched)
    }

    fn skip(&self) {}
}
