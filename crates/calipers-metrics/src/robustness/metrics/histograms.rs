//! Distributions of edge differences.

use calipers_core::{Doc, Number};

use super::super::histogram_reading::{bin_edges, densities, outside};
use super::super::reading::Edges;
use super::{ANY, Line, NON_NEGATIVE, neither};

pub(super) const HIST_VALUES: Line = Line {
    id: "hist_values",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How edge differences are distributed over the attacked graph: Figure 7.",
        formula: "Density of bin k: count_k bins / (inside (hi - lo)). Bin k holds e_k <= y < e_k+1, e_k = lo + k (hi \
                   - lo) / bins, compared exactly; the last one also hi. lo, hi: least and greatest y, or hist_range.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no attacked edges given\"; \"bin edges differ \
                   between units; give --hist-range\"; \"attacked graph has no edges\"; \"all edge differences are \
                   equal\"; \"no edge difference inside the range\"; \"bin edges coincide in single precision\".",
        differs: "Every undirected edge counts once. Preset rung-fork: each entry of the matrix, bin edges in float32.",
        reference: "Estimation Bias Measurement, compute_edge_feature_diff_distribution",
        example: ("four-nodes", "[0.8031765749962483, 0.0, 0.0, 2.4095297249887446]"),
    },
    number: Number::Rows(|protocol, rows| densities(protocol, rows, Edges::All)),
    ..Line::DEFAULTS
};

pub(super) const BIN_EDGES: Line = Line {
    id: "bin_edges",
    group: "edges",
    better: neither,
    range: ANY,
    doc: Doc {
        measures: "Where the bins of hist_values lie.",
        formula: "e_k = lo + k (hi - lo) / bins for k = 0 to bins.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no attacked edges given\"; \"bin edges differ \
                   between units; give --hist-range\"; \"attacked graph has no edges\"; \"all edge differences are \
                   equal\"; \"no edge difference inside the range\"; \"bin edges coincide in single precision\".",
        differs: "",
        reference: "Estimation Bias Measurement, compute_edge_feature_diff_distribution",
        example: (
            "four-nodes",
            "[0.816496580927726, 1.1277606388980022, 1.439024696868278, 1.7502887548385542, 2.0615528128088303]",
        ),
    },
    number: Number::Rows(|protocol, rows| bin_edges(protocol, rows, Edges::All)),
    ..Line::DEFAULTS
};

pub(super) const ADDED_HIST_VALUES: Line = Line {
    id: "added_hist_values",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How the differences of added edges are distributed.",
        formula: "As hist_values, on the same bin_edges, over added edges only.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"bin edges differ between units; give --hist-range\"; \"attack added no edge\"; \"all edge \
                   differences are equal\"; \"no edge difference inside the range\".",
        differs: "Counts of added and kept edges add up to those of all.",
        reference: "Calipers",
        example: ("four-nodes", "[0.0, 0.0, 0.0, 3.212706299984993]"),
    },
    number: Number::Rows(|protocol, rows| densities(protocol, rows, Edges::Added)),
    ..Line::DEFAULTS
};

pub(super) const KEPT_HIST_VALUES: Line = Line {
    id: "kept_hist_values",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How the differences of kept edges are distributed.",
        formula: "As hist_values, on the same bin_edges, over kept edges only.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"bin edges differ between units; give --hist-range\"; \"no clean edge was kept\"; \"all edge \
                   differences are equal\"; \"no edge difference inside the range\".",
        differs: "Counts of added and kept edges add up to those of all.",
        reference: "Calipers",
        example: ("four-nodes", "[1.0709020999949976, 0.0, 0.0, 2.1418041999899953]"),
    },
    number: Number::Rows(|protocol, rows| densities(protocol, rows, Edges::Kept)),
    ..Line::DEFAULTS
};

pub(super) const REMOVED_HIST_VALUES: Line = Line {
    id: "removed_hist_values",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How the differences of removed edges were distributed.",
        formula: "As hist_values, over removed edges, on their own range, with clean features and degrees.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"bin edges differ between units; give --hist-range\"; \"attack removed no edge\"; \"all edge \
                   differences are equal\"; \"no edge difference inside the range\".",
        differs: "",
        reference: "Calipers",
        example: ("removed", "[0.3333333333333333, 0.6666666666666666]"),
    },
    number: Number::Rows(|protocol, rows| densities(protocol, rows, Edges::Removed)),
    ..Line::DEFAULTS
};

pub(super) const REMOVED_BIN_EDGES: Line = Line {
    id: "removed_bin_edges",
    group: "edges",
    better: neither,
    range: ANY,
    doc: Doc {
        measures: "Where the bins of removed_hist_values lie.",
        formula: "As bin_edges, on the range of the removed edges.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"bin edges differ between units; give --hist-range\"; \"attack removed no edge\"; \"all edge \
                   differences are equal\"; \"no edge difference inside the range\".",
        differs: "",
        reference: "Calipers",
        example: ("removed", "[1.0, 2.0, 3.0]"),
    },
    number: Number::Rows(|protocol, rows| bin_edges(protocol, rows, Edges::Removed)),
    ..Line::DEFAULTS
};

pub(super) const HIST_OUTSIDE: Line = Line {
    id: "hist_outside",
    group: "edges",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How many edges of the attacked graph hist_range leaves out.",
        formula: "The number of differences below lo or above hi, over all repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no attacked edges given\".",
        differs: "0 unless a range is given.",
        reference: "Calipers",
        example: ("hist-range", "1"),
    },
    number: Number::Rows(outside),
    ..Line::DEFAULTS
};
