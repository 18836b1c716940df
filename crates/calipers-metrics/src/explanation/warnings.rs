//! What looks wrong in the evidence: every warning of the family, in report order.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Number, Protocol, Rows, Value, Warning};

use super::protocol::{Explanation, MaskScores, Preset};
use super::row::{AgreementRow, MaskRow, Row};
use crate::warnings::{first_of, in_units, units};

type Wrong = crate::warnings::Wrong<Explanation>;

/// Every warning the rows give rise to.
pub(super) fn warnings(protocol: &Explanation, rows: &Rows<'_, Row>) -> Vec<Warning> {
    let of = |wrong: &'static [Wrong]| wrong.iter().map(move |wrong| wrong.warning(protocol, rows));
    let gaps = [
        in_units(
            "undefined_in_units",
            skipped(protocol, rows),
            "a printed mean leaves out the undefined value of this unit",
        ),
        in_units("partial_evidence", partial(rows), "a key is missing that other units have"),
    ];
    let all = of(MASKS).chain(gaps).chain(of(PREDICTIONS)).chain([unknown_keys(rows)]);
    if protocol.preset != Preset::Pyg {
        return all.flatten().collect();
    }
    let nan = in_units("published_nan", nan(protocol, rows), "the published code returns NaN");
    all.chain(of(PUBLISHED)).chain([nan]).flatten().collect()
}

const MASKS: &[Wrong] = &[
    Wrong {
        code: "value_at_threshold",
        with: |_, row| row.noticed.value_at_threshold,
        words: "a mask value equals the threshold and counts as not selected",
    },
    Wrong {
        code: "soft_truth",
        with: |_, row| row.noticed.soft_truth,
        words: "the target holds values other than 0 and 1, which its threshold splits",
    },
    Wrong {
        code: "constant_mask",
        with: |_, row| row.noticed.constant_mask,
        words: "all mask values are equal",
    },
    Wrong {
        code: "binary_mask_ranking",
        with: |_, row| row.noticed.binary_mask,
        words: "the mask holds only 0 and 1, so auroc and average precision see two ranks",
    },
    Wrong {
        code: "empty_explanation",
        with: |_, row| mask(row, |mask| mask.elements > 0 && mask.selected == 0),
        words: "no element lies above the threshold",
    },
    Wrong {
        code: "full_explanation",
        with: |_, row| mask(row, |mask| mask.elements >= 2 && mask.selected == mask.elements),
        words: "every element lies above the threshold",
    },
    Wrong {
        code: "threshold_extreme",
        with: |protocol, row| mask(row, |_| is_extreme(protocol)),
        words: "a threshold at the end of its range tells little apart",
    },
];

const PREDICTIONS: &[Wrong] = &[
    Wrong {
        code: "argmax_tie",
        with: |_, row| row.noticed.argmax_tie,
        words: "a largest score occurs twice, or a binary score sits on its boundary: the first class was taken",
    },
    Wrong {
        code: "looks_like_probs",
        with: |_, row| row.noticed.looks_like_probs,
        words: "declared logits are rows of numbers that sum to 1: declare --scores probs if a softmax was applied",
    },
    Wrong {
        code: "not_normalised",
        with: |_, row| row.noticed.not_normalised,
        words: "a row of probabilities sums to 1 only roughly and was normalised",
    },
    Wrong {
        code: "infinite_kl",
        with: |_, row| {
            let sums = row.faithfulness.as_deref();
            sums.is_some_and(|sums| sums.forward.infinite > 0 || sums.reversed.infinite > 0)
        },
        words: "a class has probability 0 on one side only: the divergence is infinite",
    },
    Wrong {
        code: "mask_without_effect",
        with: |_, row| row.noticed.mask_without_effect,
        words: "y_hat, y_sub and y_comp hold the same scores: the mask did not reach the model",
    },
    Wrong {
        code: "single_point_curve",
        with: |_, row| row.curve.as_ref().map_or(row.sweep_x.len(), |curve| curve.pos.len()) == 1,
        words: "a curve of one point has no area",
    },
];

const PUBLISHED: &[Wrong] = &[
    Wrong {
        code: "sigmoid_applied",
        with: |_, row| row.noticed.sigmoid_applied,
        words: "a mask value lies outside [0, 1], so the published code applies a sigmoid to all of them",
    },
    Wrong {
        code: "one_class_truth",
        with: |_, row| mask(row, |mask| mask.agreement.as_ref().is_some_and(has_one_class)),
        words: "the target has one class only: the published auroc is 0",
    },
];

fn mask(row: &Row, wrong: impl Fn(&MaskRow) -> bool) -> bool {
    row.mask.as_deref().is_some_and(wrong)
}

fn is_extreme(protocol: &Explanation) -> bool {
    let Explanation { threshold, target_threshold, mask_scores, .. } = *protocol;
    (mask_scores != MaskScores::Raw && !(threshold > 0.0 && threshold < 1.0)) || target_threshold <= 0.0
}

fn has_one_class(agreement: &AgreementRow) -> bool {
    let counts = agreement.confusion;
    counts.elements() > 0 && (counts.positives() == 0 || counts.negatives() == 0)
}

/// The units that some mean leaves out, because a number is undefined in them and not in others.
fn skipped(protocol: &Explanation, rows: &Rows<'_, Row>) -> Vec<String> {
    let mut skipped = BTreeSet::new();
    for (number, values) in unit_means(protocol, rows) {
        if let Number::Rows(read) = number
            && read(protocol, rows).reason().is_some()
        {
            continue;
        }
        let mut units: BTreeMap<String, (bool, Vec<&str>)> = BTreeMap::new();
        for (unit, value) in &values {
            for (part, is_defined) in parts(value) {
                let (any, undefined) = units.entry(part).or_default();
                *any |= is_defined;
                undefined.extend((!is_defined).then_some(*unit));
            }
        }
        skipped.extend(units.into_values().filter(|(any, _)| *any).flat_map(|(_, undefined)| undefined));
    }
    skipped.into_iter().map(String::from).collect()
}

/// The lines that are means over units, with the values of the units that have what they need: one
/// per unit, or one per type or point of it.
fn unit_means<'a>(
    protocol: &Explanation,
    rows: &Rows<'a, Row>,
) -> impl Iterator<Item = (Number<Explanation>, Vec<(&'a str, Value)>)> {
    let lines = Explanation::METRICS.iter().filter(|metric| (metric.presets)(protocol));
    lines.filter_map(|metric| {
        let number = metric.number.chosen(protocol);
        let value = |place: usize, row: &Row| match number {
            Number::Mean { of, .. } => Some(of(protocol, row)),
            Number::Rows(read) => Some(read(protocol, &rows.single(place))),
            _ => None,
        };
        let has_all = |row: &Row| metric.needs.iter().all(|need| (need.met)(row));
        let units = rows.named().enumerate().filter(|(_, (_, row))| has_all(row));
        let values = units.map(|(place, (name, row))| Some((name, value(place, row)?)));
        Some((number, values.collect::<Option<_>>()?))
    })
}

/// The units that lack a key which others have.
fn partial(rows: &Rows<'_, Row>) -> Vec<String> {
    let keys = |row: &Row| [row.keys.y, row.keys.y_sub, row.keys.y_comp];
    let predicted = || rows.iter().filter(|row| row.keys.y_hat);
    let all = [0, 1, 2].map(|key| predicted().any(|row| keys(row)[key]));
    let targets = rows.iter().any(|row| row.mask.is_some() && row.keys.target);
    units(rows, |row| {
        (row.keys.y_hat && keys(row) != all) || (targets && row.mask.is_some() && !row.keys.target)
    })
}

fn unknown_keys(rows: &Rows<'_, Row>) -> Option<Warning> {
    let keys: BTreeSet<&str> = rows.iter().flat_map(|row| &row.unused).map(String::as_str).collect();
    let words = format!("keys that are not used: {}", first_of(keys, ", "));
    in_units("unknown_key", units(rows, |row| !row.unused.is_empty()), &words)
}

/// The units with a number that the published code has no value for.
fn nan(protocol: &Explanation, rows: &Rows<'_, Row>) -> Vec<String> {
    let is_nan = |value: &Value| parts(value).any(|(_, is_defined)| !is_defined);
    let values = unit_means(protocol, rows).flat_map(|(_, values)| values);
    let nan: BTreeSet<&str> = values.filter(|(_, value)| is_nan(value)).map(|(name, _)| name).collect();
    nan.into_iter().map(String::from).collect()
}

/// The numbers of a value by type or point, and whether each is defined.
fn parts(value: &Value) -> impl Iterator<Item = (String, bool)> {
    let is_defined = |value: &Value| value.reason().is_none();
    let parts: Vec<(String, bool)> = match value {
        Value::PerLabel(entries) => {
            entries.iter().map(|(name, value)| (name.clone(), is_defined(value))).collect()
        }
        Value::Series(points) => {
            points.iter().enumerate().map(|(point, value)| (point.to_string(), is_defined(value))).collect()
        }
        value => vec![(String::new(), is_defined(value))],
    };
    parts.into_iter()
}
