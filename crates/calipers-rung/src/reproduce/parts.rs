//! The slow parts, each a file of its own: trained models, and the flips of attacks on them.

use std::fs;
use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::array::npy;
use calipers_sources::inputs::Inputs;
use calipers_sources::output;

use super::watch::Stage;
use super::{Budgets, Options};
use crate::files::checkpoint::{self, Checkpoint, Flags};
use crate::files::dataset::Dataset;
use crate::files::run_arrays::pairs;
use crate::files::splits::NodeSplit;
use crate::from_model::conditions::{AttackFile, Condition, Template};
use crate::model::{Attack, Penalty, Rung, Training, attack, train};

/// Where the parts of a penalty are.
#[derive(Clone, Debug)]
pub struct Paths {
    folder: String,
    penalty: String,
}

/// The name of the folders of a penalty. It tells the form of the weights even where there is only one, so that
/// parts keep their place when another form is added.
pub(super) fn folder_of(penalty: &Penalty) -> String {
    format!("{}-{}", penalty.kind(), penalty.weights())
}

impl Paths {
    /// Those below a folder.
    pub fn new(out: &Path, penalty: &Penalty) -> Self {
        Self { folder: out.to_string_lossy().into_owned(), penalty: folder_of(penalty) }
    }

    /// The models of all splits and seeds.
    pub fn model(&self) -> Template {
        Template::new(format!(
            "{}/models/{}/split{{split}}-seed{{seed}}.safetensors",
            self.folder, self.penalty
        ))
    }

    /// The flips of all splits and seeds at the budgets.
    pub fn conditions(&self, budgets: &Budgets) -> Vec<Condition> {
        let flips = |(text, budget): &(String, _)| Condition {
            budget: Clone::clone(budget),
            form: AttackFile::Flips,
            path: Template::new(format!(
                "{}/flips/{}/{text}/split{{split}}-seed{{seed}}.npy",
                self.folder, self.penalty
            )),
        };
        budgets.iter().map(flips).collect()
    }
}

/// One model and the attacks on it.
pub(super) struct Job<'a> {
    pub(super) options: &'a Options,
    pub(super) dataset: &'a Dataset,
    pub(super) penalty: &'a Penalty,
    pub(super) label: &'a str,
    pub(super) number: usize,
    pub(super) split: &'a NodeSplit,
    pub(super) seed: u64,
}

impl Job<'_> {
    /// Trains and attacks; what is finished already is kept.
    pub(super) fn run(&self, threads: usize, stage: &dyn Stage) -> Result<()> {
        let paths = Paths::new(&self.options.out, self.penalty);
        let path = paths.model().path(self.number, Some(self.seed))?;
        let name = format!("{} split {} seed {}", self.label, self.number, self.seed);
        let model = self.model(&path, &name, threads, stage)?;
        let labels = self.dataset.needed_labels()?;
        let targets = nodes(self.split.test.as_ref());
        let edges = self.dataset.graph.edges() as u64;
        for (condition, (text, budget)) in
            paths.conditions(&self.options.budgets).iter().zip(&self.options.budgets)
        {
            let path = condition.path.path(self.number, Some(self.seed))?;
            if path.exists() {
                stage.skip();
                continue;
            }
            let watch = stage.begin(&format!("{name}: attack at {text}"));
            let allowed = usize::try_from(budget.allowed(edges)).unwrap_or(usize::MAX);
            let flips = if allowed == 0 {
                Vec::new()
            } else {
                let search = Attack { seed: self.seed, ..self.options.attack };
                let Dataset { graph, features, .. } = self.dataset;
                let found =
                    attack(&model, graph, features, labels, &targets, allowed, &search, threads, &*watch);
                found
                    .map_err(|error| error.in_file(&self.dataset.shown).at(format!("{name}, budget {text}")))?
                    .flips
            };
            make_folder(&path)?;
            let array = pairs(&flips)?;
            output::write_with(&path, |out| npy::write_to(&array, out))?;
        }
        Ok(())
    }

    fn model(&self, path: &Path, name: &str, threads: usize, stage: &dyn Stage) -> Result<Rung> {
        if path.exists() {
            stage.skip();
            return Ok(Checkpoint::read(path, &Flags::default(), &Inputs::default())?.model);
        }
        let watch = stage.begin(&format!("{name}: training"));
        let training =
            Training { epochs: self.options.epochs, seed: self.seed, ..Training::new(*self.penalty) };
        let model = train(
            &self.dataset.graph,
            &self.dataset.features,
            self.dataset.needed_labels()?,
            self.dataset.classes(),
            &nodes(self.split.train.as_ref()),
            &nodes(self.split.val.as_ref()),
            &training,
            threads,
            &*watch,
        )
        .map_err(|error| error.in_file(&self.dataset.shown).at(name))?;
        make_folder(path)?;
        checkpoint::write(path, &model)?;
        Ok(model)
    }
}

fn nodes(set: Option<&Vec<u32>>) -> Vec<usize> {
    set.into_iter().flatten().map(|node| *node as usize).collect()
}

fn make_folder(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| {
        Error::io(format!("cannot create the folder: {}", error.kind())).in_file(folder.display())
    })
}
