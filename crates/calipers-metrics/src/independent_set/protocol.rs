//! The parameters of the family: everything that changes a number.

use calipers_core::check::keep;
use calipers_core::{Column, Error, Metric, Protocol, Provenance, Result, Rows, Warning};
use serde::{Deserialize, Serialize};

use super::losses::pooled_weight;
use super::metrics::{COLUMNS, METRICS};
use super::row::Row;
use super::row::measure::measure;
use super::unit::Unit;
use super::warnings::warnings;

/// How independent sets are measured. Serialised, it is the report's `protocol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndependentSet {
    /// Which formulas.
    pub preset: Preset,
    /// What the scores are; `None` when there are none.
    pub scores: Option<Kind>,
    /// What the leading axis of the scores is.
    pub axis: Option<Axis>,
    /// The weight of labels 1 in the cross-entropy.
    pub pos_weight: PosWeight,
    /// The weight lambda of the feasibility loss in the total loss.
    pub feasibility_weight: f64,
    /// What the reference size R is.
    pub reference: Reference,
    /// A published mean size to compare with.
    pub reference_mean: Option<f64>,
    /// The decoder that works without scores.
    pub baseline: Baseline,
    /// Whether the clique-cover bound is computed.
    pub certificate: Switch,
    /// Decoders beside the greedy one, in the order of [`Decoder`], each once.
    pub decoders: Vec<Decoder>,
    /// Iterations of the iterated local search.
    pub ils_iterations: u64,
    /// Seed of the random baseline and the local search.
    pub seed: u64,
    /// Whether the complement graph is scored.
    pub complement: bool,
}

impl IndependentSet {
    /// The defaults of a preset.
    pub fn new(preset: Preset) -> Self {
        let (pos_weight, reference) = match preset {
            Preset::Strict => (PosWeight::Graph, Reference::Auto),
            Preset::Document | Preset::TrmMisHead => (PosWeight::Pooled, Reference::Labels),
        };
        Self {
            preset,
            scores: None,
            axis: None,
            pos_weight,
            feasibility_weight: 0.0,
            reference,
            reference_mean: None,
            baseline: Baseline::MinDegree,
            certificate: Switch::On,
            decoders: Vec::new(),
            ils_iterations: 20_000,
            seed: 0,
            complement: false,
        }
    }
}

impl IndependentSet {
    /// The protocol, unless a parameter means nothing, or nothing under its preset.
    pub fn checked(self) -> Result<Self> {
        for (flag, value) in [
            ("--feasibility-weight", Some(self.feasibility_weight)),
            ("--reference-mean", self.reference_mean),
        ] {
            if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
                return Err(Error::usage(format!("{flag} must be a finite number, 0 or more")));
            }
        }
        if self.reference_mean.is_some_and(|mean| mean <= 0.0) {
            return Err(Error::usage("--reference-mean must be above 0"));
        }
        if let PosWeight::Fixed(weight) = self.pos_weight
            && (!weight.is_finite() || weight < 0.0)
        {
            return Err(Error::usage("--pos-weight must be graph, pooled or a finite number, 0 or more"));
        }
        if self.preset != Preset::Strict {
            let refused = [
                ("--pos-weight graph", self.pos_weight == PosWeight::Graph),
                ("--reference", self.reference != Reference::Labels),
                ("--reference-mean", self.reference_mean.is_some()),
                ("--decoders", !self.decoders.is_empty()),
            ];
            if let Some((flag, _)) = refused.iter().find(|(_, given)| *given) {
                return Err(Error::usage(format!("{flag} does not go with this preset"))
                    .advice("use --preset strict"));
            }
        }
        Ok(self)
    }
}

impl Default for IndependentSet {
    fn default() -> Self {
        Self::new(Preset::Strict)
    }
}

impl Protocol for IndependentSet {
    const NAME: &'static str = "independent_set";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
    const READING_PARAMETERS: &'static [&'static str] = &["scores", "axis"];
    const READING_IN_ROWS: &'static [&'static str] = &["index_base", "num_nodes"];

    type Unit<'a> = Unit<'a>;
    type Row = Row;

    fn measure(&self, name: &str, unit: Unit<'_>) -> Result<Row> {
        Ok(measure(self, name, &unit))
    }

    fn check(&self) -> Result<()> {
        let ordered = self.decoders.windows(2).all(|pair| pair[0] < pair[1]);
        keep(ordered, "decoders", format_args!("{:?}", self.decoders), "decoders in order, each once")?;
        self.clone().checked().map(drop)
    }

    fn check_row(&self, row: &Row) -> Result<()> {
        row.check(self)
    }

    fn for_single_rows(&self, rows: &Rows<'_, Row>) -> Self {
        let pooled = self.preset == Preset::Strict && self.pos_weight == PosWeight::Pooled;
        let pos_weight = if pooled { PosWeight::Fixed(pooled_weight(rows)) } else { self.pos_weight };
        Self { pos_weight, ..self.clone() }
    }

    fn same_truth(&self, a: &Row, b: &Row) -> bool {
        // The graph, its labels and what is computed from them: all but what the scores say.
        let truth = |row: &Row| Row { scores: None, ..row.clone() };
        a.scores.is_some() == b.scores.is_some() && truth(a) == truth(b)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        warnings(self, rows, provenance)
    }
}

/// Which formulas are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Exact formulas, undefined where 0/0.
    Strict,
    /// The published code with its epsilons, all units as one batch.
    Document,
    /// The later published code.
    TrmMisHead,
}

/// What a score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Logits z: predicted when z > 0.
    Logits,
    /// Probabilities p: predicted when p > 0.5.
    Probs,
    /// A set: 0 or 1 for each node.
    Set,
}

/// What the rows of two-dimensional scores are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Independent samples; the first is the prediction.
    Samples,
    /// Recursion steps; the last is the prediction.
    Steps,
}

/// The weight of labels 1 in the cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", untagged)]
pub enum PosWeight {
    /// `"graph"` or `"pooled"`.
    Rule(WeightRule),
    /// A number.
    Fixed(f64),
}

impl PosWeight {
    /// (N - Y)/Y of each graph.
    #[expect(non_upper_case_globals, reason = "reads as the variant it stands for")]
    pub const Graph: Self = Self::Rule(WeightRule::Graph);
    /// The ratio over all labelled graphs together.
    #[expect(non_upper_case_globals, reason = "reads as the variant it stands for")]
    pub const Pooled: Self = Self::Rule(WeightRule::Pooled);
}

/// How a weight follows from the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightRule {
    /// (N - Y)/Y of each graph.
    Graph,
    /// The ratio over all labelled graphs together.
    Pooled,
}

/// What the reference size R is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The optimum if the unit has one, else the number of labels 1.
    Auto,
    /// The number of labels 1.
    Labels,
    /// The declared optimum.
    Optimum,
}

/// A decoder that works without scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// Smallest residual degree first.
    MinDegree,
    /// Greedy on minus the degree.
    LowDegree,
    /// Greedy on the degree.
    HighDegree,
    /// Greedy on the degree over nodes with more than half the largest degree.
    HighDegreeCut,
    /// Greedy in node order.
    Index,
    /// Greedy on SplitMix64 outputs.
    Random,
    /// No baseline.
    None,
}

/// A decoder beside the greedy one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decoder {
    /// Largest p / (1 + residual degree) first.
    ScoreDegree,
    /// (1,2)-swaps from the greedy set.
    Swap,
    /// Iterated local search from the swap result.
    Ils,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// Computed.
    On,
    /// Not computed.
    Off,
}
