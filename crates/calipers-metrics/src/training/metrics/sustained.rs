//! Saturations that last.

use calipers_core::{Doc, Number, Value};

use super::super::reading::{Group, Reading, by_group, number, whole_mean};
use super::{EPOCHS, FOLDS, Line, higher, lower};

pub(super) const SUSTAINED_COUNT: Line = Line {
    id: "sustained_count",
    group: "sustained",
    better: higher,
    range: FOLDS,
    doc: Doc {
        measures: "The folds that stay saturated for a while.",
        formula: "Runs with K = --sustain consecutive saturated points.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 3}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| Value::Count(sustained(group).count() as i128))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_SUSTAINED_STRICT: Line = Line {
    id: "velocity_sustained_strict",
    group: "sustained",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to a saturation that lasts, if every fold gets there.",
        formula: "Mean over all n_f folds of the number of the first of K = --sustain consecutive \
                  saturated points.",
        undefined: "\"P of N folds present\"; \"no sustained saturation: fold F\".",
        differs: "",
        reference: "Calipers",
        example: ("sustained", r#"{"c": 2.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| number(strict(group)))),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_SUSTAINED_WISE: Line = Line {
    id: "velocity_sustained_wise",
    group: "sustained",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to a saturation that lasts, over the folds that get there.",
        formula: "Mean over the folds that have one of the number of the first of K = --sustain \
                  consecutive saturated points.",
        undefined: "\"no fold has a sustained saturation\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 2.3333333333333335}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            number(whole_mean(sustained(group), "no fold has a sustained saturation".into()))
        })
    }),
    ..Line::DEFAULTS
};

fn sustained(group: &Group<'_, '_>) -> impl Iterator<Item = u64> + Clone {
    group.runs.iter().filter_map(|run| run.sustained)
}

fn strict(group: &Group<'_, '_>) -> Reading {
    group.all_present()?;
    group.none_lacks("no sustained saturation", |run| run.sustained.is_none())?;
    whole_mean(sustained(group), "".into())
}
