//! Labels: the label set checked on the graph.

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{best_known, bound, labels, yes_or_no};

const LABELS: Line = Line { group: "labels", better: higher, range: YES_OR_NO, ..PER_GRAPH };

pub(crate) const LABEL_IS_INDEPENDENT: Line = Line {
    id: "label_is_independent",
    measures: "Whether the label set is an independent set.",
    formula: "1 if no edge joins two nodes labelled 1, else 0.",
    undefined: "\"no labels given\".",
    example: ("path3", "1.0"),
    number: Number::mean(|_, row| yes_or_no(labels(row).map(|labels| labels.violations == 0))),
    ..LABELS
};

pub(crate) const LABEL_IS_MAXIMAL: Line = Line {
    id: "label_is_maximal",
    measures: "Whether the label set is independent and no node can be added.",
    formula: "1 if the labels are independent and every node labelled 0 has a neighbour labelled 1, else 0.",
    undefined: "\"no labels given\".",
    example: ("batch", "0.6666666666666666"),
    number: Number::mean(|_, row| yes_or_no(labels(row).map(|labels| labels.maximal))),
    ..LABELS
};

pub(crate) const LABEL_BEATEN: Line = Line {
    id: "label_beaten",
    better: neither,
    measures: "Whether this run found a larger independent set than the labels, which are then not optimal.",
    formula: "1 if the largest of K, baseline, requested decoders, sample decodes, and the prediction and \
              the labels when independent is above Y, else 0.",
    undefined: "\"no labels given\".",
    example: ("star", "1.0"),
    number: Number::mean(|_, row| yes_or_no(labels(row).map(|labels| best_known(row) > labels.ones))),
    ..LABELS
};

pub(crate) const LABEL_CERTIFIED_OPTIMAL: Line = Line {
    id: "label_certified_optimal",
    measures: "Whether the labels are proved to be a maximum independent set.",
    formula: "1 if the labels are independent and Y = upper_bound, else 0. A 0 proves nothing.",
    undefined: "\"not requested: --certificate on\"; \"no labels given\".",
    example: ("path3", "1.0"),
    number: Number::mean(|_, row| {
        let certified = |bound| labels(row).map(|labels| labels.violations == 0 && labels.ones == bound);
        yes_or_no(bound(row).and_then(certified))
    }),
    ..LABELS
};
