//! Recursion steps beyond the document: rates, medians and curves.

use calipers_core::{Doc, Number};

use super::super::aggregate::series;
use super::super::{beyond, curves};
use super::{Line, SHARE, STEP, UP_TO_EDGES, UP_TO_NODES, YES_OR_NO, higher, lower, number, over_graphs};

pub(super) const SOLVED_RATE: Line = Line {
    id: "solved_rate",
    group: "recursion",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether a graph is solved at some step.",
        formula: "1 if tp + tn = N and viol = 0 at any step, else 0; over several graphs the share.",
        undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "The share that steps_to_solve averages over. solved looks at the last step alone.",
        reference: "Calipers",
        example: ("steps", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::solved_rate)),
    ..Line::DEFAULTS
};

pub(super) const STEPS_TO_SOLVE_MEDIAN: Line = Line {
    id: "steps_to_solve_median",
    group: "recursion",
    better: lower,
    range: STEP,
    doc: Doc {
        measures: "The step by which half the graphs are solved.",
        formula: "Median over graphs of the first solved step, with never = infinity; the mean of the \
                  middle two for an even number.",
        undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\"; \
                    \"never solved\".",
        differs: "Counts the graphs that are never solved, which steps_to_solve leaves out.",
        reference: "Calipers",
        example: ("steps", "4.0"),
    },
    number: Number::Rows(|_, rows| number(curves::steps_to_solve_median(rows))),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_BY_STEP: Line = Line {
    id: "accuracy_by_step",
    group: "recursion",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "How accuracy develops over the recursion steps.",
        formula: "For t = 1 .. smallest number of steps: mean over labelled graphs of (tp + tn)/N at step t.",
        undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "",
        reference: "Calipers",
        example: ("steps", "[0.6, 0.7333333333333334, 0.6]"),
    },
    number: Number::Rows(|_, rows| series(curves::accuracy_by_step(rows))),
    ..Line::DEFAULTS
};

pub(super) const NUM_VIOLATIONS_BY_STEP: Line = Line {
    id: "num_violations_by_step",
    group: "recursion",
    better: lower,
    range: UP_TO_EDGES,
    doc: Doc {
        measures: "How the number of violated edges develops over the recursion steps.",
        formula: "For t = 1 .. smallest number of steps: mean over graphs of viol at step t.",
        undefined: "\"no scores given\"; \"no steps given\".",
        differs: "",
        reference: "Calipers",
        example: ("steps", "[1.0, 0.6666666666666666, 1.0]"),
    },
    number: Number::Rows(|_, rows| series(curves::num_violations_by_step(rows))),
    ..Line::DEFAULTS
};

pub(super) const POSTPROCESSED_SIZE_BY_STEP: Line = Line {
    id: "postprocessed_size_by_step",
    group: "recursion",
    better: higher,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "How the size of the decode develops over the recursion steps.",
        formula: "For t = 1 .. smallest number of steps: mean over graphs of K at step t.",
        undefined: "\"no scores given\"; \"no steps given\".",
        differs: "",
        reference: "Calipers",
        example: ("steps", "[3.0, 3.0, 3.0]"),
    },
    number: Number::Rows(|_, rows| series(curves::postprocessed_size_by_step(rows))),
    ..Line::DEFAULTS
};

pub(super) const SOLVED_BY_STEP: Line = Line {
    id: "solved_by_step",
    group: "recursion",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of graphs that have been solved so far.",
        formula: "For t = 1 .. smallest number of steps: graphs solved at step t or before / labelled \
                  graphs with nodes.",
        undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "Never falls: a graph that was solved once stays counted.",
        reference: "Calipers",
        example: ("steps", "[0.0, 0.3333333333333333, 0.3333333333333333]"),
    },
    number: Number::Rows(|_, rows| series(curves::solved_by_step(rows))),
    ..Line::DEFAULTS
};
