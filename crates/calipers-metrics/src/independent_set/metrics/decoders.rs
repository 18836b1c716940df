//! Decoders beside the greedy one.

use calipers_core::{Doc, Number};

use super::super::beyond;
use super::{Line, UP_TO_NODES, higher, over_graphs};

pub(super) const SCORE_DEGREE_SIZE: Line = Line {
    id: "score_degree_size",
    group: "decoders",
    better: higher,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The decode that weighs probability against degree.",
        formula: "Repeatedly take the node with the largest p / (1 + residual degree), the lower number \
                  among equals, and remove it with its neighbours.",
        undefined: "\"no scores given\"; \"not requested: --decoders score-degree\".",
        differs: "",
        reference: "Calipers",
        example: ("decoders", "4.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::score_degree_size)),
    ..Line::DEFAULTS
};

pub(super) const SWAP_SIZE: Line = Line {
    id: "swap_size",
    group: "decoders",
    better: higher,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The greedy decode after exchanging one node for two as long as that is possible.",
        formula: "From the greedy set: the smallest chosen x for which two non-adjacent outside nodes have \
                  x as their only chosen neighbour is replaced by the smallest such pair, then free nodes \
                  are added in ascending order; repeated until no x is left.",
        undefined: "\"no scores given\"; \"not requested: --decoders swap\".",
        differs: "",
        reference: "Calipers; (1,2)-swaps as in local search for independent sets",
        example: ("decoders", "6.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::swap_size)),
    ..Line::DEFAULTS
};

pub(super) const ILS_SIZE: Line = Line {
    id: "ils_size",
    group: "decoders",
    better: higher,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The best set of an iterated local search that starts from the swap result.",
        formula: "ils_iterations rounds of perturbing, swap search and keeping the best, seeded by seed and \
                  unit name. Never below swap_size, equal to it with 0 iterations.",
        undefined: "\"no scores given\"; \"not requested: --decoders ils\".",
        differs: "",
        reference: "Calipers",
        example: ("decoders", "6.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::ils_size)),
    ..Line::DEFAULTS
};
