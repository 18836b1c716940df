//! How long runs are, and their values: the best, the last and what lies between.

use crate::training::metrics;
use crate::training::metrics::*;
use crate::training::protocol::parameters::Direction;

const VALUES: Line = Line { group: "values", better: by_direction, range: ANY, ..Line::DEFAULTS };

pub(crate) const FOLD_COUNT: Line = Line {
    id: "fold_count",
    group: "folds",
    range: FOLDS,
    measures: "The runs of the group.",
    formula: "Runs present.",
    differs: "It counts what was read; the declared number of folds, n_f, is a parameter.",
    example: ("five-folds", r#"{"cfg": 5}"#),
    interval: IntervalRule::Never,
    number: per_group!(values, |_, runs| Value::Count(runs.count().into())),
    ..Line::DEFAULTS
};

pub(crate) const EPOCHS_MEAN: Line = Line {
    id: "epochs_mean",
    group: "folds",
    range: metrics::EPOCHS,
    measures: "How long the runs are.",
    formula: "Mean of n_epoch, the number of the last point, over the runs present.",
    example: ("five-folds", r#"{"cfg": 6.0}"#),
    number: per_group!(values, |_, runs| number(quotient(runs.whole(EPOCHS), runs.count(), ""))),
    ..Line::DEFAULTS
};

pub(crate) const BEST_MEAN: Line = Line {
    id: "best_mean",
    measures: "The best value of the runs.",
    formula: "Mean over runs of the best value.",
    undefined: "\"no finite value\".",
    example: ("five-folds", r#"{"cfg": 0.922}"#),
    headline: Some(7),
    number: per_group!(values, |_, runs| number(mean(runs, BEST, WITH_BEST, "no finite value"))),
    ..VALUES
};

pub(crate) const LAST_MEAN: Line = Line {
    id: "last_mean",
    measures: "The last value of the runs.",
    formula: "Mean over runs of the last value.",
    undefined: "\"no fold ends with a finite value\".",
    example: ("five-folds", r#"{"cfg": 0.736}"#),
    headline: Some(8),
    number: per_group!(values, |_, runs| number(mean(runs, LAST, WITH_LAST, NO_FINITE_END))),
    ..VALUES
};

pub(crate) const FINAL_DROP_MEAN: Line = Line {
    id: "final_drop_mean",
    better: lower,
    range: NON_NEGATIVE,
    measures: "How much of its best a run has lost in the end.",
    formula: "Mean over runs of best - last; last - best where lower is better.",
    undefined: "\"no fold ends with a finite value\".",
    example: ("five-folds", r#"{"cfg": 0.186}"#),
    number: per_group!(values, |_, runs| number(mean(runs, DROP, WITH_DROP, NO_FINITE_END))),
    ..VALUES
};

const NO_FINITE_END: &str = "no fold ends with a finite value";

// Columns: sums, and over how many runs.
const EPOCHS: usize = 0;
const BEST: usize = 1;
const WITH_BEST: usize = 2;
const LAST: usize = 3;
const WITH_LAST: usize = 4;
const DROP: usize = 5;
const WITH_DROP: usize = 6;

fn values(protocol: &Training, run: &Row, terms: &mut Terms<'_>) {
    terms.whole(EPOCHS, run.epochs);
    let drop = run.best.zip(run.last).map(|(best, last)| match protocol.direction {
        Direction::Max => best - last,
        Direction::Min => last - best,
    });
    for (value, sum, count) in
        [(run.best, BEST, WITH_BEST), (run.last, LAST, WITH_LAST), (drop, DROP, WITH_DROP)]
    {
        if let Some(value) = value {
            terms.number(sum, value);
            terms.whole(count, 1);
        }
    }
}
