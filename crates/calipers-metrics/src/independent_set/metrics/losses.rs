//! Losses: cross-entropy against the labels and the relaxed number of violated edges.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::{beyond, strict};
use super::{Line, NON_NEGATIVE, SHARE, by_preset, document, lower, over_graphs};

pub(super) const LOSS_BCE: Line = Line {
    id: "loss_bce",
    group: "losses",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How much probability the scores give to the labels, node by node; labels 1 are weighted by w.",
        formula: "(w s_pos + s_neg) / N with s_pos = sum over labels 1 of -ln p and s_neg = sum over labels 0 of \
                  -ln(1 - p). w = (N - Y)/Y of the graph, the same ratio over all labelled graphs (pooled), or a \
                  fixed number. Without a label 1 the value is s_neg / N.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has no nodes\"; \
                    \"infinite: a probability of 0 or 1 contradicts a label\".",
        differs: "The published code takes the weight from a batch, from the data set or as a constant: these are \
                  pos_weight pooled and pos_weight X. Logits are not clamped. More labels than half the nodes give \
                  w < 1, so that misses cost less; w = 0 when every node is labelled 1.",
        reference: document!("Loss Functions 1"),
        example: ("path3", "0.8194281308428647"),
    },
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, strict::loss_bce, Batch::loss_bce)),
    ..Line::DEFAULTS
};

pub(super) const LOSS_FEASIBILITY: Line = Line {
    id: "loss_feasibility",
    group: "losses",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The mean over edges of the probability that both ends are chosen, if nodes were chosen \
                   independently.",
        formula: "s_edge / m with s_edge = sum over edges {u, v} of p_u p_v.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"graph has no edges\".",
        differs: "Each undirected edge counts once, however it is stored; the published code takes the mean over \
                  stored entries, loops included, and gives 0 without edges. Never multiplied by its weight.",
        reference: document!("Loss Functions 2"),
        example: ("path3", "0.6015625"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, strict::loss_feasibility, Batch::loss_feasibility)
    }),
    ..Line::DEFAULTS
};

pub(super) const LOSS_TOTAL: Line = Line {
    id: "loss_total",
    group: "losses",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The training objective: the cross-entropy with a penalty for violated edges.",
        formula: "loss_bce + lambda loss_feasibility, lambda = feasibility_weight; over several graphs the sum of \
                  the two reported values. lambda = 0: loss_bce.",
        undefined: "Where a part it needs is: \"no scores given\"; \"a set was given, not scores\"; \"no labels \
                    given\"; \"graph has no nodes\"; \"infinite: a probability of 0 or 1 contradicts a label\"; and, \
                    unless lambda = 0, \"graph has no edges\".",
        differs: "The published code adds 0 for a graph without edges.",
        reference: document!("Loss Functions 3"),
        example: ("path3", "1.1202093808428648"),
    },
    headline: Some(8),
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, strict::loss_total, Batch::loss_total)),
    ..Line::DEFAULTS
};

pub(super) const LOSS_BCE_UNWEIGHTED: Line = Line {
    id: "loss_bce_unweighted",
    group: "losses",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The cross-entropy with the same weight for both labels, comparable between data sets.",
        formula: "(s_pos + s_neg) / N.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has no nodes\"; \
                    \"infinite: a probability of 0 or 1 contradicts a label\".",
        differs: "",
        reference: "Calipers; the cross-entropy of any binary classifier",
        example: ("path3", "0.9457090811257841"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::loss_bce_unweighted)),
    ..Line::DEFAULTS
};
