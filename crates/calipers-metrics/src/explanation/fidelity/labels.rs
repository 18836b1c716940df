//! Whether labels change without the explanation, or with nothing else.

use crate::explanation::metrics::*;
use calipers_core::exact::rounded_quotient;

use super::{KINDS, Of, SIDES, Side, need, place};
use crate::explanation::curve::characterization;
use crate::explanation::published;
use crate::explanation::row::SideRow;

const INSTANCES: Need = Need { keys: &["y_hat", "y_sub"], met: |row| row.instances.is_some() };
const PLUS_MODEL: Need = need!("y_hat" "y_comp", Plus, |side| side.labels.is_some());
const MINUS_MODEL: Need = need!("y_hat" "y_sub", Minus, |side| side.labels.is_some());
const PLUS_TRUTH: Need = need!("y" "y_hat" "y_comp", Plus, with_truth);
const MINUS_TRUTH: Need = need!("y" "y_hat" "y_sub", Minus, with_truth);

fn with_truth(side: &SideRow) -> bool {
    side.labels.is_some_and(|flips| flips.truth.is_some())
}

/// Where instances, changed answers, and answers lost minus gained are added up.
const COUNTED: Pooled = Pooled(0);

const fn changed(side: Side, of: Of) -> Pooled {
    Pooled(place(1, side, of))
}

const fn shifted(side: Side) -> Pooled {
    Pooled(5 + side as usize)
}

fn flips(_: &Explanation, row: &Row, terms: &mut Terms<'_>) {
    let Some(instances) = row.instances else { return };
    COUNTED.whole(terms, instances, 1);
    for side in SIDES {
        let Some(flips) = side.of(row).and_then(|side| side.labels.as_ref()) else { continue };
        for of in KINDS {
            if let Some(count) = of.changed(flips) {
                changed(side, of).whole(terms, count, instances);
            }
        }
        if let Some(truth) = flips.truth {
            shifted(side).whole(terms, i128::from(truth.lost) - i128::from(truth.gained), instances);
        }
    }
}

/// A fidelity: pooled over instances; in preset `pyg` the mean of what single units get.
macro_rules! fidelity {
    ($side:ident, $of:ident) => {
        Number::Chosen(|protocol| match protocol.preset {
            Preset::Pyg => Number::mean(|_, row| of_unit(published_fidelity(row, Side::$side, Of::$of))),
            _ => Number::pooled(flips, |_, sums| given(changed(Side::$side, Of::$of).share(sums))),
        })
    };
}

/// What the published code returns for one unit.
fn published_fidelity(row: &Row, side: Side, of: Of) -> Option<Reading> {
    let flips = side.of(row)?.labels.as_ref()?;
    of.changed(flips)?;
    let value = match of {
        Of::Model => published::model_fidelity(flips, row.instances?),
        Of::Phenomenon => published::phenomenon_fidelity(flips, row.instances?),
    };
    Some(value.ok_or(PUBLISHED_NAN.into()))
}

/// The characterization score of the pooled fidelities.
fn characterized(protocol: &Explanation, sums: &Sums<'_, Row>, of: Of) -> Value {
    let [plus, minus] = SIDES.map(|side| changed(side, of).counts(sums));
    given(plus.zip(minus).map(|((plus, of_plus), (minus, of_minus))| {
        if of_plus == 0 || of_minus == 0 {
            return Err(NO_INSTANCES.into());
        }
        let (p, q) = (rounded_quotient(plus, of_plus), rounded_quotient(of_minus - minus, of_minus));
        characterization(p, q, protocol.pos_weight, protocol.neg_weight).ok_or(ZERO_WEIGHT.into())
    }))
}

/// What the lines of this idea share.
const FIDELITY: Line = Line {
    group: "fidelity",
    better: higher,
    range: SHARE,
    per_unit: true,
    undefined: "\"no explained instances\"; \"published code returns NaN\".",
    reference: document!("fidelity"),
    ..PUBLISHED
};

pub(crate) const NUM_INSTANCES: Line = Line {
    id: "num_instances",
    group: "counts",
    range: NON_NEGATIVE,
    per_unit: true,
    needs: &[INSTANCES],
    measures: "The explained instances behind the fidelity numbers.",
    formula: "Sum over units of the instances that `index` leaves, all without it.",
    example: ("labels", "5"),
    number: Number::pooled(flips, |_, sums| {
        COUNTED.counts(sums).map_or(given(None), |(count, _)| Value::Count(count))
    }),
    ..BEYOND
};

/// The share of predictions that change when the explanation is removed.
pub const FID_PLUS_MODEL: Line = Line {
    id: "fid_plus_model",
    needs: &[PLUS_MODEL],
    measures: "How often the prediction changes when the explanation is removed.",
    formula: "#(C != L) / N, L the label of y_hat, C of y_comp; pooled over all instances. Preset pyg: mean \
              over units of 1 - f32(equal)/f32(N).",
    differs: "Pooled over instances, not averaged over units.",
    example: ("labels", "0.6"),
    headline: Some(1),
    number: fidelity!(Plus, Model),
    ..FIDELITY
};

/// The share of predictions that change when the explanation is kept alone.
pub const FID_MINUS_MODEL: Line = Line {
    id: "fid_minus_model",
    better: lower,
    needs: &[MINUS_MODEL],
    measures: "How often the prediction changes when the explanation is kept alone.",
    formula: "#(S != L) / N, L the label of y_hat, S of y_sub; pooled over all instances. Preset pyg: mean \
              over units of 1 - f32(equal)/f32(N).",
    differs: "Pooled over instances, not averaged over units.",
    example: ("labels", "0.4"),
    headline: Some(2),
    number: fidelity!(Minus, Model),
    ..FIDELITY
};

/// The share of answers whose being right changes when the explanation is removed.
pub const FID_PLUS_PHENOMENON: Line = Line {
    id: "fid_plus_phenomenon",
    needs: &[PLUS_TRUTH],
    measures: "How often being right changes when the explanation is removed.",
    formula: "#([L = y] != [C = y]) / N, L the label of y_hat, C of y_comp, y the true label; pooled over \
              all instances. Preset pyg: mean over units of f32(differing)/f32(N).",
    differs: "Answers gained count like answers lost; fid_plus_signed_phenomenon tells them apart.",
    example: ("labels", "0.6"),
    number: fidelity!(Plus, Phenomenon),
    ..FIDELITY
};

/// The share of answers whose being right changes when the explanation is kept alone.
pub const FID_MINUS_PHENOMENON: Line = Line {
    id: "fid_minus_phenomenon",
    better: lower,
    needs: &[MINUS_TRUTH],
    measures: "How often being right changes when the explanation is kept alone.",
    formula: "#([L = y] != [S = y]) / N, L the label of y_hat, S of y_sub, y the true label; pooled over all \
              instances. Preset pyg: mean over units of f32(differing)/f32(N).",
    differs: "Answers gained count like answers lost; fid_minus_signed_phenomenon tells them apart.",
    example: ("labels", "0.4"),
    number: fidelity!(Minus, Phenomenon),
    ..FIDELITY
};

pub(crate) const CHARACTERIZATION_SCORE_MODEL: Line = Line {
    id: "characterization_score_model",
    needs: &[PLUS_MODEL, MINUS_MODEL],
    presets: DOCUMENTED.presets,
    measures: "fid_plus_model and 1 - fid_minus_model in one number: their weighted harmonic mean.",
    formula: "(w+ + w-) / (w+/p + w-/(1-n)), p = fid_plus_model, n = fid_minus_model; a positive weight over \
              0 is infinite, so that p = 0 or n = 1 gives 0.",
    undefined: "\"no explained instances\"; \"0/0: weight 0 on a fidelity term of 0\".",
    differs: "Weights need not sum to 1.",
    reference: document!("characterization_score"),
    example: ("labels", "0.6"),
    headline: Some(3),
    number: Number::pooled(flips, |protocol, sums| characterized(protocol, sums, Of::Model)),
    ..FIDELITY
};

pub(crate) const CHARACTERIZATION_SCORE_PHENOMENON: Line = Line {
    id: "characterization_score_phenomenon",
    needs: &[PLUS_TRUTH, MINUS_TRUTH],
    presets: DOCUMENTED.presets,
    measures: "fid_plus_phenomenon and 1 - fid_minus_phenomenon in one number: their weighted harmonic mean.",
    formula: "(w+ + w-) / (w+/p + w-/(1-n)), p = fid_plus_phenomenon, n = fid_minus_phenomenon; a positive \
              weight over 0 is infinite, so that p = 0 or n = 1 gives 0.",
    undefined: "\"no explained instances\"; \"0/0: weight 0 on a fidelity term of 0\".",
    differs: "Weights need not sum to 1.",
    reference: document!("characterization_score"),
    example: ("labels", "0.6"),
    number: Number::pooled(flips, |protocol, sums| characterized(protocol, sums, Of::Phenomenon)),
    ..FIDELITY
};

const SIGNED_FIDELITY: Line = Line {
    range: SIGNED,
    presets: BEYOND.presets,
    undefined: "\"no explained instances\".",
    reference: SURVEY,
    ..FIDELITY
};

pub(crate) const FID_PLUS_SIGNED_PHENOMENON: Line = Line {
    id: "fid_plus_signed_phenomenon",
    needs: &[PLUS_TRUTH],
    measures: "The accuracy lost when the explanation is removed.",
    formula: "(lost - gained) / N: right on the full graph and wrong here, minus wrong there and right here; \
              pooled.",
    differs: "fid_plus_phenomenon adds the two instead.",
    example: ("labels", "0.2"),
    number: Number::pooled(flips, |_, sums| given(shifted(Side::Plus).share(sums))),
    ..SIGNED_FIDELITY
};

pub(crate) const FID_MINUS_SIGNED_PHENOMENON: Line = Line {
    id: "fid_minus_signed_phenomenon",
    better: lower,
    needs: &[MINUS_TRUTH],
    measures: "The accuracy lost when the explanation is kept alone.",
    formula: "(lost - gained) / N: right on the full graph and wrong here, minus wrong there and right here; \
              pooled.",
    differs: "fid_minus_phenomenon adds the two instead.",
    example: ("labels", "0.4"),
    number: Number::pooled(flips, |_, sums| given(shifted(Side::Minus).share(sums))),
    ..SIGNED_FIDELITY
};
