//! What a caller gave, by flags or under `[robustness]` in a configuration, and what follows.

use std::path::{Path, PathBuf};

use calipers_core::{Error, Result};
use calipers_metrics::robustness::Budget;
use calipers_metrics::robustness::{Features, Nodes, Options as Parameters, Prepare, Preset};
use calipers_sources::config_file;
use calipers_sources::robustness::options::Options as ArrayOptions;
use serde::Deserialize;

use super::conditions::{Template, conditions};
use crate::files::checkpoint::Flags;
use crate::files::dataset::GraphSource;
use crate::files::splits::{SHARES, SplitSource};
use crate::model::{Kind, ScadScale, Weights};

/// Everything that can be given; the names are those of the flags.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// Array files, or folders of them.
    pub inputs: Vec<PathBuf>,
    /// The graph file.
    pub graph: Option<PathBuf>,
    /// The features of its nodes.
    pub features_file: Option<PathBuf>,
    /// The labels of its nodes.
    pub labels_file: Option<PathBuf>,
    /// What happens to the graph first.
    pub prepare: Option<Prepare>,
    /// The checkpoint, with `{split}` and `{seed}`.
    pub model: Option<String>,
    /// The penalty on edges.
    pub penalty: Option<Kind>,
    /// The form of the edge weights.
    pub weights: Option<Weights>,
    /// The penalty's parameter.
    pub gamma: Option<f64>,
    /// The share of the graph in each step.
    pub lambda_hat: Option<f64>,
    /// The number of steps.
    pub layers: Option<u32>,
    /// The second parameter of the SCAD penalty.
    pub scad_a: Option<f64>,
    /// The scale of the SCAD penalty.
    pub scad_scale: Option<ScadScale>,
    /// Where splits come from.
    pub splits: Option<String>,
    /// Which splits.
    #[serde(deserialize_with = "one_or_more")]
    pub split: Vec<usize>,
    /// The seeds of runs or of drawn splits.
    #[serde(deserialize_with = "one_or_more")]
    pub seeds: Vec<u64>,
    /// The shares of drawn splits.
    pub shares: Option<[f64; 2]>,
    /// The splits that the checkpoints were trained on.
    pub trained_on: Option<PathBuf>,
    /// Attacked graphs, `B=FILE`.
    #[serde(deserialize_with = "files")]
    pub attacked: Vec<String>,
    /// Pairs to toggle, `B=FILE`.
    #[serde(deserialize_with = "files")]
    pub flips: Vec<String>,
    /// The texts of `{budget}`.
    #[serde(deserialize_with = "texts")]
    pub budgets: Vec<String>,
    /// The name of the run.
    pub run: Option<String>,
    /// What finds the names of run and model in the names of files.
    pub run_by: Option<String>,
    /// The name of the model.
    pub model_name: Option<String>,
    /// The name of the attack.
    pub attack: Option<String>,
    /// The budget of arrays called `attacked`.
    #[serde(deserialize_with = "text")]
    pub budget: Option<String>,
    /// Which named set of conventions.
    pub preset: Option<Preset>,
    /// How many bins histograms have.
    pub bins: Option<u64>,
    /// The ends of every histogram.
    pub hist_range: Option<[f64; 2]>,
    /// The nodes that sums of the bias run over.
    pub nodes: Option<Nodes>,
    /// What standard deviations subtract from the number of repetitions.
    pub ddof: Option<u64>,
    /// Edges with a difference at or above it count as pruned.
    pub cutoff: Option<f64>,
    /// What the features are.
    pub features: Option<Features>,
}

/// What is to be measured.
#[derive(Debug)]
pub enum Task {
    /// Given arrays.
    Arrays(Box<ArrayOptions>),
    /// A model.
    Model(Box<super::Options>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    robustness: Given,
}

impl Given {
    /// The text of a configuration; its paths are relative to `folder`.
    pub fn parse(text: &str, folder: &Path) -> Result<Self> {
        let file: File = config_file::parse(text)?;
        let mut given = file.robustness;
        given.move_to(folder);
        Ok(given)
    }

    fn move_to(&mut self, folder: &Path) {
        let text = |path: &str| folder.join(path).to_string_lossy().into_owned();
        let paths = [&mut self.graph, &mut self.features_file, &mut self.labels_file, &mut self.trained_on];
        for path in self.inputs.iter_mut().chain(paths.into_iter().flatten()) {
            *path = folder.join(&*path);
        }
        self.model = self.model.take().map(|path| text(&path));
        if let Some(splits) = &mut self.splits
            && matches!(splits.parse(), Ok(SplitSource::File(_)))
        {
            *splits = text(splits);
        }
        for file in self.attacked.iter_mut().chain(&mut self.flips) {
            *file = match file.split_once('=').filter(|(budget, _)| Budget::parse(budget).is_ok()) {
                Some((budget, path)) => format!("{budget}={}", text(path)),
                None => text(file),
            };
        }
    }

    /// These, and where nothing was given, those below.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        fn list<T>(ours: Vec<T>, theirs: Vec<T>) -> Vec<T> {
            if ours.is_empty() { theirs } else { ours }
        }
        // Attacked graphs belong together: one flag replaces all of them.
        let (attacked, flips, budgets) = match (&self.attacked[..], &self.flips[..]) {
            ([], []) => (below.attacked, below.flips, list(self.budgets, below.budgets)),
            _ => (self.attacked, self.flips, self.budgets),
        };
        macro_rules! first_of {
            ($($list:ident),*; $($option:ident),*) => {
                Self {
                    attacked,
                    flips,
                    budgets,
                    $($list: list(self.$list, below.$list),)*
                    $($option: self.$option.or(below.$option),)*
                }
            };
        }
        first_of!(
            inputs, split, seeds;
            graph, features_file, labels_file, prepare, model, penalty, weights, gamma, lambda_hat, layers,
            scad_a, scad_scale, splits, shares, trained_on, run, run_by, model_name, attack, budget, preset,
            bins, hist_range, nodes, ddof, cutoff, features
        )
    }

    /// The settings of the model that were given.
    pub fn flags(&self) -> Flags {
        Flags {
            penalty: self.penalty,
            weights: self.weights,
            gamma: self.gamma,
            lambda_hat: self.lambda_hat,
            layers: self.layers,
            scad_a: self.scad_a,
            scad_scale: self.scad_scale,
        }
    }

    /// What follows: arrays are measured, or a model on a graph.
    pub fn task(self, per_node: bool) -> Result<Task> {
        let Self { preset, bins, hist_range, nodes, ddof, cutoff, features, .. } = self;
        let model_name = self.model_name.clone();
        let given = Parameters { preset, bins, hist_range, nodes, ddof, cutoff, features, model_name };
        let protocol = given.resolve()?;
        let flags = self.flags();
        let Some(graph) = self.graph else {
            self.refuse_model_options()?;
            if self.inputs.is_empty() {
                return Err(Error::usage("nothing to measure")
                    .advice("name files or folders with runs, or give --graph and --model"));
            }
            let budget = self.budget.map(|text| Budget::parse(&text).map_err(Error::as_usage)).transpose()?;
            return Ok(Task::Arrays(Box::new(ArrayOptions {
                inputs: self.inputs,
                run: self.run,
                run_by: self.run_by.map(|text| text.parse()).transpose()?,
                attack: self.attack,
                budget,
                protocol,
                per_node,
            })));
        };
        if self.run_by.is_some() {
            return Err(Error::usage("--run-by is for files of arrays: runs of a model have names")
                .advice("name one run with --run"));
        }
        if let Some(input) = self.inputs.first() {
            return Err(Error::usage("--graph is measured with a model, files of arrays without")
                .found(input.display()));
        }
        if self.budget.is_some() {
            return Err(Error::usage("--budget is for arrays called `attacked`")
                .advice("give --attacked B=FILE or --flips B=FILE"));
        }
        let model =
            self.model.ok_or_else(|| Error::usage("--model is missing: --graph is measured with a model"))?;
        let options = super::Options {
            graph: GraphSource {
                graph,
                features: self.features_file,
                labels: self.labels_file,
                prepare: self.prepare.unwrap_or(Prepare::None),
            },
            splits: self.splits.map(|text| text.parse()).transpose()?,
            split: self.split,
            shares: self.shares.map_or(SHARES, |[train, val]| (train, val)),
            seeds: self.seeds,
            trained_on: self.trained_on,
            model: Template::new(model),
            flags,
            conditions: conditions(&self.attacked, &self.flips, &self.budgets)?,
            run: self.run,
            attack: self.attack,
            protocol,
            per_node,
        };
        options.check()?;
        Ok(Task::Model(Box::new(options)))
    }

    fn refuse_model_options(&self) -> Result<()> {
        let given = [
            ("--model", self.model.is_some()),
            ("--features-file", self.features_file.is_some()),
            ("--labels-file", self.labels_file.is_some()),
            ("--prepare", self.prepare.is_some()),
            ("--penalty", self.penalty.is_some()),
            ("--weights", self.weights.is_some()),
            ("--gamma", self.gamma.is_some()),
            ("--lambda-hat", self.lambda_hat.is_some()),
            ("--layers", self.layers.is_some()),
            ("--scad-a", self.scad_a.is_some()),
            ("--scad-scale", self.scad_scale.is_some()),
            ("--splits", self.splits.is_some()),
            ("--split", !self.split.is_empty()),
            ("--seeds", !self.seeds.is_empty()),
            ("--shares", self.shares.is_some()),
            ("--trained-on", self.trained_on.is_some()),
            ("--attacked", !self.attacked.is_empty()),
            ("--flips", !self.flips.is_empty()),
            ("--budgets", !self.budgets.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::usage(format!("{option} needs --graph"))),
            None => Ok(()),
        }
    }
}

/// A value that stands for itself or for a list of one.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> From<OneOrMore<T>> for Vec<T> {
    fn from(given: OneOrMore<T>) -> Self {
        match given {
            OneOrMore::One(one) => vec![one],
            OneOrMore::More(more) => more,
        }
    }
}

fn one_or_more<'de, D, T>(deserializer: D) -> std::result::Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    OneOrMore::deserialize(deserializer).map(Vec::from)
}

/// A budget as a text, or as a number whose shortest text is meant.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Written(String),
    Whole(u64),
    Number(f64),
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        match text {
            Text::Written(text) => text,
            Text::Whole(number) => number.to_string(),
            Text::Number(number) => number.to_string(),
        }
    }
}

fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<String>, D::Error> {
    Text::deserialize(deserializer).map(|text| Some(text.into()))
}

fn texts<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    let texts: Vec<Text> = one_or_more(deserializer)?;
    Ok(texts.into_iter().map(String::from).collect())
}

/// Files by budget, or texts as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
enum Files {
    Texts(OneOrMore<String>),
    ByBudget(std::collections::BTreeMap<String, String>),
}

fn files<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    Ok(match Files::deserialize(deserializer)? {
        Files::Texts(texts) => texts.into(),
        Files::ByBudget(files) => {
            files.into_iter().map(|(budget, file)| format!("{budget}={file}")).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY_KEY: &str = r#"
        [robustness]
        graph = "cora.npz"
        features_file = "x.npy"
        labels_file = "y.npy"
        prepare = "rung"
        model = "m/{split}.pt"
        penalty = "mcp"
        weights = "legacy"
        gamma = 3
        lambda_hat = 0.9
        layers = 10
        scad_a = 3.7
        scad_scale = "one"
        splits = "s.json"
        split = [0, 1]
        seeds = 4
        shares = [0.2, 0.1]
        trained_on = "t.json"
        attacked = { "0.05" = "a.npz" }
        flips = "f/{budget}-{seed}.npy"
        budgets = ["0.100", 0.2, 1]
        attack = "pgd"
        model_name = "mcp"
        preset = "strict"
        bins = 30
        hist_range = [0, 10]
        nodes = "not-train"
        ddof = 0
        cutoff = 1.5
        features = "logits"
    "#;

    #[test]
    fn every_key_is_read_and_paths_are_relative_to_the_file() {
        let given = Given::parse(EVERY_KEY, Path::new("conf")).unwrap();
        let Task::Model(options) = given.clone().task(false).unwrap() else { panic!("a model is measured") };
        assert_eq!(options.graph.graph, Path::new("conf/cora.npz"));
        assert_eq!(options.graph.prepare, Prepare::Rung);
        assert_eq!(options.model.path(1, None).unwrap(), Path::new("conf/m/1.pt"));
        assert_eq!(options.splits, Some(SplitSource::File("conf/s.json".into())));
        let labels: Vec<&str> = options.conditions.iter().map(|condition| condition.budget.label()).collect();
        assert_eq!(labels, ["0.05", "0.1", "0.2", "1"]);
        assert_eq!(options.conditions[1].path.path(0, Some(4)).unwrap(), Path::new("conf/f/0.100-4.npy"));
        assert_eq!((options.protocol.bins, options.protocol.ddof, options.flags.gamma), (30, 0, Some(3.0)));
        assert_eq!(options.protocol.model.as_deref(), Some("mcp"));
        let flags = Given { gamma: Some(8.0), attacked: vec!["0=x".into()], ..Given::default() };
        let over = flags.over(given);
        assert_eq!(
            (over.gamma, over.flips.len(), over.budgets.len(), over.split),
            (Some(8.0), 0, 0, vec![0, 1])
        );
    }

    #[test]
    fn words_for_splits_are_no_paths() {
        let given = |splits: &str| {
            Given::parse(&format!("[robustness]\nsplits = \"{splits}\"\n"), Path::new("c")).unwrap()
        };
        assert_eq!(given("masks").splits.as_deref(), Some("masks"));
        assert_eq!(given("stratified:3").splits.as_deref(), Some("stratified:3"));
        assert_eq!(given("s.json").splits.as_deref(), Some("c/s.json"));
    }

    #[test]
    fn unknown_keys_and_broken_files_are_named_with_their_line() {
        let said = |text: &str| Given::parse(text, Path::new("")).unwrap_err().to_string();
        assert!(said("[robustness]\ngrahp = \"a\"\n").contains("grahp"));
        assert!(said("[robustness]\nbins = \"a\"\n").contains("line "));
        assert!(said("[robust]\n").contains("robust"));
        assert!(said("[robustness\n").contains("line 1"));
    }

    #[test]
    fn options_of_a_model_need_a_graph_and_the_other_way_round() {
        let said = |given: Given| given.task(false).unwrap_err().to_string();
        assert!(said(Given::default()).contains("nothing to measure"));
        assert!(
            said(Given { model: Some("m".into()), ..Given::default() }).contains("--model needs --graph")
        );
        let graph = Given { graph: Some("g".into()), ..Given::default() };
        assert!(said(graph.clone()).contains("--model is missing"));
        assert!(said(Given { inputs: vec!["a.npz".into()], ..graph.clone() }).contains("a.npz"));
        let model = Given { model: Some("m".into()), ..graph };
        assert!(said(model.clone()).contains("no attacked graph"));
        let ready = Given { attacked: vec!["0.1=a".into()], ..model };
        assert!(ready.clone().task(false).is_ok());
        assert!(said(Given { seeds: vec![1], ..ready.clone() }).contains("--seeds"));
        assert!(said(Given { run: Some(String::new()), ..ready }).contains("--run"));
    }
}
