//! What is kept of the masks of a unit: alone, against the truth, by type, against perturbed inputs.

pub(super) mod agreement;
pub(super) mod confusion;
pub(super) mod distribution;
pub(super) mod layout;
pub(super) mod pooled;
pub(super) mod ranking;
pub(super) mod shape;
mod sorting;
pub(super) mod threshold;
pub(super) mod types;
pub(super) mod values;

use calipers_core::Result;

use crate::explanation::protocol::{Explanation, Preset};
use crate::explanation::published::{sigmoids, takes_for_logits};
use crate::explanation::row::needs::Need;
use crate::explanation::row::{MaskRow, Noticed};
use crate::explanation::stability::distances::stability;
use crate::explanation::unit::Evidence;
use confusion::{agreement, best_truth, of_type, selected_count};
use layout::{Bits, Masks, Values};
use ranking::Ranking;
use shape::{Importance, shape};
use threshold::{all, rounded};

pub(crate) const MASK: Need = Need { keys: &["pred_mask"], met: |row| row.mask.is_some() };
const TRUTH: Need = Need {
    keys: &["pred_mask", "target_mask"],
    met: |row| row.mask.as_ref().is_some_and(|mask| mask.agreement.is_some()),
};

/// The row of a unit's masks, if it has any; notes what looks wrong in them.
pub(crate) fn mask_row(
    protocol: &Explanation,
    evidence: &Evidence<'_>,
    noticed: &mut Noticed,
) -> Result<Option<MaskRow>> {
    let Some(masks) = Masks::new(protocol, evidence)? else { return Ok(None) };
    let stored = masks.values();
    let pred = evidence.plain("pred_mask").ok().flatten();
    let published = pred.filter(|_| protocol.preset == Preset::Pyg).map(|array| array.data);
    let mended = published.filter(|data| takes_for_logits(*data)).map(|data| sigmoids(data, &stored));
    noticed.sigmoid_applied = mended.is_some();
    let values = mended.as_ref().unwrap_or(&stored);
    let selected = match published {
        Some(data) => Bits::above(values.data(), rounded(data, protocol.threshold)),
        None => masks.selected(protocol),
    };
    let elements = values.len();
    look(values, &selected, noticed);
    noticed.soft_truth = masks.has_soft_truth();
    let chosen =
        (masks.truths > 0).then(|| best_truth(&masks, &selected, protocol.target_threshold, elements));
    let truth = chosen.map(|(position, _)| masks.truth(position, protocol.target_threshold));
    let ranking = Ranking::new(values, truth.as_ref());
    let importance = Importance::of(protocol.mask_scores, &[values]);
    let mut row = MaskRow {
        elements: elements as u64,
        selected: selected_count(&selected),
        agreement: chosen.map(|(position, confusion)| agreement(&ranking, position, confusion)),
        ..MaskRow::default()
    };
    if protocol.preset == Preset::Pyg {
        return Ok(Some(row));
    }
    let shape = shape(values, importance, &ranking, truth.as_ref());
    row.zeros = shape.zeros;
    row.mass = shape.mass.into();
    row.mass_log = shape.mass_log.into();
    row.gini = shape.gini.into();
    if let Some(agreement) = &mut row.agreement {
        agreement.mass = shape.true_mass.into();
    }
    if masks.typed() {
        for (position, (name, cut)) in masks.types.iter().zip(masks.cuts()).enumerate() {
            let truth = truth.as_ref().map(|truth| truth.of_type(position));
            let typed = of_type(&values.part(cut), &selected.of_type(position), truth.as_ref());
            row.types.insert((*name).into(), typed);
        }
    }
    if masks.samples > 0 {
        row.stability = Some(stability(&masks, values, protocol.mask_scores));
    }
    Ok(Some(row))
}

fn look(values: &Values<'_>, selected: &Bits<'_>, noticed: &mut Noticed) {
    noticed.value_at_threshold = selected.any_on_threshold();
    let data = values.data();
    if data.is_empty() {
        return;
    }
    let first = data.get(0);
    if all(data, |value| (value - first).abs() <= 0.0) {
        noticed.constant_mask = data.len() >= 2;
    } else {
        noticed.binary_mask = all(data, |value| value.abs() <= 0.0 || (value - 1.0).abs() <= 0.0);
    }
}
