//! `--attacked`, `--flips` and `--budgets`: which attacked graphs there are, and where.

use std::path::PathBuf;

use calipers_core::{Error, Result};
use calipers_metrics::robustness::unit::Budget;

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

/// A path with places to be filled in: `{split}`, `{seed}` and `{budget}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

impl Template {
    /// A path as it was given.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether a place of that name is in it.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&format!("{{{name}}}"))
    }

    /// The same with every place of that name filled in.
    #[must_use]
    pub fn with(&self, name: &str, text: &str) -> Self {
        Self(self.0.replace(&format!("{{{name}}}"), text))
    }

    /// The path for one run.
    pub fn path(&self, split: usize, seed: Option<u64>) -> Result<PathBuf> {
        let filled = self.with("split", &split.to_string());
        match seed {
            Some(seed) => Ok(filled.with("seed", &seed.to_string()).0.into()),
            None if filled.has("seed") => Err(Error::usage("{seed} in a path, but no seeds")
                .found(&self.0)
                .advice("give --seeds S[,S..]")),
            None => Ok(filled.0.into()),
        }
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
        } else if Template::new(text.as_str()).has("budget") {
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
    found.push(Condition { budget, form, path: Template::new(path).with("budget", text) });
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
