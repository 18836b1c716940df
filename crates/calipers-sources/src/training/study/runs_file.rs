//! The per-run JSON of a study: which run is which fold of which configuration, and what was known
//! of it when it ended.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Result};
use calipers_io::history::json::loose::{self, Loose};

/// One project of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RunsFile {
    /// The project's name.
    pub project: String,
    /// Its configurations, in the order of the file.
    pub groups: Vec<Group>,
}

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its key in the file.
    pub name: String,
    /// Members that tables show as they are, such as `tag_name` or `date`.
    pub members: BTreeMap<String, Loose>,
    /// Its runs, by fold label.
    pub runs: BTreeMap<String, RunNames>,
    /// The first checkpoint called `last`, of the first fold that has one.
    pub last_checkpoint: Option<String>,
    /// What was written down when each fold ended; none when the whole part is missing.
    pub summary: Option<BTreeMap<String, Summary>>,
}

/// How a fold's run is called elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNames {
    /// The identifier the tracker gave it.
    pub id: Option<String>,
    /// Its display name.
    pub name: Option<String>,
}

/// What was written down when a fold ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Emissions of the training.
    pub emissions: Option<f64>,
    /// The best checkpoint.
    pub best_model_path: Option<String>,
    /// The last test values by key; NaN and infinity as written.
    pub tests: BTreeMap<String, f64>,
}

/// Members of a group that tables show.
const SHOWN: [&str; 7] =
    ["tag_name", "tokenizer_path", "date", "syntax", "space", "add_vocab", "model_name_or_path"];

impl RunsFile {
    /// Reads one project; it must be named when there are several.
    pub fn parse(bytes: &[u8], project: Option<&str>) -> Result<Self> {
        let document = loose::parse(bytes)?;
        let projects = object(&document, "the file")?;
        let names = || projects.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let (name, groups) = match (project, projects) {
            (Some(wanted), _) => projects.iter().find(|(name, _)| name == wanted).ok_or_else(|| {
                Error::value("no project of that name").at("--project").found(wanted).allowed(names())
            })?,
            (None, [only]) => only,
            (None, _) => {
                return Err(Error::value("the file does not hold exactly one project")
                    .found(format!("{} projects", projects.len()))
                    .allowed(names())
                    .advice("say which one with --project NAME"));
            }
        };
        let groups = object(groups, name)?
            .iter()
            .map(|(key, group)| Group::parse(key, group, &format!("{name}.{key}")))
            .collect::<Result<_>>()?;
        Ok(Self { project: name.clone(), groups })
    }

    /// The group and fold that own a run: by its identifier, else by its name.
    pub fn owner(&self, run_name: &str, run_id: Option<&str>) -> Option<(&str, &str)> {
        let known = |text: &Option<String>| {
            text.as_deref().is_some_and(|text| text == run_name || Some(text) == run_id)
        };
        let folds = || {
            self.groups.iter().flat_map(|group| {
                group.runs.iter().map(|(fold, run)| (group.name.as_str(), fold.as_str(), run))
            })
        };
        let by_id = folds().find(|(_, _, run)| known(&run.id));
        by_id.or_else(|| folds().find(|(_, _, run)| known(&run.name))).map(|(group, fold, _)| (group, fold))
    }

    /// The group of that name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }
}

impl Group {
    fn parse(key: &str, group: &Loose, path: &str) -> Result<Self> {
        let members = object(group, path)?;
        let runs = group.get("runs").ok_or_else(|| {
            let found = members.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            Error::value("a group without `runs`").at(path).found(found)
        })?;
        let runs = object(runs, &format!("{path}.runs"))?.iter().map(|(fold, run)| {
            let text = |key| run.get(key).and_then(Loose::as_str).map(str::to_owned);
            (fold.clone(), RunNames { id: text("id_run"), name: text("name") })
        });
        let summary = group.get("summary").filter(|part| !matches!(part, Loose::Null));
        let summary = summary
            .map(|part| -> Result<_> {
                let folds = object(part, &format!("{path}.summary"))?;
                Ok(folds
                    .iter()
                    .map(|(key, fold)| (key.strip_prefix("fold").unwrap_or(key).to_owned(), ended(fold)))
                    .collect())
            })
            .transpose()?;
        let shown = members.iter().filter(|(name, _)| SHOWN.contains(&name.as_str())).cloned();
        Ok(Self {
            name: key.into(),
            members: shown.collect(),
            runs: runs.collect(),
            last_checkpoint: group.get("ckpt").and_then(last_checkpoint),
            summary,
        })
    }

    /// Every fold the file knows of, in byte order of the labels.
    pub fn folds(&self) -> BTreeSet<&str> {
        let ended = self.summary.iter().flat_map(BTreeMap::keys);
        self.runs.keys().chain(ended).map(String::as_str).collect()
    }
}

fn ended(fold: &Loose) -> Summary {
    let first = fold.get("test_data_last_step").and_then(|steps| match steps {
        Loose::List(steps) => steps.first(),
        _ => None,
    });
    let tests = first.and_then(members).unwrap_or_default();
    let number = |(key, value): &(String, Loose)| Some((key.clone(), value.as_f64()?));
    Summary {
        emissions: fold.get("carbon_data").and_then(|data| data.get("train_emissions")?.as_f64()),
        best_model_path: fold.get("best_model_path").and_then(Loose::as_str).map(str::to_owned),
        tests: tests.iter().filter_map(number).collect(),
    }
}

fn last_checkpoint(folds: &Loose) -> Option<String> {
    let by_fold: BTreeMap<&str, &Loose> =
        members(folds)?.iter().map(|(fold, list)| (fold.as_str(), list)).collect();
    by_fold.into_values().find_map(|list| {
        let Loose::List(checkpoints) = list else { return None };
        let last = |checkpoint: &&Loose| checkpoint.get("epoch").and_then(Loose::as_str) == Some("last");
        checkpoints.iter().find(last)?.get("file_path")?.as_str().map(str::to_owned)
    })
}

fn members(value: &Loose) -> Option<&[(String, Loose)]> {
    match value {
        Loose::Object(members) => Some(members),
        _ => None,
    }
}

fn object<'a>(value: &'a Loose, path: &str) -> Result<&'a [(String, Loose)]> {
    members(value).ok_or_else(|| {
        Error::format("not a JSON object").at(path).allowed("{project: {group: {\"runs\": {fold: {..}}}}}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = br#"{"p": {"g": {"tag_name": "G",
        "runs": {"0": {"id_run": "abc", "name": "g_0"}, "1": {"name": "abc"}},
        "ckpt": {"1": [{"epoch": "last", "file_path": "one"}], "0": [{"epoch": "3", "file_path": "zero"}]},
        "summary": {"fold0": {"carbon_data": {"train_emissions": 0.5}, "best_model_path": "b",
            "test_data_last_step": [{"test_BLEU": NaN, "test_F1_micro": 9, "note": "x", "gone": null}]}}}}}"#;

    #[test]
    fn a_history_belongs_to_the_fold_with_its_identifier_before_its_name() {
        let file = RunsFile::parse(FILE, None).unwrap();
        assert_eq!(file.owner("abc", None), Some(("g", "0")));
        assert_eq!(file.owner("g_0", None), Some(("g", "0")));
        assert_eq!(file.owner("other", Some("abc")), Some(("g", "0")));
        assert_eq!(file.owner("g_1", None), None);
    }

    #[test]
    fn the_summary_keeps_numbers_and_bare_nan_only() {
        let file = RunsFile::parse(FILE, Some("p")).unwrap();
        let group = file.group("g").unwrap();
        let summary = &group.summary.as_ref().unwrap()["0"];
        assert_eq!(summary.tests.keys().collect::<Vec<_>>(), ["test_BLEU", "test_F1_micro"]);
        assert!(summary.tests["test_BLEU"].is_nan());
        assert_eq!(summary.emissions, Some(0.5));
        assert_eq!(group.last_checkpoint.as_deref(), Some("one"));
        assert_eq!(group.folds().into_iter().collect::<Vec<_>>(), ["0", "1"]);
    }

    #[test]
    fn a_file_that_is_no_runs_file_is_refused_with_its_path() {
        let refused =
            |text: &str, project| RunsFile::parse(text.as_bytes(), project).unwrap_err().to_string();
        assert!(refused("[]", None).contains("the file"));
        assert!(refused(r#"{"p": {"g": {"date": 1}}}"#, None).contains("p.g"));
        assert!(refused(r#"{"p": {}, "q": {}}"#, None).contains("p, q"));
        assert!(
            refused(r#"{"p": {}}"#, Some("r")).contains("allowed: p")
                || refused(r#"{"p": {}}"#, Some("r")).contains('p')
        );
    }
}
