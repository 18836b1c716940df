//! The parameters of the family: bins, node subset, conventions, and the model behind the features.

use calipers_core::resample::{Sampled, Sampling};
use calipers_core::{Column, Error, Metric, Protocol, Provenance, Result, Rows, Value, Warning};
use serde::{Deserialize, Serialize};

use super::metrics::METRICS;
use super::row::Row;
use super::row::measure::measure;
use super::unit::Pair;
use super::warnings::warnings;

/// The most bins a histogram may have.
const MAX_BINS: u64 = 100_000;

/// How attacks are measured. Serialised, it is the report's `protocol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robustness {
    /// Which named set of conventions was chosen.
    pub preset: Preset,
    /// How many bins histograms have.
    pub bins: u64,
    /// The ends of every histogram; without them those of the unit's differences.
    pub hist_range: Option<[f64; 2]>,
    /// The nodes that sums of the bias run over.
    pub nodes: Nodes,
    /// What is subtracted from the number of repetitions in a standard deviation.
    pub ddof: u64,
    /// Edges with a difference at or above it count as pruned.
    pub cutoff: Option<f64>,
    /// What the features are.
    pub features: Features,
    /// The name of the model, where files or the caller say one: all rows are of one model.
    pub model: Option<String>,
    /// How the graph was prepared before the model saw it; none for given arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Prepare>,
    /// How the model that computed the features propagates; none for given arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_settings: Option<ModelSettings>,
}

impl Default for Robustness {
    fn default() -> Self {
        Self::new(Preset::Strict)
    }
}

impl Protocol for Robustness {
    const NAME: &'static str = "robustness";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = &[
        Column { name: "run", read: |_, row| Value::Text(row.run.clone()) },
        Column {
            name: "attack",
            read: |_, row| {
                row.attack.clone().map_or(Value::undefined("the attack is not named"), Value::Text)
            },
        },
        Column { name: "budget", read: |_, row| Value::Text(row.budget.label().into()) },
        Column { name: "n", read: |_, row| Value::Count(row.bias.per_node.len() as i128) },
    ];
    const READING_PARAMETERS: &'static [&'static str] = &["model", "model_settings", "cutoff"];
    // Raw bias has no scale that two models share.

    // Budgets are chosen, not sampled: a run is drawn with all of them.
    const SAMPLING: Sampling = Sampling { unit: "run", ..Sampling::UNITS };

    type Unit<'a> = Pair<'a>;
    type Row = Row;

    fn measure(&self, _: &str, unit: Pair<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn check(&self) -> Result<()> {
        self.clone().checked().map(drop)
    }

    fn check_row(&self, row: &Row) -> Result<()> {
        row.check(self)
    }

    /// Runs that saw the same attacks are exchangeable.
    fn sampled<'a>(&self, _: &'a str, row: &'a Row) -> Sampled<'a> {
        Sampled { unit: &row.run, part: row.attack.as_deref().unwrap_or_default() }
    }

    fn same_truth(&self, a: &Row, b: &Row) -> bool {
        a.same_truth(b)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        warnings(self, rows, provenance)
    }
}

impl Robustness {
    /// The defaults of a preset.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            bins: 50,
            hist_range: None,
            nodes: Nodes::All,
            ddof: if preset == Preset::RungFork { 0 } else { 1 },
            cutoff: None,
            features: Features::Logits,
            model: None,
            prepare: None,
            model_settings: None,
        }
    }

    /// The protocol, unless a parameter means nothing.
    pub fn checked(self) -> Result<Self> {
        if !(1..=MAX_BINS).contains(&self.bins) {
            return Err(Error::usage(format!("--bins is {}", self.bins)).allowed(format!("1 to {MAX_BINS}")));
        }
        if let Some([low, high]) = self.hist_range
            && !(low.is_finite() && high.is_finite() && low < high)
        {
            return Err(Error::usage(format!("--hist-range is {low:?},{high:?}"))
                .allowed("two finite numbers LO,HI with LO < HI"));
        }
        if let Some(cutoff) = self.cutoff
            && !(cutoff.is_finite() && cutoff >= 0.0)
        {
            return Err(Error::usage(format!("--cutoff is {cutoff:?}")).allowed("a finite number >= 0"));
        }
        if let Some(name) = &self.model
            && !is_model_name(name)
        {
            return Err(Error::usage("not a name for a model")
                .at("--model-name")
                .found(format!("{name:?}"))
                .allowed("text of one line"));
        }
        Ok(self)
    }

    /// Whether numbers are those of the published module.
    pub(super) fn is_fork(&self) -> bool {
        self.preset == Preset::RungFork
    }
}

/// Whether a text names a model: something that a line of a table can show.
pub fn is_model_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(char::is_control)
}

/// The parameters as a caller gives them: everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// See [`Robustness::preset`].
    pub preset: Option<Preset>,
    /// See [`Robustness::bins`].
    pub bins: Option<u64>,
    /// See [`Robustness::hist_range`].
    pub hist_range: Option<[f64; 2]>,
    /// See [`Robustness::nodes`].
    pub nodes: Option<Nodes>,
    /// See [`Robustness::ddof`]; without it 1, in preset `rung-fork` 0.
    pub ddof: Option<u64>,
    /// See [`Robustness::cutoff`].
    pub cutoff: Option<f64>,
    /// See [`Robustness::features`].
    pub features: Option<Features>,
    /// See [`Robustness::model`].
    pub model_name: Option<String>,
}

impl Options {
    /// The protocol with every default filled in, checked.
    pub fn resolve(&self) -> Result<Robustness> {
        let defaults = Robustness::new(self.preset.unwrap_or(Preset::Strict));
        Robustness {
            bins: self.bins.unwrap_or(defaults.bins),
            hist_range: self.hist_range,
            nodes: self.nodes.unwrap_or(defaults.nodes),
            ddof: self.ddof.unwrap_or(defaults.ddof),
            cutoff: self.cutoff,
            features: self.features.unwrap_or(defaults.features),
            model: self.model_name.clone(),
            ..defaults
        }
        .checked()
    }
}

/// A named set of conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Every number, exact.
    Strict,
    /// The document's numbers, and no others.
    Document,
    /// What the published module of the document's functions returns.
    RungFork,
}

/// The nodes that sums of the bias run over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nodes {
    /// Every node of the graph.
    All,
    /// The test nodes.
    Test,
    /// Every node but the training nodes.
    NotTrain,
}

/// What the features are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The class scores.
    Logits,
    /// Something else: accuracies need class scores beside them.
    Other,
}

/// How a graph is prepared before the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// Not at all: loops, weights and asymmetry are refused.
    None,
    /// Loops dropped, made symmetric, clipped to 1, largest component kept.
    Rung,
}

/// The parameters of the model that computed the features, in its own words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// The penalty on edge differences.
    pub penalty: String,
    /// The form of the edge weights.
    pub weights: String,
    /// The penalty's parameter, where it takes one.
    pub gamma: Option<f64>,
    /// The share of the graph in each step.
    pub lambda_hat: f64,
    /// The number of steps.
    pub layers: u64,
    /// The second parameter of the SCAD penalty.
    pub scad_a: f64,
    /// The scale of the SCAD penalty.
    pub scad_scale: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::ErrorKind;

    #[test]
    fn the_published_module_divides_by_the_number_of_repetitions() {
        let options = Options { preset: Some(Preset::RungFork), ..Options::default() };
        assert_eq!(options.resolve().unwrap().ddof, 0);
        assert_eq!(Options { ddof: Some(2), ..options }.resolve().unwrap().ddof, 2);
        assert_eq!(Options::default().resolve().unwrap(), Robustness::default());
    }

    #[test]
    fn parameters_that_mean_nothing_are_usage_errors_that_name_the_option() {
        for (options, named) in [
            (Options { bins: Some(0), ..Options::default() }, "--bins is 0"),
            (Options { bins: Some(100_001), ..Options::default() }, "1 to 100000"),
            (Options { hist_range: Some([1.0, 1.0]), ..Options::default() }, "--hist-range is 1.0,1.0"),
            (Options { hist_range: Some([0.0, f64::INFINITY]), ..Options::default() }, "finite"),
            (Options { cutoff: Some(-0.5), ..Options::default() }, "--cutoff is -0.5"),
            (Options { cutoff: Some(f64::NAN), ..Options::default() }, "--cutoff is NaN"),
            (Options { model_name: Some("a\nb".into()), ..Options::default() }, "--model-name"),
        ] {
            let error = options.resolve().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(named), "{error}");
        }
    }

    #[test]
    fn given_arrays_have_no_settings_of_a_model_in_their_protocol() {
        let json = serde_json::to_string(&Robustness::default()).unwrap();
        assert_eq!(
            json,
            r#"{"preset":"strict","bins":50,"hist_range":null,"nodes":"all","ddof":1,"cutoff":null,"features":"logits","model":null}"#
        );
    }
}
