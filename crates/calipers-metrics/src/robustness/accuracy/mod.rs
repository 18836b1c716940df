//! Accuracies of one condition.

pub(super) mod decisions;

use crate::robustness::metrics::*;
use calipers_core::exact::Rational;

use super::row::Decisions;

pub(super) const CLEAN: Scalar = Scalar::new(0, |row| {
    let (tested, counts) = decided(row)?;
    Ok(Rational::ratio(counts.correct_clean, tested))
});

pub(super) const ROBUST: Scalar = Scalar::new(1, |row| {
    let (tested, counts) = decided(row)?;
    Ok(Rational::ratio(counts.correct_attacked, tested))
});

pub(super) const DROP: Scalar = Scalar::new(2, |row| {
    let (tested, counts) = decided(row)?;
    Ok(Rational::ratio(i128::from(counts.correct_clean) - i128::from(counts.correct_attacked), tested))
});

pub(super) const SUCCESS: Scalar = Scalar::new(3, |row| {
    let (_, counts) = decided(row)?;
    unless(counts.correct_clean == 0, "no test node was correct on the clean graph")?;
    Ok(Rational::ratio(counts.broken, counts.correct_clean))
});

pub(super) fn accuracies(protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    [CLEAN, ROBUST, DROP, SUCCESS].iter().for_each(|scalar| scalar.add(protocol, row, terms));
}

/// How many nodes were tested, and the counts over them.
fn decided(row: &Row) -> Result<(u64, &Decisions), Reason> {
    let accuracy = &row.accuracy;
    unless(!accuracy.labelled, "no labels given")?;
    let tested = accuracy.tested.ok_or("no test nodes given")?;
    unless(tested == 0, "test set is empty")?;
    let counts = accuracy.decisions.as_ref().ok_or("features are not class scores")?;
    Ok((tested, counts))
}

const ACCURACY: Line = Line {
    group: "accuracy",
    better: higher,
    range: SHARE,
    per_unit: true,
    undefined: reasons!(scores),
    ..DOCUMENTED
};

const COST: Line = Line { better: lower, presets: BEYOND.presets, ..ACCURACY };

/// How often the model is right on the attacked graph.
pub const ROBUST_ACCURACY: Line = Line {
    id: "robust_accuracy",
    measures: "How often the model is right on the attacked graph.",
    formula: "Test nodes with argmax F_i = label / test nodes, the first of equal scores; mean over repetitions.",
    differs: "Nothing is assumed to be a test node.",
    reference: "Estimation Bias Measurement, compute_robust_accuracy",
    example: ("four-nodes", "0.5"),
    headline: Some(5),
    number: mean!(accuracies, ROBUST),
    ..ACCURACY
};

/// How often the model is right on the clean graph.
pub const CLEAN_ACCURACY: Line = Line {
    id: "clean_accuracy",
    measures: "How often the model is right on the clean graph.",
    formula: "Test nodes with argmax F*_i = label / test nodes; mean over repetitions.",
    reference: "Estimation Bias Measurement, compute_clean_and_attacked_accuracy",
    example: ("four-nodes", "1.0"),
    headline: Some(4),
    number: mean!(accuracies, CLEAN),
    ..ACCURACY
};

pub(super) const ATTACKED_ACCURACY: Line = Line {
    id: "attacked_accuracy",
    measures: "robust_accuracy under the name of the function that gives both.",
    formula: "= robust_accuracy.",
    reference: "Estimation Bias Measurement, compute_clean_and_attacked_accuracy",
    example: ("four-nodes", "0.5"),
    number: mean!(accuracies, ROBUST),
    ..ACCURACY
};

pub(super) const ACCURACY_DROP: Line = Line {
    id: "accuracy_drop",
    range: SIGNED,
    measures: "What the attack costs in accuracy.",
    formula: "clean_accuracy - robust_accuracy of each unit; mean over repetitions.",
    example: ("four-nodes", "0.5"),
    number: mean!(accuracies, DROP),
    ..COST
};

pub(super) const ATTACK_SUCCESS_RATE: Line = Line {
    id: "attack_success_rate",
    measures: "How often the attack turns a right answer into a wrong one.",
    formula: "Test nodes right on the clean graph and wrong on the attacked one / test nodes right on the \
              clean graph; mean over repetitions.",
    undefined: reasons!(scores, "no test node was correct on the clean graph"),
    example: ("four-nodes", "0.5"),
    number: mean!(accuracies, SUCCESS),
    ..COST
};
