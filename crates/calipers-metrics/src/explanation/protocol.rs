//! The parameters of the family: what predictions and masks are, thresholds, weights, conventions.

use calipers_core::{Error, Metric, Protocol, Provenance, Result, Rows, Warning};
use serde::{Deserialize, Serialize};

use super::metrics::METRICS;
use super::row::Row;
use super::row::measure::measure;
use super::unit::Evidence;
use super::warnings::warnings;

/// How explanations are measured. Serialised, it is the report's `protocol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// What the model predicts.
    pub task: Task,
    /// What float predictions are; needed as soon as there are any.
    pub scores: Option<Scores>,
    /// Elements with `pred_mask` above it are selected.
    pub threshold: f64,
    /// Elements with a target at or above it are in the truth.
    pub target_threshold: f64,
    /// What mask values are.
    pub mask_scores: MaskScores,
    /// The weight of fid+ in the characterization score.
    pub pos_weight: f64,
    /// The weight of 1 - fid- in the characterization score.
    pub neg_weight: f64,
    /// Which named set of conventions was chosen.
    pub preset: Preset,
}

impl Default for Explanation {
    fn default() -> Self {
        Self::new(Preset::Strict)
    }
}

impl Protocol for Explanation {
    const NAME: &'static str = "explanation";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const READING_PARAMETERS: &'static [&'static str] = &["scores", "mask_scores"];

    type Unit<'a> = Evidence<'a>;
    type Row = Row;

    fn measure(&self, _: &str, unit: Evidence<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn check(&self) -> Result<()> {
        self.clone().checked().map(drop)
    }

    fn check_row(&self, row: &Row) -> Result<()> {
        row.check()
    }

    fn same_truth(&self, a: &Row, b: &Row) -> bool {
        a.same_truth(b)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, _: &Provenance) -> Vec<Warning> {
        warnings(self, rows)
    }
}

impl Explanation {
    /// The defaults of a preset.
    pub fn new(preset: Preset) -> Self {
        Self {
            task: Task::Multiclass,
            scores: None,
            threshold: 0.5,
            target_threshold: 0.5,
            mask_scores: MaskScores::Probs,
            pos_weight: 0.5,
            neg_weight: 0.5,
            preset,
        }
    }

    /// The protocol, unless its parameters mean nothing, or nothing together.
    pub fn checked(self) -> Result<Self> {
        let Self { threshold, target_threshold, mask_scores, preset, .. } = self;
        let in_reach = match mask_scores {
            MaskScores::Raw => threshold.is_finite(),
            MaskScores::Probs | MaskScores::Logits => (0.0..=1.0).contains(&threshold),
        };
        if !in_reach {
            return Err(Error::usage(format!("--threshold is {threshold:?}; a number in [0, 1] is needed"))
                .allowed("0 to 1, any finite number with --mask-scores raw"));
        }
        if !target_threshold.is_finite() {
            return Err(Error::usage(format!("--target-threshold is {target_threshold:?}"))
                .allowed("any finite number"));
        }
        for (option, weight) in [("--pos-weight", self.pos_weight), ("--neg-weight", self.neg_weight)] {
            let allowed = weight.is_finite() && (weight >= 0.0 || preset == Preset::Pyg);
            if !allowed {
                return Err(Error::usage(format!("{option} is {weight:?}; a finite weight >= 0 is needed")));
            }
        }
        if preset != Preset::Pyg && self.pos_weight <= 0.0 && self.neg_weight <= 0.0 {
            return Err(Error::usage("one of the weights must be positive")
                .at("--pos-weight and --neg-weight")
                .found("0 and 0"));
        }
        Ok(self)
    }
}

/// The parameters as a caller gives them: everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// See [`Explanation::task`].
    pub task: Option<Task>,
    /// See [`Explanation::scores`].
    pub scores: Option<Scores>,
    /// See [`Explanation::threshold`].
    pub threshold: Option<f64>,
    /// See [`Explanation::target_threshold`]; without it the threshold, 0.5 with raw masks.
    pub target_threshold: Option<f64>,
    /// See [`Explanation::mask_scores`].
    pub mask_scores: Option<MaskScores>,
    /// See [`Explanation::pos_weight`].
    pub pos_weight: Option<f64>,
    /// See [`Explanation::neg_weight`].
    pub neg_weight: Option<f64>,
    /// See [`Explanation::preset`].
    pub preset: Option<Preset>,
}

impl Options {
    /// The protocol with every default filled in, checked.
    pub fn resolve(&self) -> Result<Explanation> {
        let defaults = Explanation::new(self.preset.unwrap_or(Preset::Strict));
        let preset = defaults.preset;
        if preset == Preset::Pyg {
            let given = [
                ("--mask-scores", self.mask_scores.is_some()),
                ("--target-threshold", self.target_threshold.is_some()),
            ];
            if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(Error::usage(format!("{option} does not go with --preset pyg"))
                    .advice("the published code guesses from the values whether a mask holds logits, and has one threshold"));
            }
        }
        let mask_scores = self.mask_scores.unwrap_or(defaults.mask_scores);
        let threshold = self.threshold.unwrap_or(defaults.threshold);
        let shared = if mask_scores == MaskScores::Raw { defaults.target_threshold } else { threshold };
        Explanation {
            task: self.task.unwrap_or(defaults.task),
            scores: self.scores,
            threshold,
            target_threshold: self.target_threshold.unwrap_or(shared),
            mask_scores,
            pos_weight: self.pos_weight.unwrap_or(defaults.pos_weight),
            neg_weight: self.neg_weight.unwrap_or(defaults.neg_weight),
            preset,
        }
        .checked()
    }
}

/// What the model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// One of several classes.
    Multiclass,
    /// Class 0 or 1, as the score of class 1.
    Binary,
    /// Numbers.
    Regression,
}

/// What float predictions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scores {
    /// Probabilities.
    Probs,
    /// Logarithms of probabilities.
    LogProbs,
    /// Unnormalised scores.
    Logits,
}

/// What mask values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskScores {
    /// Numbers in [0, 1].
    Probs,
    /// Numbers whose sigmoid is meant.
    Logits,
    /// Any finite number, used as it is.
    Raw,
}

/// A named set of conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Exact formulas, undefined where 0/0.
    Strict,
    /// The document's numbers, and no others.
    Document,
    /// The published code of PyG, call by call.
    Pyg,
    /// The conventions of GraphXAI's code.
    Graphxai,
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::ErrorKind;

    #[test]
    fn the_target_threshold_follows_the_threshold_unless_masks_are_raw() {
        let options = |mask_scores| Options { threshold: Some(0.2), mask_scores, ..Options::default() };
        let resolved = |options: Options| options.resolve().unwrap().target_threshold.to_bits();
        assert_eq!(resolved(options(None)), 0.2f64.to_bits());
        assert_eq!(resolved(options(Some(MaskScores::Raw))), 0.5f64.to_bits());
    }

    #[test]
    fn parameters_that_mean_nothing_are_usage_errors_that_name_the_option() {
        let pyg = Some(Preset::Pyg);
        for (options, named) in [
            (Options { threshold: Some(1.5), ..Options::default() }, "--threshold is 1.5"),
            (Options { threshold: Some(f64::NAN), ..Options::default() }, "--threshold is NaN"),
            (Options { target_threshold: Some(f64::INFINITY), ..Options::default() }, "--target-threshold"),
            (Options { neg_weight: Some(-1.0), ..Options::default() }, "--neg-weight is -1.0"),
            (
                Options { pos_weight: Some(0.0), neg_weight: Some(0.0), ..Options::default() },
                "one of the weights must be positive",
            ),
            (
                Options { preset: pyg, mask_scores: Some(MaskScores::Probs), ..Options::default() },
                "--mask-scores",
            ),
            (
                Options { preset: pyg, target_threshold: Some(0.5), ..Options::default() },
                "--target-threshold",
            ),
        ] {
            let error = options.resolve().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(named), "{error}");
        }
        let negative =
            Options { preset: pyg, pos_weight: Some(2.0), neg_weight: Some(-1.0), ..Options::default() };
        assert!(negative.resolve().is_ok(), "the published code takes negative weights that sum to 1");
    }
}
