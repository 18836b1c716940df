//! The per-run JSON of a study, gathered from its run folders.
//!
//! ```text
//! folders  what lies in the run folders    carbon  what was spent on each run
//! project  which run is which fold, and what its log says of it
//! group    one configuration as JSON
//! ```

mod carbon;
mod folders;
mod group;
mod project;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use calipers_core::{Error, Fact, Result, Warning};
use serde_json::{Map, Value as Json};

use self::carbon::{Carbon, Record};
use self::folders::{Owners, Tree};
use self::project::Fold;
use super::options::Options;
use super::study;
use super::study::runs_file::RunsFile;
use crate::run::Progress;

/// The per-run JSON and what is doubtful about it.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// `{project: {group: ..}}`.
    pub json: Json,
    /// Warnings: code, message, the runs they are about.
    pub doubts: Vec<Warning>,
}

impl Extracted {
    /// The bytes of the file.
    pub fn to_text(&self) -> String {
        // Maps and texts can always be written.
        serde_json::to_string_pretty(&self.json).unwrap_or_default() + "\n"
    }

    /// The same as the tables of a study read it.
    pub fn runs_file(&self, project: Option<&str>) -> Result<RunsFile> {
        RunsFile::parse(self.to_text().as_bytes(), project)
    }
}

/// Gathers the per-run JSON of the runs that the options name. `project` is what the study is called,
/// where it is not to be found out.
pub fn extract(options: &Options, project: Option<&str>, progress: &dyn Progress) -> Result<Extracted> {
    let roots: Vec<PathBuf> = options.inputs.iter().map(|input| root(input)).collect();
    let tree = Tree::of(&roots)?;
    let folds = project::folds(options, &tree, project, progress)?;
    if folds.is_empty() {
        return Err(Error::value("no run was found").advice("check the folders, and --where"));
    }
    let owners = Owners::new(
        &tree,
        folds
            .iter()
            .enumerate()
            .flat_map(|(at, fold)| fold.folders.iter().map(move |folder| (folder.clone(), at))),
    );
    let (carbon, mut doubts) = spent(&tree, &owners, &folds)?;
    let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, fold) in folds.iter().enumerate() {
        groups.entry((&fold.filed, &fold.group)).or_default().push(at);
    }
    let mut json: Map<String, Json> = Map::new();
    let mut missing = group::Missing::default();
    for ((filed, name), members) in groups {
        let group = group::Group { tree: &tree, owners: &owners, folds: &folds, carbon: &carbon, members };
        let found = group.to_json(name, &mut missing)?;
        if let Json::Object(groups) = json.entry(filed).or_insert_with(|| Json::Object(Map::new())) {
            groups.insert(name.to_owned(), found);
        }
    }
    doubts.extend(missing.warnings());
    let mut extracted = Extracted { json: Json::Object(json), doubts };
    extracted.doubts.extend(growing(&extracted)?);
    Ok(extracted)
}

/// The folder that paths are relative to: the one given, or that of a given file.
fn root(input: &Path) -> PathBuf {
    if input.is_dir() {
        return input.to_path_buf();
    }
    let folder = input.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_path_buf()
}

/// What was spent on each run, and the records that belong to no run.
fn spent(tree: &Tree, owners: &Owners<'_>, folds: &[Fold]) -> Result<(Vec<Carbon>, Vec<Warning>)> {
    let mut carbon = vec![Carbon::default(); folds.len()];
    let mut unassigned: BTreeSet<String> = BTreeSet::new();
    for (file, owner) in owners.emissions() {
        let path = tree.place(file);
        let bytes = std::fs::read(&path).map_err(|error| {
            Error::io(format!("cannot read the file: {}", error.kind())).in_file(path.display())
        })?;
        for record in carbon::records(&bytes).map_err(|error| error.in_file(path.display()))? {
            let called = |fold: &Fold| {
                [&record.id, &record.project].iter().any(|text| **text == fold.id || **text == fold.name)
            };
            match owner.or_else(|| folds.iter().position(called)) {
                Some(run) => carbon[run].add(&record),
                None => _ = unassigned.insert(named(&file.path, &record)),
            }
        }
    }
    let doubt = (!unassigned.is_empty()).then(|| Warning {
        code: "carbon-unassigned".into(),
        message: format!(
            "{} of codecarbon belong to no run: their run_id or project_name is the id or name of none",
            match unassigned.len() {
                1 => "1 record".to_owned(),
                count => format!("{count} records"),
            }
        ),
        units: unassigned.into_iter().collect(),
    });
    Ok((carbon, doubt.into_iter().collect()))
}

fn named(path: &str, record: &Record) -> String {
    format!("{} ({}) in {path}", record.project, record.id)
}

/// Groups whose emissions grow from fold to fold.
fn growing(extracted: &Extracted) -> Result<Vec<Warning>> {
    let Json::Object(projects) = &extracted.json else { return Ok(Vec::new()) };
    let mut growing: Vec<Fact> = Vec::new();
    for project in projects.keys() {
        growing.extend(study::carbon(&extracted.runs_file(Some(project))?));
    }
    Ok(study::warned(&growing))
}
