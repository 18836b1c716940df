//! Labels: the label set checked on the graph.

use calipers_core::{Doc, Number};

use super::super::beyond;
use super::{Line, YES_OR_NO, higher, neither, over_graphs};

pub(super) const LABEL_IS_INDEPENDENT: Line = Line {
    id: "label_is_independent",
    group: "labels",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the label set is an independent set.",
        formula: "1 if no edge joins two nodes labelled 1, else 0.",
        undefined: "\"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("path3", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::label_is_independent)),
    ..Line::DEFAULTS
};

pub(super) const LABEL_IS_MAXIMAL: Line = Line {
    id: "label_is_maximal",
    group: "labels",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the label set is independent and no node can be added.",
        formula: "1 if the labels are independent and every node labelled 0 has a neighbour labelled 1, \
                  else 0.",
        undefined: "\"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::label_is_maximal)),
    ..Line::DEFAULTS
};

pub(super) const LABEL_BEATEN: Line = Line {
    id: "label_beaten",
    group: "labels",
    better: neither,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether this run found a larger independent set than the labels, which are then not \
                   optimal.",
        formula: "1 if the largest of K, baseline, requested decoders, sample decodes, and the prediction \
                  and the labels when independent is above Y, else 0.",
        undefined: "\"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("star", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::label_beaten)),
    ..Line::DEFAULTS
};

pub(super) const LABEL_CERTIFIED_OPTIMAL: Line = Line {
    id: "label_certified_optimal",
    group: "labels",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the labels are proved to be a maximum independent set.",
        formula: "1 if the labels are independent and Y = upper_bound, else 0. A 0 proves nothing.",
        undefined: "\"not requested: --certificate on\"; \"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("path3", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::label_certified_optimal)),
    ..Line::DEFAULTS
};
