//! What a reader of a comparison should know.

use calipers_core::Warning;
use calipers_core::resample::{Plan, clusters_ignored, few_resamples, few_units};
use calipers_core::spelling::listed;
use calipers_report::comparison::Line;

use super::Options;
use super::model::{Model, Side};
use super::testing::Tested;

/// How many lines a message names.
const NAMED: usize = 10;

pub(super) fn warning(code: &str, message: impl Into<String>) -> Warning {
    Warning { code: code.into(), message: message.into(), units: Vec::new() }
}

/// About the files that models came in.
pub(super) fn about_files(sides: &[Side<'_>]) -> Option<Warning> {
    let message = "the models are compared by the numbers of their units: means over units, and nothing says \
                   whether both were measured alike; states say it";
    sides.iter().any(|side| side.ledger.is_none()).then(|| warning("per-unit-files", message))
}

/// About rows of which nothing says that they are those that were written.
pub(super) fn about_rows(models: &[Model]) -> Option<Warning> {
    let unchecked: Vec<&str> =
        models.iter().filter(|model| model.is_unchecked()).map(|model| model.source.as_str()).collect();
    let message = "the file carries no checksum of its rows, so that damage to them would not be seen";
    (!unchecked.is_empty()).then(|| warning("unchecked-rows", format!("{}: {message}", unchecked.join(", "))))
}

/// About intervals of few sampling units or from few resamples, of units that may come together.
pub(super) fn about_intervals(
    lines: &[Line],
    plan: &Plan,
    sides: &[Side<'_>],
    options: &Options,
) -> Vec<Warning> {
    let made = lines.iter().flat_map(|line| line.against.iter().flatten()).any(|one| one.interval.is_some());
    if !made {
        return Vec::new();
    }
    let by_folder = sides[0].family().is_some_and(|family| family.sampling.by_folder);
    let ignored = by_folder && options.cluster_by.is_none();
    few_units(plan, &plan.read_by(None).filter(|at| plan.too_small(*at..*at + 1).is_none()).collect())
        .into_iter()
        .chain(few_resamples(&options.bootstrap))
        .chain(ignored.then(|| clusters_ignored(plan)).flatten())
        .collect()
}

/// About tests that no outcome could have decided: 2^(1 - m) of m differences is the smallest p-value.
pub(super) fn few_pairs(lines: &[Line], tested: &[Tested], plan: &Plan, confidence: f64) -> Option<Warning> {
    let smallest = |differ: usize| 0.5f64.powi(differ as i32 - 1);
    let few: Vec<&Tested> = tested.iter().filter(|test| smallest(test.differ) > 1.0 - confidence).collect();
    let most = few.iter().map(|test| test.differ).max()?;
    let mut names: Vec<String> = Vec::new();
    for test in &few {
        let line = &lines[test.line];
        let name = match &line.label {
            Some(label) => format!("{}.{label}", line.id),
            None => line.id.clone(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let differ = match most {
        1 => format!("1 {} differs", plan.word()),
        most => format!("{most} {}s differ", plan.word()),
    };
    Some(warning(
        "few-pairs",
        format!(
            "{differ} at most: no p-value can be below {}, which is above the level of {}: {}",
            smallest(most).min(1.0),
            level(confidence),
            listed(&names, NAMED)
        ),
    ))
}

/// 1 - C without the digits that the subtraction adds.
fn level(confidence: f64) -> String {
    let text = format!("{:.12}", 1.0 - confidence);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
