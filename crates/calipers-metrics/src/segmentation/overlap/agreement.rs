//! Agreement of all pixels together, and where the wrong ones are: a split of 1 - accuracy.

use crate::segmentation::metrics::*;
use calipers_core::ExactSum;

use super::classes::{iou, recall};
use super::totals::{Overlap, pooled, total};

const SHARE_OF_PIXELS: Line = Line {
    group: "overlap",
    better: higher,
    range: SHARE,
    per_unit: true,
    reference: document!("1) Confusion-Matrix Family"),
    ..Line::DEFAULTS
};
const MISTAKES: Line = Line {
    group: "mistakes",
    better: lower,
    undefined: reasons!(overlap, "no background class is declared", "no scored pixel"),
    differs: "See classification_error.",
    ..SHARE_OF_PIXELS
};

pub(crate) const METRICS: &[Line] = &[CLASSIFICATION_ERROR, BACKGROUND_ERROR, MISSED_ERROR, FWIOU, KAPPA];

/// The share of the pixels that are right, or its reading as the mean recall.
pub(crate) fn pixel_accuracy(totals: &Overlap) -> Reading {
    if totals.conventions.macro_pixel_accuracy {
        totals.mean(|class| recall(totals, class))
    } else {
        totals.share(totals.all_hits())
    }
}

/// The wrong pixels of a background that is declared.
struct Mistakes {
    /// Background taken for foreground.
    invented: i128,
    /// Foreground taken for background.
    missed: i128,
}

fn share_of_mistakes(totals: &Overlap, pixels: impl Fn(&Mistakes) -> i128) -> Reading {
    let background = totals.background.ok_or("no background class is declared")?;
    let hits = totals.hits(background);
    let invented = totals.truth(background) - hits - totals.unpredicted(background);
    totals.share(pixels(&Mistakes { invented, missed: totals.pred(background) - hits }))
}

fn fwiou(totals: &Overlap) -> Reading {
    let present = || totals.means().filter(|&class| totals.truth(class) > 0);
    let weighted = |class| iou(totals, class).map(|iou| totals.truth(class) as f64 * iou);
    match present().map(|class| totals.truth(class)).sum() {
        0 => Err(NO_SCORED_PIXEL),
        pixels => Ok(pixel_mean(present().map(weighted).collect::<Result<ExactSum, _>>()?, pixels)),
    }
}

/// Cohen's kappa as 1 - N W / D with W = the wrong pixels and D = N^2 - E, neither of which
/// cancels: the sum of T (N - P) over classes is D.
pub(super) fn kappa(totals: &Overlap) -> Reading {
    let scored = totals.scored_pixels();
    if scored == 0 {
        return Err(NO_SCORED_PIXEL);
    }
    let wrong = scored - totals.all_hits();
    let others = || totals.all_classes().map(|class| (totals.truth(class), scored - totals.pred(class)));
    if others().all(|(truth, rest)| truth == 0 || rest == 0) {
        return Err("truth and prediction are one and the same class".into());
    }
    let exact = others().try_fold(0i128, |sum, (truth, rest)| sum.checked_add(truth.checked_mul(rest)?));
    match exact.zip(scored.checked_mul(wrong)) {
        Some((chance, observed)) => quotient(chance - observed, chance, ""),
        // More pixels than squares fit in 127 bits: the same formula, rounded at each step.
        None => {
            let chance: f64 = others().map(|(truth, rest)| truth as f64 * rest as f64).sum();
            Ok(1.0 - scored as f64 * wrong as f64 / chance)
        }
    }
}

pub(super) const PIXEL_ACCURACY: Line = Line {
    id: "pixel_accuracy",
    measures: "The share of the scored pixels that are predicted right.",
    formula: "sum TP / N. Preset document: mean of recall over the classes of the means. Preset coral-mtl: \
              sum TP / (N + 1e-6).",
    undefined: reasons!(overlap, "no scored pixel", "no class with a defined value"),
    differs: "The document calls for a macro average; that reading is mean_class_accuracy.",
    example: ("void", "0.6666666666666666"),
    headline: Some(2),
    number: pooled(|protocol, sums| total(protocol, sums, pixel_accuracy)),
    ..SHARE_OF_PIXELS
};

const CLASSIFICATION_ERROR: Line = Line {
    id: "classification_error",
    measures: "The share of pixels where one foreground class is taken for another.",
    formula: "Pixels with truth and prediction foreground and different / N. Preset coral-mtl: / (N + 1e-6).",
    differs: "Called TIDE-style, but it is no TIDE: no objects are matched. With background_error, \
              missed_error and the pixels without a prediction it adds up to 1 - sum TP / N.",
    example: ("void", "0.1111111111111111"),
    number: pooled(|protocol, sums| {
        total(protocol, sums, |totals| {
            let wrong = totals.scored_pixels() - totals.all_hits() - totals.unpredicted_pixels();
            share_of_mistakes(totals, |others| wrong - others.invented - others.missed)
        })
    }),
    ..MISTAKES
};

const BACKGROUND_ERROR: Line = Line {
    id: "background_error",
    measures: "The share of pixels where background is taken for foreground.",
    formula: "Background pixels predicted as a foreground class / N. Preset coral-mtl: / (N + 1e-6).",
    example: ("void", "0.1111111111111111"),
    number: pooled(|protocol, sums| {
        total(protocol, sums, |totals| share_of_mistakes(totals, |wrong| wrong.invented))
    }),
    ..MISTAKES
};

const MISSED_ERROR: Line = Line {
    id: "missed_error",
    measures: "The share of pixels where foreground is taken for background.",
    formula: "Foreground pixels predicted as background / N. Preset coral-mtl: / (N + 1e-6).",
    example: ("void", "0.1111111111111111"),
    number: pooled(|protocol, sums| {
        total(protocol, sums, |totals| share_of_mistakes(totals, |wrong| wrong.missed))
    }),
    ..MISTAKES
};

const FWIOU: Line = Line {
    id: "fwiou",
    measures: "IoU with each class counting by its pixels.",
    formula: "sum T iou / sum T over the classes of the means that occur in truth.",
    undefined: reasons!(overlap, "no scored pixel"),
    differs: "Classes that are only predicted have no weight.",
    reference: "Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, CVPR \
                2015",
    example: ("confusion-matrices", "0.6628571428571428"),
    number: pooled(|protocol, sums| total(protocol, sums, fwiou)),
    ..SHARE_OF_PIXELS
};

const KAPPA: Line = Line {
    id: "kappa",
    range: SIGNED,
    measures: "Agreement of truth and prediction beyond what their class frequencies give by chance.",
    formula: "(N sum TP - E) / (N^2 - E), E = sum of T P over classes, in whole numbers.",
    undefined: reasons!(overlap, "no scored pixel", "truth and prediction are one and the same class"),
    differs: "Pixels without a prediction are in N and in nobody's P.",
    reference: "Cohen, A coefficient of agreement for nominal scales, 1960",
    example: ("confusion-matrices", "0.5876288659793815"),
    number: pooled(|protocol, sums| total(protocol, sums, kappa)),
    ..SHARE_OF_PIXELS
};
