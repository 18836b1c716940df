//! What a caller can ask of an independent-set run, checked before anything is read.

use std::path::{Path, PathBuf};

use calipers_core::provenance::Setting;
use calipers_core::{Error, Reading, Result};
use calipers_io::graph::Format;
use calipers_metrics::independent_set::{Axis, IndependentSet, Kind};

use crate::stdin;

/// Where the evidence is and how it is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Array files, folders of them, or a benchmark's `results.json`.
    pub inputs: Vec<PathBuf>,
    /// The graphs, when they are in files of their own.
    pub graph: Option<PathBuf>,
    /// The scores, beside `graph`.
    pub scores: Option<PathBuf>,
    /// The labels, beside `graph`.
    pub labels: Option<Labels>,
    /// The known optima.
    pub optimum: Option<Optimum>,
    /// Names for the graphs of a pack.
    pub names: Option<PathBuf>,
    /// Says that there are no scores on purpose.
    pub no_scores: bool,
    /// What scores are where nothing else says it.
    pub scores_are: Option<Kind>,
    /// What the rows of two-dimensional scores are.
    pub axis: Option<Axis>,
    /// The format of graph files, whatever their endings.
    pub graph_format: Option<&'static Format>,
    /// The number of the first node in edge lists.
    pub index_base: u32,
    /// The number of nodes where a file does not say it.
    pub num_nodes: Option<u64>,
    /// Ends of names that do not count when files are paired.
    pub pair_strip: Vec<String>,
    /// Whether a stored loop is an error.
    pub refuse_self_loops: bool,
    /// Everything that changes a number; `scores` and `axis` are found out.
    pub protocol: IndependentSet,
}

/// How labels from the graph files themselves are written.
pub const IN_GRAPH: &str = "@graph";

/// Where labels come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// From the graph files themselves.
    InGraph,
    /// From files of their own.
    At(PathBuf),
}

/// Where optima come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Optimum {
    /// One for all graphs.
    Same(u64),
    /// By unit name, in a file.
    At(PathBuf),
}

impl Options {
    /// Refuses combinations that contradict themselves: wrong usage, not wrong data.
    pub fn check(&self) -> Result<()> {
        let protocol = &self.protocol;
        if self.inputs.is_empty() && self.graph.is_none() {
            return Err(
                Error::usage("nothing to measure").advice("give array files or folders, or --graph PATH")
            );
        }
        if self.graph.is_none() {
            let beside = [
                ("--scores", self.scores.is_some()),
                ("--labels", self.labels.is_some()),
                ("--pair-strip", !self.pair_strip.is_empty()),
                ("--graph-format", self.graph_format.is_some()),
            ];
            if let Some((flag, _)) = beside.iter().find(|(_, given)| *given) {
                return Err(Error::usage(format!("{flag} needs --graph"))
                    .advice("array files hold graph, scores and labels together"));
            }
        } else if !self.inputs.is_empty() && (self.scores.is_some() || self.inputs.len() > 1) {
            return Err(Error::usage(
                "--graph goes with --scores or with one results.json, not with other inputs",
            ));
        } else if self.inputs.is_empty() && self.scores.is_none() && !self.no_scores {
            return Err(Error::usage("no scores given").advice("give --scores PATH, or say --no-scores"));
        }
        self.check_stdin()?;
        if self.no_scores && (self.scores.is_some() || self.scores_are.is_some()) {
            return Err(Error::usage("--no-scores contradicts --scores and --scores-are"));
        }
        if self.graph.is_some() && !self.inputs.is_empty() {
            // What a solver found is scored as a set.
            if self.no_scores {
                return Err(
                    Error::usage("--no-scores contradicts results.json").advice("leave out one of the two")
                );
            }
            if self.scores_are.is_some_and(|kind| kind != Kind::Set) {
                return Err(Error::usage("--scores-are contradicts results.json, which holds sets")
                    .advice("leave out --scores-are"));
            }
        }
        if self.index_base > 1 {
            return Err(Error::usage("--index-base is 0 or 1").found(self.index_base));
        }
        protocol.clone().checked().map(drop)
    }

    /// Standard input can be read once, and where the content tells the format.
    fn check_stdin(&self) -> Result<()> {
        let names = [("--names", self.names.as_deref()), ("--optimum", self.optimum_file())];
        if let Some((flag, _)) = names.iter().find(|(_, path)| path.is_some_and(stdin::is_stdin)) {
            return Err(Error::usage(format!("{flag} does not read standard input")).advice("give a file"));
        }
        let labels = match &self.labels {
            Some(Labels::At(path)) => Some(path),
            _ => None,
        };
        let given = self.inputs.iter().chain(&self.graph).chain(&self.scores).chain(labels);
        if given.filter(|path| stdin::is_stdin(path)).count() > 1 {
            return Err(Error::usage("standard input can be read only once").advice("give one \"-\" only"));
        }
        Ok(())
    }

    /// Whether labels come from the graph files themselves.
    pub fn labels_in_graph(&self) -> bool {
        self.labels == Some(Labels::InGraph)
    }

    /// The file of known optima.
    pub fn optimum_file(&self) -> Option<&Path> {
        match &self.optimum {
            Some(Optimum::At(path)) => Some(path),
            _ => None,
        }
    }

    /// The options that say how files are found, paired and read.
    pub fn reading(&self) -> Reading {
        let word = |text: Option<String>| text.map_or(Setting::Unset, Setting::Text);
        let kind = |kind: Kind| match kind {
            Kind::Logits => "logits".to_owned(),
            Kind::Probs => "probs".to_owned(),
            Kind::Set => "set".to_owned(),
        };
        let axis = |axis: Axis| match axis {
            Axis::Samples => "samples".to_owned(),
            Axis::Steps => "steps".to_owned(),
        };
        let same_optimum = match self.optimum {
            Some(Optimum::Same(optimum)) => Some(optimum),
            _ => None,
        };
        let settings = [
            ("axis", word(self.axis.map(axis))),
            ("graph_format", word(self.graph_format.map(|format| format.to_string()))),
            ("index_base", Setting::Number(self.index_base.into())),
            ("labels", word((self.labels == Some(Labels::InGraph)).then(|| IN_GRAPH.to_owned()))),
            ("no_scores", Setting::Flag(self.no_scores)),
            ("num_nodes", self.num_nodes.map_or(Setting::Unset, Setting::Number)),
            ("optimum", same_optimum.map_or(Setting::Unset, Setting::Number)),
            ("pair_strip", Setting::List(self.pair_strip.clone())),
            ("scores_are", word(self.scores_are.map(kind))),
            ("self_loops", Setting::Text(if self.refuse_self_loops { "error" } else { "drop" }.into())),
        ];
        settings.into_iter().map(|(key, setting)| (key.to_owned(), setting)).collect()
    }
}
