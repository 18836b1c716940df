//! Whether scores are what they were declared to be.

use calipers_core::functions::lanes;
use calipers_core::{Error, Result, shown, stop};

use super::instances::Instances;
use super::predictions::{Holds, Predictions};
use crate::explanation::faithfulness::row_kernel::{Survey, survey};
use crate::explanation::mask::layout::ASKED;
use crate::explanation::protocol::{Explanation, Preset, Scores, Task};
use crate::explanation::row::Noticed;

/// How many values are looked at together.
const BLOCK: usize = 2048;

/// How far a probability may be above 1.
const ABOVE_ONE: f64 = 1e-6;

/// Refuses scores that are not what they were declared to be, and notes what looks wrong.
pub(crate) fn check(protocol: &Explanation, array: &Predictions<'_>, noticed: &mut Noticed) -> Result<()> {
    if array.holds == Holds::Labels {
        return Ok(());
    }
    let declared = match (protocol.task, protocol.scores) {
        (Task::Regression, _) => None,
        (_, None) => {
            return Err(Error::value(format!(
                "`{}` holds scores; declare --scores probs, log_probs or logits",
                array.key
            ))
            .again_with(format!("--scores={}", looks_like(array))));
        }
        (Task::Binary, Some(Scores::LogProbs)) => {
            return Err(Error::value("--scores log_probs is not defined for --task binary")
                .at(format!("`{}`", array.key))
                .allowed("probs and logits"));
        }
        (_, declared) => declared,
    };
    let check = Check { array, declared, published: protocol.preset == Preset::Pyg };
    check.run(noticed)
}

/// What the first rows look like; whoever knows better says so.
fn looks_like(array: &Predictions<'_>) -> &'static str {
    let rows = (array.instances * array.leads).min(BLOCK);
    let flat = Predictions { instances: array.instances * array.leads, leads: 1, ..*array };
    let mut values = Vec::new();
    Instances::All(flat.instances).widen(&flat, 0..rows, &mut values);
    let is_one = |sum: f64| (sum - 1.0).abs() <= 1e-3;
    let all = |test: &dyn Fn(&[f64]) -> bool| {
        rows > 0 && array.columns >= 2 && values.chunks_exact(array.columns).all(test)
    };
    if all(&|row| row.iter().all(|x| *x >= 0.0) && is_one(row.iter().sum())) {
        "probs"
    } else if all(&|row| row.iter().all(|x| *x <= 0.0) && is_one(row.iter().map(|x| lanes::exp(*x)).sum())) {
        "log_probs"
    } else {
        "logits"
    }
}

struct Check<'r, 'a> {
    array: &'r Predictions<'a>,
    /// `None` for the numbers of a regression.
    declared: Option<Scores>,
    /// The published code checks no range.
    published: bool,
}

impl Check<'_, '_> {
    fn run(&self, noticed: &mut Noticed) -> Result<()> {
        let Predictions { columns, instances, leads, .. } = *self.array;
        let rows = instances * leads;
        let flat = Predictions { instances: rows, leads: 1, ..*self.array };
        let everything = Instances::All(rows);
        let step = (BLOCK / columns).max(1);
        let (mut values, mut surveys) = (Vec::new(), Vec::new());
        let mut plain = rows > 0 && columns >= 2;
        for (block, start) in (0..rows).step_by(step).enumerate() {
            if block.is_multiple_of(ASKED) && stop::asked() {
                break;
            }
            everything.widen(&flat, start..rows.min(start + step), &mut values);
            survey(&values, columns, &mut surveys);
            let rows = values.chunks_exact(columns).zip(&surveys);
            for (row, (values, survey)) in (start..).zip(rows) {
                self.row(row, values, survey, noticed)?;
                plain &= survey.low >= 0.0 && (survey.sum - 1.0).abs() <= 1e-3;
            }
        }
        noticed.looks_like_probs |= plain && self.declared == Some(Scores::Logits);
        Ok(())
    }

    fn row(&self, row: usize, values: &[f64], survey: &Survey, noticed: &mut Noticed) -> Result<()> {
        let Some(declared) = self.declared else {
            return match values.iter().position(|value| !value.is_finite()) {
                None => Ok(()),
                Some(class) => Err(self.at(row, class, values, "; finite values are needed")),
            };
        };
        if survey.unusable {
            let class = values.iter().position(|value| value.is_nan() || *value >= f64::INFINITY);
            return Err(self.at(row, class.unwrap_or(0), values, ""));
        }
        if !self.published {
            self.range(row, values, survey, declared)?;
        }
        let key = self.array.key;
        let instance = row % self.array.instances;
        let one_column = values.len() == 1;
        if survey.high.is_infinite() && !one_column {
            return Err(Error::value(format!("`{key}` at instance {instance}: every class is -inf")));
        }
        if one_column {
            let boundary = if declared == Scores::Logits { 0.0 } else { 0.5 };
            noticed.argmax_tie |= (values[0] - boundary).abs() <= 0.0;
            return Ok(());
        }
        noticed.argmax_tie |= survey.ties > 1;
        if declared == Scores::Logits || self.published {
            return Ok(());
        }
        let total = match declared {
            Scores::LogProbs => values.iter().map(|&value| lanes::exp(value)).sum(),
            Scores::Probs | Scores::Logits => survey.sum,
        };
        let off = (total - 1.0).abs();
        if off > 1e-2 {
            return Err(Error::value(format!(
                "`{key}` at instance {instance} sums to {}; probabilities sum to 1",
                shown(total)
            ))
            .advice("declare --scores logits if that is what they are"));
        }
        noticed.not_normalised |= off > 1e-4;
        Ok(())
    }

    fn range(&self, row: usize, values: &[f64], survey: &Survey, declared: Scores) -> Result<()> {
        let (low, high, words) = match declared {
            Scores::Probs => (0.0, 1.0 + ABOVE_ONE, "; a probability is in [0, 1]"),
            Scores::LogProbs => (f64::NEG_INFINITY, ABOVE_ONE, "; a log-probability is at most 0"),
            Scores::Logits => return Ok(()),
        };
        if survey.low >= low && survey.high <= high {
            return Ok(());
        }
        let class = values.iter().position(|value| !(low..=high).contains(value)).unwrap_or(0);
        let error = self.at(row, class, values, words);
        Err(if declared == Scores::Probs && survey.high > 1.0 && survey.high <= 100.0 && survey.low >= 0.0 {
            error.advice("divide by 100 if these are percentages (a 0-100 scale), or declare --scores logits")
        } else {
            error.advice("declare what the scores are with --scores")
        })
    }

    fn at(&self, row: usize, class: usize, values: &[f64], words: &str) -> Error {
        let place = match self.declared {
            Some(_) => format!("instance {}, class {class}", row % self.array.instances),
            None => format!("instance {}, value {class}", row % self.array.instances),
        };
        Error::value(format!("`{}` at {place} is {}{words}", self.array.key, shown(values[class])))
    }
}
