//! Certificate: what a clique cover proves.

mod clique_cover;

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{NO_NODES, bound, scores, yes_or_no};

pub use clique_cover::upper_bound;

const CERTIFICATE: Line = Line { group: "certificate", ..PER_GRAPH };

pub(crate) const UPPER_BOUND: Line = Line {
    id: "upper_bound",
    range: UP_TO_NODES,
    measures: "A size that no independent set of the graph exceeds.",
    formula: "The smallest of three greedy clique covers: in node order; by degree ascending, then number; \
              in elimination order. A node joins the largest clique wholly adjacent to it, the first made \
              among equals, else starts one. An independent set has at most one node of each clique.",
    undefined: "\"not requested: --certificate on\".",
    reference: "Calipers; the clique cover bound of the independence number",
    example: ("triangle", "1.0"),
    number: Number::mean(|_, row| number(bound(row).map(|bound| bound as f64))),
    ..CERTIFICATE
};

pub(crate) const CERTIFIED_GAP: Line = Line {
    id: "certified_gap",
    better: lower,
    range: UP_TO_NODES,
    measures: "How many nodes the decode can at most be short of the optimum.",
    formula: "upper_bound - K.",
    undefined: "\"no scores given\"; \"not requested: --certificate on\".",
    differs: "Needs neither labels nor an optimum.",
    example: ("path3", "1.0"),
    number: Number::mean(|_, row| {
        let gap = |decoded: u64| Ok((i128::from(bound(row)?) - i128::from(decoded)) as f64);
        number(scores(row).and_then(|scores| gap(scores.decoded)))
    }),
    ..CERTIFICATE
};

pub(crate) const CERTIFIED_RATIO: Line = Line {
    id: "certified_ratio",
    better: higher,
    range: SHARE,
    headline: Some(5),
    measures: "An approximation ratio that is guaranteed: never above the true one.",
    formula: "K / upper_bound.",
    undefined: "\"no scores given\"; \"not requested: --certificate on\"; \"graph has no nodes\".",
    differs: "Needs neither labels nor an optimum.",
    example: ("path3", "0.5"),
    number: Number::mean(|_, row| {
        number(scores(row).and_then(|of| quotient(of.decoded, bound(row)?, NO_NODES)))
    }),
    ..CERTIFICATE
};

pub(crate) const CERTIFIED_OPTIMAL: Line = Line {
    id: "certified_optimal",
    better: higher,
    range: YES_OR_NO,
    measures: "Whether the decode is proved to be a maximum independent set.",
    formula: "1 if K = upper_bound, else 0. A 0 proves nothing.",
    undefined: "\"no scores given\"; \"not requested: --certificate on\".",
    example: ("star", "1.0"),
    number: Number::mean(|_, row| yes_or_no(scores(row).and_then(|of| Ok(of.decoded == bound(row)?)))),
    ..CERTIFICATE
};
