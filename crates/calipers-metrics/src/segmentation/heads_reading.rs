//! Each head in its own channels.

use super::old_sums::{Sum, Term};
use calipers_core::{Rows, Value};

use super::boundary_reading::Band;
use super::overlap_reading::Overlap;
use super::protocol::{Head, Measure, Segmentation, Space};
use super::reading::{Reading, Reason, per_label, pixels};
use super::row::{HeadRow, Row};

const MISSING: &str = "head is missing in every unit";

/// A number of each head, from the images that have the head.
pub(crate) fn by_head(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    measure: Measure,
    read: fn(&Segmentation, &Head, &[&HeadRow]) -> Reading,
) -> Value {
    per_label(heads(protocol, rows, measure, read))
}

fn heads<'p>(
    protocol: &'p Segmentation,
    rows: &Rows<'_, Row>,
    measure: Measure,
    read: fn(&Segmentation, &Head, &[&HeadRow]) -> Reading,
) -> Result<Vec<(&'p str, Reading)>, Reason> {
    let images = pixels(protocol, rows, measure)?;
    if protocol.heads.len() < 2 {
        return Err("needs two or more heads".into());
    }
    if protocol.truth_space != Space::Original {
        return Err("truth is given in the global space".into());
    }
    let one = |(position, head): (u32, &'p Head)| {
        let present: Vec<&HeadRow> = images.iter().filter_map(|image| image.heads.get(&position)).collect();
        let value = if present.is_empty() { Err(MISSING.into()) } else { read(protocol, head, &present) };
        (head.name.as_str(), value)
    };
    Ok((0..).zip(&protocol.heads).map(one).collect())
}

fn overlap(protocol: &Segmentation, head: &Head, images: &[&HeadRow]) -> Overlap {
    let matrices = images.iter().map(|image| &image.confusion);
    Overlap::in_space(head.channels.len(), protocol.conventions, matrices)
}

/// The mean intersection over union over all channels.
pub(crate) fn miou(protocol: &Segmentation, head: &Head, images: &[&HeadRow]) -> Reading {
    overlap(protocol, head, images).miou()
}

/// The share of the head's scored pixels that it gets right.
pub(crate) fn pixel_accuracy(protocol: &Segmentation, head: &Head, images: &[&HeadRow]) -> Reading {
    overlap(protocol, head, images).pixel_accuracy()
}

/// The outer band's intersection over union over the channels that are not the head's background.
pub(crate) fn biou(protocol: &Segmentation, _: &Head, images: &[&HeadRow]) -> Reading {
    Band::pooled(images.iter().map(|image| &image.band)).iou(&protocol.conventions)
}

/// What a row adds to each head: whether it has the head, and the totals of its channels.
pub(crate) fn head_overlap_terms(protocol: &Segmentation, row: &Row) -> Vec<Term> {
    let head = |(position, head): (u32, &Head)| {
        let found = head_row(row, position);
        let matrices = found.map(|found| &found.confusion);
        let totals = Overlap::in_space(head.channels.len(), protocol.conventions, matrices);
        std::iter::once(Term::Whole(found.is_some().into())).chain(totals.as_terms()).collect::<Vec<_>>()
    };
    (0..).zip(&protocol.heads).flat_map(head).collect()
}

/// A number of each head, from summed terms.
pub(crate) fn overlaps_from_sums(
    protocol: &Segmentation,
    mut sums: &[Sum],
    read: fn(&Overlap) -> Reading,
) -> Value {
    let mut entries = Vec::with_capacity(protocol.heads.len());
    for head in &protocol.heads {
        let (own, rest) = sums.split_at(1 + 4 * head.channels.len());
        let totals = || Overlap::in_space(head.channels.len(), protocol.conventions, []).with_sums(&own[1..]);
        let value = if own[0].whole() == 0 { Err(MISSING.into()) } else { read(&totals()) };
        entries.push((head.name.as_str(), value));
        sums = rest;
    }
    per_label(Ok(entries))
}

/// What a row adds to the band of each head: whether it has the head, and the sizes.
pub(crate) fn head_band_terms(protocol: &Segmentation, row: &Row) -> Vec<Term> {
    let head = |position: u32| {
        let found = head_row(row, position);
        let band = Band::pooled(found.map(|found| &found.band));
        std::iter::once(Term::Whole(found.is_some().into())).chain(band.terms())
    };
    (0..protocol.heads.len() as u32).flat_map(head).collect()
}

/// The band's intersection over union of each head, from summed terms.
pub(crate) fn biou_from_sums(protocol: &Segmentation, sums: &[Sum]) -> Value {
    let read = |own: &[Sum]| match own[0].whole() {
        0 => Err(MISSING.into()),
        _ => Band::from_sums(&own[1..]).iou(&protocol.conventions),
    };
    let names = protocol.heads.iter().map(|head| head.name.as_str());
    per_label(Ok(names.zip(sums.chunks_exact(4).map(read))))
}

fn head_row(row: &Row, position: u32) -> Option<&HeadRow> {
    row.pixels.as_ref().and_then(|image| image.heads.get(&position))
}
