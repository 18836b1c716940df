//! Edge differences and their means.

use calipers_core::{Doc, Number};

use super::super::conditions::scalar;
use super::super::reading::{Edges, Scalar};
use super::{Line, NON_NEGATIVE, SHARE, higher, lower, neither};

pub(super) const MEAN_DIFF: Line = Line {
    id: "mean_diff",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far apart the normalised features at the ends of edges are.",
        formula: "Mean of y = ‖F_i / sqrt(d_i) - F_j / sqrt(d_j)‖ over the edges of the attacked graph, d = 1 + number \
                   of neighbours there; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no attacked edges given\"; \"attacked graph \
                   has no edges\".",
        differs: "Every undirected edge counts once.",
        reference: "Estimation Bias Measurement, compute_edge_feature_diff_distribution",
        example: ("four-nodes", "1.6833718299963145"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::MeanDiff(Edges::All))),
    ..Line::DEFAULTS
};

pub(super) const ADDED_MEAN_DIFF: Line = Line {
    id: "added_mean_diff",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far apart the ends of edges that the attack added are.",
        formula: "Mean of y over added edges, with attacked features and degrees; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"attack added no edge\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "1.8929694486000914"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::MeanDiff(Edges::Added))),
    ..Line::DEFAULTS
};

pub(super) const KEPT_MEAN_DIFF: Line = Line {
    id: "kept_mean_diff",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far apart the ends of clean edges that the attack kept are.",
        formula: "Mean of y over kept edges, with attacked features and degrees; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"no clean edge was kept\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "1.613505957128389"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::MeanDiff(Edges::Kept))),
    ..Line::DEFAULTS
};

pub(super) const REMOVED_MEAN_DIFF: Line = Line {
    id: "removed_mean_diff",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far apart the ends of edges that the attack removed are.",
        formula: "Mean of y over removed edges, with clean features and degrees; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"attack removed no edge\".",
        differs: "They exist in the clean graph only, so they are measured there.",
        reference: "Calipers",
        example: ("four-nodes", "1.877213961320028"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::MeanDiff(Edges::Removed))),
    ..Line::DEFAULTS
};

pub(super) const DIFF_RATIO: Line = Line {
    id: "diff_ratio",
    group: "edges",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "Whether the attack adds edges between nodes that differ more than neighbours do.",
        formula: "added_mean_diff / kept_mean_diff of each unit; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"attack added no edge\"; \"no clean edge was kept\"; \"kept edges have no difference\".",
        differs: "Free of the scale of the features.",
        reference: "Calipers",
        example: ("four-nodes", "1.1732026400256204"),
    },
    headline: Some(6),
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::DiffRatio)),
    ..Line::DEFAULTS
};

pub(super) const PRUNED_ADDED: Line = Line {
    id: "pruned_added",
    group: "edges",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Which share of added edges the model's last layer cuts off.",
        formula: "Added edges with y >= cutoff / added edges; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"no cut-off given\"; \"attack added no edge\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "1.0"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::Pruned(Edges::Added))),
    ..Line::DEFAULTS
};

pub(super) const PRUNED_KEPT: Line = Line {
    id: "pruned_kept",
    group: "edges",
    better: neither,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "Which share of kept edges the model's last layer cuts off.",
        formula: "Kept edges with y >= cutoff / kept edges; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"no cut-off given\"; \"no clean edge was kept\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::Pruned(Edges::Kept))),
    ..Line::DEFAULTS
};
