//! How many runs end worse than they saturated.

use super::aftermath::{self, aftermath};
use super::by_preset::Aggregation::{self, Naive, Strict, Wise};
use super::by_preset::{DIVERGED, by_preset, published};
use crate::training::metrics::*;

const WORSE_IN_THE_END: Line = Line { group: "divergence", better: lower, range: FOLDS, ..Line::DEFAULTS };

/// How many folds diverge, if every fold is there.
pub const DIVERGENCE_STRICT: Line = Line {
    id: "divergence_strict",
    measures: "The folds that end worse than they first saturated, if every fold is there.",
    formula: "sum D_f; D_f = 1 if the fold saturates and its last value is worse than that of the first \
              saturation.",
    undefined: "\"P of N folds present\".",
    differs: "A fold that never saturates does not diverge: read it beside saturation_count.",
    reference: document!("The Divergence"),
    example: ("five-folds", r#"{"cfg": 2}"#),
    number: per_group!(by_preset, |protocol, runs| divergence(protocol, runs, Strict)),
    ..WORSE_IN_THE_END
};

/// How many folds diverge.
pub const DIVERGENCE_WISE: Line = Line {
    id: "divergence_wise",
    measures: "The folds that end worse than they first saturated.",
    formula: "sum D_f over the runs present.",
    undefined: "\"script-2025 publishes the strict aggregation only\".",
    differs: "The same as divergence_naive: the document counts folds and divides by nothing.",
    reference: document!("The Divergence"),
    example: ("document", r#"{"ex": 2}"#),
    headline: Some(6),
    number: per_group!(by_preset, |protocol, runs| divergence(protocol, runs, Wise)),
    ..WORSE_IN_THE_END
};

/// The same, under the name of the third aggregation.
pub const DIVERGENCE_NAIVE: Line = Line {
    id: "divergence_naive",
    differs: "The same as divergence_wise: the document counts folds and divides by nothing.",
    headline: None,
    number: per_group!(by_preset, |protocol, runs| divergence(protocol, runs, Naive)),
    ..DIVERGENCE_WISE
};

pub(crate) const DIVERGENCE_RATE: Line = Line {
    id: "divergence_rate",
    range: SHARE,
    measures: "The share of saturating folds that end worse than they first saturated.",
    formula: "sum D_f / n_F by the strict rule.",
    undefined: "\"no fold saturates\".",
    example: ("five-folds", r#"{"cfg": 0.5}"#),
    number: per_group!(aftermath, |_, runs| number(quotient(
        runs.whole(aftermath::DIVERGED),
        runs.whole(aftermath::SATURATING),
        NO_SATURATION
    ))),
    ..WORSE_IN_THE_END
};

/// How many folds diverge.
fn divergence(protocol: &Training, runs: &Runs<'_>, aggregation: Aggregation) -> Value {
    let refused = match aggregation {
        Strict => one_run_per_fold(protocol, runs),
        Wise | Naive => published(protocol, aggregation),
    };
    refused.map_or_else(Value::Undefined, |()| Value::Count(runs.whole(DIVERGED)))
}
