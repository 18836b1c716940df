//! Which array of a run gives which part of which pair, told by the keys alone.

use std::collections::BTreeMap;

use calipers_core::spelling::listed;
use calipers_core::{Error, Result};
use calipers_metrics::robustness::Budget;

use super::names;

/// The features on the clean graph.
pub(super) const CLEAN: &str = "clean";
/// The features on attacked graphs whose budgets are not in the key.
pub(super) const ATTACKED: &str = "attacked";
/// The strength of the attack behind `attacked`.
pub(super) const BUDGET: &str = "budget";
/// The strengths of the attacks behind the slabs of `attacked`.
pub(super) const BUDGETS: &str = "budgets";

/// Keys of what all pairs of a run share, but for the features.
const SHARED: [&str; 10] = [
    "labels",
    "test_idx",
    "test_mask",
    "train_idx",
    "train_mask",
    "val_idx",
    "val_mask",
    "clean_logits",
    "edge_index",
    "edges",
];

/// What an array says about one attacked graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The class scores, where they are not the features.
    Logits,
    /// The features.
    Features,
    /// The graph with both directions of every edge.
    EdgeIndex,
    /// The graph with every edge once.
    Edges,
    /// The pairs to toggle in the clean graph.
    Flips,
}

impl Part {
    /// Every part; one whose name begins with the name of another comes before it.
    const ALL: [Self; 5] = [Self::Logits, Self::Features, Self::EdgeIndex, Self::Edges, Self::Flips];
    /// The forms in which an attacked graph can be given.
    pub(super) const GRAPHS: [Self; 3] = [Self::EdgeIndex, Self::Edges, Self::Flips];

    /// The key, which a budget may follow.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Logits => "attacked_logits",
            Self::Features => ATTACKED,
            Self::EdgeIndex => "edge_index_attacked",
            Self::Edges => "edges_attacked",
            Self::Flips => "flips",
        }
    }

    /// The part that a key names, and the text after it.
    fn of(key: &str) -> Option<(Self, Option<&str>)> {
        Self::ALL.into_iter().find_map(|part| match key.strip_prefix(part.name())? {
            "" => Some((part, None)),
            rest => rest.strip_prefix('_').map(|budget| (part, Some(budget))),
        })
    }
}

/// The keys of one pair.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) budget: Budget,
    /// The slab of the features, where one array holds those of several budgets.
    pub(super) slab: Option<usize>,
    /// The key of each part that is given.
    pub(super) parts: BTreeMap<Part, String>,
}

/// How the keys of a file make pairs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) conditions: Vec<Condition>,
    /// Keys that nothing reads.
    pub(super) unknown: Vec<String>,
}

/// The budgets of the key `attacked`, which has none in its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    /// There are none.
    Unsaid,
    /// One, and the array has two axes.
    One(Budget),
    /// Several, and the array has one more axis.
    Several(Vec<Budget>),
}

impl Layout {
    /// Sorts the keys of a file. `plain` is what is known about `attacked`.
    pub(super) fn new(keys: &[String], plain: &Plain) -> Result<Self> {
        let mut conditions = Vec::new();
        let (mut bare, mut suffixed, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for key in keys {
            match Part::of(key) {
                Some((part, None)) => bare.push((part, key)),
                Some((part, Some(budget))) => {
                    let budget = Budget::parse(budget).map_err(|error| error.at(format!("key {key}")))?;
                    if part == Part::Features {
                        put(&mut conditions, budget, None, key)?;
                    } else {
                        suffixed.push((part, budget, key));
                    }
                }
                None if [CLEAN, BUDGET, BUDGETS].contains(&key.as_str()) => {}
                None if SHARED.contains(&key.as_str()) || names::KEYS.contains(&key.as_str()) => {}
                None => unknown.push(key.clone()),
            }
        }
        let plain_key = bare.iter().find(|(part, _)| *part == Part::Features).map(|(_, key)| *key);
        match (plain_key, plain) {
            (Some(_), Plain::Unsaid) => {
                return Err(Error::value("`attacked` has no budget")
                    .at("key attacked")
                    .advice("add a key `budget`, or give --budget B"));
            }
            (Some(key), Plain::One(budget)) => put(&mut conditions, budget.clone(), None, key)?,
            (Some(key), Plain::Several(budgets)) => {
                for (slab, budget) in budgets.iter().enumerate() {
                    put(&mut conditions, budget.clone(), Some(slab), key)?;
                }
            }
            (None, _) => {
                unknown.extend(keys.iter().filter(|key| [BUDGET, BUDGETS].contains(&key.as_str())).cloned());
            }
        }
        if !keys.iter().any(|key| key == CLEAN) || conditions.is_empty() {
            return Err(missing(keys));
        }
        for (part, key) in bare.into_iter().filter(|(part, _)| *part != Part::Features) {
            match (plain_key, plain) {
                (Some(_), Plain::One(budget)) => suffixed.push((part, budget.clone(), key)),
                _ => unknown.push(key.clone()),
            }
        }
        for (part, budget, key) in suffixed {
            match conditions.iter_mut().find(|condition| condition.budget == budget) {
                None => unknown.push(key.clone()),
                Some(condition) => {
                    if let Some(before) = condition.parts.insert(part, key.clone()) {
                        return Err(twice(&budget, &before, key));
                    }
                }
            }
        }
        for condition in &conditions {
            condition.check_graph()?;
        }
        conditions.sort_by(|a, b| a.budget.cmp(&b.budget));
        unknown.sort();
        Ok(Self { conditions, unknown })
    }
}

impl Condition {
    /// The key of the features.
    pub(super) fn features(&self) -> &str {
        self.parts.get(&Part::Features).map_or(ATTACKED, String::as_str)
    }

    /// The form and key of the attacked graph.
    pub(super) fn graph(&self) -> Option<(Part, &str)> {
        Part::GRAPHS.into_iter().find_map(|part| Some((part, self.parts.get(&part)?.as_str())))
    }

    fn check_graph(&self) -> Result<()> {
        let given: Vec<&str> =
            Part::GRAPHS.iter().filter_map(|part| self.parts.get(part)).map(String::as_str).collect();
        match given[..] {
            [first, second, ..] => {
                Err(Error::value("the attacked graph of one budget is given in two forms")
                    .at(format!("key {second}"))
                    .found(format!("`{first}` and `{second}`"))
                    .advice("keep one of them"))
            }
            _ => Ok(()),
        }
    }
}

fn put(conditions: &mut Vec<Condition>, budget: Budget, slab: Option<usize>, key: &str) -> Result<()> {
    if let Some(before) = conditions.iter().find(|condition| condition.budget == budget) {
        return Err(twice(&budget, before.features(), key));
    }
    let parts = BTreeMap::from([(Part::Features, key.to_owned())]);
    conditions.push(Condition { budget, slab, parts });
    Ok(())
}

fn twice(budget: &Budget, first: &str, second: &str) -> Error {
    Error::value("the same condition twice")
        .at(format!("key {second}"))
        .found(format!("`{first}` and `{second}` are both of budget {budget}"))
        .advice("keep one of them")
}

/// The error of a file that is not a run.
fn missing(keys: &[String]) -> Error {
    const SHOWN: usize = 20;
    let what = if keys.iter().any(|key| key == CLEAN) {
        "no attacked array: the key `attacked_<budget>` or `attacked` is missing"
    } else {
        "the key `clean` is missing"
    };
    Error::value(what)
        .found(if keys.is_empty() { "no keys".to_owned() } else { format!("keys {}", listed(keys, SHOWN)) })
        .advice("a run has `clean` and `attacked_<budget>` arrays of one shape, nodes x columns")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    fn budget(text: &str) -> Budget {
        Budget::parse(text).unwrap()
    }

    #[test]
    fn parts_of_one_budget_meet_however_it_is_written() {
        let given =
            ["clean", "attacked_0.10", "attacked_logits_0.1", "flips_.1", "attacked_0.05", "edges", "note"];
        let layout = Layout::new(&keys(&given), &Plain::Unsaid).unwrap();
        let budgets: Vec<&str> = layout.conditions.iter().map(|condition| condition.budget.label()).collect();
        assert_eq!(budgets, ["0.05", "0.1"]);
        let strong = &layout.conditions[1];
        assert_eq!(strong.features(), "attacked_0.10");
        assert_eq!(strong.graph(), Some((Part::Flips, "flips_.1")));
        assert_eq!(strong.parts[&Part::Logits], "attacked_logits_0.1");
        assert_eq!(layout.unknown, ["note"]);
    }

    #[test]
    fn with_a_budget_of_its_own_the_suffix_may_be_left_out() {
        let given = keys(&["clean", "attacked", "budget", "edges_attacked", "attacked_logits", "flips_0.2"]);
        let layout = Layout::new(&given, &Plain::One(budget("0.1"))).unwrap();
        assert_eq!(layout.conditions[0].graph(), Some((Part::Edges, "edges_attacked")));
        assert!(layout.conditions[0].parts.contains_key(&Part::Logits));
        assert_eq!(layout.unknown, ["flips_0.2"]);
        let slabs = Plain::Several(vec![budget("0.2"), budget("0")]);
        let layout = Layout::new(&given, &slabs).unwrap();
        let slabs: Vec<_> = layout.conditions.iter().map(|c| (c.budget.label(), c.slab)).collect();
        assert_eq!(slabs, [("0", Some(1)), ("0.2", Some(0))]);
        assert_eq!(layout.conditions[1].graph(), Some((Part::Flips, "flips_0.2")));
        assert_eq!(layout.unknown, ["attacked_logits", "edges_attacked"]);
    }

    #[test]
    fn keys_that_contradict_each_other_are_named() {
        let refused =
            |given: &[&str], plain: &Plain| Layout::new(&keys(given), plain).unwrap_err().to_string();
        let unsaid = &Plain::Unsaid;
        let text = refused(&["clean", "attacked_0.05", "attacked_0.050"], unsaid);
        assert!(text.contains("same condition twice") && text.contains("attacked_0.050"), "{text}");
        let text = refused(&["clean", "attacked_five"], unsaid);
        assert!(text.contains("\"five\" is not a decimal fraction >= 0"), "{text}");
        let text = refused(&["clean", "attacked"], unsaid);
        assert!(text.contains("--budget"), "{text}");
        let text = refused(&["attacked_0.1", "x"], unsaid);
        assert!(text.contains("`clean` is missing") && text.contains("attacked_0.1, x"), "{text}");
        assert!(refused(&["clean", "labels"], unsaid).contains("attacked_<budget>"));
        let text = refused(&["clean", "attacked_0.1", "flips_0.1", "edges_attacked_0.1"], unsaid);
        assert!(text.contains("two forms"), "{text}");
        let text = refused(&["clean", "attacked", "flips", "flips_0.1"], &Plain::One(budget("0.1")));
        assert!(text.contains("same condition twice"), "{text}");
    }
}
