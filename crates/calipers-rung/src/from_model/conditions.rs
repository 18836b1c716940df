//! `--attacked`, `--flips` and `--budgets`: which attacked graphs there are, and where.

use std::collections::BTreeMap;
use std::path::PathBuf;

use calipers_core::{Error, Result};
use calipers_metrics::robustness::Budget;

/// What a file says about an attacked graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttackFile {
    /// The graph itself.
    Graph,
    /// The pairs to toggle in the prepared graph.
    Flips,
}

impl AttackFile {
    fn option(self) -> &'static str {
        match self {
            Self::Graph => "--attacked",
            Self::Flips => "--flips",
        }
    }

    /// What files of this kind are read as.
    pub fn word(self) -> &'static str {
        match self {
            Self::Graph => "attacked",
            Self::Flips => "flips",
        }
    }
}

/// One attacked graph of every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How strong the attack was.
    pub budget: Budget,
    /// What the file holds.
    pub form: AttackFile,
    /// Where it is, once it is filled in.
    pub path: Template,
}

/// The path of each run: one with places to be filled in, or those that a report recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// A path with `{split}`, `{seed}` and `{budget}`.
    Pattern(String),
    /// A path for every split and seed.
    Recorded(BTreeMap<(usize, Option<u64>), PathBuf>),
}

impl Template {
    /// A path as it was given.
    pub fn new(text: impl Into<String>) -> Self {
        Self::Pattern(text.into())
    }

    /// Whether seeds tell its paths apart.
    pub fn has_seeds(&self) -> bool {
        match self {
            Self::Pattern(text) => text.contains("{seed}"),
            Self::Recorded(paths) => paths.keys().any(|(_, seed)| seed.is_some()),
        }
    }

    /// The path for one run.
    pub fn path(&self, split: usize, seed: Option<u64>) -> Result<PathBuf> {
        match self {
            Self::Recorded(paths) => paths.get(&(split, seed)).cloned().ok_or_else(|| {
                Error::value("the report names no file of a run").found(run_words(split, seed))
            }),
            Self::Pattern(text) => {
                let filled = text.replace("{split}", &split.to_string());
                match seed {
                    Some(seed) => Ok(filled.replace("{seed}", &seed.to_string()).into()),
                    None if self.has_seeds() => Err(Error::usage("{seed} in a path, but no seeds")
                        .found(text)
                        .advice("give --seeds S[,S..]")),
                    None => Ok(filled.into()),
                }
            }
        }
    }
}

/// What a report calls a run in the roles of its files: `split0`, or `split0-seed3`.
pub fn run_words(split: usize, seed: Option<u64>) -> String {
    match seed {
        None => format!("split{split}"),
        Some(seed) => format!("split{split}-seed{seed}"),
    }
}

/// The split and seed that those words mean.
pub fn run_of_words(words: &str) -> Option<(usize, Option<u64>)> {
    let words = words.strip_prefix("split")?;
    match words.split_once("-seed") {
        None => Some((words.parse().ok()?, None)),
        Some((split, seed)) => Some((split.parse().ok()?, Some(seed.parse().ok()?))),
    }
}

/// The conditions of a command line: `B=FILE` each, or a path with `{budget}` for every budget.
pub fn conditions(attacked: &[String], flips: &[String], budgets: &[String]) -> Result<Vec<Condition>> {
    let mut found: Vec<Condition> = Vec::new();
    let mut filled = false;
    let given = attacked.iter().map(|text| (AttackFile::Graph, text));
    for (form, text) in given.chain(flips.iter().map(|text| (AttackFile::Flips, text))) {
        let explicit = text.split_once('=').filter(|(budget, _)| Budget::parse(budget).is_ok());
        if let Some((budget, path)) = explicit {
            push(&mut found, budget, form, path)?;
        } else if text.contains("{budget}") {
            if budgets.is_empty() {
                return Err(Error::usage("{budget} in a path, but no budgets")
                    .at(form.option())
                    .found(text)
                    .advice("give --budgets B[,B..]"));
            }
            filled = true;
            for budget in budgets {
                push(&mut found, budget, form, text)?;
            }
        } else {
            let error = match text.split_once('=') {
                Some((budget, _)) => Error::usage(format!("{budget:?} is not a decimal fraction >= 0")),
                None => Error::usage(format!("{} says which budget a file is of", form.option())),
            };
            return Err(error
                .at(form.option())
                .found(text)
                .allowed("B=FILE, or a path with {budget} and --budgets"));
        }
    }
    if !budgets.is_empty() && !filled {
        return Err(Error::usage("--budgets are for {budget} in --flips or --attacked, which have none"));
    }
    Ok(found)
}

fn push(found: &mut Vec<Condition>, text: &str, form: AttackFile, path: &str) -> Result<()> {
    let budget = Budget::parse(text).map_err(|error| error.as_usage().at("--budgets"))?;
    if path.is_empty() {
        return Err(Error::usage("no file after the budget").at(form.option()).found(format!("{text}=")));
    }
    if let Some(other) = found.iter().find(|other| other.budget == budget) {
        return Err(Error::usage("one condition is given twice")
            .at(form.option())
            .found(format!("budget {budget}, also in {}", other.form.option()))
            .advice(
                "give every budget one attacked graph; name attacks in runs of their own with --attack",
            ));
    }
    found.push(Condition { budget, form, path: Template::new(path.replace("{budget}", text)) });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn said(attacked: &[&str], flips: &[&str], budgets: &[&str]) -> String {
        conditions(&texts(attacked), &texts(flips), &texts(budgets)).unwrap_err().to_string()
    }

    #[test]
    fn budgets_fill_in_the_text_they_were_given_with() {
        let found = conditions(
            &texts(&["0=a={split}.npz"]),
            &texts(&["f/{budget}/{split}-{seed}.npy"]),
            &texts(&["0.050", "0.1"]),
        );
        let found = found.unwrap();
        let labels: Vec<&str> = found.iter().map(|condition| condition.budget.label()).collect();
        assert_eq!(labels, ["0", "0.05", "0.1"]);
        assert_eq!(found[0].path.path(3, None).unwrap(), PathBuf::from("a=3.npz"));
        assert_eq!(found[1].path.path(3, Some(7)).unwrap(), PathBuf::from("f/0.050/3-7.npy"));
        assert!(found[1].path.path(3, None).unwrap_err().to_string().contains("--seeds"));
    }

    #[test]
    fn a_recorded_run_finds_its_file_again() {
        for run in [(0, None), (12, Some(3))] {
            assert_eq!(run_of_words(&run_words(run.0, run.1)), Some(run));
        }
        for words in ["", "split", "splitx", "split1-seed", "run 1"] {
            assert_eq!(run_of_words(words), None, "{words}");
        }
        let recorded = Template::Recorded([((1, Some(4)), PathBuf::from("m"))].into());
        assert!(recorded.has_seeds());
        assert_eq!(recorded.path(1, Some(4)).unwrap(), PathBuf::from("m"));
        assert!(recorded.path(1, None).unwrap_err().to_string().contains("split1"));
    }

    #[test]
    fn what_cannot_be_meant_is_wrong_usage() {
        assert!(said(&[], &["{budget}.npy"], &[]).contains("--budgets"));
        assert!(said(&[], &["a.npy"], &[]).contains("B=FILE"));
        assert!(said(&["five=a.npz"], &[], &[]).contains("\"five\" is not a decimal fraction >= 0"));
        assert!(said(&["0.1=a.npz"], &["0.10=b.npy"], &[]).contains("twice"));
        assert!(said(&[], &["{budget}"], &["0.1", "0.10"]).contains("twice"));
        assert!(said(&["0.1=a"], &[], &["0.1"]).contains("have none"));
        assert!(said(&[], &["{budget}"], &["-1"]).contains("decimal fraction"));
        assert!(said(&["0.1="], &[], &[]).contains("no file"));
        assert!(conditions(&[], &[], &[]).unwrap().is_empty());
    }
}
