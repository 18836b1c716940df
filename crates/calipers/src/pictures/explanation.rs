//! Pictures of explanations: what they keep and what they break, over sizes, and the masks.

mod curve;
mod masks;
mod plane;

use calipers_core::Accumulator;
use calipers_metrics::explanation::protocol::Explanation;
use calipers_report::chart::Picture;

use crate::replay::Evidence;

/// The pictures of the family.
pub(crate) fn of(rows: &Accumulator<Explanation>, evidence: &Evidence) -> Vec<Picture> {
    vec![plane::picture(rows), curve::picture(rows), masks::picture(rows, evidence)]
}
