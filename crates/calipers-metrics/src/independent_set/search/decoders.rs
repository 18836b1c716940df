//! Decoders beside the greedy one.

use crate::independent_set::metrics::*;
use crate::independent_set::row::ScoreRow;
use crate::independent_set::row::evidence::scores;

const DECODERS: Line = Line { group: "decoders", better: higher, range: UP_TO_NODES, ..PER_GRAPH };

pub(crate) const SCORE_DEGREE_SIZE: Line = Line {
    id: "score_degree_size",
    measures: "The decode that weighs probability against degree.",
    formula: "Repeatedly take the node with the largest p / (1 + residual degree), the lower number among \
              equals, and remove it with its neighbours.",
    undefined: "\"no scores given\"; \"not requested: --decoders score-degree\".",
    example: ("decoders", "4.0"),
    number: Number::mean(|_, row| size(row, |of| of.score_degree, "not requested: --decoders score-degree")),
    ..DECODERS
};

pub(crate) const SWAP_SIZE: Line = Line {
    id: "swap_size",
    measures: "The greedy decode after exchanging one node for two as long as that is possible.",
    formula: "From the greedy set: the smallest chosen x for which two non-adjacent outside nodes have x as \
              their only chosen neighbour is replaced by the smallest such pair, then free nodes are added \
              in ascending order; repeated until no x is left.",
    undefined: "\"no scores given\"; \"not requested: --decoders swap\".",
    reference: "Calipers; (1,2)-swaps as in local search for independent sets",
    example: ("decoders", "6.0"),
    number: Number::mean(|_, row| size(row, |of| of.swap, "not requested: --decoders swap")),
    ..DECODERS
};

pub(crate) const ILS_SIZE: Line = Line {
    id: "ils_size",
    measures: "The best set of an iterated local search that starts from the swap result.",
    formula: "ils_iterations rounds of perturbing, swap search and keeping the best, seeded by seed and unit \
              name. Never below swap_size, equal to it with 0 iterations.",
    undefined: "\"no scores given\"; \"not requested: --decoders ils\".",
    example: ("decoders", "6.0"),
    number: Number::mean(|_, row| size(row, |of| of.ils, "not requested: --decoders ils")),
    ..DECODERS
};

fn size(row: &Row, of: fn(&ScoreRow) -> Option<u64>, otherwise: &'static str) -> Value {
    number(scores(row).and_then(|scores| of(scores).map(|size| size as f64).ok_or(otherwise.into())))
}
