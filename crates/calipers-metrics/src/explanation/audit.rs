//! What looks wrong in the evidence: every warning of the family, in report order.

use std::collections::BTreeSet;

use calipers_core::{Rows, Warning};

use super::curve_reading::{self, characterization_series, common_series};
use super::fidelity_reading::{Of, Side, published_fidelity, published_unfaithfulness};
use super::mask_reading::{self as mask, TypeValue, UnitValue};
use super::needs::belongs_to;
use super::protocol::{Explanation, MaskScores, Preset};
use super::row::{AgreementRow, MaskRow, Row};

/// How many keys a message spells out.
const SHOWN: usize = 5;

/// Every number that is a mean over units.
const UNIT_MEANS: [(&str, UnitValue); 18] = [
    ("accuracy", mask::accuracy),
    ("recall", mask::recall),
    ("precision", mask::precision),
    ("f1_score", mask::f1_score),
    ("auroc", mask::auroc),
    ("jaccard", mask::jaccard),
    ("average_precision", mask::average_precision),
    ("relevance_mass", mask::relevance_mass),
    ("relevance_rank", mask::relevance_rank),
    ("sparsity", mask::sparsity),
    ("zero_fraction", mask::zero_fraction),
    ("entropy", mask::entropy),
    ("gini", mask::gini),
    ("fidelity_curve_auc", curve_reading::curve_auc),
    ("fidelity_curve_auc_normalized", curve_reading::curve_auc_normalized),
    ("instability_cosine", mask::instability_cosine),
    ("instability_cosine_mean", mask::instability_cosine_mean),
    ("sensitivity_max", mask::sensitivity_max),
];

/// Those that are one in preset `pyg` only, where every number is.
const PUBLISHED_MEANS: [(&str, UnitValue); 5] = [
    ("fid_plus_model", |_, row| published_fidelity(row, Side::Plus, Of::Model)),
    ("fid_minus_model", |_, row| published_fidelity(row, Side::Minus, Of::Model)),
    ("fid_plus_phenomenon", |_, row| published_fidelity(row, Side::Plus, Of::Phenomenon)),
    ("fid_minus_phenomenon", |_, row| published_fidelity(row, Side::Minus, Of::Phenomenon)),
    ("unfaithfulness", |_, row| published_unfaithfulness(row)),
];

/// Those that are one for each type.
const TYPE_MEANS: [(&str, TypeValue); 7] = [
    ("accuracy_by_type", mask::accuracy_typed),
    ("recall_by_type", mask::recall_typed),
    ("precision_by_type", mask::precision_typed),
    ("f1_score_by_type", mask::f1_score_typed),
    ("auroc_by_type", mask::auroc_typed),
    ("jaccard_by_type", mask::jaccard_typed),
    ("sparsity_by_type", mask::sparsity_typed),
];

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

    fn skipped(&self) -> Vec<String> {
        let preset = self.protocol.preset;
        let mut skipped = BTreeSet::new();
        let published = PUBLISHED_MEANS.iter().filter(|_| preset == Preset::Pyg);
        for (id, value) in UNIT_MEANS.iter().chain(published) {
            if belongs_to(preset, id) {
                let values =
                    self.rows.named().filter_map(|(name, row)| Some((name, value(self.protocol, row)?)));
                skip(values.map(|(name, value)| (name, value.is_ok())), &mut skipped);
            }
        }
        let masks = || self.rows.named().filter_map(|(name, row)| Some((name, row.mask.as_deref()?)));
        let types: BTreeSet<&String> = masks().flat_map(|(_, mask)| mask.types.keys()).collect();
        for (_, value) in TYPE_MEANS.iter().filter(|(id, _)| belongs_to(preset, id)) {
            for kind in &types {
                let values = masks().filter_map(|(name, mask)| {
                    Some((name, value(self.protocol, mask.types.get(*kind)?)?.is_ok()))
                });
                skip(values, &mut skipped);
            }
        }
        if let Some(Ok(series)) = common_series(self.protocol, self.rows) {
            let names = self.rows.named().filter(|(_, row)| row.curve.is_some()).map(|(name, _)| name);
            for point in 0..series.first().map_or(0, Vec::len) {
                let values = series.iter().map(|series| series[point].is_ok());
                skip(names.clone().zip(values), &mut skipped);
            }
        }
        skipped.into_iter().map(String::from).collect()
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
        let nan = |row: &Row| {
            let means =
                UNIT_MEANS.iter().chain(&PUBLISHED_MEANS).filter(|(id, _)| belongs_to(Preset::Pyg, id));
            let mut values = means.filter_map(|(_, value)| value(self.protocol, row));
            let series = characterization_series(self.protocol, row).unwrap_or_default();
            values.any(|value| value.is_err()) || series.iter().any(Result::is_err)
        };
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
            self.units("published_nan", nan, "the published code returns NaN"),
        ]
        .concat()
    }

    fn units(&self, code: &str, wrong: impl Fn(&Row) -> bool, words: &str) -> Vec<Warning> {
        let named = self.rows.named().filter(|(_, row)| wrong(row));
        warning(code, named.map(|(name, _)| name.into()).collect(), words)
    }
}

/// Notes the units whose value is undefined, if another one's is not.
fn skip<'a>(values: impl Iterator<Item = (&'a str, bool)> + Clone, skipped: &mut BTreeSet<&'a str>) {
    if values.clone().any(|(_, defined)| defined) {
        skipped.extend(values.filter(|(_, defined)| !defined).map(|(name, _)| name));
    }
}

fn warning(code: &str, units: Vec<String>, words: &str) -> Vec<Warning> {
    if units.is_empty() {
        return Vec::new();
    }
    let plural = if units.len() == 1 { "" } else { "s" };
    vec![Warning { code: code.into(), message: format!("in {} unit{plural}: {words}", units.len()), units }]
}
