//! Whether a difference may be chance: tests of single units, and their correction for being many.

pub mod holm;
pub mod permutation;
pub mod sign_test;
