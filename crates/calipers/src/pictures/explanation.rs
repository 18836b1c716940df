//! Pictures of explanations: what they keep and what they break, over sizes, the masks, and explained graphs.

mod curve;
mod graphs;
mod masks;
mod plane;

use calipers_core::Accumulator;
use calipers_metrics::explanation::Explanation;
use calipers_report::chart::Picture;

use crate::replay::Evidence;

/// The pictures of the family.
pub(crate) fn of(rows: &Accumulator<Explanation>, evidence: &Evidence) -> Vec<Picture> {
    let mut pictures = vec![plane::picture(rows), curve::picture(rows), masks::picture(rows, evidence)];
    pictures.extend(graphs::pictures(rows, evidence));
    pictures
}
