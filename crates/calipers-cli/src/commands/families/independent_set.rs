//! `calipers independent-set`: predicted independent sets of graphs.

use std::path::{Path, PathBuf};

use calipers::inputs::Inputs;
use calipers::io::graph::{FORMATS, Format};
use calipers::metrics::independent_set::protocol::{Switch, WeightRule};
use calipers::metrics::independent_set::{
    Axis, Baseline, Decoder, IndependentSet, Kind, PosWeight, Preset, Reference,
};
use calipers::run::Progress;
use calipers::sources::independent_set::options::{IN_GRAPH, Labels, Optimum, Options};
use calipers::{Error, Result, demo, run, sources};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::commands::demo::{Shown, first_numbers};
use crate::options::{Output, Work, named};
use crate::progress::Bar;
use crate::{Measured, Outcome};

/// Score predicted maximum independent sets
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers independent-set val/ --json report.json
  calipers independent-set pack.npz --pos-weight pooled --feasibility-weight 0.5 --per-unit graphs.csv
  calipers independent-set --graph graphs.s6.gz --names names.txt --scores scores.jsonl --labels labels.jsonl.gz
  calipers independent-set --graph graphs/ --scores solutions/ --scores-are set --optimum best.csv
  calipers independent-set --graph graphs.g6.gz --labels labels.jsonl --no-scores
  calipers independent-set steps.npz --axis steps --preset document --json -
  zstd -dc pack.npz.zst | calipers independent-set -")]
pub(crate) struct IndependentSetArgs {
    /// Array files (.npz .safetensors .pt), folders of them, or one results.json beside --graph ("-" reads
    /// standard input, here or for --graph, --scores or --labels)
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    measure: Measure,
    #[command(flatten)]
    pub(super) work: Work,
    #[command(flatten)]
    output: Output,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
struct Files {
    /// Graphs in files of their own: a file, a pack or a folder
    #[arg(long, value_name = "PATH")]
    graph: Option<PathBuf>,
    /// Scores of those graphs: a file, a pack or a folder
    #[arg(long, value_name = "PATH")]
    scores: Option<PathBuf>,
    /// Labels of those graphs; @graph takes the labels stored with the graphs
    #[arg(long, value_name = "PATH|@graph")]
    labels: Option<PathBuf>,
    /// Known optimum: a number for all, or a CSV, JSON or JSONL file by unit
    #[arg(long, value_name = "FILE|N", allow_negative_numbers = true)]
    optimum: Option<String>,
    /// Say that there are no scores: label audit, baseline and certificate only
    #[arg(long)]
    no_scores: bool,
    /// What the scores are, where no key or column says it
    #[arg(long, value_name = "KIND", value_parser = named::<Kind>(&["logits", "probs", "set"]))]
    scores_are: Option<Kind>,
    /// What the rows of two-dimensional scores are
    #[arg(long, value_parser = named::<Axis>(&["samples", "steps"]))]
    axis: Option<Axis>,
    /// Format of the graph files, whatever their endings
    #[arg(long, value_name = "NAME", value_parser = graph_format())]
    graph_format: Option<&'static Format>,
    /// Number of the first node in edge lists
    #[arg(long, value_name = "0|1", default_value_t = 0)]
    index_base: u32,
    /// Number of nodes, where a file does not say it
    #[arg(long, value_name = "N")]
    num_nodes: Option<u64>,
    /// Names for the graphs of a pack, one per line
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Remove TEXT from the end of names before files are paired (repeatable)
    #[arg(long, value_name = "TEXT")]
    pair_strip: Vec<String>,
    /// What to do with stored self loops
    #[arg(long, value_name = "RULE", default_value = "drop", value_parser = ["drop", "error"])]
    self_loops: String,
    /// Score the complement graph (clique files)
    #[arg(long)]
    complement: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
struct Measure {
    /// Which formulas: exact ones, or those of published code
    #[arg(long, default_value = "strict", value_parser = named::<Preset>(&["strict", "document", "trm-mis-head"]))]
    preset: Preset,
    /// Weight of labels 1 in the cross-entropy: graph, pooled or a number [default: graph; pooled for published presets]
    #[arg(long, value_name = "graph|pooled|X", value_parser = pos_weight)]
    pos_weight: Option<PosWeight>,
    /// Weight of the feasibility loss in the total loss
    #[arg(long, value_name = "X", default_value_t = 0.0, allow_negative_numbers = true)]
    feasibility_weight: f64,
    /// What the reference size is [default: auto, the optimum if there is one, else the labels]
    #[arg(long, value_parser = named::<Reference>(&["auto", "labels", "optimum"]))]
    reference: Option<Reference>,
    /// A published mean size to compare with
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    reference_mean: Option<f64>,
    /// Decoder without scores to compare with
    #[arg(long, default_value = "min-degree", value_parser = named::<Baseline>(
        &["min-degree", "low-degree", "high-degree", "high-degree-cut", "index", "random", "none"]))]
    baseline: Baseline,
    /// Whether to prove an upper bound
    #[arg(long, default_value = "on", value_parser = named::<Switch>(&["on", "off"]))]
    certificate: Switch,
    /// Further decoders, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',',
          value_parser = named::<Decoder>(&["score-degree", "swap", "ils"]))]
    decoders: Vec<Decoder>,
    /// Iterations of the local search of `--decoders ils`
    #[arg(long, value_name = "K", default_value_t = 20_000)]
    ils_iterations: u64,
    /// Seed of everything random: baseline, local search, bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
}

impl IndependentSetArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        self.output.check_shard(&self.work)?;
        let bar = Bar::new(&self.output);
        self.measure(&bar)?.emit()
    }

    pub(super) fn measure(self, progress: &dyn Progress) -> Result<Measured> {
        let (output, work) = (self.output.clone(), self.work.clone());
        let options = self.options()?;
        options.check()?;
        output.check()?;
        let names = work.names()?;
        let with = work.with(names.as_ref(), progress);
        let accumulator = sources::independent_set::measure(&options, Inputs::default(), &with)?;
        let (seed, threads) = (options.protocol.seed, work.threads());
        Ok(Measured { ledgers: vec![Box::new(accumulator)], beside: Vec::new(), output, seed, threads })
    }

    fn options(self) -> Result<Options> {
        let (files, measure) = (self.files, self.measure);
        let published = measure.preset != Preset::Strict;
        if published && measure.reference.is_some() {
            return Err(
                Error::usage("--reference does not go with this preset").advice("use --preset strict")
            );
        }
        let mut decoders = measure.decoders;
        decoders.sort();
        decoders.dedup();
        let defaults = IndependentSet::new(measure.preset);
        let protocol = IndependentSet {
            pos_weight: measure.pos_weight.unwrap_or(defaults.pos_weight),
            feasibility_weight: measure.feasibility_weight,
            reference: measure.reference.unwrap_or(defaults.reference),
            reference_mean: measure.reference_mean,
            baseline: measure.baseline,
            certificate: measure.certificate,
            decoders,
            ils_iterations: measure.ils_iterations,
            seed: measure.seed,
            complement: files.complement,
            ..defaults
        };
        Ok(Options {
            inputs: self.inputs,
            graph: files.graph,
            scores: files.scores,
            labels: files
                .labels
                .map(|path| if path == Path::new(IN_GRAPH) { Labels::InGraph } else { Labels::At(path) }),
            optimum: files.optimum.map(optimum).transpose()?,
            names: files.names,
            no_scores: files.no_scores,
            scores_are: files.scores_are,
            axis: files.axis,
            graph_format: files.graph_format,
            index_base: files.index_base,
            num_nodes: files.num_nodes,
            pair_strip: files.pair_strip,
            refuse_self_loops: files.self_loops == "error",
            protocol,
        })
    }
}

/// A number for all graphs, or a file. What begins like a number is not taken for a file.
fn optimum(text: String) -> Result<Optimum> {
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match (text.parse(), text.parse::<f64>()) {
        (Ok(value), _) => Ok(Optimum::Same(value)),
        (Err(_), Ok(_)) if numeric => Err(Error::value("the optimum must be a whole number, 0 or more")
            .at("--optimum")
            .found(text)
            .allowed("a whole number for all graphs, or a file")
            .advice("a file whose name is a number is given as ./NAME")),
        (Err(_), _) => Ok(Optimum::At(PathBuf::from(text))),
    }
}

fn graph_format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
        .try_map(|name| FORMATS.called(&name).ok_or("unknown graph format"))
}

fn pos_weight(text: &str) -> std::result::Result<PosWeight, String> {
    match text {
        "graph" => Ok(PosWeight::Rule(WeightRule::Graph)),
        "pooled" => Ok(PosWeight::Rule(WeightRule::Pooled)),
        number => number.parse().map(PosWeight::Fixed).map_err(|_| "graph, pooled or a number".into()),
    }
}

/// Random graphs with scores and labels.
pub(in crate::commands) fn demo(folder: &Path, seed: u64, work: &run::Work<'_>) -> Result<Shown> {
    demo::independent_set::write(folder, seed)?;
    let protocol = IndependentSet {
        decoders: vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils],
        ils_iterations: 2_000,
        seed,
        ..IndependentSet::default()
    };
    let options = Options { inputs: vec![folder.to_owned()], protocol, ..Options::default() };
    let measured = sources::independent_set::measure(&options, Inputs::default(), work)?;
    Ok(Shown {
        text: first_numbers(&measured),
        ledgers: vec![(None, Box::new(measured))],
        next: vec![format!("independent-set {} --per-unit graphs.csv", folder.display())],
        ..Shown::default()
    })
}
