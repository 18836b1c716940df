//! Whoever does several jobs side by side. This crate starts no thread; it says what can be spread.

use std::fmt::Debug;

/// Does jobs in any order, several at once where it can.
pub trait Workers: Debug + Sync {
    /// How many jobs are done at once.
    fn count(&self) -> usize;
    /// Does `job(0)` to `job(jobs - 1)`, each once, and returns when all are done.
    fn each(&self, jobs: usize, job: &(dyn Fn(usize) + Sync));
}

/// One job after the other.
#[derive(Debug)]
pub struct Alone;

impl Workers for Alone {
    fn count(&self) -> usize {
        1
    }

    fn each(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..jobs).for_each(job);
    }
}
