//! The numbers of surfaces, of each class and over classes.

use calipers_core::metric::{joined, lines_of};
use calipers_core::{IntervalRule, Number, Sums, Terms};

use super::reading::{Kind, add, by_class, mean};
use super::states;
use crate::line::{NON_NEGATIVE, SHARE, higher, lower};
use crate::segmentation::metrics::{Line, reasons};
use crate::segmentation::protocol::{Measure, Segmentation};
use crate::segmentation::row::Row;

const RELOADED: &str = "Maier-Hein et al., Metrics reloaded: recommendations for image analysis validation, \
                        Nature Methods 2024";

const SURFACE: Line = Line {
    group: "surface",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    undefined: reasons!(
        surface,
        "no surface in truth or prediction",
        "no unit has a surface in both truth and prediction",
        "infinite: K unit(s) have a surface in only one of truth and prediction"
    ),
    reference: RELOADED,
    presets: |protocol| protocol.measures(Measure::Surface),
    ..Line::DEFAULTS
};
const MEAN: Line = Line {
    undefined: reasons!(
        surface,
        "no class with a defined value",
        "infinite: K unit(s) have a surface in only one of truth and prediction"
    ),
    interval: IntervalRule::OverLabels,
    ..SURFACE
};
const SHARE_OF_SURFACE: Line = Line { better: higher, range: SHARE, ..SURFACE };

const TABLES: &[&[Line]] = &[
    &[
        MEAN_DICE,
        MEAN_HD,
        MEAN_HD95,
        MEAN_HD_P,
        MEAN_ASSD,
        MEAN_MASD,
        MEAN_NSD,
        DICE,
        HD,
        HD95,
        HD_P,
        ASD_FROM_TRUTH,
        ASD_FROM_PRED,
        ASSD,
        MASD,
        NSD,
    ],
    states::METRICS,
];

pub(crate) const METRICS: &[Line] = &joined::<_, { lines_of(TABLES) }>(TABLES);

/// What a unit adds to the sums of a number; the number of each class and its mean share them.
macro_rules! terms {
    ($($name:ident: $kind:ident),*) => {
        $(fn $name<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
            add(protocol, row, terms, Kind::$kind);
        })*
    };
}
terms!(
    dice: Dice,
    hd: Largest,
    hd95: At95,
    hd_p: AtPercentile,
    asd_from_truth: FromTruth,
    asd_from_pred: FromPred,
    assd: MeanOfAll,
    masd: MeanOfMeans,
    nsd: Within
);

macro_rules! by_class {
    ($terms:ident, $kind:ident) => {
        Number::pooled($terms, |protocol: &Segmentation, sums: &Sums<'_, Row>| {
            by_class(protocol, sums, Kind::$kind)
        })
    };
}

macro_rules! mean {
    ($terms:ident, $kind:ident) => {
        Number::pooled($terms, |protocol: &Segmentation, sums: &Sums<'_, Row>| {
            mean(protocol, sums, Kind::$kind)
        })
    };
}

const SHARE_MEAN: Line = Line { better: higher, range: SHARE, ..MEAN };

const MEAN_DICE: Line = Line {
    id: "mean_dice",
    measures: "The mean Dice coefficient of the foreground classes.",
    formula: concat!("Mean of dice over the foreground classes that have a value. ", conventions!()),
    undefined: reasons!(overlap, "no class with a defined value"),
    differs: "mean_f1 pools the pixels of all units before it divides; this is a mean over units first.",
    example: ("surface-distances", "0.5"),
    headline: Some(9),
    number: mean!(dice, Dice),
    ..SHARE_MEAN
};

const MEAN_HD: Line = Line {
    id: "mean_hd",
    measures: "The mean Hausdorff distance of the foreground classes.",
    formula: concat!("Mean of hd over the foreground classes that have a value. ", conventions!()),
    example: ("surface-distances", "1.4142135623730951"),
    number: mean!(hd, Largest),
    ..MEAN
};

const MEAN_HD95: Line = Line {
    id: "mean_hd95",
    measures: "The mean 95th percentile of the surface distances of the foreground classes.",
    formula: concat!("Mean of hd95 over the foreground classes that have a value. ", conventions!()),
    example: ("surface-distances", "1.2278174593052023"),
    headline: Some(10),
    number: mean!(hd95, At95),
    ..MEAN
};

const MEAN_HD_P: Line = Line {
    id: "mean_hd_p",
    measures: "The mean of hd_p over the foreground classes.",
    formula: concat!("Mean of hd_p over the foreground classes that have a value. ", conventions!()),
    example: ("surface-distances", "1.0"),
    presets: HD_P.presets,
    number: mean!(hd_p, AtPercentile),
    ..MEAN
};

const MEAN_ASSD: Line = Line {
    id: "mean_assd",
    measures: "The mean average distance between the surfaces of the foreground classes.",
    formula: concat!("Mean of assd over the foreground classes that have a value. ", conventions!()),
    example: ("surface-distances", "0.8414213562373095"),
    headline: Some(11),
    number: mean!(assd, MeanOfAll),
    ..MEAN
};

const MEAN_MASD: Line = Line {
    id: "mean_masd",
    measures: "The mean of masd over the foreground classes.",
    formula: concat!("Mean of masd over the foreground classes that have a value. ", conventions!()),
    example: ("surface-distances", "0.8414213562373095"),
    number: mean!(masd, MeanOfMeans),
    ..MEAN
};

const MEAN_NSD: Line = Line {
    id: "mean_nsd",
    measures: "The mean share of surface within the tolerance, over the classes that have one.",
    formula: concat!("Mean of nsd over the foreground classes that have a value. ", conventions!()),
    undefined: reasons!(surface, "no tolerance is given", "no class with a defined value"),
    example: ("surface-distances", "0.9"),
    headline: Some(12),
    number: mean!(nsd, Within),
    ..SHARE_MEAN
};

const DICE: Line = Line {
    id: "dice",
    measures: "The overlap of each class, every unit counting the same.",
    formula: "Mean over units of 2 TP / (T + P), the unit's own f1. A unit without the class in either \
              map: left out, or 1 with surface.absent = perfect. The same in all four conventions.",
    undefined: reasons!(overlap, "class occurs in neither truth nor prediction"),
    differs: "f1 pools the pixels of all units: another number as soon as there are two units.",
    example: ("surface-distances", r#"{"1": 0.5}"#),
    number: by_class!(dice, Dice),
    ..SHARE_OF_SURFACE
};

const HD: Line = Line {
    id: "hd",
    measures: "The Hausdorff distance: how far the surfaces of truth and prediction are apart at most.",
    formula: concat!(
        "Surface: elements of the class with a face neighbour of another label or outside the image; a \
         face towards void makes no surface. d = the Euclidean distance to the nearest element of the \
         other surface, in the units of the spacing. Largest d of both directions; mean over the units \
         that have one. ",
        conventions!()
    ),
    differs: "One element far away decides it; hd95 leaves the farthest 5 % out.",
    example: ("surface-distances", r#"{"1": 1.4142135623730951}"#),
    number: by_class!(hd, Largest),
    ..SURFACE
};

/// The distance that the farthest 5 % of two surfaces are beyond.
pub const HD95: Line = Line {
    id: "hd95",
    measures: "How far the surfaces are apart, without the farthest 5 %.",
    formula: concat!(
        "The larger of the 95th percentiles of the distances from truth and from prediction, linear \
         between the two nearest ranks: h = 0.95 (n - 1); mean over units. medpy: the percentile of both \
         lists together. deepmind: the smallest distance at which the weights reach 95 %. ",
        conventions!()
    ),
    differs: "Pooling both lists, as medpy does, hides the errors of the smaller surface.",
    example: ("surface-distances", r#"{"1": 1.2278174593052023}"#),
    number: by_class!(hd95, At95),
    ..SURFACE
};

const HD_P: Line = Line {
    id: "hd_p",
    measures: "As hd95, at the percentile that was asked for.",
    formula: concat!(
        "As hd95 with surface.percentile in place of 95. Left out of reports without one. ",
        conventions!()
    ),
    example: ("surface-distances", r#"{"1": 1.0}"#),
    presets: |protocol| protocol.surface.as_ref().is_some_and(|surface| surface.percentile.is_some()),
    number: by_class!(hd_p, AtPercentile),
    ..SURFACE
};

const ASD_FROM_TRUTH: Line = Line {
    id: "asd_from_truth",
    measures: "The average distance from the true surface to the predicted one.",
    formula: concat!(
        "Mean of the distances of the true surface's elements; mean over units. deepmind: weighted. ",
        conventions!()
    ),
    differs: "It grows with what is missed, not with what is invented; asd_from_pred is its counterpart.",
    example: ("surface-distances", r#"{"1": 0.8414213562373095}"#),
    per_unit: false,
    number: by_class!(asd_from_truth, FromTruth),
    ..SURFACE
};

const ASD_FROM_PRED: Line = Line {
    id: "asd_from_pred",
    measures: "The average distance from the predicted surface to the true one.",
    formula: concat!(
        "Mean of the distances of the predicted surface's elements; mean over units. deepmind: weighted. ",
        conventions!()
    ),
    example: ("surface-distances", r#"{"1": 0.8414213562373095}"#),
    per_unit: false,
    number: by_class!(asd_from_pred, FromPred),
    ..SURFACE
};

const ASSD: Line = Line {
    id: "assd",
    measures: "The average distance between the surfaces, every element counting the same.",
    formula: concat!(
        "Sum of the distances of both directions over the number of elements of both surfaces; mean over \
         units. deepmind: weighted sums. ",
        conventions!()
    ),
    differs: "medpy 0.4 averages the two directed means under this name: that is masd.",
    example: ("surface-distances", r#"{"1": 0.8414213562373095}"#),
    number: by_class!(assd, MeanOfAll),
    ..SURFACE
};

const MASD: Line = Line {
    id: "masd",
    measures: "The average distance between the surfaces, both directions counting the same.",
    formula: concat!("(asd_from_truth + asd_from_pred) / 2 of a unit; mean over units. ", conventions!()),
    differs: "Equal to assd where both surfaces have as many elements.",
    example: ("surface-distances", r#"{"1": 0.8414213562373095}"#),
    number: by_class!(masd, MeanOfMeans),
    ..SURFACE
};

const NSD: Line = Line {
    id: "nsd",
    measures: "The share of both surfaces that lies within the tolerance of the other one.",
    formula: concat!(
        "Elements with d <= T (squared: d d <= T T (1 + 1e-6)) over all elements of both surfaces; 0 where \
         one side alone has a surface; mean over units. deepmind: weights in place of counts. ",
        conventions!()
    ),
    undefined: reasons!(surface, "no tolerance is given", "no surface in truth or prediction"),
    differs: "Also called surface Dice. There is no default tolerance: none fits both cells and livers.",
    example: ("surface-distances", r#"{"1": 0.9}"#),
    number: by_class!(nsd, Within),
    ..SHARE_OF_SURFACE
};
