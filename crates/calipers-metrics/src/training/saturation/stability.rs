//! How steady the runs of a configuration are after the first saturation.

use super::by_preset::Aggregation::{self, Naive, Strict, Wise};
use super::by_preset::{BROKEN, Having, STABILITY, STEADY, aggregate, by_preset, stability_of};
use super::velocity::velocity;
use crate::training::metrics::*;
use crate::training::protocol::parameters::Preset;

const STEADINESS: Line =
    Line { group: "stability", better: by_stability_reading, range: NON_NEGATIVE, ..Line::DEFAULTS };

/// The mean stability, if every fold saturates.
pub const STABILITY_STRICT: Line = Line {
    id: "stability_strict",
    range: SHARE,
    measures: "How much of the runs is broken, if every fold saturates.",
    formula: "sum S_f / n_f; S_f = b_f / n_epoch, b_f = points after the first saturation that are worse \
              than the threshold.",
    undefined: "\"P of N folds present\"; \"never saturates: fold F\"; \"no broken step or never saturates: \
                fold F\"; \"the document's condition asks for broken steps in every fold; none in fold F\".",
    differs: "Under strict, document and table-2024-04-24: share of broken epochs; 0 is steady. Under \
              revised, table-2024-04-25 and script-2025: one minus the share; 1 is steady. Broken is what \
              is worse than the threshold, as the document's formula says; its text says worse than the \
              value at the first saturation, which the presets table-2024-04-24 and table-2024-04-25 take.",
    reference: document!("The Stability"),
    example: ("two-configurations", r#"{"a": 0.125, "b": null}"#),
    number: per_group!(by_preset, |protocol, runs| number(stability(protocol, runs, Strict))),
    ..STEADINESS
};

/// The mean stability of the folds that saturate.
pub const STABILITY_WISE: Line = Line {
    id: "stability_wise",
    measures: "How much of the runs is broken, over the folds that saturate.",
    formula: "sum S_f / n_F.",
    undefined: "\"no fold saturates\"; \"no fold has a broken step\"; \"script-2025 publishes the strict \
                aggregation only\".",
    differs: "Under strict, document and table-2024-04-24: share of broken epochs; 0 is steady. Under \
              revised, table-2024-04-25 and script-2025: one minus the share; 1 is steady. Broken is what \
              is worse than the threshold, as the document's formula says; its text says worse than the \
              value at the first saturation, which the presets table-2024-04-24 and table-2024-04-25 take. \
              The document prints V_f in place of S_f here: so does the preset document.",
    reference: document!("The Stability"),
    example: ("five-folds", r#"{"cfg": 0.16666666666666666}"#),
    headline: Some(5),
    number: per_group!(by_preset, |protocol, runs| number(stability(protocol, runs, Wise))),
    ..STEADINESS
};

/// The sum of stabilities over the number of all folds.
pub const STABILITY_NAIVE: Line = Line {
    id: "stability_naive",
    measures: "How much of the runs is broken, spread over all folds.",
    formula: "sum S_f / n_f over the folds that saturate.",
    example: ("five-folds", r#"{"cfg": 0.13333333333333333}"#),
    undefined: STABILITY_WISE.undefined,
    differs: STABILITY_WISE.differs,
    reference: STABILITY_WISE.reference,
    number: per_group!(by_preset, |protocol, runs| number(stability(protocol, runs, Naive))),
    ..STEADINESS
};

const NO_BROKEN_STEP: &str = "no fold has a broken step";

/// S.
fn stability(protocol: &Training, runs: &Runs<'_>, aggregation: Aggregation) -> Reading {
    let (preset, broken) = (protocol.preset, runs.whole(BROKEN));
    if preset == Preset::Document && aggregation != Strict {
        // As printed: the sums are of V, and one broken step is asked for.
        return if broken > 0 { velocity(protocol, runs, aggregation) } else { Err(NO_BROKEN_STEP.into()) };
    }
    let (lack, none) = match preset {
        Preset::Table20240424 => ("no broken step or never saturates: fold ", NO_BROKEN_STEP),
        _ => ("never saturates: fold ", NO_SATURATION),
    };
    let lacks = |run: &Row| stability_of(preset, run).is_none();
    let having = Having { column: STEADY, lack, none, lacks };
    let mean = |folds| runs.number_over(STABILITY, folds);
    let steady = aggregate(protocol, runs, aggregation, &having, mean)?;
    if preset == Preset::Document {
        let condition = "the document's condition asks for broken steps in every fold; none in fold ";
        none_lacks(runs, broken, condition, |run| run.by_preset.is_none_or(|first| first.broken == 0))?;
    }
    Ok(steady)
}
