//! What looks wrong in the evidence: every warning of the family, in report order.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Number, Protocol, Rows, Value, Warning};

use super::protocol::{Explanation, MaskScores, Preset};
use super::row::{AgreementRow, MaskRow, Row};

/// How many keys a message spells out.
const SHOWN: usize = 5;

/// Every warning the rows give rise to.
pub(super) fn warnings(protocol: &Explanation, rows: &Rows<'_, Row>) -> Vec<Warning> {
    let audit = Audit { protocol, rows };
    [audit.masks(), audit.gaps(), audit.predictions(), audit.keys(), audit.published()].concat()
}

struct Audit<'r, 'a> {
    protocol: &'r Explanation,
    rows: &'r Rows<'a, Row>,
}

impl Audit<'_, '_> {
    fn masks(&self) -> Vec<Warning> {
        let Explanation { threshold, target_threshold, mask_scores, .. } = *self.protocol;
        let of_mask = |code: &str, wrong: &dyn Fn(&MaskRow) -> bool, words: &str| {
            self.units(code, |row| row.mask.as_deref().is_some_and(wrong), words)
        };
        let extreme = (mask_scores != MaskScores::Raw && !(threshold > 0.0 && threshold < 1.0))
            || target_threshold <= 0.0;
        [
            self.units(
                "value_at_threshold",
                |row| row.noticed.value_at_threshold,
                "a mask value equals the threshold and counts as not selected",
            ),
            self.units(
                "soft_truth",
                |row| row.noticed.soft_truth,
                "the target holds values other than 0 and 1, which its threshold splits",
            ),
            self.units("constant_mask", |row| row.noticed.constant_mask, "all mask values are equal"),
            self.units(
                "binary_mask_ranking",
                |row| row.noticed.binary_mask,
                "the mask holds only 0 and 1, so auroc and average precision see two ranks",
            ),
            of_mask(
                "empty_explanation",
                &|mask| mask.elements > 0 && mask.selected == 0,
                "no element lies above the threshold",
            ),
            of_mask(
                "full_explanation",
                &|mask| mask.elements >= 2 && mask.selected == mask.elements,
                "every element lies above the threshold",
            ),
            of_mask(
                "threshold_extreme",
                &|_| extreme,
                "a threshold at the end of its range tells little apart",
            ),
        ]
        .concat()
    }

    /// Units that a printed mean skips, and units that lack what others have.
    fn gaps(&self) -> Vec<Warning> {
        [
            warning(
                "undefined_in_units",
                self.skipped(),
                "a printed mean leaves out the undefined value of this unit",
            ),
            warning("partial_evidence", self.partial(), "a key is missing that other units have"),
        ]
        .concat()
    }

    /// The units that some mean leaves out, because a number is undefined in them and not in others.
    fn skipped(&self) -> Vec<String> {
        let mut skipped = BTreeSet::new();
        for (number, values) in self.unit_means() {
            if let Number::Rows(read) = number
                && read(self.protocol, self.rows).reason().is_some()
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
    fn unit_means(&self) -> impl Iterator<Item = (Number<Explanation>, Vec<(&str, Value)>)> {
        let lines = Explanation::METRICS.iter().filter(|metric| (metric.presets)(self.protocol));
        lines.filter_map(|metric| {
            let number = match metric.number {
                Number::Chosen(choose) => choose(self.protocol),
                number => number,
            };
            let value = |place: usize, row: &Row| match number {
                Number::Mean { of, .. } => Some(of(self.protocol, row)),
                Number::Rows(read) => Some(read(self.protocol, &self.rows.single(place))),
                _ => None,
            };
            let has_all = |row: &Row| metric.needs.iter().all(|need| (need.met)(row));
            let units = self.rows.named().enumerate().filter(|(_, (_, row))| has_all(row));
            let values = units.map(|(place, (name, row))| Some((name, value(place, row)?)));
            Some((number, values.collect::<Option<_>>()?))
        })
    }

    fn partial(&self) -> Vec<String> {
        let keys = |row: &Row| [row.keys.y, row.keys.y_sub, row.keys.y_comp];
        let predicted = || self.rows.iter().filter(|row| row.keys.y_hat);
        let all = predicted().fold([false; 3], |all, row| {
            let keys = keys(row);
            std::array::from_fn(|key| all[key] || keys[key])
        });
        let targets = self.rows.iter().any(|row| row.mask.is_some() && row.keys.target);
        let lacks = |row: &Row| {
            (row.keys.y_hat && keys(row) != all) || (targets && row.mask.is_some() && !row.keys.target)
        };
        self.rows.named().filter(|(_, row)| lacks(row)).map(|(name, _)| name.into()).collect()
    }

    fn predictions(&self) -> Vec<Warning> {
        let infinite = |row: &Row| {
            let sums = row.faithfulness.as_deref();
            sums.is_some_and(|sums| sums.forward.infinite > 0 || sums.reversed.infinite > 0)
        };
        let points = |row: &Row| row.curve.as_ref().map_or(row.sweep_x.len(), |curve| curve.pos.len());
        [
            self.units(
                "argmax_tie",
                |row| row.noticed.argmax_tie,
                "a largest score occurs twice, or a binary score sits on its boundary: the first class was taken",
            ),
            self.units(
                "looks_like_probs",
                |row| row.noticed.looks_like_probs,
                "declared logits are rows of numbers that sum to 1: declare --scores probs if a softmax was applied",
            ),
            self.units(
                "not_normalised",
                |row| row.noticed.not_normalised,
                "a row of probabilities sums to 1 only roughly and was normalised",
            ),
            self.units(
                "infinite_kl",
                infinite,
                "a class has probability 0 on one side only: the divergence is infinite",
            ),
            self.units(
                "mask_without_effect",
                |row| row.noticed.mask_without_effect,
                "y_hat, y_sub and y_comp hold the same scores: the mask did not reach the model",
            ),
            self.units("single_point_curve", |row| points(row) == 1, "a curve of one point has no area"),
        ]
        .concat()
    }

    fn keys(&self) -> Vec<Warning> {
        let keys: BTreeSet<&str> = self.rows.iter().flat_map(|row| &row.unused).map(String::as_str).collect();
        let mut shown: Vec<&str> = keys.iter().copied().take(SHOWN).collect();
        if keys.len() > SHOWN {
            shown.push("...");
        }
        self.units(
            "unknown_key",
            |row| !row.unused.is_empty(),
            &format!("keys that are not used: {}", shown.join(", ")),
        )
    }

    fn published(&self) -> Vec<Warning> {
        if self.protocol.preset != Preset::Pyg {
            return Vec::new();
        }
        let one_class = |agreement: &AgreementRow| {
            let counts = agreement.confusion;
            counts.elements() > 0 && (counts.positives() == 0 || counts.negatives() == 0)
        };
        let is_nan = |value: &Value| parts(value).any(|(_, is_defined)| !is_defined);
        let values = self.unit_means().flat_map(|(_, values)| values);
        let nan: BTreeSet<&str> = values.filter(|(_, value)| is_nan(value)).map(|(name, _)| name).collect();
        [
            self.units(
                "sigmoid_applied",
                |row| row.noticed.sigmoid_applied,
                "a mask value lies outside [0, 1], so the published code applies a sigmoid to all of them",
            ),
            self.units(
                "one_class_truth",
                |row| row.mask.as_ref().and_then(|mask| mask.agreement.as_ref()).is_some_and(one_class),
                "the target has one class only: the published auroc is 0",
            ),
            warning(
                "published_nan",
                nan.into_iter().map(String::from).collect(),
                "the published code returns NaN",
            ),
        ]
        .concat()
    }

    fn units(&self, code: &str, wrong: impl Fn(&Row) -> bool, words: &str) -> Vec<Warning> {
        let named = self.rows.named().filter(|(_, row)| wrong(row));
        warning(code, named.map(|(name, _)| name.into()).collect(), words)
    }
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

fn warning(code: &str, units: Vec<String>, words: &str) -> Vec<Warning> {
    if units.is_empty() {
        return Vec::new();
    }
    let plural = if units.len() == 1 { "" } else { "s" };
    vec![Warning { code: code.into(), message: format!("in {} unit{plural}: {words}", units.len()), units }]
}
