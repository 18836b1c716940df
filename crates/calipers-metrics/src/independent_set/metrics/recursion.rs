//! Recursion: whether and at which step a graph is solved.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::strict;
use super::{Line, STEP, YES_OR_NO, by_preset, document, each, higher, lower};

pub(super) const STEPS_TO_SOLVE: Line = Line {
    id: "steps_to_solve",
    group: "recursion",
    better: lower,
    range: STEP,
    per_unit: true,
    doc: Doc {
        measures: "The first recursion step at which every node is right and no edge is violated; over several \
                   graphs the mean over the solved ones.",
        formula: "min { t >= 1 : tp + tn = N and viol = 0 at step t }. Steps are the rows given.",
        undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\"; \"never \
                    solved\". Preset document: \"units have different numbers of steps\".",
        differs: "Never is undefined and not the step count; see solved_rate and steps_to_solve_median. Presets \
                  document and trm-mis-head give the first step at which all units are solved, else the number of steps.",
        reference: document!("TRM-Specific Metrics 2"),
        example: ("steps", "3.0"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::steps_to_solve), Batch::steps_to_solve)
    }),
    ..Line::DEFAULTS
};

pub(super) const SOLVED: Line = Line {
    id: "solved",
    group: "recursion",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the prediction equals the labels and violates no edge.",
        formula: "1 if tp + tn = N and viol = 0, else 0; over several graphs the share.",
        undefined: "\"no scores given\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "Per graph; presets document and trm-mis-head ask it of the whole batch. Another optimal set does \
                  not count; see solved_any_optimum.",
        reference: document!("TRM-Specific Metrics 3"),
        example: ("steps", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, each(strict::solved), Batch::solved)),
    ..Line::DEFAULTS
};
