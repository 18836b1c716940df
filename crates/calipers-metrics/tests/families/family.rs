//! A family as the laws see it, and the list of all.

use calipers_core::{Ledger, Metric, Protocol, Result};
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::{explanation, independent_set, robustness, segmentation, training};

pub(crate) struct Family {
    /// The name, which is also the folder of its golden files and of its worked examples.
    pub(crate) name: &'static str,
    /// The golden files that hold reports.
    pub(crate) golden: &'static [&'static str],
    /// Every metric, its id without the prefix.
    pub(crate) metrics: fn() -> Vec<Definition>,
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

/// What a line of the metric table says.
pub(crate) struct Definition {
    pub(crate) id: &'static str,
    pub(crate) group: &'static str,
    pub(crate) measures: &'static str,
    pub(crate) formula: &'static str,
    pub(crate) undefined: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) example: (&'static str, &'static str),
}

/// The lines of a protocol's metric table.
pub(crate) fn metrics<P: Protocol>() -> Vec<Definition> {
    let definition =
        |&Metric { id, group, measures, formula, undefined, reference, example, .. }: &Metric<P>| {
            Definition { id, group, measures, formula, undefined, reference, example }
        };
    P::METRICS.iter().map(definition).collect()
}

impl Family {
    /// The id without the prefix of the family.
    pub(crate) fn short<'i>(&self, id: &'i str) -> &'i str {
        let id = id.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('.'));
        id.expect("the prefix of the family")
    }
}
