//! What looks wrong in the evidence: every warning of the family, in report order.

use std::collections::BTreeMap;
use std::fmt;

use calipers_core::{Provenance, Rows, Warning};

use super::protocol::Robustness;
use super::row::condition::conditions;
use super::row::{Decisions, FlipRow, Row};
use crate::warnings::{details_of, first_of, in_units, noticed, plural, units, units_of};

type Wrong = crate::warnings::Wrong<Robustness>;

/// What is noticed while files are read and models are run, and what it means.
const NOTICED: [(&str, &str); 3] = [
    ("unknown_keys", "arrays that nobody reads"),
    ("penalty_replaced", "options differ from what the checkpoint was trained with, and win"),
    ("stuck_nodes", "nodes that no weight reaches keep their features"),
];

/// How many runs a message counts one by one.
const RUNS: usize = 20;

/// Every warning the rows and the files give rise to.
pub(super) fn warnings(protocol: &Robustness, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
    let of = |wrong: &'static [Wrong]| wrong.iter().map(move |wrong| wrong.warning(protocol, rows));
    let counts = [
        counted(rows, "split_leak", |row| row.accuracy.leak, "test nodes that are training nodes too"),
        counted(
            rows,
            "argmax_ties",
            |row| row.accuracy.decisions.as_ref().map_or(0, |counts| counts.ties),
            "test nodes with equal top scores, of which the first class was taken",
        ),
    ];
    let isolated = |row: &Row| row.flips.as_ref().map_or(0, |flips| flips.isolated);
    let isolated = counted(rows, "isolated_nodes", isolated, "nodes that lost their last neighbour");
    let noticed = NOTICED.iter().map(|(code, words)| from_files(provenance, code, words));
    let all = of(BUDGETS).chain(counts).chain(of(DECISIONS)).chain([isolated]);
    all.chain(repetitions(rows)).chain(noticed).flatten().collect()
}

const BUDGETS: &[Wrong] = &[
    Wrong {
        code: "over_budget",
        with: |_, row| spent(row).is_some_and(|(used, allowed)| used > allowed),
        words: "the attack flipped more edges than its budget allows",
    },
    Wrong {
        code: "under_budget",
        with: |_, row| spent(row).is_some_and(|(used, allowed)| 10 * used < 9 * allowed),
        words: "the attack did not use its budget: bias and accuracy look better than they are",
    },
    Wrong {
        code: "no_effect",
        with: |_, row| !row.budget.is_zero() && row.bias.total.is_zero(),
        words: "the budget is above 0 and no feature moved",
    },
    Wrong {
        code: "budget_zero_differs",
        with: |_, row| row.budget.is_zero() && !row.bias.total.is_zero(),
        words: "the budget is 0 and features moved",
    },
    Wrong {
        code: "budget_looks_percent",
        with: |_, row| row.budget.exceeds_all(),
        words: "the budget is above 1: a share of the edges is meant, not per cent",
    },
];

const DECISIONS: &[Wrong] = &[
    Wrong {
        code: "constant_prediction",
        with: |_, row| decisions(row, |counts| counts.constant.contains(&true)),
        words: "all test nodes are given one class",
    },
    Wrong {
        code: "below_majority",
        with: |_, row| decisions(row, |counts| counts.correct_clean < counts.majority),
        words: "the clean accuracy is below the share of the commonest label: is the model trained?",
    },
    Wrong {
        code: "looks_like_probabilities",
        with: |_, row| row.simplex,
        words: "every row of features sums to 1: bias is meant for features before the softmax",
    },
];

/// How many edges were flipped, and how many the budget allows.
fn spent(row: &Row) -> Option<(u128, u128)> {
    let flips = row.flips.as_ref()?;
    Some((flips.flipped().into(), row.budget.allowed(flips.clean_edges).into()))
}

fn decisions(row: &Row, wrong: fn(&Decisions) -> bool) -> bool {
    row.accuracy.decisions.as_ref().is_some_and(wrong)
}

/// What only shows between units.
fn repetitions(rows: &Rows<'_, Row>) -> [Option<Warning>; 3] {
    let conditions = conditions(rows);
    let (mut mixed, mut transferred) = (Vec::new(), Vec::new());
    for condition in &conditions {
        let size = |row: &Row| (row.nodes, row.flips.as_ref().map(|flips| flips.clean_edges));
        let sizes = condition.units.iter().map(|(_, row)| size(row));
        if sizes.clone().any(|other| Some(other) != sizes.clone().next()) {
            mixed.extend(condition.units.iter().map(|(name, _)| (*name).to_owned()));
        }
        let flipped = || condition.units.iter().filter_map(|(name, row)| Some((name, row.flips.as_ref()?)));
        let same = |(_, flips): &(_, &FlipRow)| {
            let others =
                |(_, other): (_, &FlipRow)| other.graph == flips.graph && other.features != flips.features;
            flips.graph.is_some() && flipped().any(others)
        };
        transferred.extend(flipped().filter(same).map(|(name, _)| (*name).to_owned()));
    }
    // Conditions come by budget, the units of a warning by name.
    mixed.sort_unstable();
    transferred.sort_unstable();
    let counts = conditions.iter().map(|condition| condition.units.len());
    let uneven = counts.clone().any(|other| Some(other) != counts.clone().next());
    [
        in_units("mixed_graphs", mixed, "repetitions of a condition have graphs of different size"),
        in_units(
            "repetitions_differ",
            units(rows, |_| uneven),
            "conditions have different numbers of repetitions",
        ),
        in_units(
            "same_attacked_graph",
            transferred,
            "models of one condition share an attacked graph: a transfer attack, not an adaptive one",
        ),
    ]
}

/// Units with a count above 0, and how many nodes it concerns in each run: the conditions of a run mostly
/// agree.
fn counted(rows: &Rows<'_, Row>, code: &str, count: impl Fn(&Row) -> u64, words: &str) -> Option<Warning> {
    let mut runs: BTreeMap<&str, Extent> = BTreeMap::new();
    for row in rows.iter().filter(|row| count(row) > 0) {
        let extent = Extent(count(row), count(row));
        runs.entry(&row.run).and_modify(|known| *known = known.with(extent)).or_insert(extent);
    }
    let units = units(rows, |row| count(row) > 0);
    let words = format!("{words}: {}", by_run(&runs, units.len() > 1));
    in_units(code, units, &words)
}

/// The least and the greatest of some counts.
#[derive(Clone, Copy)]
struct Extent(u64, u64);

impl Extent {
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
    let one = |(run, count): (&&str, &Extent)| {
        if several { format!("{count} in {run}") } else { count.to_string() }
    };
    let mut shown: Vec<String> = runs.iter().take(RUNS).map(one).collect();
    if let Some(rest) = runs.values().skip(RUNS).copied().reduce(Extent::with) {
        shown.push(format!("{rest} in {}", plural(runs.len() - RUNS, "other run")));
    }
    shown.join(", ")
}

/// What was noticed while the units were made.
fn from_files(provenance: &Provenance, code: &str, words: &str) -> Option<Warning> {
    let facts = noticed(provenance, code);
    let details = first_of(details_of(facts.clone()), ", ");
    in_units(code, units_of(facts), &format!("{words}: {details}"))
}
