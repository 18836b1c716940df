//! A family as the laws see it, and the list of all.

use calipers_core::{Doc, Ledger, Protocol, Result};
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::{explanation, independent_set, robustness, segmentation, training};

pub(crate) struct Family {
    /// The name, which is also the folder of its golden files and of its worked examples.
    pub(crate) name: &'static str,
    /// The golden files that hold reports.
    pub(crate) golden: &'static [&'static str],
    /// Id and definition of every metric.
    pub(crate) metrics: fn() -> Vec<(&'static str, Doc)>,
    /// A run written as JSON: parameters and units in, a state out.
    pub(crate) run: fn(&Json) -> Result<Box<dyn Ledger>>,
    /// How far the number of an id may be off in a run.
    pub(crate) tolerance: fn(&str, &Json) -> Tolerance,
    /// A reason as its definition writes it: with letters in place of numbers and names.
    pub(crate) general: fn(&str) -> String,
}

pub(crate) const FAMILIES: [&Family; 5] = [
    &explanation::FAMILY,
    &independent_set::FAMILY,
    &robustness::FAMILY,
    &segmentation::FAMILY,
    &training::FAMILY,
];

/// The lines of a protocol's metric table.
pub(crate) fn metrics<P: Protocol>() -> Vec<(&'static str, Doc)> {
    P::METRICS.iter().map(|metric| (metric.id, metric.doc)).collect()
}

impl Family {
    /// The id without the prefix of the family.
    pub(crate) fn short<'i>(&self, id: &'i str) -> &'i str {
        let id = id.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('.'));
        id.expect("the prefix of the family")
    }
}
