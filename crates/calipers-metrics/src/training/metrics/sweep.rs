//! The metrics of the document at other thresholds.

use calipers_core::{Doc, Number, Rows, Value};

use super::super::protocol::Training;
use super::super::reading::{NO_SATURATION, Reading, by_group, mean, quotient, whole_mean};
use super::super::row::{Row, Saturation};
use super::{ANY, Line, higher, lower};

pub(super) const SWEEP_SATURATION_COUNT: Line = Line {
    id: "sweep_saturation_count",
    group: "sweep",
    better: higher,
    range: ANY,
    doc: Doc {
        measures: "The runs that saturate at each threshold.",
        formula: "saturation_count by the strict rule. Only with --sweep: [T, value] for each threshold, \
                  ascending; null where no fold saturates.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("sweep", r#"{"cfg": [[0.5, 5], [0.9, 4], [0.95, 2], [0.99, 0]]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        swept(protocol, rows, |runs| Value::Count(saturating(runs).count() as i128))
    }),
    ..Line::DEFAULTS
};

pub(super) const SWEEP_VELOCITY_WISE: Line = Line {
    id: "sweep_velocity_wise",
    group: "sweep",
    better: lower,
    range: ANY,
    doc: Doc {
        measures: "Epochs to the first saturation at each threshold, over the folds that get there.",
        formula: "velocity_wise by the strict rule. Only with --sweep: [T, value] for each threshold, \
                  ascending; null where no fold saturates.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("sweep", r#"{"cfg": [[0.5, 2.2], [0.9, 1.75], [0.95, 3.0], [0.99, null]]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        swept(protocol, rows, |runs| {
            point(whole_mean(saturating(runs).map(|(_, saturation)| saturation.number), NO_SATURATION))
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const SWEEP_STABILITY_WISE: Line = Line {
    id: "sweep_stability_wise",
    group: "sweep",
    better: lower,
    range: ANY,
    doc: Doc {
        measures: "How much of the runs is broken at each threshold, over the folds that saturate.",
        formula: "stability_wise by the strict rule: share of broken epochs; 0 is steady. Only with \
                  --sweep: [T, value] for each threshold, ascending; null where no fold saturates.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: (
            "sweep",
            r#"{"cfg": [[0.5, 0.06666666666666667], [0.9, 0.16666666666666666], [0.95, 0.16666666666666666], [0.99, null]]}"#,
        ),
    },
    number: Number::Rows(|protocol, rows| {
        swept(protocol, rows, |runs| {
            let broken = saturating(runs).map(|(run, saturation)| quotient(saturation.broken, run.epochs));
            point(mean(broken, NO_SATURATION))
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const SWEEP_DIVERGENCE: Line = Line {
    id: "sweep_divergence",
    group: "sweep",
    better: lower,
    range: ANY,
    doc: Doc {
        measures: "The folds that end worse than they first saturated, at each threshold.",
        formula: "divergence_wise by the strict rule. Only with --sweep: [T, value] for each threshold, \
                  ascending; null where no fold saturates.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("sweep", r#"{"cfg": [[0.5, 2], [0.9, 2], [0.95, 1], [0.99, 0]]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        swept(protocol, rows, |runs| {
            Value::Count(saturating(runs).filter(|(_, saturation)| saturation.diverged).count() as i128)
        })
    }),
    ..Line::DEFAULTS
};

type AtThreshold<'a> = [(&'a Row, Option<Saturation>)];

/// `[T, value]` for each threshold and group.
fn swept(protocol: &Training, rows: &Rows<'_, Row>, read: impl Fn(&AtThreshold<'_>) -> Value) -> Value {
    let thresholds = protocol.sweep_thresholds();
    by_group(protocol, rows, |group| {
        let at = |(position, &threshold): (usize, &f64)| {
            let runs: Vec<_> =
                group.runs.iter().map(|&run| (run, run.sweep.get(position).copied().flatten())).collect();
            Value::Series(vec![Value::Number(threshold), read(&runs)])
        };
        Value::Series(thresholds.iter().enumerate().map(at).collect())
    })
}

fn saturating<'r, 'a>(
    runs: &'r AtThreshold<'a>,
) -> impl Iterator<Item = (&'a Row, Saturation)> + Clone + use<'r, 'a> {
    runs.iter().filter_map(|(run, saturation)| Some((*run, (*saturation)?)))
}

/// A point of a sweep; one without a value needs no reason.
fn point(reading: Reading) -> Value {
    reading.map_or(Value::undefined(""), Value::Number)
}
