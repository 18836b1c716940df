//! Which numbers follow from sums over images, and how.

use calipers_core::{Metric, Pooling, Sum, Tally, Term, Value};

use super::boundary_reading::{
    Band, Contour, Side, class_contour_terms, class_terms, contour_f1s_from_sums, contour_terms,
    ious_from_sums, mean_contour_f1, mean_iou, pooled_terms,
};
use super::calibration_reading::{
    Calibration, best_temperature_from_sums, class_errors_from_sums, classwise_terms, mean_class_error,
    temperature_terms,
};
use super::heads_reading::{biou_from_sums, head_band_terms, head_overlap_terms, overlaps_from_sums};
use super::overlap_reading::{Mistake, Overlap, each_class, each_count, iou_means, iou_terms};
use super::protocol::Segmentation;
use super::reading::{Reading, number, per_label};
use super::row::Row;

type Terms = fn(&Segmentation, &Row) -> Vec<Term>;
type Read = fn(&Segmentation, &[Sum]) -> Value;

/// How the metric over many images follows from sums over them.
pub(crate) fn pooling(metric: &Metric<Segmentation>) -> Pooling<Segmentation> {
    let overlap = |read: Read| tally("overlap", Overlap::terms, read);
    let band = |read: Read| tally("band", pooled_terms, read);
    let outer = |read: Read| tally("outer", |protocol, row| class_terms(protocol, row, Side::Outer), read);
    let inner = |read: Read| tally("inner", |protocol, row| class_terms(protocol, row, Side::Inner), read);
    let contour = |read: Read| tally("contour", contour_terms, read);
    let contours = |read: Read| tally("contours by class", class_contour_terms, read);
    let classwise = |read: Read| tally("classwise", classwise_terms, read);
    let heads = |read: Read| tally("heads", head_overlap_terms, read);
    let calibration = |read: Read| tally("calibration", Calibration::terms, read);
    match metric.id {
        "iou" => overlap(|p, sums| by_class(p, sums, Overlap::printed_iou)),
        "precision" => overlap(|p, sums| by_class(p, sums, Overlap::precision)),
        "recall" => overlap(|p, sums| by_class(p, sums, Overlap::recall)),
        "f1" => overlap(|p, sums| by_class(p, sums, Overlap::f1)),
        "miou" => overlap(|p, sums| number(Overlap::from_sums(p, sums).miou())),
        "pixel_accuracy" => overlap(|p, sums| number(Overlap::from_sums(p, sums).pixel_accuracy())),
        "mean_precision" => overlap(|p, sums| over_classes(p, sums, Overlap::precision)),
        "mean_recall" | "mean_class_accuracy" => overlap(|p, sums| over_classes(p, sums, Overlap::recall)),
        "mean_f1" => overlap(|p, sums| over_classes(p, sums, Overlap::f1)),
        "classification_error" => overlap(|p, sums| mistakes(p, sums, Mistake::Classification)),
        "background_error" => overlap(|p, sums| mistakes(p, sums, Mistake::Background)),
        "missed_error" => overlap(|p, sums| mistakes(p, sums, Mistake::Missed)),
        "truth_pixels" => overlap(|p, sums| counts(p, sums, Overlap::truth_pixels)),
        "pred_pixels" => overlap(|p, sums| counts(p, sums, Overlap::pred_pixels)),
        "iou_image" => tally("iou by image", iou_terms, iou_means),
        "fwiou" => overlap(|p, sums| number(Overlap::from_sums(p, sums).fwiou())),
        "kappa" => overlap(|p, sums| number(Overlap::from_sums(p, sums).kappa())),
        "biou" => band(|p, sums| number(Band::from_sums(sums).iou(&p.conventions))),
        "boundary_precision" => band(|p, sums| number(Band::from_sums(sums).precision(&p.conventions))),
        "boundary_recall" => band(|p, sums| number(Band::from_sums(sums).recall(&p.conventions))),
        "boundary_f1" => band(|p, sums| number(Band::from_sums(sums).f1(&p.conventions))),
        "biou_class" => outer(|p, sums| per_label(Ok(ious_from_sums(p, sums)))),
        "biou_macro" => outer(|p, sums| number(mean_iou(ious_from_sums(p, sums)))),
        "boundary_iou_cheng_class" => inner(|p, sums| per_label(Ok(ious_from_sums(p, sums)))),
        "boundary_iou_cheng" => inner(|p, sums| number(mean_iou(ious_from_sums(p, sums)))),
        "contour_precision" => contour(|_, sums| number(Contour::from_sums(sums).precision())),
        "contour_recall" => contour(|_, sums| number(Contour::from_sums(sums).recall())),
        "contour_f1" => contour(|_, sums| number(Contour::from_sums(sums).f1())),
        "contour_f1_class" => contours(|p, sums| per_label(Ok(contour_f1s_from_sums(p, sums)))),
        "contour_f1_macro" => contours(|p, sums| number(mean_contour_f1(contour_f1s_from_sums(p, sums)))),
        "ece_per_class" => classwise(|p, sums| per_label(Ok(class_errors_from_sums(p, sums)))),
        "ece_classwise" => classwise(|p, sums| number(mean_class_error(class_errors_from_sums(p, sums)))),
        "best_temperature" => {
            tally("temperatures", temperature_terms, |p, sums| number(best_temperature_from_sums(p, sums)))
        }
        "head_miou" => heads(|p, sums| overlaps_from_sums(p, sums, Overlap::miou)),
        "head_pixel_accuracy" => heads(|p, sums| overlaps_from_sums(p, sums, Overlap::pixel_accuracy)),
        "head_biou" => tally("bands of heads", head_band_terms, biou_from_sums),
        "nll" => calibration(|p, sums| number(Calibration::from_sums(p, sums).nll())),
        "brier" => calibration(|p, sums| number(Calibration::from_sums(p, sums).brier())),
        "ece" => calibration(|p, sums| number(Calibration::from_sums(p, sums).ece())),
        "mce" => calibration(|p, sums| number(Calibration::from_sums(p, sums).mce())),
        "mean_confidence" => calibration(|p, sums| number(Calibration::from_sums(p, sums).mean_confidence())),
        "miou_image" | "pixel_accuracy_image" | "biou_image" | "nll_image" | "brier_image" | "ece_image" => {
            Pooling::Mean
        }
        "scored_pixels" | "ignored_pixels" | "unpredicted_pixels" | "nll_infinite_pixels" => Pooling::Total,
        _ => Pooling::Rows,
    }
}

fn tally(name: &'static str, terms: Terms, read: Read) -> Pooling<Segmentation> {
    Pooling::Tally(Tally { name, terms, read })
}

fn by_class(protocol: &Segmentation, sums: &[Sum], read: fn(&Overlap, usize) -> Reading) -> Value {
    each_class(protocol, &Overlap::from_sums(protocol, sums), read)
}

fn counts(protocol: &Segmentation, sums: &[Sum], read: fn(&Overlap, usize) -> i128) -> Value {
    each_count(protocol, &Overlap::from_sums(protocol, sums), read)
}

fn over_classes(protocol: &Segmentation, sums: &[Sum], read: fn(&Overlap, usize) -> Reading) -> Value {
    number(Overlap::from_sums(protocol, sums).over_classes(read))
}

fn mistakes(protocol: &Segmentation, sums: &[Sum], mistake: Mistake) -> Value {
    number(Overlap::from_sums(protocol, sums).mistakes(mistake))
}
