//! What looks wrong in the evidence: every warning of the family, in report order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use calipers_core::{Provenance, Rows, Warning};

use super::row::condition::conditions;
use super::row::{Decisions, FlipRow, Row};

/// What is noticed while files are read and models are run, and what it means.
const NOTICED: [(&str, &str); 3] = [
    ("unknown_keys", "arrays that nobody reads"),
    ("penalty_replaced", "options differ from what the checkpoint was trained with, and win"),
    ("stuck_nodes", "nodes that no weight reaches keep their features"),
];

/// How many details a message spells out.
const SHOWN: usize = 5;

/// How many runs a message counts one by one.
const RUNS: usize = 20;

/// Every warning the rows and the files give rise to.
pub(super) fn warnings(rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
    let audit = Audit { rows };
    let mut all = [audit.budgets(), audit.decisions(), audit.graphs(), audit.repetitions()].concat();
    all.extend(NOTICED.iter().filter_map(|(code, words)| noticed(provenance, code, words)));
    all
}

struct Audit<'r, 'a> {
    rows: &'r Rows<'a, Row>,
}

impl Audit<'_, '_> {
    fn budgets(&self) -> Vec<Warning> {
        let spent = |row: &Row| {
            let flips = row.flips.as_ref()?;
            Some((flips.flipped(), row.budget.allowed(flips.clean_edges)))
        };
        [
            self.units(
                "over_budget",
                |row| spent(row).is_some_and(|(used, allowed)| used > allowed),
                "the attack flipped more edges than its budget allows",
            ),
            self.units(
                "under_budget",
                |row| {
                    spent(row).is_some_and(|(used, allowed)| 10 * u128::from(used) < 9 * u128::from(allowed))
                },
                "the attack did not use its budget: bias and accuracy look better than they are",
            ),
            self.units(
                "no_effect",
                |row| !row.budget.is_zero() && row.bias.total.is_zero(),
                "the budget is above 0 and no feature moved",
            ),
            self.units(
                "budget_zero_differs",
                |row| row.budget.is_zero() && !row.bias.total.is_zero(),
                "the budget is 0 and features moved",
            ),
            self.units(
                "budget_looks_percent",
                |row| row.budget.exceeds_all(),
                "the budget is above 1: a share of the edges is meant, not per cent",
            ),
        ]
        .concat()
    }

    fn decisions(&self) -> Vec<Warning> {
        let count =
            |row: &Row, wrong: fn(&Decisions) -> u64| row.accuracy.decisions.as_ref().map_or(0, wrong);
        let any =
            |row: &Row, wrong: fn(&Decisions) -> bool| row.accuracy.decisions.as_ref().is_some_and(wrong);
        [
            self.counted("split_leak", |row| row.accuracy.leak, "test nodes that are training nodes too"),
            self.counted(
                "argmax_ties",
                |row| count(row, |counts| counts.ties),
                "test nodes with equal top scores, of which the first class was taken",
            ),
            self.units(
                "constant_prediction",
                |row| any(row, |counts| counts.constant.contains(&true)),
                "all test nodes are given one class",
            ),
            self.units(
                "below_majority",
                |row| any(row, |counts| counts.correct_clean < counts.majority),
                "the clean accuracy is below the share of the commonest label: is the model trained?",
            ),
            self.units(
                "looks_like_probabilities",
                |row| row.simplex,
                "every row of features sums to 1: bias is meant for features before the softmax",
            ),
        ]
        .concat()
    }

    fn graphs(&self) -> Vec<Warning> {
        let isolated = |row: &Row| row.flips.as_ref().map_or(0, |flips| flips.isolated);
        self.counted("isolated_nodes", isolated, "nodes that lost their last neighbour")
    }

    /// What only shows between units.
    fn repetitions(&self) -> Vec<Warning> {
        let conditions = conditions(self.rows);
        let mut mixed = Vec::new();
        let mut transferred = Vec::new();
        for condition in &conditions {
            let size = |row: &Row| (row.nodes, row.flips.as_ref().map(|flips| flips.clean_edges));
            let sizes = condition.units.iter().map(|(_, row)| size(row));
            if sizes.clone().any(|other| Some(other) != sizes.clone().next()) {
                mixed.extend(condition.units.iter().map(|(name, _)| (*name).to_owned()));
            }
            let flipped =
                || condition.units.iter().filter_map(|(name, row)| Some((name, row.flips.as_ref()?)));
            let same = |(_, flips): &(_, &FlipRow)| {
                flips.graph.is_some()
                    && flipped()
                        .any(|(_, other)| other.graph == flips.graph && other.features != flips.features)
            };
            transferred.extend(flipped().filter(same).map(|(name, _)| (*name).to_owned()));
        }
        let counts = conditions.iter().map(|condition| condition.units.len());
        let uneven = counts.clone().any(|other| Some(other) != counts.clone().next());
        let all = self.rows.named().filter(|_| uneven).map(|(name, _)| name.to_owned()).collect();
        [
            warning("mixed_graphs", mixed, "repetitions of a condition have graphs of different size"),
            warning("repetitions_differ", all, "conditions have different numbers of repetitions"),
            warning(
                "same_attacked_graph",
                transferred,
                "models of one condition share an attacked graph: a transfer attack, not an adaptive one",
            ),
        ]
        .concat()
    }

    fn units(&self, code: &str, wrong: impl Fn(&Row) -> bool, words: &str) -> Vec<Warning> {
        let named = self.rows.named().filter(|(_, row)| wrong(row));
        warning(code, named.map(|(name, _)| name.into()).collect(), words)
    }

    /// The same, with how many nodes it concerns in each run: the conditions of a run mostly agree.
    fn counted(&self, code: &str, count: impl Fn(&Row) -> u64, words: &str) -> Vec<Warning> {
        let mut runs: BTreeMap<&str, Extent> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| count(row) > 0) {
            let extent = Extent::of(count(row));
            runs.entry(&row.run).and_modify(|known| *known = known.with(extent)).or_insert(extent);
        }
        let several = self.rows.iter().filter(|row| count(row) > 0).count() > 1;
        self.units(code, |row| count(row) > 0, &format!("{words}: {}", by_run(&runs, several)))
    }
}

/// The least and the greatest of some counts.
#[derive(Clone, Copy)]
struct Extent(u64, u64);

impl Extent {
    fn of(count: u64) -> Self {
        Self(count, count)
    }

    fn with(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.max(other.1))
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(least, greatest) if least == greatest => write!(f, "{least}"),
            Self(least, greatest) => write!(f, "{least} to {greatest}"),
        }
    }
}

/// Counts run by run; those of very many runs are summed up, so that none is beyond what is said.
fn by_run(runs: &BTreeMap<&str, Extent>, several: bool) -> String {
    let mut shown: Vec<String> = runs
        .iter()
        .take(RUNS)
        .map(|(run, count)| if several { format!("{count} in {run}") } else { count.to_string() })
        .collect();
    if let Some(rest) = runs.values().skip(RUNS).copied().reduce(Extent::with) {
        let more = runs.len() - RUNS;
        shown.push(format!("{rest} in {more} other run{}", if more == 1 { "" } else { "s" }));
    }
    shown.join(", ")
}

/// What was noticed while the units were made.
fn noticed(provenance: &Provenance, code: &str, words: &str) -> Option<Warning> {
    let facts = || provenance.facts.iter().filter(|fact| fact.code == code);
    let details: BTreeSet<&str> = facts().map(|fact| fact.detail.as_str()).collect();
    let units: BTreeSet<&str> = facts().map(|fact| fact.unit.as_str()).collect();
    let units = units.into_iter().map(String::from).collect();
    let details: Vec<&str> = details.into_iter().collect();
    warning(code, units, &format!("{words}: {}", listed(&details))).pop()
}

/// The first few of many.
fn listed<T: ToString>(things: &[T]) -> String {
    let mut shown: Vec<String> = things.iter().take(SHOWN).map(ToString::to_string).collect();
    if things.len() > SHOWN {
        shown.push("...".into());
    }
    shown.join(", ")
}

fn warning(code: &str, mut units: Vec<String>, words: &str) -> Vec<Warning> {
    if units.is_empty() {
        return Vec::new();
    }
    units.sort_unstable();
    let plural = if units.len() == 1 { "" } else { "s" };
    vec![Warning { code: code.into(), message: format!("in {} unit{plural}: {words}", units.len()), units }]
}
