//! Numbers of each class, and their means over classes.

use super::agreement::PIXEL_ACCURACY;
use super::totals::{Overlap, by_class, class_mean, pooled};
use crate::segmentation::metrics::*;

const IN_NEITHER: &str = "class occurs in neither truth nor prediction";

/// What numbers of each class have in common.
const BY_CLASS: Line = Line {
    group: "overlap",
    better: higher,
    range: SHARE,
    reference: document!("1) Confusion-Matrix Family"),
    ..Line::DEFAULTS
};
/// What means over classes have in common.
const CLASS_MEAN: Line = Line {
    per_unit: true,
    interval: IntervalRule::OverLabels,
    undefined: reasons!(overlap, "no class with a defined value"),
    ..BY_CLASS
};

pub(crate) const METRICS: &[Line] = &[
    IOU,
    MIOU,
    PIXEL_ACCURACY,
    PRECISION,
    RECALL,
    F1,
    MEAN_PRECISION,
    MEAN_RECALL,
    MEAN_F1,
    MEAN_CLASS_ACCURACY,
];

/// The class's intersection over union, the one of the means.
pub(super) fn iou(totals: &Overlap, class: usize) -> Reading {
    let (hits, truth, pred) = (totals.hits(class), totals.truth(class), totals.pred(class));
    quotient(hits, truth + pred - hits, IN_NEITHER)
}

/// The same as it is printed: some print 0 for a class in neither map.
fn printed_iou(totals: &Overlap, class: usize) -> Reading {
    let iou = iou(totals, class);
    if totals.conventions.absent_iou_is_zero { iou.or(Ok(0.0)) } else { iou }
}

fn precision(totals: &Overlap, class: usize) -> Reading {
    quotient(totals.hits(class), totals.pred(class), "class is never predicted")
}

pub(super) fn recall(totals: &Overlap, class: usize) -> Reading {
    quotient(totals.hits(class), totals.truth(class), "class does not occur in truth")
}

/// With at least one hit, 2PR/(P+R) is the quotient of counts as well.
fn f1(totals: &Overlap, class: usize) -> Reading {
    let hits = totals.hits(class);
    if totals.conventions.harmonic_f1 {
        precision(totals, class)?;
        recall(totals, class)?;
        if hits == 0 {
            return Err("precision and recall are both 0".into());
        }
    }
    quotient(2 * hits, totals.truth(class) + totals.pred(class), IN_NEITHER)
}

/// The mean of the classes' intersections over union.
pub(crate) fn miou(totals: &Overlap) -> Reading {
    totals.mean(|class| iou(totals, class))
}

/// The intersection over union of each class.
pub const IOU: Line = Line {
    id: "iou",
    measures: "How well the pixels predicted as a class cover the pixels of the class.",
    formula: "TP / (T + P - TP) for each class: T pixels of the class, P pixels predicted as it, TP both, \
              over all units.",
    undefined: reasons!(overlap, "class occurs in neither truth nor prediction"),
    differs: "Preset torchmetrics-jaccard prints 0 for a class in neither map, and still leaves it out of \
              miou. From scores the predicted class is that of the fused heads, as miou says.",
    example: (
        "absent-class",
        r#"{"sky": 0.5, "road": 0.3333333333333333, "car": 0.0, "sign": 0.0, "boat": null}"#,
    ),
    number: pooled(|protocol, sums| by_class(protocol, sums, printed_iou)),
    ..BY_CLASS
};

/// The mean intersection over union of all classes.
pub const MIOU: Line = Line {
    id: "miou",
    measures: "How well the classes are covered, each class counting the same.",
    formula: "Mean of iou over the classes of the means: all, or all but the background with \
              include_background = false; undefined ones left out.",
    differs: "From the matrices of all units summed; miou_image is the mean over images. A class in neither \
              map is left out, not counted as 0 or 1. Preset coral-mtl: 0 when no class has a value. From scores \
              the predicted class is the argmax of fused probabilities: a softmax over the channels of each \
              head with its tau, a product over heads with alpha, summed by global class. A channel of \
              several originals is divided by their number, which the document leaves out: it would weigh \
              coarse channels more. A flat model is one head and is summed before the argmax too; the \
              document takes the argmax of its channels first.",
    example: ("void", "0.5"),
    headline: Some(1),
    number: pooled(|protocol, sums| class_mean(protocol, sums, iou)),
    ..CLASS_MEAN
};

const PRECISION: Line = Line {
    id: "precision",
    measures: "The share of the pixels predicted as a class that belong to it.",
    formula: "TP / P for each class.",
    undefined: reasons!(overlap, "class is never predicted"),
    differs: "Undefined, not 0, for a class that is never predicted.",
    example: (
        "absent-class",
        r#"{"sky": 0.6666666666666666, "road": 0.5, "car": null, "sign": 0.0, "boat": null}"#,
    ),
    number: pooled(|protocol, sums| by_class(protocol, sums, precision)),
    ..BY_CLASS
};

const RECALL: Line = Line {
    id: "recall",
    measures: "The share of the pixels of a class that are predicted as it.",
    formula: "TP / T for each class; T counts pixels without a prediction.",
    undefined: reasons!(overlap, "class does not occur in truth"),
    differs: "Often called class accuracy.",
    example: (
        "absent-class",
        r#"{"sky": 0.6666666666666666, "road": 0.5, "car": 0.0, "sign": null, "boat": null}"#,
    ),
    number: pooled(|protocol, sums| by_class(protocol, sums, recall)),
    ..BY_CLASS
};

const F1: Line = Line {
    id: "f1",
    measures: "The harmonic mean of precision and recall of a class; the same number as its Dice \
               coefficient.",
    formula: "2 TP / (T + P) for each class. Presets document, coral-mtl and mmseg: 2PR/(P+R) of precision \
              and recall.",
    undefined: reasons!(
        overlap,
        "class occurs in neither truth nor prediction",
        "class is never predicted",
        "class does not occur in truth",
        "precision and recall are both 0"
    ),
    differs: "A class without a hit has 0. The presets with 2PR/(P+R) have no value there and so leave their \
              worst classes out of the mean.",
    example: (
        "absent-class",
        r#"{"sky": 0.6666666666666666, "road": 0.5, "car": 0.0, "sign": 0.0, "boat": null}"#,
    ),
    number: pooled(|protocol, sums| by_class(protocol, sums, f1)),
    ..BY_CLASS
};

const MEAN_PRECISION: Line = Line {
    id: "mean_precision",
    measures: "Precision with each class counting the same.",
    formula: "Mean of precision over the classes of the means: all, or all but the background with \
              include_background = false; undefined ones left out.",
    differs: "Preset coral-mtl: 0 when no class has a value.",
    example: ("absent-class", "0.3888888888888889"),
    number: pooled(|protocol, sums| class_mean(protocol, sums, precision)),
    ..CLASS_MEAN
};

const MEAN_RECALL: Line = Line {
    id: "mean_recall",
    measures: "Recall with each class counting the same.",
    formula: "Mean of recall over the classes of the means: all, or all but the background with \
              include_background = false; undefined ones left out.",
    differs: "Preset coral-mtl: 0 when no class has a value.",
    example: ("absent-class", "0.3888888888888889"),
    number: pooled(|protocol, sums| class_mean(protocol, sums, recall)),
    ..CLASS_MEAN
};

const MEAN_F1: Line = Line {
    id: "mean_f1",
    measures: "F1 with each class counting the same.",
    formula: "Mean of f1 over the classes of the means: all, or all but the background with \
              include_background = false; undefined ones left out.",
    differs: "Presets document, coral-mtl and mmseg leave out classes without a hit, which raises the mean. \
              Preset coral-mtl: 0 when no class has a value.",
    example: ("absent-class", "0.2916666666666667"),
    headline: Some(3),
    number: pooled(|protocol, sums| class_mean(protocol, sums, f1)),
    ..CLASS_MEAN
};

const MEAN_CLASS_ACCURACY: Line = Line {
    id: "mean_class_accuracy",
    measures: "The share of a class's pixels that are right, each class counting the same.",
    formula: "The same number as mean_recall.",
    differs: "The name mmsegmentation and others use; the document calls it pixel accuracy, macro-averaged.",
    reference: "Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, CVPR \
                2015",
    example: ("absent-class", "0.3888888888888889"),
    number: MEAN_RECALL.number,
    ..CLASS_MEAN
};
