//! The metrics of the document at other thresholds, by the strict rule.

use crate::training::metrics::*;
use calipers_core::Form;

use super::share;

const SWEEP: Line = Line {
    group: "sweep",
    better: lower,
    range: ANY,
    form: Form::Sweep,
    presets: |protocol| !protocol.sweep.is_empty(),
    ..Line::DEFAULTS
};

/// How many runs saturate at each threshold.
pub const SWEEP_SATURATION_COUNT: Line = Line {
    id: "sweep_saturation_count",
    better: higher,
    measures: "The runs that saturate at each threshold.",
    formula: "saturation_count by the strict rule. Only with --sweep: [T, value] for each threshold, \
              ascending; null where no fold saturates.",
    example: ("sweep", r#"{"cfg": [[0.5, 5], [0.9, 4], [0.95, 2], [0.99, 0]]}"#),
    number: per_group!(swept, |protocol, runs| at_each(protocol, |at| Value::Count(
        runs.whole(at + SATURATING)
    ))),
    ..SWEEP
};

/// The velocity at each threshold.
pub const SWEEP_VELOCITY_WISE: Line = Line {
    id: "sweep_velocity_wise",
    measures: "Epochs to the first saturation at each threshold, over the folds that get there.",
    formula: "velocity_wise by the strict rule. Only with --sweep: [T, value] for each threshold, ascending; \
              null where no fold saturates.",
    example: ("sweep", r#"{"cfg": [[0.5, 2.2], [0.9, 1.75], [0.95, 3.0], [0.99, null]]}"#),
    number: per_group!(swept, |protocol, runs| at_each(protocol, |at| {
        number(quotient(runs.whole(at + VELOCITY), runs.whole(at + SATURATING), ""))
    })),
    ..SWEEP
};

/// The stability at each threshold.
pub const SWEEP_STABILITY_WISE: Line = Line {
    id: "sweep_stability_wise",
    measures: "How much of the runs is broken at each threshold, over the folds that saturate.",
    formula: "stability_wise by the strict rule: share of broken epochs; 0 is steady. Only with --sweep: [T, \
              value] for each threshold, ascending; null where no fold saturates.",
    example: (
        "sweep",
        r#"{"cfg": [[0.5, 0.06666666666666667], [0.9, 0.16666666666666666], [0.95, 0.16666666666666666], [0.99, null]]}"#,
    ),
    number: per_group!(swept, |protocol, runs| at_each(protocol, |at| {
        number(mean(runs, at + STABILITY, at + SATURATING, ""))
    })),
    ..SWEEP
};

/// How many runs diverge at each threshold.
pub const SWEEP_DIVERGENCE: Line = Line {
    id: "sweep_divergence",
    measures: "The folds that end worse than they first saturated, at each threshold.",
    formula: "divergence_wise by the strict rule. Only with --sweep: [T, value] for each threshold, \
              ascending; null where no fold saturates.",
    example: ("sweep", r#"{"cfg": [[0.5, 2], [0.9, 2], [0.95, 1], [0.99, 0]]}"#),
    number: per_group!(swept, |protocol, runs| at_each(protocol, |at| Value::Count(
        runs.whole(at + DIVERGED)
    ))),
    ..SWEEP
};

// Columns of the first threshold; those of the next one are `COLUMNS` further on.
const SATURATING: usize = 0;
const VELOCITY: usize = 1;
const STABILITY: usize = 2;
const DIVERGED: usize = 3;
const COLUMNS: usize = 4;

fn swept(_: &Training, run: &Row, terms: &mut Terms<'_>) {
    for (threshold, saturation) in run.sweep.iter().enumerate() {
        let Some(saturation) = saturation else { continue };
        let at = COLUMNS * threshold;
        terms.whole(at + SATURATING, 1);
        terms.whole(at + VELOCITY, saturation.number);
        terms.number(at + STABILITY, share(saturation.broken, run.epochs));
        terms.whole(at + DIVERGED, saturation.diverged);
    }
}

/// `[T, value]` for each threshold; a value is read from the columns of its threshold.
fn at_each(protocol: &Training, read: impl Fn(usize) -> Value) -> Value {
    let thresholds = protocol.sweep_thresholds().into_iter().enumerate();
    let pair = |(place, threshold)| Value::Series(vec![Value::Number(threshold), read(COLUMNS * place)]);
    Value::Series(thresholds.map(pair).collect())
}
