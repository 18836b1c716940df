//! The values themselves: best, last and what lies between.

use calipers_core::{Doc, Number};

use super::super::protocol::Direction;
use super::super::reading::{by_group, mean, number};
use super::{ANY, Line, NON_NEGATIVE, by_direction, lower};

pub(super) const BEST_MEAN: Line = Line {
    id: "best_mean",
    group: "values",
    better: by_direction,
    range: ANY,
    doc: Doc {
        measures: "The best value of the runs.",
        formula: "Mean over runs of the best value.",
        undefined: "\"no finite value\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.922}"#),
    },
    headline: Some(7),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            number(mean(group.runs.iter().filter_map(|run| run.best), "no finite value".into()))
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const LAST_MEAN: Line = Line {
    id: "last_mean",
    group: "values",
    better: by_direction,
    range: ANY,
    doc: Doc {
        measures: "The last value of the runs.",
        formula: "Mean over runs of the last value.",
        undefined: "\"no fold ends with a finite value\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.736}"#),
    },
    headline: Some(8),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            number(mean(group.runs.iter().filter_map(|run| run.last), NO_FINITE_END.into()))
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const FINAL_DROP_MEAN: Line = Line {
    id: "final_drop_mean",
    group: "values",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How much of its best a run has lost in the end.",
        formula: "Mean over runs of best - last; last - best where lower is better.",
        undefined: "\"no fold ends with a finite value\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.186}"#),
    },
    number: Number::Rows(|protocol, rows| {
        let drop = |best: f64, last: f64| match protocol.direction {
            Direction::Max => best - last,
            Direction::Min => last - best,
        };
        by_group(protocol, rows, |group| {
            let drops = group.runs.iter().filter_map(|run| Some(drop(run.best?, run.last?)));
            number(mean(drops, NO_FINITE_END.into()))
        })
    }),
    ..Line::DEFAULTS
};

const NO_FINITE_END: &str = "no fold ends with a finite value";
