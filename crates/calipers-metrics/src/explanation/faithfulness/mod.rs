//! How far predicted distributions lie apart.

pub(super) mod distributions;
pub(super) mod divergence;
pub(super) mod row_kernel;

use super::published;
use crate::explanation::metrics::*;

const DISTRIBUTIONS: Need =
    Need { keys: &["y_hat", "y_sub"], met: |row| row.faithfulness.is_some() || row.published.is_some() };

/// Which way a divergence runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Reversed,
}

/// Where 1 - exp(-KL) is added up.
const fn saturated(direction: Direction) -> Pooled {
    Pooled(direction as usize)
}

/// Where finite divergences are added up.
const fn finite(direction: Direction) -> Pooled {
    Pooled(2 + direction as usize)
}

/// Where infinite divergences are counted.
const fn infinite(direction: Direction) -> Pooled {
    Pooled(4 + direction as usize)
}

fn divergences<'r>(_: &Explanation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some((sums, instances)) = row.faithfulness.as_deref().zip(row.instances) else { return };
    for (direction, sums) in [(Direction::Forward, &sums.forward), (Direction::Reversed, &sums.reversed)] {
        saturated(direction).exact(terms, &sums.unfaithfulness, instances);
        finite(direction).exact(terms, &sums.finite, instances);
        infinite(direction).whole(terms, sums.infinite, instances);
    }
}

const FORWARD: Number<Explanation> =
    Number::pooled(divergences, |_, sums| given(saturated(Direction::Forward).mean(sums)));

const REVERSED: Number<Explanation> =
    Number::pooled(divergences, |_, sums| given(saturated(Direction::Reversed).mean(sums)));

/// What the published code returns for one unit.
fn published_unfaithfulness(row: &Row) -> Option<Reading> {
    let value = published::unfaithfulness(row.published.as_ref()?, row.instances?);
    Some(value.ok_or(PUBLISHED_NAN.into()))
}

/// The mean divergence, unless one is infinite.
fn mean_divergence(sums: &Sums<'_, Row>, direction: Direction) -> Value {
    let (without, with) = match direction {
        Direction::Forward => ("y_sub", "y_hat"),
        Direction::Reversed => ("y_hat", "y_sub"),
    };
    match infinite(direction).counts(sums) {
        Some((count @ 1.., _)) => Value::Undefined(
            format!("infinite: {without} is 0 where {with} is not in {count} instances").into(),
        ),
        _ => given(finite(direction).mean(sums)),
    }
}

const FAITHFULNESS: Line = Line {
    group: "faithfulness",
    better: lower,
    range: SHARE,
    per_unit: true,
    needs: &[DISTRIBUTIONS],
    ..BEYOND
};

const DIVERGENCE: Line = Line {
    range: NON_NEGATIVE,
    reference: "Kullback and Leibler, On Information and Sufficiency, 1951",
    ..FAITHFULNESS
};

pub(crate) const UNFAITHFULNESS: Line = Line {
    id: "unfaithfulness",
    presets: PUBLISHED.presets,
    measures: "How far the distribution predicted from the explanation lies from the one on the full graph.",
    formula: "Mean over instances of 1 - exp(-KL(p || q)), p from y_hat, q from y_sub, each normalised; 1 \
              where the divergence is infinite. Preset graphxai: unfaithfulness_reversed. Preset pyg: the \
              published code, KL(q || p) summed over the batch and divided by N.",
    undefined: "\"no explained instances\"; \"published code returns NaN\".",
    differs: "The document applies the formula to one vector: here it is applied to each instance and \
              averaged, in the direction the document writes.",
    reference: document!("unfaithfulness"),
    example: ("probabilities", "0.07955179237314274"),
    headline: Some(4),
    number: Number::Chosen(|protocol| match protocol.preset {
        Preset::Pyg => Number::mean(|_, row| of_unit(published_unfaithfulness(row))),
        Preset::Graphxai => REVERSED,
        Preset::Strict | Preset::Document => FORWARD,
    }),
    ..FAITHFULNESS
};

pub(crate) const UNFAITHFULNESS_REVERSED: Line = Line {
    id: "unfaithfulness_reversed",
    measures: "The same in the other direction, which is the one of the published code.",
    formula: "Mean over instances of 1 - exp(-KL(q || p)).",
    undefined: "\"no explained instances\".",
    differs: "The published code exponentiates the mean of a batch; here each instance counts on its own.",
    reference: GRAPHXAI,
    example: ("probabilities", "0.07955179237314274"),
    number: REVERSED,
    ..FAITHFULNESS
};

pub(crate) const KL: Line = Line {
    id: "kl",
    measures: "The divergence behind unfaithfulness, in nats.",
    formula: "Mean over instances of KL(p || q).",
    undefined: "\"no explained instances\"; \"infinite: y_sub is 0 where y_hat is not in M instances\".",
    differs: "One infinite divergence makes it undefined; unfaithfulness stays defined.",
    example: ("probabilities", "0.08664339756999316"),
    number: Number::pooled(divergences, |_, sums| mean_divergence(sums, Direction::Forward)),
    ..DIVERGENCE
};

pub(crate) const KL_REVERSED: Line = Line {
    id: "kl_reversed",
    measures: "The divergence behind unfaithfulness_reversed, in nats.",
    formula: "Mean over instances of KL(q || p).",
    undefined: "\"no explained instances\"; \"infinite: y_hat is 0 where y_sub is not in M instances\".",
    differs: "See kl.",
    example: ("probabilities", "0.08664339756999316"),
    number: Number::pooled(divergences, |_, sums| mean_divergence(sums, Direction::Reversed)),
    ..DIVERGENCE
};
