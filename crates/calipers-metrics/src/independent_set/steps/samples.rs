//! Samples: the best of several decodes.

use super::curves::curve;
use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{ZERO_REFERENCE, reference, samples};

const SAMPLES: Line = Line { group: "samples", better: higher, ..PER_GRAPH };

pub(crate) const BEST_OF_SIZE: Line = Line {
    id: "best_of_size",
    range: UP_TO_NODES,
    measures: "The largest decode over the samples of a graph.",
    formula: "max over samples of K.",
    undefined: "\"no scores given\"; \"no samples given\".",
    differs: "postprocessed_size is the decode of the first sample alone.",
    example: ("samples", "3.0"),
    number: Number::mean(|_, row| number(best(row).map(|size| size as f64))),
    ..SAMPLES
};

pub(crate) const BEST_OF_APPROX_RATIO: Line = Line {
    id: "best_of_approx_ratio",
    range: NON_NEGATIVE,
    measures: "The approximation ratio of the best sample.",
    formula: "best_of_size / R.",
    undefined: "\"no scores given\"; \"no samples given\"; \"no labels or optimum given\"; \"reference size \
                is 0\".",
    example: ("samples", "1.0"),
    number: Number::mean(|protocol, row| {
        number(best(row).and_then(|best| quotient(best, reference(protocol, row)?, ZERO_REFERENCE)))
    }),
    ..SAMPLES
};

pub(crate) const BEST_OF_CURVE: Line = Line {
    id: "best_of_curve",
    group: "samples",
    better: higher,
    range: UP_TO_NODES,
    measures: "What more samples bring: the best size after 1, 2, ... samples.",
    formula: "For k = 1 .. smallest number of samples: mean over graphs of the largest K of the first k \
              samples.",
    undefined: "\"no scores given\"; \"no samples given\".",
    example: ("samples", "[2.0, 3.0]"),
    number: Number::Rows(|_, rows| {
        curve(rows, |row| {
            let best_so_far = samples(row)?.iter().scan(0, |best, &size| {
                *best = size.max(*best);
                Some(*best as f64)
            });
            Ok(best_so_far.collect())
        })
    }),
    ..STRICT
};

fn best(row: &Row) -> Result<u64, Reason> {
    Ok(samples(row)?.iter().copied().max().unwrap_or(0))
}
