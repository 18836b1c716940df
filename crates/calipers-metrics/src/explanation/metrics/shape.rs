//! How masks are distributed.

use calipers_core::{Doc, Number};

use super::super::mask_reading::{entropy, gini, over_units, sparsity, zero_fraction};
use super::{Line, NON_NEGATIVE, SHARE, higher, lower, neither};

pub(super) const SPARSITY: Line = Line {
    id: "sparsity",
    group: "shape",
    better: neither,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of elements that are not selected.",
        formula: "#(m <= threshold)/n; mean over units.",
        undefined: "\"mask has no elements\".",
        differs: "Depends on the threshold; zero_fraction does not.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("mask", "0.8"),
    },
    headline: Some(7),
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, sparsity)),
    ..Line::DEFAULTS
};

pub(super) const ZERO_FRACTION: Line = Line {
    id: "zero_fraction",
    group: "shape",
    better: neither,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of elements without any importance.",
        formula: "#(m = 0)/n; mean over units.",
        undefined: "\"mask has no elements\".",
        differs: "",
        reference: "Calipers",
        example: ("mask", "0.2"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, zero_fraction)),
    ..Line::DEFAULTS
};

pub(super) const ENTROPY: Line = Line {
    id: "entropy",
    group: "shape",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How evenly the importance is spread, in nats.",
        formula: "-sum a ln a, a = |m| / sum |m|; mean over units.",
        undefined: "\"mask has no elements\"; \"mask is zero everywhere\".",
        differs: "Between 0, one element, and ln n, all alike.",
        reference: "Amara et al., GraphFramEx: Towards Systematic Evaluation of Explainability Methods \
                  for Graph Neural Networks, LoG 2022",
        example: ("mask", "1.3208883431493221"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, entropy)),
    ..Line::DEFAULTS
};

pub(super) const GINI: Line = Line {
    id: "gini",
    group: "shape",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How unevenly the importance is spread.",
        formula: "sum (2i - n - 1) a_(i) / (n sum a), a = |m| ascending, i from 1; mean over units.",
        undefined: "\"mask has no elements\"; \"mask is zero everywhere\".",
        differs: "At most 1 - 1/n.",
        reference: "Hurley and Rickard, Comparing Measures of Sparsity, 2009",
        example: ("mask", "0.35"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, gini)),
    ..Line::DEFAULTS
};
