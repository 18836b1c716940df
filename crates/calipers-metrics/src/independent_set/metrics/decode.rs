//! Decode: the independent set that the greedy decoder takes from the scores.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::{drop, strict};
use super::{
    Line, NON_NEGATIVE, UP_TO_HUNDRED, UP_TO_NODES, UP_TO_ONE, UP_TO_REFERENCE, by_preset, document, each,
    higher, lower, number,
};

pub(super) const POSTPROCESSED_SIZE: Line = Line {
    id: "postprocessed_size",
    group: "decode",
    better: higher,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The size of the independent set decoded from the scores; always feasible.",
        formula: "K: nodes in the order of their scores, highest first and the lower number among equals; take a \
                  node unless a neighbour is taken.",
        undefined: "\"no scores given\". \
                    The presets of the published code: \"no labels given\".",
        differs: "Logits are ranked as given: their sigmoid is 1 in single precision above about 17 and would make \
                  ties, which the published sort breaks at random. Presets document and trm-mis-head do rank that \
                  way, need labels, leave out graphs without a label 1 and divide by all graphs; trm-mis-head \
                  considers only nodes with p > 0.5.",
        reference: document!("Post-Processing Metrics 1 and 2"),
        example: ("path3", "1.0"),
    },
    headline: Some(3),
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::postprocessed_size), Batch::postprocessed_size)
    }),
    ..Line::DEFAULTS
};

pub(super) const GAP: Line = Line {
    id: "gap",
    group: "decode",
    better: lower,
    range: UP_TO_REFERENCE,
    per_unit: true,
    doc: Doc {
        measures: "How many nodes the decode is short of the reference; negative when it beats the reference.",
        formula: "R - K.",
        undefined: "\"no scores given\"; \"no labels or optimum given\". \
                    The presets of the published code: \"no labels given\".",
        differs: "Not cut at 0: a negative gap says that the labels are not optimal.",
        reference: document!("Post-Processing Metrics 3"),
        example: ("star", "-2.0"),
    },
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, each(strict::gap), Batch::gap)),
    ..Line::DEFAULTS
};

pub(super) const GAP_RATIO: Line = Line {
    id: "gap_ratio",
    group: "decode",
    better: lower,
    range: UP_TO_ONE,
    per_unit: true,
    doc: Doc {
        measures: "The share of the reference that the decode loses.",
        formula: "(R - K) / R.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\". \
                    The presets of the published code: \"no labels given\".",
        differs: "The document's range [0, 1] holds only for optimal labels; the value is not cut. Preset document \
                  divides by Y + 1e-8 and counts graphs without a label 1 as 0.",
        reference: document!("Post-Processing Metrics 4"),
        example: ("path3", "0.5"),
    },
    headline: Some(4),
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::gap_ratio), Batch::gap_ratio)
    }),
    ..Line::DEFAULTS
};

pub(super) const APPROX_RATIO_POSTPROCESSED: Line = Line {
    id: "approx_ratio_postprocessed",
    group: "decode",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The approximation ratio: the size of a feasible set relative to the reference.",
        formula: "K / R.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\". \
                    The presets of the published code: \"no labels given\".",
        differs: "Above 1 when the decode beats the labels; not cut. Preset document divides by Y + 1e-8 and counts \
                  graphs without a label 1 as 0.",
        reference: document!("Post-Processing Metrics 5"),
        example: ("star", "3.0"),
    },
    headline: Some(2),
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::approx_ratio_postprocessed), Batch::approx_ratio_postprocessed)
    }),
    ..Line::DEFAULTS
};

pub(super) const DROP_MEAN_OF_RATIOS: Line = Line {
    id: "drop_mean_of_ratios",
    group: "decode",
    better: lower,
    range: UP_TO_HUNDRED,
    doc: Doc {
        measures: "The drop against the reference in per cent, every graph with the same weight.",
        formula: "100 gap_ratio.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
        differs: "Published tables print one of two drops without saying which: this one is a mean of ratios, \
                  drop_ratio_of_means a ratio of means.",
        reference: "Calipers; the column Drop of published result tables",
        example: ("drop", "25.0"),
    },
    number: Number::Rows(|protocol, rows| number(drop::mean_of_ratios(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const DROP_RATIO_OF_MEANS: Line = Line {
    id: "drop_ratio_of_means",
    group: "decode",
    better: lower,
    range: UP_TO_HUNDRED,
    doc: Doc {
        measures: "The drop of the mean size against the mean reference in per cent.",
        formula: "100 gap_ratio_micro; with reference_mean X: 100 (X - postprocessed_size) / X.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
        differs: "See drop_mean_of_ratios.",
        reference: "Calipers; the column Drop of published result tables",
        example: ("drop", "20.0"),
    },
    number: Number::Rows(|protocol, rows| number(drop::ratio_of_means(protocol, rows))),
    ..Line::DEFAULTS
};
