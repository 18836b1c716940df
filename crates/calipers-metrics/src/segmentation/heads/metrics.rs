//! Each head in its own channels.

use crate::segmentation::boundary::band::{Band, SIZES, add_pooled};
use crate::segmentation::metrics::*;
use crate::segmentation::overlap::{COUNTS, Overlap, add_matrix, miou, pixel_accuracy};
use crate::segmentation::protocol::{Head, Space};

const BY_HEAD: Line = Line {
    group: "heads",
    better: higher,
    range: SHARE,
    reference: document!("2) Boundary-Aware Metrics (per task)"),
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] = &[HEAD_MIOU, HEAD_PIXEL_ACCURACY, HEAD_BIOU];

/// Each head by position, with its first column. There, images that have the head are counted; `columns`
/// says how many columns follow.
fn heads(protocol: &Segmentation, columns: fn(&Head) -> usize) -> impl Iterator<Item = (u32, &Head, usize)> {
    let mut next = FIRST;
    (0..).zip(&protocol.heads).map(move |(position, head)| {
        let first = next;
        next += 1 + columns(head);
        (position, head, first)
    })
}

fn of_matrix(head: &Head) -> usize {
    COUNTS * head.channels.len()
}

fn of_band(_: &Head) -> usize {
    SIZES
}

fn add_matrices<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(pixels) = pixels(row, terms) else { return };
    for (position, head, first) in heads(protocol, of_matrix) {
        if let Some(own) = pixels.heads.get(&position) {
            terms.whole(first, 1);
            add_matrix(terms, first + 1, &own.confusion, head.channels.len());
        }
    }
}

fn add_head_bands<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(pixels) = pixels(row, terms) else { return };
    for (position, _, first) in heads(protocol, of_band) {
        if let Some(own) = pixels.heads.get(&position) {
            terms.whole(first, 1);
            add_pooled(terms, first + 1, &own.band);
        }
    }
}

/// A number of each head, from the images that have the head.
fn by_head(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    measure: Measure,
    columns: fn(&Head) -> usize,
    read: impl Fn(&Head, usize) -> Reading,
) -> Value {
    let one = |(_, head, first): (u32, &'_ Head, usize)| match sums.whole(first) {
        0 => Err("head is missing in every unit".into()),
        _ => read(head, first + 1),
    };
    let values = has_pixels(protocol, sums, measure).and_then(|()| separate(protocol)).map(|()| {
        let names = protocol.heads.iter().map(|head| head.name.as_str());
        names.zip(heads(protocol, columns).map(one))
    });
    per_label(values)
}

/// Why heads have no numbers of their own, if they have none.
fn separate(protocol: &Segmentation) -> Result<(), Reason> {
    if protocol.heads.len() < 2 {
        return Err("needs two or more heads".into());
    }
    if protocol.truth_space != Space::Original {
        return Err("truth is given in the global space".into());
    }
    Ok(())
}

/// A number of the matrix of each head.
fn overlaps(protocol: &Segmentation, sums: &Sums<'_, Row>, read: fn(&Overlap) -> Reading) -> Value {
    by_head(protocol, sums, Measure::Overlap, of_matrix, |head, first| {
        read(&Overlap::of_channels(protocol.conventions, head.channels.len(), sums, first))
    })
}

/// The intersection over union of the band of each head.
fn bious(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Value {
    by_head(protocol, sums, Measure::Boundary, of_band, |_, first| {
        Band::at(sums, first).iou(&protocol.conventions)
    })
}

const HEAD_MIOU: Line = Line {
    id: "head_miou",
    measures: "How well each head does in its own classes, before fusion.",
    formula: "Truth = the channel of the original class (originals the head lacks are not scored), \
              prediction = the largest used channel. Mean of TP / (T + P - TP) over the channels that occur.",
    undefined: reasons!(heads, "no class with a defined value"),
    differs: "The spaces differ: compare a head with itself over time, not with another head.",
    example: ("heads", r#"{"species": 0.5, "state": 1.0}"#),
    number: Number::pooled(add_matrices, |protocol, sums| overlaps(protocol, sums, miou)),
    ..BY_HEAD
};

const HEAD_PIXEL_ACCURACY: Line = Line {
    id: "head_pixel_accuracy",
    measures: "The share of pixels each head gets right in its own classes.",
    formula: "Truth = the channel of the original class (originals the head lacks are not scored), \
              prediction = the largest used channel. sum TP / N; preset document: mean of TP / T over \
              channels; preset coral-mtl: sum TP / (N + 1e-6).",
    undefined: reasons!(heads, "no scored pixel", "no class with a defined value"),
    example: ("heads", r#"{"species": 0.6666666666666666, "state": 1.0}"#),
    number: Number::pooled(add_matrices, |protocol, sums| overlaps(protocol, sums, pixel_accuracy)),
    ..BY_HEAD
};

const HEAD_BIOU: Line = Line {
    id: "head_biou",
    measures: "How well each head draws boundaries between its own classes.",
    formula: "Truth = the channel of the original class (originals the head lacks are not scored), \
              prediction = the largest used channel. As biou over the channels; the head's rest channel is \
              its background.",
    undefined: reasons!(
        bands,
        "needs two or more heads",
        "truth is given in the global space",
        "head is missing in every unit",
        "no boundary in truth or prediction"
    ),
    example: ("heads", r#"{"species": 0.0, "state": 1.0}"#),
    number: Number::pooled(add_head_bands, bious),
    ..BY_HEAD
};
