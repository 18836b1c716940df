//! Saturations that last.

use crate::training::metrics::*;

const LASTING: Line = Line { group: "sustained", better: lower, range: EPOCHS, ..Line::DEFAULTS };

pub(crate) const SUSTAINED_COUNT: Line = Line {
    id: "sustained_count",
    better: higher,
    range: FOLDS,
    measures: "The folds that stay saturated for a while.",
    formula: "Runs with K = --sustain consecutive saturated points.",
    example: ("five-folds", r#"{"cfg": 3}"#),
    number: per_group!(sustained, |_, runs| Value::Count(runs.whole(SUSTAINED))),
    ..LASTING
};

pub(crate) const VELOCITY_SUSTAINED_STRICT: Line = Line {
    id: "velocity_sustained_strict",
    measures: "Epochs to a saturation that lasts, if every fold gets there.",
    formula: "Mean over all n_f folds of the number of the first of K = --sustain consecutive saturated \
              points.",
    undefined: "\"P of N folds present\"; \"no sustained saturation: fold F\".",
    example: ("sustained", r#"{"c": 2.0}"#),
    number: per_group!(sustained, |protocol, runs| number(strict(protocol, runs))),
    ..LASTING
};

pub(crate) const VELOCITY_SUSTAINED_WISE: Line = Line {
    id: "velocity_sustained_wise",
    measures: "Epochs to a saturation that lasts, over the folds that get there.",
    formula: "Mean over the folds that have one of the number of the first of K = --sustain consecutive \
              saturated points.",
    undefined: "\"no fold has a sustained saturation\".",
    example: ("five-folds", r#"{"cfg": 2.3333333333333335}"#),
    number: per_group!(sustained, |_, runs| number(quotient(
        runs.whole(NUMBER),
        runs.whole(SUSTAINED),
        "no fold has a sustained saturation"
    ))),
    ..LASTING
};

// Columns; the first one is that of the folds that a file lists.
/// Runs with a sustained saturation.
const SUSTAINED: usize = 1;
/// The number of its first point.
const NUMBER: usize = 2;

fn sustained(_: &Training, run: &Row, terms: &mut Terms<'_>) {
    list_folds(run, terms);
    if let Some(number) = run.sustained {
        terms.whole(SUSTAINED, 1);
        terms.whole(NUMBER, number);
    }
}

fn strict(protocol: &Training, runs: &Runs<'_>) -> Reading {
    all_present(protocol, runs)?;
    let have = runs.whole(SUSTAINED);
    none_lacks(runs, have, "no sustained saturation: fold ", |run| run.sustained.is_none())?;
    quotient(runs.whole(NUMBER), have, "")
}
