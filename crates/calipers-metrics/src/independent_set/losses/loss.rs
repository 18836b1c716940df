//! Losses: cross-entropy against the labels and the relaxed number of violated edges.

use super::{
    bce, bce_micro, feasibility, feasibility_micro, from_sums, loss_sums, total, total_micro, with_weight,
};
use crate::independent_set::metrics::*;
use crate::independent_set::protocol::{PosWeight, Preset};
use crate::independent_set::row::published;

const LOSS: Line = Line { group: "losses", better: lower, range: NON_NEGATIVE, ..PUBLISHED };

const UNDEFINED: &str = "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has no nodes\"; \
                         \"infinite: a probability of 0 or 1 contradicts a label\".";

const TOTAL_UNDEFINED: &str = "Where a part it needs is: \"no scores given\"; \"a set was given, not scores\"; \"no labels \
                               given\"; \"graph has no nodes\"; \"infinite: a probability of 0 or 1 contradicts a \
                               label\"; and, unless lambda = 0, \"graph has no edges\".";

pub(crate) const LOSS_BCE: Line = Line {
    id: "loss_bce",
    measures: "How much probability the scores give to the labels, node by node; labels 1 are weighted by w.",
    formula: "(w s_pos + s_neg) / N with s_pos = sum over labels 1 of -ln p and s_neg = sum over labels 0 of \
              -ln(1 - p). w = (N - Y)/Y of the graph, the same ratio over all labelled graphs (pooled), or a \
              fixed number. Without a label 1 the value is s_neg / N.",
    undefined: UNDEFINED,
    differs: "Several graphs count the same: the mean of their values. The published code takes one mean \
              over the nodes of a batch, which is loss_bce_micro. It takes the weight from a batch, from the \
              data set or as a constant: these are pos_weight pooled and pos_weight X. Logits are not clamped. More labels than half the \
              nodes give w < 1, so that misses cost less; w = 0 when every node is labelled 1.",
    reference: document!("Loss Functions 1"),
    example: ("path3", "0.8194281308428647"),
    number: Number::Chosen(|protocol| match (protocol.preset, protocol.pos_weight) {
        (Preset::Strict, PosWeight::Pooled) => Number::Rows(|p, rows| with_weight(p, rows, &LOSS_BCE)),
        (Preset::Strict, _) => Number::mean(|p, row| number(bce(p, row))),
        _ => published::batch(published::loss_bce),
    }),
    ..LOSS
};

pub(crate) const LOSS_FEASIBILITY: Line = Line {
    id: "loss_feasibility",
    range: SHARE,
    measures: "The mean over edges of the probability that both ends are chosen, if nodes were chosen \
               independently.",
    formula: "s_edge / m with s_edge = sum over edges {u, v} of p_u p_v.",
    undefined: "\"no scores given\"; \"a set was given, not scores\"; \"graph has no edges\".",
    differs: "Each undirected edge counts once, however it is stored; the published code takes the mean over \
              stored entries, loops included, and gives 0 without edges. Never multiplied by its weight.",
    reference: document!("Loss Functions 2"),
    example: ("path3", "0.6015625"),
    number: Number::Chosen(|protocol| {
        by_preset(protocol, |_, row| number(feasibility(row)), published::loss_feasibility)
    }),
    ..LOSS
};

pub(crate) const LOSS_TOTAL: Line = Line {
    id: "loss_total",
    headline: Some(8),
    measures: "The training objective: the cross-entropy with a penalty for violated edges.",
    formula: "loss_bce + lambda loss_feasibility, lambda = feasibility_weight; over several graphs the sum \
              of the two reported values. lambda = 0: loss_bce.",
    undefined: TOTAL_UNDEFINED,
    differs: "Several graphs count the same: the mean of their values. The published code takes one mean \
              over the nodes and entries of a batch, and adds 0 for a graph without edges.",
    reference: document!("Loss Functions 3"),
    example: ("path3", "1.1202093808428648"),
    number: Number::Chosen(|protocol| match (protocol.preset, protocol.pos_weight) {
        (Preset::Strict, PosWeight::Pooled) => Number::Rows(|p, rows| with_weight(p, rows, &LOSS_TOTAL)),
        (Preset::Strict, _) => from_sums(|p, sums| number(total(p, sums))),
        _ => published::batch(published::loss_total),
    }),
    ..LOSS
};

pub(crate) const LOSS_BCE_UNWEIGHTED: Line = Line {
    id: "loss_bce_unweighted",
    group: "losses",
    better: lower,
    range: NON_NEGATIVE,
    measures: "The cross-entropy with the same weight for both labels, comparable between data sets.",
    formula: "(s_pos + s_neg) / N.",
    undefined: UNDEFINED,
    reference: "Calipers; the cross-entropy of any binary classifier",
    example: ("path3", "0.9457090811257841"),
    number: Number::mean(|_, row| {
        number(loss_sums(row).map(|(positive, negative)| (positive + negative) / row.nodes as f64))
    }),
    ..PER_GRAPH
};

const MICRO: Line = Line { better: lower, range: NON_NEGATIVE, ..POOLED };

pub(crate) const LOSS_BCE_MICRO: Line = Line {
    id: "loss_bce_micro",
    measures: "The weighted cross-entropy over all nodes of all graphs.",
    formula: "sum(w_g s_pos + s_neg) / sum N over the graphs where loss_bce is defined; w_g as in loss_bce.",
    undefined: UNDEFINED,
    differs: "With pos_weight pooled this is the batch loss of the published code.",
    example: ("batch", "0.6326145647452633"),
    number: Number::Chosen(|protocol| match protocol.pos_weight {
        PosWeight::Pooled => Number::Rows(|p, rows| with_weight(p, rows, &LOSS_BCE_MICRO)),
        _ => from_sums(|p, sums| number(bce_micro(p, sums))),
    }),
    ..MICRO
};

pub(crate) const LOSS_FEASIBILITY_MICRO: Line = Line {
    id: "loss_feasibility_micro",
    range: SHARE,
    measures: "The relaxed violations over all edges of all graphs.",
    formula: "sum s_edge / sum m.",
    undefined: "\"no scores given\"; \"a set was given, not scores\"; \"graph has no edges\".",
    example: ("batch", "0.24375"),
    number: from_sums(|_, sums| number(feasibility_micro(sums))),
    ..MICRO
};

pub(crate) const LOSS_TOTAL_MICRO: Line = Line {
    id: "loss_total_micro",
    measures: "The training objective from the two pooled losses.",
    formula: "loss_bce_micro + lambda loss_feasibility_micro; lambda = 0: loss_bce_micro.",
    undefined: TOTAL_UNDEFINED,
    example: ("batch", "0.7544895647452633"),
    number: Number::Chosen(|protocol| match protocol.pos_weight {
        PosWeight::Pooled => Number::Rows(|p, rows| with_weight(p, rows, &LOSS_TOTAL_MICRO)),
        _ => from_sums(|p, sums| number(total_micro(p, sums))),
    }),
    ..MICRO
};
