//! How far a number could be off, from the runs that happen to be there.

use crate::training::metrics::*;
use calipers_core::Form;
use calipers_core::resample::{Bootstrap, Evidence, Method, resampled};

use super::saturation::divergence::DIVERGENCE_RATE;
use super::saturation::stability::STABILITY_WISE;
use super::saturation::velocity::VELOCITY_WISE;
use super::survival::times::VELOCITY_RMST;

const INTERVAL: Line = Line {
    group: "intervals",
    better: lower,
    range: ANY,
    form: Form::Interval,
    formula: "Only with --bootstrap B: [low, high], the values at rank k and R - 1 - k of the R defined ones \
              of B resamples of the runs of the group, k = floor((1 - C)/2 R + 0.5), C = --confidence.",
    undefined: "\"defined in R of B resamples\".",
    differs: "The intervals common to all families are of single numbers; every number of this family is one \
              per group, so that these stand in their place.",
    reference: "Percentile bootstrap (Efron 1979)",
    presets: |protocol| protocol.bootstrap > 0,
    interval: IntervalRule::Never,
    ..Line::DEFAULTS
};

pub(crate) const VELOCITY_WISE_CI: Line = Line {
    id: "velocity_wise_ci",
    measures: "An interval of velocity_wise.",
    example: ("bootstrap", r#"{"cfg": [1.0, 2.5]}"#),
    number: per_group!(|_, _, _| (), |protocol, runs| interval(protocol, runs.rows(), &VELOCITY_WISE)),
    ..INTERVAL
};

pub(crate) const VELOCITY_RMST_CI: Line = Line {
    id: "velocity_rmst_ci",
    measures: "An interval of velocity_rmst.",
    example: ("bootstrap", r#"{"cfg": [1.2, 4.6]}"#),
    number: per_group!(|_, _, _| (), |protocol, runs| interval(protocol, runs.rows(), &VELOCITY_RMST)),
    ..INTERVAL
};

pub(crate) const STABILITY_WISE_CI: Line = Line {
    id: "stability_wise_ci",
    better: by_stability_reading,
    measures: "An interval of stability_wise.",
    example: ("bootstrap", r#"{"cfg": [0.0, 0.375]}"#),
    number: per_group!(|_, _, _| (), |protocol, runs| interval(protocol, runs.rows(), &STABILITY_WISE)),
    ..INTERVAL
};

pub(crate) const DIVERGENCE_RATE_CI: Line = Line {
    id: "divergence_rate_ci",
    measures: "An interval of divergence_rate.",
    example: ("bootstrap", r#"{"cfg": [0.0, 1.0]}"#),
    number: per_group!(|_, _, _| (), |protocol, runs| interval(protocol, runs.rows(), &DIVERGENCE_RATE)),
    ..INTERVAL
};

/// The interval of a number of a configuration: for each resample as many runs as it has are drawn with
/// replacement.
fn interval(protocol: &Training, runs: &Rows<'_, Row>, metric: &Line) -> Value {
    let Training { bootstrap: resamples, confidence, seed, .. } = *protocol;
    let bootstrap = Bootstrap { resamples, confidence, seed, method: Method::Percentile };
    // The runs are of one configuration, so that there is one label.
    let drawn = |value: &Value| match value {
        Value::PerLabel(groups) => groups.first().and_then(|(_, value)| value.as_f64()),
        _ => None,
    };
    let evidence = Evidence {
        value: f64::NAN,
        resamples: resampled(protocol, runs, &metric.number, &bootstrap, drawn),
        left_out: Vec::new(),
        sizes: Vec::new(),
        order_statistic: false,
    };
    match bootstrap.level().interval(evidence) {
        Ok(interval) => Value::Series(interval.bounds.map(Value::Number).into()),
        Err(reason) => Value::Undefined(reason.into()),
    }
}
