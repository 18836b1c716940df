//! A run as it was read: its points, and what is known of it.

use std::collections::BTreeMap;

use calipers_metrics::training::Point;

use crate::training::runs::claims::Claim;

/// One run and its curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Its unit, its name and the file or folder it was read from.
    pub claim: Claim,
    /// The format it was read in.
    pub format: &'static str,
    /// The key that x was read from.
    pub x_key: String,
    /// What the numbers are made from, in order of x.
    pub points: Vec<Point>,
    /// The keys of its configuration, its tags, its parameters and the columns that rules name.
    pub config: BTreeMap<String, String>,
}
