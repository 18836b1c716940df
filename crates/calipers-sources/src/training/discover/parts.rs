//! Files that are parts of one run, although they lie apart: one run per identity before anything is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use calipers_io::file::{InputFile, ReadAt};
use calipers_io::history::{FORMATS, Field, RUN_META, Run, mlflow, wandb};

use super::{Content, History, Place, file_name, is_checkpoint};

/// How much of a log is looked at for the run that it describes first.
const OPENING: u64 = 64 << 10;
/// The tag that holds the name of a run of MLflow.
const RUN_NAME: &str = "tags/mlflow.runName";

/// Leaves out what was given before: a file, or a folder, once as itself and once as part of another.
pub(super) fn each_once(histories: &mut Vec<History>) {
    let mut seen: BTreeSet<Vec<PathBuf>> = Default::default();
    histories.retain(|history| {
        let real = |place: &&Place| place.path.canonicalize().unwrap_or_else(|_| place.path.clone());
        seen.insert(history.content.places().iter().map(real).collect())
    });
}

/// Joins the logs of one run of W&B: each time it was resumed it began another.
pub(super) fn join_wandb(histories: &mut Vec<History>) {
    let is_log = |history: &History| matches!(&history.content, Content::File(place) if FORMATS.by_name(file_name(place)).is_some_and(|format| format.name == "wandb"));
    if histories.iter().filter(|history| is_log(history)).count() < 2 {
        return;
    }
    let mut of_run: BTreeMap<[String; 3], Vec<(usize, f64)>> = BTreeMap::new();
    for (at, history) in histories.iter().enumerate().filter(|(_, history)| is_log(history)) {
        // A log that cannot be read is reported when all of it is.
        let Some(run) = head(&history.content) else { continue };
        let Some(id) = run.id.clone() else { continue };
        let field = |field| run.field(field).unwrap_or_default().to_owned();
        let identity = [field(Field::Entity), field(Field::Project), id];
        of_run.entry(identity).or_default().push((at, run.began.unwrap_or(f64::NEG_INFINITY)));
    }
    let mut gone = Vec::new();
    for (_, mut parts) in of_run.into_iter().filter(|(_, parts)| parts.len() > 1) {
        let shown = |at: usize| histories[at].shown.clone();
        parts.sort_by(|(a, x), (b, y)| x.total_cmp(y).then_with(|| shown(*a).cmp(&shown(*b))));
        let order = parts.iter().flat_map(|(at, _)| histories[*at].content.places());
        let places: Vec<Place> = order.cloned().collect();
        let first = parts.iter().map(|(at, _)| *at).min().unwrap_or_default();
        histories[first].shown = places[0].shown.clone();
        histories[first].content = Content::Wandb(places);
        gone.extend(parts.into_iter().map(|(at, _)| at).filter(|at| *at != first));
    }
    without(histories, gone);
}

/// Whether runs of several histories may have one name, so that it takes all of them to tell each apart.
pub fn share_names(histories: &[History]) -> bool {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut tracked = histories.iter().filter(|history| is_tracked(&history.content));
    let several = histories.len() > 1;
    tracked.any(|history| match name(&history.content) {
        Some(name) => !names.insert(name),
        // The names in a store of many runs are known when it is read.
        None => several,
    })
}

/// Whether the runs of a history have identifiers besides their names.
fn is_tracked(content: &Content) -> bool {
    match content {
        Content::Wandb(_) | Content::Mlflow(_) | Content::Server(_) => true,
        Content::File(place) => FORMATS
            .by_name(file_name(place))
            .is_some_and(|format| ["wandb", "mlflow-sqlite"].contains(&format.name)),
        _ => false,
    }
}

/// The name of the one run of a tracked history.
fn name(content: &Content) -> Option<String> {
    if let Content::Mlflow(files) = content {
        let text = |below: &str| {
            let (_, place) = files.iter().find(|(path, _)| path == below)?;
            fs::read(&place.path).ok()
        };
        let tag = || Some(String::from_utf8_lossy(&text(RUN_NAME)?).trim_end().to_owned());
        return text(RUN_META).and_then(|meta| mlflow::run_name(&meta)).or_else(tag);
    }
    let run = head(content)?;
    run.name.filter(|name| !name.is_empty()).or(run.id)
}

fn head(content: &Content) -> Option<Run> {
    let place = match content {
        Content::File(place) => place,
        Content::Wandb(places) => places.first()?,
        _ => return None,
    };
    let file = InputFile::open(&place.path).ok()?;
    let mut opening = vec![0; file.size().min(OPENING) as usize];
    file.read_exact_at(&mut opening, 0).ok()?;
    wandb::head(&opening).ok()
}

/// Joins states of the Hugging Face trainer that were given one by one: checkpoints of one folder.
pub(super) fn join_checkpoints(histories: &mut Vec<History>) {
    let mut of_run: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    for (at, history) in histories.iter().enumerate() {
        let Content::TrainerStates(places) = &history.content else { continue };
        let Some(folder) = places.first().and_then(|place| place.path.parent()) else { continue };
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let run = if is_checkpoint(name) { folder.parent().map(PathBuf::from) } else { None };
        of_run.entry(run.unwrap_or(folder)).or_default().push(at);
    }
    let mut gone = Vec::new();
    for places in of_run.into_values().filter(|places| places.len() > 1) {
        let mut states: Vec<Place> = Vec::new();
        for at in &places {
            for place in histories[*at].content.places() {
                if !states.contains(place) {
                    states.push(place.clone());
                }
            }
        }
        histories[places[0]].content = Content::TrainerStates(states);
        histories[places[0]].joined = true;
        gone.extend(&places[1..]);
    }
    without(histories, gone);
}

fn without(histories: &mut Vec<History>, gone: Vec<usize>) {
    let mut at = 0;
    histories.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
}
