//! What looks wrong in the evidence: every warning of the family, in report order.

use calipers_core::{Number, Protocol, Provenance, Rows, Warning};

use super::metrics::METRICS;
use super::protocol::{IndependentSet, Kind, Preset, Reference};
use super::row::evidence::best_known;
use super::row::{LabelRow, Row, ScoreRow};
use crate::warnings::{about, about_run, first_of, noticed, plural, units, units_of};

/// Fewer nodes than this say nothing about how their scores are distributed.
const ENOUGH_NODES: u64 = 16;

/// sigmoid(1), rounded up: what a second sigmoid cannot exceed.
const TWICE_SIGMOID: f64 = 0.731_058_6;

type All<'r, 'a> = &'r Rows<'a, Row>;

/// Every warning the rows and the files give rise to.
pub(super) fn warnings(
    protocol: &IndependentSet,
    rows: All<'_, '_>,
    provenance: &Provenance,
) -> Vec<Warning> {
    let stored = STORED.iter().filter_map(|of| of.warning(rows));
    let graphs = GRAPHS.iter().filter_map(|wrong| {
        let units = units(rows, |row| (wrong.with)(protocol, row));
        about(wrong.code, units, |units| format!("in {} {}", graphs(units), wrong.words))
    });
    let run = [
        below_baseline(rows),
        labels_missing(rows),
        mixed_reference(protocol, rows),
        partial_means(protocol, rows),
    ];
    let files = FILES.iter().filter_map(|of| of.warning(provenance));
    stored.chain(files).chain(graphs).chain(run.into_iter().flatten()).collect()
}

/// Something that is counted in the stored entries of a graph.
struct Stored {
    code: &'static str,
    count: fn(&Row) -> u64,
    words: &'static str,
}

const STORED: &[Stored] = &[
    Stored { code: "self-loops", count: |row| row.self_loops, words: "self loops were dropped" },
    Stored {
        code: "duplicate-edges",
        count: |row| row.duplicate_edges,
        words: "repeated edge entries were dropped",
    },
    Stored {
        code: "one-directional-edges",
        count: |row| row.one_directional_edges,
        words: "edges are stored in one direction only and were read as undirected",
    },
];

impl Stored {
    fn warning(&self, rows: All<'_, '_>) -> Option<Warning> {
        let total: u128 = rows.iter().map(|row| u128::from((self.count)(row))).sum();
        let units = units(rows, |row| (self.count)(row) > 0);
        about(self.code, units, |units| format!("{total} {} in {}", self.words, graphs(units)))
    }
}

type Wrong = crate::warnings::Wrong<IndependentSet>;

const GRAPHS: &[Wrong] = &[
    Wrong {
        code: "label-not-independent",
        with: |_, row| labels(row, |labels| labels.violations > 0),
        words: "an edge joins two nodes labelled 1: the labels are no independent set",
    },
    Wrong {
        code: "label-not-maximal",
        with: |_, row| labels(row, |labels| labels.violations == 0 && !labels.maximal),
        words: "a node can be added to the label set: the labels are not optimal",
    },
    Wrong {
        code: "label-beaten",
        with: |_, row| labels(row, |labels| best_known(row) > labels.ones),
        words: "this run found a larger independent set than the labels",
    },
    Wrong {
        code: "optimum-beaten",
        with: |_, row| row.optimum.is_some_and(|optimum| best_known(row) > optimum),
        words: "this run found a larger independent set than the declared optimum",
    },
    Wrong {
        code: "optimum-above-bound",
        with: |_, row| row.optimum.zip(row.upper_bound).is_some_and(|(optimum, bound)| optimum > bound),
        words: "the declared optimum is above the clique-cover bound, which is impossible",
    },
    Wrong {
        code: "optimum-differs-from-label",
        with: |_, row| {
            let differs = |optimum| labels(row, |labels| labels.violations == 0 && labels.ones != optimum);
            row.optimum.is_some_and(differs)
        },
        words: "the labels are independent but not as many as the declared optimum",
    },
    Wrong {
        code: "feasibility-hides-conflicts",
        with: |_, row| scores(row, |of| of.violations > 0 && 20 * of.violations <= row.edges),
        words: "feasibility is at least 0.95 although the prediction is no independent set; see is_independent",
    },
    Wrong {
        code: "nothing-predicted",
        with: |_, row| scores(row, |of| row.nodes > 0 && of.predicted == 0),
        words: "no node is predicted; accuracy and q_hat can be high all the same",
    },
    Wrong {
        code: "double-sigmoid",
        with: |protocol, row| {
            protocol.scores == Some(Kind::Probs) && scores(row, |of| all_within(row, of, 0.5, TWICE_SIGMOID))
        },
        words: "all probabilities lie in [0.5, 0.7310586]: was the sigmoid applied twice?",
    },
    Wrong {
        code: "logits-look-like-probabilities",
        with: |protocol, row| {
            protocol.scores == Some(Kind::Logits) && scores(row, |of| all_within(row, of, 0.0, 1.0))
        },
        words: "all logits lie in [0, 1]: are they probabilities?",
    },
    Wrong {
        code: "tied-scores",
        with: |protocol, row| {
            let tied = |of: &ScoreRow| row.nodes >= ENOUGH_NODES && 2 * of.tied > row.nodes;
            protocol.scores != Some(Kind::Set) && scores(row, tied)
        },
        words: "more than half the nodes share their score with another node: the decode follows node numbers",
    },
];

fn labels(row: &Row, wrong: impl Fn(&LabelRow) -> bool) -> bool {
    row.labels.as_ref().is_some_and(wrong)
}

fn scores(row: &Row, wrong: impl Fn(&ScoreRow) -> bool) -> bool {
    row.scores.as_ref().is_some_and(wrong)
}

fn all_within(row: &Row, scores: &ScoreRow, low: f64, high: f64) -> bool {
    row.nodes >= ENOUGH_NODES && scores.lowest >= low && scores.highest <= high
}

fn below_baseline(rows: All<'_, '_>) -> Option<Warning> {
    let scored = rows.iter().filter_map(|row| Some((row.scores.as_ref()?.decoded, row.baseline?)));
    let (decoded, baseline) = scored.fold((0u128, 0u128), |(decoded, baseline), (a, b)| {
        (decoded + u128::from(a), baseline + u128::from(b))
    });
    (baseline > decoded).then(|| {
        let message =
            format!("the decode finds {decoded} nodes in all, the baseline without scores finds {baseline}");
        about_run("below-baseline", message)
    })
}

fn labels_missing(rows: All<'_, '_>) -> Option<Warning> {
    let (missing, of) = (units(rows, |row| row.labels.is_none()), rows.len());
    let some = if missing.len() < of { missing } else { Vec::new() };
    about("labels-missing", some, |some| format!("{} of {of} graphs have no labels", some.len()))
}

fn mixed_reference(protocol: &IndependentSet, rows: All<'_, '_>) -> Option<Warning> {
    let optimum = rows.iter().filter(|row| row.optimum.is_some()).count();
    let labels = rows.iter().filter(|row| row.optimum.is_none() && row.labels.is_some()).count();
    (protocol.reference == Reference::Auto && optimum > 0 && labels > 0).then(|| {
        let message = format!(
            "the reference size is the declared optimum of {optimum} graphs and the labels of {labels}"
        );
        about_run("mixed-reference", message)
    })
}

/// Means over graphs of which some have no value. Numbers that are read from sums say themselves what
/// they leave out.
fn partial_means(protocol: &IndependentSet, rows: All<'_, '_>) -> Option<Warning> {
    if protocol.preset != Preset::Strict {
        return None;
    }
    let (protocol, of) = (protocol.for_single_rows(rows), rows.len());
    let partial = METRICS.iter().filter_map(|metric| {
        let Number::Mean { of: value, .. } = metric.number.chosen(&protocol) else { return None };
        let defined = rows.iter().filter(|row| value(&protocol, row).reason().is_none()).count();
        (1..of).contains(&defined).then(|| format!("{} ({defined} of {of})", metric.id))
    });
    let partial: Vec<String> = partial.collect();
    (!partial.is_empty()).then(|| {
        let message = format!("means over the graphs where the value is defined: {}", partial.join(", "));
        about_run("mean-over-subset", message)
    })
}

/// Something that was noticed while graph files were read.
struct Noticed {
    code: &'static str,
    words: &'static str,
}

const FILES: &[Noticed] = &[
    Noticed { code: "edge-count-differs", words: "the header promises another number of edges" },
    Noticed { code: "stored-zeros", words: "entries with the value zero are no edges" },
    Noticed {
        code: "renumbered-nodes",
        words: "nodes are not called 0 to n-1 and were numbered in the order of the file",
    },
];

impl Noticed {
    fn warning(&self, provenance: &Provenance) -> Option<Warning> {
        let facts = noticed(provenance, self.code);
        about(self.code, units_of(facts.clone()), |units| {
            let first = first_of(facts.map(|fact| format!("{}: {}", fact.unit, fact.detail)), "; ");
            format!("{} in {}: {first}", self.words, graphs(units))
        })
    }
}

fn graphs(units: &[String]) -> String {
    plural(units.len(), "graph")
}
