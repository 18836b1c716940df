//! How many runs there are, and how many of them saturate.

use calipers_core::{Doc, Number, Value};

use super::super::reading::{by_group, number, whole_mean};
use super::{EPOCHS, FOLDS, Line, document, higher, neither};

pub(super) const FOLD_COUNT: Line = Line {
    id: "fold_count",
    group: "folds",
    better: neither,
    range: FOLDS,
    doc: Doc {
        measures: "The runs of the group.",
        formula: "Runs present.",
        undefined: "",
        differs: "It counts what was read; the declared number of folds, n_f, is a parameter.",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 5}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| Value::Count(group.runs.len() as i128))
    }),
    ..Line::DEFAULTS
};

pub(super) const SATURATION_COUNT: Line = Line {
    id: "saturation_count",
    group: "folds",
    better: higher,
    range: FOLDS,
    doc: Doc {
        measures: "The runs that saturate.",
        formula: "n_F = runs with a value beyond the threshold; in the published programs a value of \
                  exactly 0 is skipped.",
        undefined: "",
        differs: "",
        reference: document!("The Velocity"),
        example: ("five-folds", r#"{"cfg": 4}"#),
    },
    headline: Some(1),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            Value::Count(group.runs.iter().filter(|run| run.by_preset.is_some()).count() as i128)
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const EPOCHS_MEAN: Line = Line {
    id: "epochs_mean",
    group: "folds",
    better: neither,
    range: EPOCHS,
    doc: Doc {
        measures: "How long the runs are.",
        formula: "Mean of n_epoch, the number of the last point, over the runs present.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 6.0}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            number(whole_mean(group.runs.iter().map(|run| run.epochs), "".into()))
        })
    }),
    ..Line::DEFAULTS
};
