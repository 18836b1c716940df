//! Presets `document` and `trm-mis-head`: the published code with its epsilons and constants.
//!
//! All units are one batch and stored entries count as they are. Expressions are evaluated in f64
//! as the code writes them, left to right; sums over graphs are exact and rounded once.

use calipers_core::exact::rounded_quotient;
use calipers_core::{Rows, Value};

use super::aggregate::exact_sum;
use super::evidence::{
    INFINITE, NO_LABELS, NO_NODES, NO_STEPS, NO_UNITS, Reason, STEPS_DIFFER, labels, scores, sums,
};
use super::protocol::{IndependentSet, PosWeight, Preset, WeightRule};
use super::row::{LabelSums, Row, ScoreRow};

const EPSILON: f64 = 1e-8;

type Outcome = Result<Value, Reason>;

/// All units of a run as the published code sees them.
pub(crate) struct Batch<'r, 'a> {
    protocol: &'r IndependentSet,
    rows: &'r Rows<'a, Row>,
}

/// Node counts of the whole batch.
struct Totals {
    tp: i128,
    fp: i128,
    missed: i128,
    tn: i128,
}

impl<'r, 'a> Batch<'r, 'a> {
    pub(crate) fn new(protocol: &'r IndependentSet, rows: &'r Rows<'a, Row>) -> Self {
        Self { protocol, rows }
    }

    pub(crate) fn loss_bce(&self) -> Outcome {
        self.bce().map(Value::Number)
    }

    pub(crate) fn loss_feasibility(&self) -> Outcome {
        self.edge_loss().map(Value::Number)
    }

    pub(crate) fn loss_total(&self) -> Outcome {
        Ok(Value::Number(self.bce()? + self.protocol.feasibility_weight * self.edge_loss()?))
    }

    pub(crate) fn feasibility(&self) -> Outcome {
        let raw = self.score_total(|scores| scores.stored_violations)?;
        let entries = self.total(|row| row.entries);
        let nothing = entries == 0 || self.score_total(|scores| scores.predicted)? == 0;
        Ok(Value::Number(if nothing { 1.0 } else { 1.0 - rounded_quotient(raw, entries).min(1.0) }))
    }

    pub(crate) fn num_violations(&self) -> Outcome {
        let raw = self.score_total(|scores| scores.stored_violations)?;
        Ok(Value::Count((raw + 1) / 2))
    }

    pub(crate) fn accuracy(&self) -> Outcome {
        let counts = self.counts()?;
        Ok(Value::ratio(counts.tp + counts.tn, self.nodes()?, NO_NODES))
    }

    pub(crate) fn precision(&self) -> Outcome {
        let counts = self.counts()?;
        Ok(Value::Number(self.guarded(counts.tp, counts.tp + counts.fp)))
    }

    pub(crate) fn recall(&self) -> Outcome {
        let counts = self.counts()?;
        Ok(Value::Number(self.guarded(counts.tp, counts.tp + counts.missed)))
    }

    pub(crate) fn f1(&self) -> Outcome {
        let Totals { tp, fp, missed, .. } = self.counts()?;
        Ok(Value::Number(match self.protocol.preset {
            Preset::TrmMisHead => self.guarded(2 * tp, 2 * tp + fp + missed),
            Preset::Document | Preset::Strict => {
                let (precision, recall) = (self.guarded(tp, tp + fp), self.guarded(tp, tp + missed));
                2.0 * (precision * recall) / (precision + recall + EPSILON)
            }
        }))
    }

    pub(crate) fn num_pred_1s(&self) -> Outcome {
        self.score_total(|scores| scores.predicted).map(Value::Count)
    }

    pub(crate) fn num_true_1s(&self) -> Outcome {
        self.ones().map(Value::Count)
    }

    pub(crate) fn set_size_ratio(&self) -> Outcome {
        let predicted = self.score_total(|scores| scores.predicted)?;
        Ok(Value::Number(predicted as f64 / (self.ones()? as f64 + EPSILON)))
    }

    pub(crate) fn approx_ratio_raw(&self) -> Outcome {
        match self.protocol.preset {
            Preset::TrmMisHead => {
                self.mean_of_labelled(|scores, ones| rounded_quotient(scores.predicted.into(), ones))
            }
            Preset::Document | Preset::Strict => self.set_size_ratio(),
        }
    }

    pub(crate) fn postprocessed_size(&self) -> Outcome {
        self.mean_of_labelled(|scores, _| scores.decoded as f64)
    }

    pub(crate) fn gap(&self) -> Outcome {
        self.mean_of_labelled(|scores, ones| (ones - i128::from(scores.decoded)) as f64)
    }

    pub(crate) fn gap_ratio(&self) -> Outcome {
        self.mean_of_labelled(|scores, ones| {
            (ones - i128::from(scores.decoded)) as f64 / (ones as f64 + self.decode_epsilon())
        })
    }

    pub(crate) fn approx_ratio_postprocessed(&self) -> Outcome {
        self.mean_of_labelled(|scores, ones| scores.decoded as f64 / (ones as f64 + self.decode_epsilon()))
    }

    pub(crate) fn q_hat(&self) -> Outcome {
        let sums = self.label_sums()?;
        let nodes = self.nodes()?;
        Ok(Value::Number(exact_sum(sums.iter().map(|sums| sums.confidence)) / nodes as f64))
    }

    pub(crate) fn steps_to_solve(&self) -> Outcome {
        let graphs = self.scores()?;
        if graphs.iter().any(|scores| scores.steps.is_empty()) {
            return Err(NO_STEPS);
        }
        self.ones()?;
        let number = graphs[0].steps.len();
        if graphs.iter().any(|scores| scores.steps.len() != number) {
            return Err(STEPS_DIFFER);
        }
        let solved =
            |t: usize| self.rows.iter().zip(&graphs).all(|(row, scores)| scores.steps[t].solved(row.nodes));
        let first = (0..number).find(|&t| solved(t)).map_or(number, |t| t + 1);
        Ok(Value::Count(first as i128))
    }

    pub(crate) fn solved(&self) -> Outcome {
        let counts = self.counts()?;
        let right = counts.tp + counts.tn == self.nodes()?;
        let raw = self.score_total(|scores| scores.stored_violations)?;
        Ok(Value::Count((right && raw == 0).into()))
    }

    fn bce(&self) -> Result<f64, Reason> {
        let sums = self.label_sums()?;
        let (nodes, ones) = (self.nodes()?, self.ones()?);
        let losses: Vec<(f64, f64)> = sums
            .iter()
            .map(|sums| sums.positive.zip(sums.negative).ok_or(INFINITE))
            .collect::<Result<_, _>>()?;
        let weight = match self.protocol.pos_weight {
            PosWeight::Fixed(weight) => weight,
            PosWeight::Rule(WeightRule::Pooled | WeightRule::Graph) => {
                let ones = ones.max(1);
                rounded_quotient((nodes - ones).max(1), ones)
            }
        };
        let positive = exact_sum(losses.iter().map(|losses| losses.0));
        let negative = exact_sum(losses.iter().map(|losses| losses.1));
        Ok((negative + weight * positive) / nodes as f64)
    }

    fn edge_loss(&self) -> Result<f64, Reason> {
        self.scores()?;
        let graphs: Vec<_> = self.rows.iter().map(sums).collect::<Result<_, _>>()?;
        let entries = self.total(|row| row.entries);
        if entries == 0 {
            return Ok(0.0);
        }
        Ok(exact_sum(graphs.iter().map(|sums| sums.edge_stored)) / entries as f64)
    }

    /// The quotient with the preset's guard against a divisor of 0.
    fn guarded(&self, numerator: i128, divisor: i128) -> f64 {
        let divisor = divisor as f64;
        numerator as f64
            / match self.protocol.preset {
                Preset::TrmMisHead => divisor.max(EPSILON),
                Preset::Document | Preset::Strict => divisor + EPSILON,
            }
    }

    fn decode_epsilon(&self) -> f64 {
        if self.protocol.preset == Preset::TrmMisHead { 0.0 } else { EPSILON }
    }

    /// The sum over graphs with a label 1, divided by the number of all graphs.
    fn mean_of_labelled(&self, value: impl Fn(&ScoreRow, i128) -> f64) -> Outcome {
        let graphs = self.scores()?;
        self.ones()?;
        let labelled = self.rows.iter().zip(&graphs).filter_map(|(row, scores)| {
            let ones = row.labels.as_ref().map_or(0, |labels| labels.ones);
            (ones > 0).then(|| value(scores, ones.into()))
        });
        Ok(Value::Number(exact_sum(labelled) / self.rows.len() as f64))
    }

    /// Every graph's scores: one graph without them and the batch has none.
    fn scores(&self) -> Result<Vec<&'a ScoreRow>, Reason> {
        if self.rows.is_empty() {
            return Err(NO_UNITS);
        }
        self.rows.iter().map(scores).collect()
    }

    fn label_sums(&self) -> Result<Vec<&'a LabelSums>, Reason> {
        self.scores()?;
        let sums: Vec<_> = self.rows.iter().map(sums).collect::<Result<_, _>>()?;
        sums.into_iter().map(|sums| sums.labelled.as_ref().ok_or(NO_LABELS)).collect()
    }

    fn counts(&self) -> Result<Totals, Reason> {
        let mut totals = Totals { tp: 0, fp: 0, missed: 0, tn: 0 };
        for scores in self.scores()? {
            let counts = scores.counts.ok_or(NO_LABELS)?;
            totals.tp += i128::from(counts.tp);
            totals.fp += i128::from(counts.fp);
            totals.missed += i128::from(counts.fn_);
            totals.tn += i128::from(counts.tn);
        }
        Ok(totals)
    }

    /// Labels 1 of the whole batch.
    fn ones(&self) -> Result<i128, Reason> {
        if self.rows.is_empty() {
            return Err(NO_UNITS);
        }
        self.rows.iter().map(|row| Ok(i128::from(labels(row)?.ones))).sum()
    }

    fn nodes(&self) -> Result<i128, Reason> {
        let nodes = self.total(|row| row.nodes);
        if nodes == 0 { Err(NO_NODES) } else { Ok(nodes) }
    }

    fn total(&self, count: fn(&Row) -> u64) -> i128 {
        self.rows.iter().map(|row| i128::from(count(row))).sum()
    }

    fn score_total(&self, count: fn(&ScoreRow) -> u64) -> Result<i128, Reason> {
        Ok(self.scores()?.into_iter().map(|scores| i128::from(count(scores))).sum())
    }
}
