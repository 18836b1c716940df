//! What runs add up to by the rule of the preset, and how sums become the number of a configuration.

use super::share;
use crate::training::metrics::*;
use crate::training::protocol::parameters::Preset;

/// How many runs saturate.
pub const SATURATION_COUNT: Line = Line {
    id: "saturation_count",
    group: "folds",
    better: higher,
    range: FOLDS,
    measures: "The runs that saturate.",
    formula: "n_F = runs with a value beyond the threshold; in the published programs a value of exactly 0 \
              is skipped.",
    reference: document!("The Velocity"),
    example: ("five-folds", r#"{"cfg": 4}"#),
    headline: Some(1),
    number: per_group!(by_preset, |_, runs| Value::Count(runs.whole(SATURATING))),
    ..Line::DEFAULTS
};

/// How the values of the folds become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregation {
    /// Every fold must have one.
    Strict,
    /// Over the folds that have one.
    Wise,
    /// Divided by the number of all folds.
    Naive,
}

// Columns; the first one is that of the folds that a file lists.
/// Runs that saturate.
pub(super) const SATURATING: usize = 1;
/// V.
pub(super) const VELOCITY: usize = 2;
/// V as a share of the run.
pub(super) const NORMALISED: usize = 3;
/// Runs that have an S.
pub(super) const STEADY: usize = 4;
/// S.
pub(super) const STABILITY: usize = 5;
/// Runs with a broken step.
pub(super) const BROKEN: usize = 6;
/// D.
pub(super) const DIVERGED: usize = 7;

/// What a run adds.
pub(super) fn by_preset(protocol: &Training, run: &Row, terms: &mut Terms<'_>) {
    list_folds(run, terms);
    if let Some(saturation) = run.by_preset {
        terms.whole(SATURATING, 1);
        terms.whole(VELOCITY, saturation.number);
        terms.number(NORMALISED, share(saturation.number, run.epochs));
        terms.whole(BROKEN, saturation.broken > 0);
        terms.whole(DIVERGED, saturation.diverged);
    }
    if let Some(stability) = stability_of(protocol.preset, run) {
        terms.whole(STEADY, 1);
        terms.number(STABILITY, stability);
    }
}

/// The stability S of one run.
pub(crate) fn stability_of(preset: Preset, run: &Row) -> Option<f64> {
    let broken = run.by_preset.map(|saturation| saturation.broken);
    let kept = |broken: u64| share(run.epochs - broken, run.epochs);
    match preset {
        Preset::Strict | Preset::Document => broken.map(|broken| share(broken, run.epochs)),
        Preset::Revised => broken.map(kept),
        Preset::Table20240424 => broken.filter(|broken| *broken > 0).map(|broken| share(broken, run.epochs)),
        Preset::Table20240425 | Preset::Script2025 => Some(broken.map_or(0.0, kept)),
    }
}

/// Which runs have a value, and what is said where they lack it.
pub(super) struct Having<L> {
    /// The column that counts them.
    pub(super) column: usize,
    /// What strict aggregations say of folds without.
    pub(super) lack: &'static str,
    /// What the others say where no fold has one.
    pub(super) none: &'static str,
    /// Whether a run lacks it.
    pub(super) lacks: L,
}

/// Refuses all but the strict aggregation where the preset has no other.
pub(super) fn published(protocol: &Training, aggregation: Aggregation) -> Result<(), Reason> {
    if aggregation != Aggregation::Strict && protocol.preset == Preset::Script2025 {
        return Err("script-2025 publishes the strict aggregation only".into());
    }
    Ok(())
}

/// The number of a configuration: `mean` of the number of folds that its values are spread over.
pub(super) fn aggregate(
    protocol: &Training,
    runs: &Runs<'_>,
    aggregation: Aggregation,
    having: &Having<impl Fn(&Row) -> bool>,
    mean: impl Fn(i128) -> f64,
) -> Reading {
    published(protocol, aggregation)?;
    let have = runs.whole(having.column);
    if aggregation == Aggregation::Strict {
        all_present(protocol, runs)?;
        none_lacks(runs, have, having.lack, &having.lacks)?;
    } else if have == 0 {
        return Err(having.none.into());
    }
    Ok(mean(if aggregation == Aggregation::Wise { have } else { folds(protocol, runs).into() }))
}
