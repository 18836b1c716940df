//! How training runs behave over epochs and folds: velocity, stability, divergence.

pub mod unit;
