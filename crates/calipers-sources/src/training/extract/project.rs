//! The runs of a study: which fold each is, where its folders are, and what its log says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use calipers_core::Result;
use calipers_io::history::json::loose::{self, Loose};
use calipers_io::history::{Origin, TRAINER_STATE, Table};

use super::folders::{Below, Tree, is_checkpoint};
use crate::run::Progress;
use crate::training::logs::Log;
use crate::training::options::Options;
use crate::training::runs::known::Known;
use crate::training::runs::rules::Labelled;
use crate::training::survey::{Surveyed, survey};

/// Where DVCLive keeps the values of a run.
const DVCLIVE: &str = "/plots/metrics/";

/// One run of a study.
pub(super) struct Fold {
    /// What its study is called.
    pub(super) filed: String,
    /// Its configuration.
    pub(super) group: String,
    /// Which fold of it.
    pub(super) fold: String,
    /// The run name.
    pub(super) name: String,
    /// The identifier of its tracker, else its name.
    pub(super) id: String,
    /// Where its tracker filed it.
    pub(super) project: Option<String>,
    /// The user or team that its tracker filed it under.
    pub(super) space: Option<String>,
    /// When it began, in seconds since 1970.
    pub(super) began: Option<f64>,
    /// Its configuration, by key.
    pub(super) config: BTreeMap<String, String>,
    /// Its folders.
    pub(super) folders: Vec<Below>,
    /// What the trainer itself took for the best checkpoint.
    pub(super) best: Option<String>,
    /// The last finite value of each key of tests, with `test_` in front.
    pub(super) tests: BTreeMap<String, f64>,
}

/// The runs of the options, in order of study, group and fold.
pub(super) fn folds(
    options: &Options,
    tree: &Tree,
    project: Option<&str>,
    progress: &dyn Progress,
) -> Result<Vec<Fold>> {
    let mut folds: Vec<Fold> = Vec::new();
    survey(options, tests, progress, &mut |history, surveyed| {
        let given = &options.inputs[history.input];
        let Surveyed { log, split, runs } = &surveyed;
        for (at, known) in runs.iter().enumerate() {
            let Some(known) = known.as_ref().filter(|known| !options.skip_missing || !known.keys.is_empty())
            else {
                continue;
            };
            let part = &split.runs[at];
            let column = |key: &str| part.columns.get(key).map(String::as_str);
            let labelled = Labelled { known, column: &column, folder: log.folder.as_deref() };
            let labels = options.assignment.of(labelled).map_err(|error| error.in_file(&log.shown))?;
            let text = |key: &str| known.fields.get(key).filter(|text| !text.is_empty()).cloned();
            let tracked = text("project").or_else(|| text("experiment"));
            let filed =
                project.map(String::from).or_else(|| tracked.clone()).unwrap_or_else(|| called(given));
            folds.push(Fold {
                filed,
                group: labels.group,
                fold: labels.fold,
                name: known.name.clone(),
                id: known.id.clone().unwrap_or_else(|| known.name.clone()),
                project: tracked,
                space: text("entity"),
                began: known.began,
                config: known.config.clone(),
                folders: folders(log, known).iter().filter_map(|folder| tree.below(folder)).collect(),
                best: best(log)?,
                tests: last(&log.table, &|row| split.run_of(row) == Some(at)),
            });
        }
        Ok(())
    })?;
    tell_apart(&mut folds);
    folds.sort_by(|a, b| (&a.filed, &a.group, &a.fold).cmp(&(&b.filed, &b.group, &b.fold)));
    Ok(folds)
}

/// Runs of one group and one fold get their identifiers into their folds.
fn tell_apart(folds: &mut Vec<Fold>) {
    let mut alike: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (at, fold) in folds.iter().enumerate() {
        alike.entry((fold.group.clone(), fold.fold.clone())).or_default().push(at);
    }
    let mut twice: Vec<usize> = Vec::new();
    for places in alike.into_values().filter(|places| places.len() > 1) {
        let first = folds[places[0]].id.clone();
        for (position, at) in places.into_iter().enumerate() {
            // A run that was found twice is one run.
            if position > 0 && folds[at].id == first {
                twice.push(at);
            } else {
                folds[at].fold = format!("{} ({})", folds[at].fold, folds[at].id);
            }
        }
    }
    let mut at = 0;
    folds.retain(|_| {
        at += 1;
        !twice.contains(&(at - 1))
    });
}

/// The keys of a table that hold tests.
fn tests(table: &Table) -> (Vec<String>, Vec<String>) {
    let of_tests = table.keys.iter().filter(|key| test(key).is_some());
    (of_tests.cloned().collect(), Vec::new())
}

/// The part of a key behind `test_` or `test/`.
fn test(key: &str) -> Option<&str> {
    key.strip_prefix("test_").or_else(|| key.strip_prefix("test/"))
}

fn last(table: &Table, is_mine: &dyn Fn(u32) -> bool) -> BTreeMap<String, f64> {
    let mut last = BTreeMap::new();
    for column in &table.numbers {
        let Some(rest) = test(&column.key) else { continue };
        let mine = column.rows.iter().zip(&column.values).filter(|(row, _)| is_mine(**row));
        if let Some((_, value)) = mine.filter(|(_, value)| value.is_finite()).last() {
            last.insert(format!("test_{rest}"), *value);
        }
    }
    last
}

/// The folders of a run.
fn folders(log: &Log, known: &Known) -> Vec<PathBuf> {
    let files = || log.files.iter().map(Path::new);
    let above = |file: &Path| file.parent().map(Path::to_path_buf);
    match log.table.origin {
        Origin::Wandb | Origin::Tensorboard => {
            let mut folders: Vec<PathBuf> = files().filter_map(above).collect();
            folders.dedup();
            folders
        }
        Origin::TrainerState => files()
            .next()
            .and_then(|state| {
                let folder = above(state)?;
                let inside = folder.file_name().and_then(|name| name.to_str()).is_some_and(is_checkpoint);
                if inside { above(&folder) } else { Some(folder) }
            })
            .into_iter()
            .collect(),
        Origin::Dvclive => {
            let run = log.files.first().and_then(|file| file.split_once(DVCLIVE));
            run.map(|(folder, _)| PathBuf::from(folder)).into_iter().collect()
        }
        Origin::Mlflow => artifacts(log, known).into_iter().collect(),
        Origin::Table | Origin::Columns | Origin::Panel => {
            let Some(file) = files().next() else { return Vec::new() };
            let beside = if file.file_name().is_some_and(|name| name == "metrics.csv") {
                above(file)
            } else {
                Some(file.with_extension("")).filter(|folder| folder.is_dir())
            };
            beside.into_iter().collect()
        }
    }
}

/// Where a run of MLflow keeps its files: in its folder, else where the server of a database puts them.
fn artifacts(log: &Log, known: &Known) -> Option<PathBuf> {
    let file = Path::new(log.files.first()?);
    if file.file_name().is_some_and(|name| name == "meta.yaml") {
        return Some(file.parent()?.join("artifacts"));
    }
    let (experiment, id) = (known.fields.get("experiment_id")?, known.id.as_ref()?);
    let below = |store: &str| {
        file.parent().map(|folder| folder.join(store).join(experiment).join(id).join("artifacts"))
    };
    ["mlruns", "mlartifacts"].iter().filter_map(|store| below(store)).find(|folder| folder.is_dir())
}

/// The best checkpoint by the state of a trainer.
fn best(log: &Log) -> Result<Option<String>> {
    let state = log.files.first().filter(|file| file.ends_with(TRAINER_STATE));
    let Some(state) = state.filter(|_| log.table.origin == Origin::TrainerState) else { return Ok(None) };
    let bytes = std::fs::read(state).map_err(|error| {
        calipers_core::Error::io(format!("cannot read the file: {}", error.kind())).in_file(state)
    })?;
    let state = loose::parse(&bytes).map_err(|error| error.in_file(state))?;
    Ok(state.get("best_model_checkpoint").and_then(Loose::as_str).map(String::from))
}

/// What a given path is called.
fn called(given: &Path) -> String {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(String::from);
    let given = if given.as_os_str().is_empty() { Path::new(".") } else { given };
    name(given)
        .or_else(|| given.canonicalize().ok().and_then(|path| name(&path)))
        .unwrap_or_else(|| given.display().to_string())
}
