//! Each head in its own channels.

use calipers_core::{Rows, Value};

use super::boundary_reading::Band;
use super::overlap_reading::Overlap;
use super::protocol::{Head, Measure, Segmentation, Space};
use super::reading::{Reading, Reason, per_label, pixels};
use super::row::{HeadRow, Row};

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
        let value = if present.is_empty() {
            Err("head is missing in every unit".into())
        } else {
            read(protocol, head, &present)
        };
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
