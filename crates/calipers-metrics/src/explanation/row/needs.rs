//! Which keys keep a number out of a report.

use calipers_core::{Metric, Protocol, Rows};

use crate::explanation::curve::given::{AXIS, CURVE};
use crate::explanation::curve::sweep::{MINUS_SWEEP, PLUS_SWEEP};
use crate::explanation::fidelity::robust::{MINUS_SAMPLES, PLUS_SAMPLES};
use crate::explanation::mask::MASK;
use crate::explanation::mask::types::{TYPED_TRUTH, TYPES};
use crate::explanation::protocol::Explanation;
use crate::explanation::row::Row;
use crate::explanation::stability::SAMPLED_MASKS;

/// Evidence that at least one unit must have.
pub(crate) type Need = calipers_core::Need<Explanation>;

/// The keys whose lack keeps a metric out of a report, in words; `None` when it is printed. The id
/// goes without the family's prefix.
pub fn missing_keys(id: &str, rows: &Rows<'_, Row>) -> Option<String> {
    let Metric { needs, .. } = Explanation::METRICS.iter().find(|metric| metric.id == id)?;
    let unmet = needs.iter().find(|need| !rows.iter().any(need.met))?;
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
