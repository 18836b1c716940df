//! Decode: the independent set that the greedy decoder takes from the scores, against the reference.

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{ZERO_REFERENCE, reference, scores, yes_or_no};
use crate::independent_set::row::pooled::{
    DECODED, DECODED_OF_REFERENCE, REFERENCE, SCORED, compared, pooled, ratio, scored, some, total,
};
use crate::independent_set::row::published;

const DECODE: Line = Line { group: "decode", better: higher, ..PUBLISHED };

const DROP: Line = Line { group: "decode", better: lower, range: UP_TO_HUNDRED, ..STRICT };

pub(crate) const POSTPROCESSED_SIZE: Line = Line {
    id: "postprocessed_size",
    range: UP_TO_NODES,
    headline: Some(3),
    measures: "The size of the independent set decoded from the scores; always feasible.",
    formula: "K: nodes in the order of their scores, highest first and the lower number among equals; take a \
              node unless a neighbour is taken.",
    undefined: "\"no scores given\". The presets of the published code: \"no labels given\".",
    differs: "Logits are ranked as given: their sigmoid is 1 in single precision above about 17 and would \
              make ties, which the published sort breaks at random. Presets document and trm-mis-head do \
              rank that way, need labels, leave out graphs without a label 1 and divide by all graphs; \
              trm-mis-head considers only nodes with p > 0.5.",
    reference: document!("Post-Processing Metrics 1 and 2"),
    example: ("path3", "1.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, postprocessed_size, published::postprocessed_size)),
    ..DECODE
};

/// How many nodes the decode is short of the reference.
pub const GAP: Line = Line {
    id: "gap",
    better: lower,
    range: UP_TO_REFERENCE,
    measures: "How many nodes the decode is short of the reference; negative when it beats the reference.",
    formula: "R - K.",
    undefined: "\"no scores given\"; \"no labels or optimum given\". The presets of the published code: \"no \
                labels given\".",
    differs: "Not cut at 0: a negative gap says that the labels are not optimal. Under document and \
              trm-mis-head a graph without a label 1 adds a gap of 0 and still counts in the mean.",
    reference: document!("Post-Processing Metrics 3"),
    example: ("star", "-2.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, gap, published::gap)),
    ..DECODE
};

pub(crate) const GAP_RATIO: Line = Line {
    id: "gap_ratio",
    better: lower,
    range: UP_TO_ONE,
    headline: Some(4),
    measures: "The share of the reference that the decode loses.",
    formula: "(R - K) / R.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\". The presets of \
                the published code: \"no labels given\".",
    differs: "The document's range [0, 1] holds only for optimal labels; the value is not cut. Preset \
              document divides by Y + 1e-8 and counts graphs without a label 1 as 0.",
    reference: document!("Post-Processing Metrics 4"),
    example: ("path3", "0.5"),
    number: Number::Chosen(|protocol| {
        by_preset(protocol, |protocol, row| number(gap_ratio(protocol, row)), published::gap_ratio)
    }),
    ..DECODE
};

/// The size of the decode relative to the reference.
pub const APPROX_RATIO_POSTPROCESSED: Line = Line {
    id: "approx_ratio_postprocessed",
    range: NON_NEGATIVE,
    headline: Some(2),
    measures: "The approximation ratio: the size of a feasible set relative to the reference.",
    formula: "K / R.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\". The presets of \
                the published code: \"no labels given\".",
    differs: "Above 1 when the decode beats the labels; not cut. Preset document divides by Y + 1e-8 and \
              counts graphs without a label 1 as 0.",
    reference: document!("Post-Processing Metrics 5"),
    example: ("star", "3.0"),
    number: Number::Chosen(|protocol| {
        by_preset(protocol, approx_ratio, published::approx_ratio_postprocessed)
    }),
    ..DECODE
};

pub(crate) const GAP_RATIO_MICRO: Line = Line {
    id: "gap_ratio_micro",
    better: lower,
    range: UP_TO_ONE,
    measures: "The share of the summed reference that the decode loses.",
    formula: "sum(R - K) / sum R over graphs with a reference.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
    example: ("batch", "-0.3333333333333333"),
    number: pooled(|protocol, sums| number(gap_ratio_micro(protocol, sums))),
    ..POOLED
};

pub(crate) const APPROX_RATIO_POSTPROCESSED_MICRO: Line = Line {
    id: "approx_ratio_postprocessed_micro",
    better: higher,
    range: NON_NEGATIVE,
    measures: "All decoded nodes relative to the summed reference.",
    formula: "sum K / sum R over graphs with a reference.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
    example: ("batch", "1.3333333333333333"),
    number: pooled(|protocol, sums| {
        let decoded = sums.whole(DECODED_OF_REFERENCE);
        ratio(compared(protocol, sums), decoded, sums.whole(REFERENCE), ZERO_REFERENCE)
    }),
    ..POOLED
};

pub(crate) const POSTPROCESSED_SIZE_TOTAL: Line = Line {
    id: "postprocessed_size_total",
    better: higher,
    range: UP_TO_NODES,
    measures: "Decoded nodes of all graphs.",
    formula: "sum K.",
    example: ("batch", "4"),
    undefined: NO_SCORES,
    number: pooled(|_, sums| total(scored(sums), sums.whole(DECODED))),
    ..TOTAL
};

pub(crate) const GAP_TOTAL: Line = Line {
    id: "gap_total",
    better: lower,
    range: UP_TO_REFERENCE,
    measures: "How many nodes all decodes together are short of the reference.",
    formula: "sum(R - K) over graphs with a reference.",
    differs: "Graphs whose decode beats the reference make up for others; the total may be negative.",
    example: ("batch", "-1"),
    undefined: NO_REFERENCE,
    number: pooled(|protocol, sums| {
        total(compared(protocol, sums), sums.whole(REFERENCE) - sums.whole(DECODED_OF_REFERENCE))
    }),
    ..TOTAL
};

pub(crate) const OPTIMAL_RATE: Line = Line {
    id: "optimal_rate",
    group: "decode",
    better: higher,
    range: YES_OR_NO,
    measures: "Whether the decode is as large as the reference.",
    formula: "1 if K >= R, else 0.",
    example: ("drop", "0.5"),
    undefined: NO_REFERENCE,
    number: Number::mean(|protocol, row| {
        yes_or_no(scores(row).and_then(|of| Ok(of.decoded >= reference(protocol, row)?)))
    }),
    ..PER_GRAPH
};

pub(crate) const DROP_MEAN_OF_RATIOS: Line = Line {
    id: "drop_mean_of_ratios",
    measures: "The drop against the reference in per cent, every graph with the same weight.",
    formula: "100 gap_ratio.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
    differs: "Published tables print one of two drops without saying which: this one is a mean of ratios, \
              drop_ratio_of_means a ratio of means.",
    reference: "Calipers; the column Drop of published result tables",
    example: ("drop", "25.0"),
    number: Number::pooled(add_gap_ratio, |protocol, sums| {
        let graphs = some(sums, sums.whole(RATIOS), |row| gap_ratio(protocol, row));
        number(graphs.map(|graphs| 100.0 * sums.number_over(GAP_RATIOS, graphs)))
    }),
    ..DROP
};

pub(crate) const DROP_RATIO_OF_MEANS: Line = Line {
    id: "drop_ratio_of_means",
    measures: "The drop of the mean size against the mean reference in per cent.",
    formula: "100 gap_ratio_micro; with reference_mean X: 100 (X - postprocessed_size) / X.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
    differs: "See drop_mean_of_ratios.",
    reference: "Calipers; the column Drop of published result tables",
    example: ("drop", "20.0"),
    number: pooled(|protocol, sums| {
        number(match protocol.reference_mean {
            None => gap_ratio_micro(protocol, sums).map(|ratio| 100.0 * ratio),
            Some(published) => below(published, sums),
        })
    }),
    ..DROP
};

fn postprocessed_size(_: &IndependentSet, row: &Row) -> Value {
    number(scores(row).map(|scores| scores.decoded as f64))
}

fn gap(protocol: &IndependentSet, row: &Row) -> Value {
    let gap = |decoded: u64| Ok((i128::from(reference(protocol, row)?) - i128::from(decoded)) as f64);
    number(scores(row).and_then(|scores| gap(scores.decoded)))
}

fn gap_ratio(protocol: &IndependentSet, row: &Row) -> Reading {
    let decoded = i128::from(scores(row)?.decoded);
    let reference = i128::from(reference(protocol, row)?);
    quotient(reference - decoded, reference, ZERO_REFERENCE)
}

fn approx_ratio(protocol: &IndependentSet, row: &Row) -> Value {
    number(scores(row).and_then(|of| quotient(of.decoded, reference(protocol, row)?, ZERO_REFERENCE)))
}

fn gap_ratio_micro(protocol: &IndependentSet, sums: &Sums<'_, Row>) -> Reading {
    compared(protocol, sums)?;
    let reference = sums.whole(REFERENCE);
    quotient(reference - sums.whole(DECODED_OF_REFERENCE), reference, ZERO_REFERENCE)
}

/// How many per cent the mean decode is below a published mean.
fn below(published: f64, sums: &Sums<'_, Row>) -> Reading {
    scored(sums)?;
    let size = quotient(sums.whole(DECODED), sums.whole(SCORED), ZERO_REFERENCE)?;
    if published == 0.0 { Err(ZERO_REFERENCE) } else { Ok(100.0 * ((published - size) / published)) }
}

/// Columns of [`add_gap_ratio`].
const GAP_RATIOS: usize = 0;
const RATIOS: usize = 1;

fn add_gap_ratio(protocol: &IndependentSet, row: &Row, terms: &mut Terms<'_>) {
    if let Ok(ratio) = gap_ratio(protocol, row) {
        terms.number(GAP_RATIOS, ratio);
        terms.whole(RATIOS, 1);
    }
}
