//! Which evidence a number needs, and which preset has it.

use calipers_core::Rows;

use super::curve_reading::has_sweep;
use super::fidelity_reading::{Of, Side};
use super::protocol::Preset;
use super::row::{Row, SideRow};

/// The numbers of the document, those of the published functions first.
const DOCUMENT: [&str; 14] = [
    "fid_plus_model",
    "fid_minus_model",
    "fid_plus_phenomenon",
    "fid_minus_phenomenon",
    "unfaithfulness",
    "accuracy",
    "recall",
    "precision",
    "f1_score",
    "auroc",
    "characterization_score",
    "fidelity_curve_auc",
    "characterization_score_model",
    "characterization_score_phenomenon",
];

/// How many of [`DOCUMENT`] the published functions return.
const PUBLISHED: usize = 12;

/// Whether a preset has the metric.
pub(crate) fn belongs_to(preset: Preset, id: &str) -> bool {
    match preset {
        Preset::Strict | Preset::Graphxai => true,
        Preset::Document => DOCUMENT.contains(&id),
        Preset::Pyg => DOCUMENT[..PUBLISHED].contains(&id),
    }
}

/// Something that at least one unit must have.
struct Need {
    keys: &'static [&'static str],
    met: fn(&Row) -> bool,
}

const PLUS_MODEL: Need = Need { keys: &["y_hat", "y_comp"], met: |row| side(row, Side::Plus, labelled) };
const MINUS_MODEL: Need = Need { keys: &["y_hat", "y_sub"], met: |row| side(row, Side::Minus, labelled) };
const PLUS_TRUTH: Need =
    Need { keys: &["y", "y_hat", "y_comp"], met: |row| side(row, Side::Plus, with_truth) };
const MINUS_TRUTH: Need =
    Need { keys: &["y", "y_hat", "y_sub"], met: |row| side(row, Side::Minus, with_truth) };
const PLUS_PROB: Need =
    Need { keys: &["y_hat", "y_comp"], met: |row| side(row, Side::Plus, |side| side.model.is_some()) };
const MINUS_PROB: Need =
    Need { keys: &["y_hat", "y_sub"], met: |row| side(row, Side::Minus, |side| side.model.is_some()) };
const PLUS_TRUE_PROB: Need = Need {
    keys: &["y", "y_hat", "y_comp"],
    met: |row| side(row, Side::Plus, |side| side.phenomenon.is_some()),
};
const MINUS_TRUE_PROB: Need = Need {
    keys: &["y", "y_hat", "y_sub"],
    met: |row| side(row, Side::Minus, |side| side.phenomenon.is_some()),
};
const PLUS_NUMBERS: Need =
    Need { keys: &["y_hat", "y_comp"], met: |row| side(row, Side::Plus, |side| side.regression.is_some()) };
const MINUS_NUMBERS: Need =
    Need { keys: &["y_hat", "y_sub"], met: |row| side(row, Side::Minus, |side| side.regression.is_some()) };
const INSTANCES: Need = Need { keys: &["y_hat", "y_sub"], met: |row| row.instances.is_some() };
const DISTRIBUTIONS: Need =
    Need { keys: &["y_hat", "y_sub"], met: |row| row.faithfulness.is_some() || row.published.is_some() };
const MASK: Need = Need { keys: &["pred_mask"], met: |row| row.mask.is_some() };
const TRUTH: Need = Need {
    keys: &["pred_mask", "target_mask"],
    met: |row| row.mask.as_ref().is_some_and(|mask| mask.agreement.is_some()),
};
const TYPES: Need = Need {
    keys: &["pred_mask.TYPE"],
    met: |row| row.mask.as_ref().is_some_and(|mask| !mask.types.is_empty()),
};
const TYPED_TRUTH: Need = Need {
    keys: &["pred_mask.TYPE", "target_mask.TYPE"],
    met: |row| row.mask.as_ref().is_some_and(|mask| mask.types.values().any(|one| one.agreement.is_some())),
};
const SAMPLED_MASKS: Need = Need {
    keys: &["pred_mask", "pred_mask_samples"],
    met: |row| row.mask.as_ref().is_some_and(|mask| mask.stability.is_some()),
};
const CURVE: Need = Need { keys: &["pos_fidelity", "neg_fidelity"], met: |row| row.curve.is_some() };
const AXIS: Need = Need {
    keys: &["pos_fidelity", "neg_fidelity", "x"],
    met: |row| row.curve.as_ref().is_some_and(|curve| curve.x.is_some()),
};
const SWEEP: Need = Need {
    keys: &["y_hat", "y_sub_sweep", "x"],
    met: |row| has_sweep(row, Side::Plus, Of::Model) || has_sweep(row, Side::Minus, Of::Model),
};
const PLUS_SWEEP: Need =
    Need { keys: &["y_hat", "y_comp_sweep", "x"], met: |row| has_sweep(row, Side::Plus, Of::Model) };
const MINUS_SWEEP: Need =
    Need { keys: &["y_hat", "y_sub_sweep", "x"], met: |row| has_sweep(row, Side::Minus, Of::Model) };
const PLUS_TRUE_SWEEP: Need = Need {
    keys: &["y", "y_hat", "y_comp_sweep", "x"],
    met: |row| has_sweep(row, Side::Plus, Of::Phenomenon),
};
const MINUS_TRUE_SWEEP: Need = Need {
    keys: &["y", "y_hat", "y_sub_sweep", "x"],
    met: |row| has_sweep(row, Side::Minus, Of::Phenomenon),
};
const PLUS_SAMPLES: Need = Need {
    keys: &["y_hat", "y_comp_samples"],
    met: |row| side(row, Side::Plus, |side| side.robust.is_some()),
};
const MINUS_SAMPLES: Need = Need {
    keys: &["y_hat", "y_sub_samples"],
    met: |row| side(row, Side::Minus, |side| side.robust.is_some()),
};
const PLUS_SAMPLED_PROB: Need = Need {
    keys: &["y_hat", "y_comp_samples"],
    met: |row| side(row, Side::Plus, |side| sampled(side, Of::Model)),
};
const MINUS_SAMPLED_PROB: Need = Need {
    keys: &["y_hat", "y_sub_samples"],
    met: |row| side(row, Side::Minus, |side| sampled(side, Of::Model)),
};
const PLUS_SAMPLED_TRUTH: Need = Need {
    keys: &["y", "y_hat", "y_comp_samples"],
    met: |row| side(row, Side::Plus, |side| sampled(side, Of::Phenomenon)),
};
const MINUS_SAMPLED_TRUTH: Need = Need {
    keys: &["y", "y_hat", "y_sub_samples"],
    met: |row| side(row, Side::Minus, |side| sampled(side, Of::Phenomenon)),
};

fn side(row: &Row, which: Side, has: fn(&SideRow) -> bool) -> bool {
    which.of(row).is_some_and(has)
}

fn labelled(side: &SideRow) -> bool {
    side.labels.is_some()
}

fn with_truth(side: &SideRow) -> bool {
    side.labels.is_some_and(|flips| flips.truth.is_some())
}

fn sampled(side: &SideRow, of: Of) -> bool {
    side.robust.as_ref().is_some_and(|robust| match of {
        Of::Model => robust.model.is_some(),
        Of::Phenomenon => robust.phenomenon.is_some(),
    })
}

/// Everything a metric needs, possibly from different units.
fn needs(id: &str) -> &'static [Need] {
    match id {
        "num_instances" => &[INSTANCES],
        "num_mask_elements" => &[MASK],
        "fid_plus_model" => &[PLUS_MODEL],
        "fid_minus_model" => &[MINUS_MODEL],
        "fid_plus_phenomenon" | "fid_plus_signed_phenomenon" => &[PLUS_TRUTH],
        "fid_minus_phenomenon" | "fid_minus_signed_phenomenon" => &[MINUS_TRUTH],
        "characterization_score_model" => &[PLUS_MODEL, MINUS_MODEL],
        "characterization_score_phenomenon" => &[PLUS_TRUTH, MINUS_TRUTH],
        "fid_plus_prob_model" | "fid_plus_prob_signed_model" => &[PLUS_PROB],
        "fid_minus_prob_model" | "fid_minus_prob_signed_model" => &[MINUS_PROB],
        "fid_plus_prob_phenomenon" | "fid_plus_prob_signed_phenomenon" => &[PLUS_TRUE_PROB],
        "fid_minus_prob_phenomenon" | "fid_minus_prob_signed_phenomenon" => &[MINUS_TRUE_PROB],
        "fid_plus_mae" | "fid_plus_mse" => &[PLUS_NUMBERS],
        "fid_minus_mae" | "fid_minus_mse" => &[MINUS_NUMBERS],
        "unfaithfulness" | "unfaithfulness_reversed" | "kl" | "kl_reversed" => &[DISTRIBUTIONS],
        "sparsity_by_type" => &[TYPES],
        "sparsity" | "zero_fraction" | "entropy" | "gini" => &[MASK],
        "characterization_score" => &[CURVE],
        "fidelity_curve_auc" | "fidelity_curve_auc_normalized" => &[AXIS],
        "curve_x" => &[SWEEP],
        "fid_plus_model_curve" => &[PLUS_SWEEP],
        "fid_minus_model_curve" => &[MINUS_SWEEP],
        "fid_plus_phenomenon_curve" => &[PLUS_TRUE_SWEEP],
        "fid_minus_phenomenon_curve" => &[MINUS_TRUE_SWEEP],
        "fidelity_curve_auc_model" => &[PLUS_SWEEP, MINUS_SWEEP],
        "fidelity_curve_auc_phenomenon" => &[PLUS_TRUE_SWEEP, MINUS_TRUE_SWEEP],
        "robust_fid_plus_model" => &[PLUS_SAMPLES],
        "robust_fid_minus_model" => &[MINUS_SAMPLES],
        "robust_fid_plus_prob_signed_model" => &[PLUS_SAMPLED_PROB],
        "robust_fid_minus_prob_signed_model" => &[MINUS_SAMPLED_PROB],
        "robust_fid_delta_model" => &[PLUS_SAMPLED_PROB, MINUS_SAMPLED_PROB],
        "robust_fid_plus_prob_signed_phenomenon" => &[PLUS_SAMPLED_TRUTH],
        "robust_fid_minus_prob_signed_phenomenon" => &[MINUS_SAMPLED_TRUTH],
        "robust_fid_delta_phenomenon" => &[PLUS_SAMPLED_TRUTH, MINUS_SAMPLED_TRUTH],
        "instability_cosine" | "instability_cosine_mean" | "sensitivity_max" => &[SAMPLED_MASKS],
        typed if typed.ends_with("_by_type") => &[TYPED_TRUTH],
        _ => &[TRUTH],
    }
}

/// Whether some unit has each thing the metric needs.
pub(crate) fn met(id: &str, rows: &Rows<'_, Row>) -> bool {
    needs(id).iter().all(|need| rows.iter().any(need.met))
}

/// The keys whose lack keeps a metric out of a report, in words; `None` when it is printed. The id
/// goes without the family's prefix.
pub fn missing_keys(id: &str, rows: &Rows<'_, Row>) -> Option<String> {
    let unmet = needs(id).iter().find(|need| !rows.iter().any(need.met))?;
    let quoted = |keys: &[&&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let absent: Vec<_> = unmet.keys.iter().filter(|key| !rows.iter().any(|row| has_key(row, key))).collect();
    Some(if absent.is_empty() {
        format!("no unit has {} in the form this needs", quoted(&unmet.keys.iter().collect::<Vec<_>>()))
    } else {
        format!("no unit has {}", quoted(&absent))
    })
}

/// Whether the row shows that its unit has the key.
fn has_key(row: &Row, key: &str) -> bool {
    match key {
        "y" => row.keys.y,
        "y_hat" => row.keys.y_hat,
        "y_sub" => row.keys.y_sub,
        "y_comp" => row.keys.y_comp,
        "target_mask" => row.keys.target,
        "pred_mask" => (MASK.met)(row),
        "pred_mask.TYPE" => (TYPES.met)(row),
        "target_mask.TYPE" => (TYPED_TRUTH.met)(row),
        "pred_mask_samples" => (SAMPLED_MASKS.met)(row),
        "pos_fidelity" | "neg_fidelity" => (CURVE.met)(row),
        "x" => !row.sweep_x.is_empty() || (AXIS.met)(row),
        "y_sub_sweep" => (MINUS_SWEEP.met)(row),
        "y_comp_sweep" => (PLUS_SWEEP.met)(row),
        "y_sub_samples" => (MINUS_SAMPLES.met)(row),
        "y_comp_samples" => (PLUS_SAMPLES.met)(row),
        _ => false,
    }
}
