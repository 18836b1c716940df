//! The pictures of a report: what rows hold is drawn from them, the rest from the inputs if they
//! are still at hand.

pub(crate) mod explanation;
pub(crate) mod independent_set;
mod readings;
pub(crate) mod robustness;
pub(crate) mod segmentation;
pub(crate) mod training;

use calipers_core::Ledger;
use calipers_core::resample::Intervals;
use calipers_report::chart::Picture;

use crate::registry;
use crate::replay::Evidence;

/// Every picture of a ledger, in the order in which a page shows them; `intervals` are those of its
/// report.
pub fn of(ledger: &dyn Ledger, evidence: &Evidence, intervals: Option<&Intervals>) -> Vec<Picture> {
    let family = registry::find(ledger.name());
    family.map_or_else(Vec::new, |family| (family.pictures)(ledger, evidence, intervals))
}
