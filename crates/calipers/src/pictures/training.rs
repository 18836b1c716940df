//! Pictures of training runs: their curves, when they saturate, and what the threshold does to it.

mod configurations;
mod curves;
mod survival;
mod sweep;

use calipers_core::Accumulator;
use calipers_metrics::training::Training;
use calipers_report::chart::Picture;

use crate::replay::Evidence;

/// The pictures of the family.
pub(crate) fn of(rows: &Accumulator<Training>, evidence: &Evidence) -> Vec<Picture> {
    let mut pictures = curves::pictures(rows, evidence);
    pictures.push(survival::picture(rows));
    pictures.push(sweep::picture(rows));
    pictures
}
