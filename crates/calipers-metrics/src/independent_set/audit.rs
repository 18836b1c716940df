//! What looks wrong in the evidence: every warning of the family, in report order.

use calipers_core::{Protocol, Provenance, Rows, Warning};

use super::evidence::best_known;
use super::protocol::{IndependentSet, Kind, Preset, Reference};
use super::row::{LabelRow, Row, ScoreRow};

/// Fewer nodes than this say nothing about how their scores are distributed.
const ENOUGH_NODES: u64 = 16;

/// sigmoid(1), rounded up: what a second sigmoid cannot exceed.
const TWICE_SIGMOID: f64 = 0.731_058_6;

/// How many details a message spells out.
const SHOWN: usize = 5;

/// Means that leave units out by their definition.
const PARTIAL_BY_DEFINITION: [&str; 2] = ["steps_to_solve", "loss_total"];

/// Every warning the rows and the files give rise to.
pub(crate) fn warnings(
    protocol: &IndependentSet,
    rows: &Rows<'_, Row>,
    provenance: &Provenance,
) -> Vec<Warning> {
    let audit = Audit { protocol, rows };
    [
        audit.stored_edges(),
        edge_counts(provenance),
        audit.labels(),
        audit.optima(),
        audit.predictions(),
        audit.score_values(),
        audit.whole_run(),
    ]
    .concat()
}

struct Audit<'r, 'a> {
    protocol: &'r IndependentSet,
    rows: &'r Rows<'a, Row>,
}

impl Audit<'_, '_> {
    fn stored_edges(&self) -> Vec<Warning> {
        let counted = |code: &str, count: fn(&Row) -> u64, words: &str| {
            let total: u128 = self.rows.iter().map(|row| u128::from(count(row))).sum();
            self.units(code, |row| count(row) > 0, |units| format!("{total} {words} in {}", graphs(units)))
        };
        [
            counted("self-loops", |row| row.self_loops, "self loops were dropped"),
            counted("duplicate-edges", |row| row.duplicate_edges, "repeated edge entries were dropped"),
            counted(
                "one-directional-edges",
                |row| row.one_directional_edges,
                "edges are stored in one direction only and were read as undirected",
            ),
        ]
        .concat()
    }

    fn labels(&self) -> Vec<Warning> {
        let labelled = |code: &str, wrong: fn(&Row, &LabelRow) -> bool, words: &str| {
            self.units(
                code,
                |row| row.labels.as_ref().is_some_and(|labels| wrong(row, labels)),
                |units| format!("in {} {words}", graphs(units)),
            )
        };
        [
            labelled(
                "label-not-independent",
                |_, labels| labels.violations > 0,
                "an edge joins two nodes labelled 1: the labels are no independent set",
            ),
            labelled(
                "label-not-maximal",
                |_, labels| labels.violations == 0 && !labels.maximal,
                "a node can be added to the label set: the labels are not optimal",
            ),
            labelled(
                "label-beaten",
                |row, labels| best_known(row) > labels.ones,
                "this run found a larger independent set than the labels",
            ),
        ]
        .concat()
    }

    fn optima(&self) -> Vec<Warning> {
        let declared = |code: &str, wrong: fn(&Row, u64) -> bool, words: &str| {
            self.units(
                code,
                |row| row.optimum.is_some_and(|optimum| wrong(row, optimum)),
                |units| format!("in {} {words}", graphs(units)),
            )
        };
        [
            declared(
                "optimum-beaten",
                |row, optimum| best_known(row) > optimum,
                "this run found a larger independent set than the declared optimum",
            ),
            declared(
                "optimum-above-bound",
                |row, optimum| row.upper_bound.is_some_and(|bound| optimum > bound),
                "the declared optimum is above the clique-cover bound, which is impossible",
            ),
            declared(
                "optimum-differs-from-label",
                |row, optimum| {
                    row.labels.as_ref().is_some_and(|labels| labels.violations == 0 && labels.ones != optimum)
                },
                "the labels are independent but not as many as the declared optimum",
            ),
        ]
        .concat()
    }

    fn predictions(&self) -> Vec<Warning> {
        [
            self.scored(
                "feasibility-hides-conflicts",
                |row, scores| scores.violations > 0 && 20 * scores.violations <= row.edges,
                "feasibility is at least 0.95 although the prediction is no independent set; see is_independent",
            ),
            self.scored(
                "nothing-predicted",
                |row, scores| row.nodes > 0 && scores.predicted == 0,
                "no node is predicted; accuracy and q_hat can be high all the same",
            ),
        ]
        .concat()
    }

    fn score_values(&self) -> Vec<Warning> {
        let within = |scores: &ScoreRow, low: f64, high: f64| scores.lowest >= low && scores.highest <= high;
        let kind = self.protocol.scores;
        let enough = |row: &Row| row.nodes >= ENOUGH_NODES;
        [
            self.scored(
                "double-sigmoid",
                |row, scores| {
                    kind == Some(Kind::Probs) && enough(row) && within(scores, 0.5, TWICE_SIGMOID)
                },
                "all probabilities lie in [0.5, 0.7310586]: was the sigmoid applied twice?",
            ),
            self.scored(
                "logits-look-like-probabilities",
                |row, scores| kind == Some(Kind::Logits) && enough(row) && within(scores, 0.0, 1.0),
                "all logits lie in [0, 1]: are they probabilities?",
            ),
            self.scored(
                "tied-scores",
                |row, scores| kind != Some(Kind::Set) && enough(row) && 2 * scores.tied > row.nodes,
                "more than half the nodes share their score with another node: the decode follows node numbers",
            ),
        ]
        .concat()
    }

    fn whole_run(&self) -> Vec<Warning> {
        [self.below_baseline(), self.labels_missing(), self.mixed_reference(), self.partial_means()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn below_baseline(&self) -> Option<Warning> {
        let scored = self.rows.iter().filter_map(|row| Some((row.scores.as_ref()?.decoded, row.baseline?)));
        let (decoded, baseline) = scored.fold((0u128, 0u128), |(decoded, baseline), (a, b)| {
            (decoded + u128::from(a), baseline + u128::from(b))
        });
        (baseline > decoded).then(|| {
            whole(
                "below-baseline",
                format!(
                    "the decode finds {decoded} nodes in all, the baseline without scores finds {baseline}"
                ),
            )
        })
    }

    fn labels_missing(&self) -> Option<Warning> {
        let (missing, of) = (self.named(|row| row.labels.is_none()), self.rows.len());
        (!missing.is_empty() && missing.len() < of).then(|| Warning {
            code: "labels-missing".into(),
            message: format!("{} of {of} graphs have no labels", missing.len()),
            units: missing,
        })
    }

    fn mixed_reference(&self) -> Option<Warning> {
        let optimum = self.rows.iter().filter(|row| row.optimum.is_some()).count();
        let labels = self.rows.iter().filter(|row| row.optimum.is_none() && row.labels.is_some()).count();
        (self.protocol.reference == Reference::Auto && optimum > 0 && labels > 0).then(|| {
            whole(
                "mixed-reference",
                format!(
                    "the reference size is the declared optimum of {optimum} graphs and the labels of {labels}"
                ),
            )
        })
    }

    fn partial_means(&self) -> Option<Warning> {
        if self.protocol.preset != Preset::Strict {
            return None;
        }
        let means: Vec<_> = IndependentSet::METRICS
            .iter()
            .filter(|metric| metric.per_unit && !PARTIAL_BY_DEFINITION.contains(&metric.id))
            .collect();
        let mut defined = vec![0; means.len()];
        for i in 0..self.rows.len() {
            let one = self.rows.single(i);
            for (metric, defined) in means.iter().zip(&mut defined) {
                *defined += usize::from(metric.read(self.protocol, &one).reason().is_none());
            }
        }
        let of = self.rows.len();
        let partial: Vec<String> = means
            .iter()
            .zip(defined)
            .filter(|(_, defined)| (1..of).contains(defined))
            .map(|(metric, defined)| format!("{} ({defined} of {of})", metric.id))
            .collect();
        (!partial.is_empty()).then(|| {
            whole(
                "mean-over-subset",
                format!("means over the graphs where the value is defined: {}", partial.join(", ")),
            )
        })
    }

    fn scored(&self, code: &str, wrong: impl Fn(&Row, &ScoreRow) -> bool, words: &str) -> Vec<Warning> {
        self.units(
            code,
            |row| row.scores.as_ref().is_some_and(|scores| wrong(row, scores)),
            |units| format!("in {} {words}", graphs(units)),
        )
    }

    fn units(
        &self,
        code: &str,
        wrong: impl Fn(&Row) -> bool,
        message: impl Fn(&[String]) -> String,
    ) -> Vec<Warning> {
        listed(code, self.named(wrong), message)
    }

    fn named(&self, wrong: impl Fn(&Row) -> bool) -> Vec<String> {
        self.rows.named().filter(|(_, row)| wrong(row)).map(|(name, _)| name.into()).collect()
    }
}

/// Headers that promise another number of edges than the file has lines.
fn edge_counts(provenance: &Provenance) -> Vec<Warning> {
    const CODE: &str = "edge-count-differs";
    let facts: Vec<_> = provenance.facts.iter().filter(|fact| fact.code == CODE).collect();
    let mut units: Vec<String> = facts.iter().map(|fact| fact.unit.clone()).collect();
    units.dedup();
    listed(CODE, units, |units| {
        let first: Vec<_> =
            facts.iter().take(SHOWN).map(|fact| format!("{}: {}", fact.unit, fact.detail)).collect();
        let more = if facts.len() > SHOWN { "; ..." } else { "" };
        format!(
            "the header promises another number of edges in {}: {}{more}",
            graphs(units),
            first.join("; ")
        )
    })
}

fn listed(code: &str, units: Vec<String>, message: impl Fn(&[String]) -> String) -> Vec<Warning> {
    if units.is_empty() {
        return Vec::new();
    }
    vec![Warning { code: code.into(), message: message(&units), units }]
}

fn whole(code: &str, message: String) -> Warning {
    Warning { code: code.into(), message, units: Vec::new() }
}

fn graphs(units: &[String]) -> String {
    format!("{} graph{}", units.len(), if units.len() == 1 { "" } else { "s" })
}
