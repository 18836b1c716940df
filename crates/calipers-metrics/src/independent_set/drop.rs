//! The drop of a result table: how many per cent the decode is short of the reference.

use calipers_core::Rows;

use super::aggregate::mean;
use super::evidence::{Reading, ZERO_REFERENCE};
use super::protocol::IndependentSet;
use super::row::Row;
use super::{pooled, strict};

/// The mean over graphs of the share that is lost, in per cent.
pub(crate) fn mean_of_ratios(protocol: &IndependentSet, rows: &Rows<'_, Row>) -> Reading {
    Ok(100.0 * mean(rows, |row| strict::gap_ratio(protocol, row))?)
}

/// The share of the summed reference, or of a published mean, that is lost, in per cent.
pub(crate) fn ratio_of_means(protocol: &IndependentSet, rows: &Rows<'_, Row>) -> Reading {
    let Some(published) = protocol.reference_mean else {
        return Ok(100.0 * pooled::GAP_RATIO.read(protocol, rows)?);
    };
    let size = mean(rows, |row| strict::postprocessed_size(protocol, row))?;
    from_published(published, size)
}

/// The same from the mean decoded size, where a mean was published.
pub(crate) fn from_mean(protocol: &IndependentSet, size: f64) -> Reading {
    protocol.reference_mean.map_or(Err(ZERO_REFERENCE), |published| from_published(published, size))
}

fn from_published(published: f64, size: f64) -> Reading {
    if published == 0.0 { Err(ZERO_REFERENCE) } else { Ok(100.0 * ((published - size) / published)) }
}
