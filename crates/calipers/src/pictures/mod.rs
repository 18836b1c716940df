//! The pictures of a report: what rows hold is drawn from them, the rest from the inputs if they
//! are still at hand.
//!
//! A family has one file here and one line in [`of`].

mod explanation;
mod independent_set;
mod readings;
pub(crate) mod robustness;
mod segmentation;
mod training;

use std::any::Any;

use calipers_core::{Accumulator, Ledger, Protocol};
use calipers_report::chart::Picture;

use crate::replay::Evidence;

/// Every picture of a ledger, in the order in which a page shows them.
pub fn of(ledger: &dyn Ledger, evidence: &Evidence) -> Vec<Picture> {
    match ledger.name() {
        "robustness" => drawn(ledger, evidence, robustness::of),
        "segmentation" => drawn(ledger, evidence, segmentation::of),
        "independent_set" => drawn(ledger, evidence, independent_set::of),
        "explanation" => drawn(ledger, evidence, explanation::of),
        "training" => drawn(ledger, evidence, training::of),
        _ => Vec::new(),
    }
}

fn drawn<P: Protocol>(
    ledger: &dyn Ledger,
    evidence: &Evidence,
    draw: fn(&Accumulator<P>, &Evidence) -> Vec<Picture>,
) -> Vec<Picture> {
    let ledger: &dyn Any = ledger;
    ledger.downcast_ref::<Accumulator<P>>().map_or_else(Vec::new, |rows| draw(rows, evidence))
}
