//! The metric table: every number of the family in report order, with its definition.

mod agreement;
mod by_class;
mod by_image;
mod calibration;
mod class_means;
mod classwise;
mod contour;
mod heads;
mod inner_band;
mod mistakes;
mod outer_band;
mod pixels;
mod reliability;
mod temperature;

use calipers_core::{Better, Column, Metric, Range, Value};

use crate::segmentation::overlap::confusion::Confusion;
use crate::segmentation::protocol::Segmentation;
use crate::segmentation::row::Row;

type Line = Metric<Segmentation>;

/// Every metric in report order.
pub(crate) const METRICS: &[Line] = &[
    by_class::IOU,
    class_means::MIOU,
    agreement::PIXEL_ACCURACY,
    by_class::PRECISION,
    by_class::RECALL,
    by_class::F1,
    class_means::MEAN_PRECISION,
    class_means::MEAN_RECALL,
    class_means::MEAN_F1,
    class_means::MEAN_CLASS_ACCURACY,
    mistakes::CLASSIFICATION_ERROR,
    mistakes::BACKGROUND_ERROR,
    mistakes::MISSED_ERROR,
    agreement::FWIOU,
    agreement::KAPPA,
    pixels::TRUTH_PIXELS,
    pixels::PRED_PIXELS,
    pixels::SCORED_PIXELS,
    pixels::IGNORED_PIXELS,
    pixels::UNPREDICTED_PIXELS,
    pixels::CONFUSION,
    by_image::MIOU_IMAGE,
    by_image::PIXEL_ACCURACY_IMAGE,
    by_image::IOU_IMAGE,
    outer_band::BIOU,
    outer_band::BIOU_CLASS,
    outer_band::BIOU_MACRO,
    outer_band::BOUNDARY_PRECISION,
    outer_band::BOUNDARY_RECALL,
    outer_band::BOUNDARY_F1,
    outer_band::BIOU_IMAGE,
    inner_band::BOUNDARY_IOU_CHENG_CLASS,
    inner_band::BOUNDARY_IOU_CHENG,
    contour::CONTOUR_PRECISION,
    contour::CONTOUR_RECALL,
    contour::CONTOUR_F1,
    contour::CONTOUR_F1_CLASS,
    contour::CONTOUR_F1_MACRO,
    calibration::NLL,
    calibration::NLL_INFINITE_PIXELS,
    calibration::BRIER,
    calibration::ECE,
    calibration::MCE,
    calibration::MEAN_CONFIDENCE,
    reliability::RELIABILITY_COUNT,
    reliability::RELIABILITY_CONFIDENCE,
    reliability::RELIABILITY_ACCURACY,
    by_image::NLL_IMAGE,
    by_image::BRIER_IMAGE,
    by_image::ECE_IMAGE,
    classwise::ECE_PER_CLASS,
    classwise::ECE_CLASSWISE,
    temperature::TEMPERATURE_NLL,
    temperature::BEST_TEMPERATURE,
    heads::HEAD_MIOU,
    heads::HEAD_PIXEL_ACCURACY,
    heads::HEAD_BIOU,
];

/// The first columns of the per-unit table.
pub(crate) const COLUMNS: &[Column<Segmentation>] = &[
    Column { name: "height", read: |_, row| length(row, row.height) },
    Column { name: "width", read: |_, row| length(row, row.width) },
    Column { name: "scored_pixels", read: |_, row| Value::Count(row.confusion.pixels()) },
    Column { name: "ignored_pixels", read: |_, row| Value::Count(row.ignored.into()) },
    Column {
        name: "unpredicted_pixels",
        read: |protocol, row| Value::Count(unpredicted(&row.confusion, protocol.classes())),
    },
];

fn length(row: &Row, pixels: u32) -> Value {
    match row.pixels {
        Some(_) => Value::Count(pixels.into()),
        None => Value::undefined("confusion matrices carry no pixels"),
    }
}

fn unpredicted(confusion: &Confusion, classes: usize) -> i128 {
    let cells = confusion.cells().filter(|((_, pred), _)| *pred as usize == classes);
    cells.map(|(_, count)| i128::from(count)).sum()
}

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("Unified Metrics Pipeline for MTL vs Baseline, ", $section)
    };
}
use document;

/// The reasons of a part of the report, then those of the metric itself.
macro_rules! reasons {
    (overlap $(, $reason:literal)*) => {
        concat!("\"not requested\"" $(, "; \"", $reason, "\"")*, ".")
    };
    (pixels $(, $reason:literal)*) => {
        concat!("\"not requested\"; \"confusion matrices carry no pixels\"" $(, "; \"", $reason, "\"")*, ".")
    };
    (scores $(, $reason:literal)*) => {
        concat!(
            "\"not requested\"; \"confusion matrices carry no pixels\"; ",
            "\"predictions are label maps, not probabilities\"" $(, "; \"", $reason, "\"")*, "."
        )
    };
}
use reasons;

const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
const AGREEMENT: Range = Range { low: -1.0, high: 1.0, text: "[-1, 1]" };
const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
const UP_TO_TWO: Range = Range { low: 0.0, high: 2.0, text: "[0, 2]" };
const UP_TO_PIXELS: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
const FACTOR: Range = Range { low: 0.25, high: 4.0, text: "[1/4, 4]" };

fn higher(_: &Segmentation) -> Better {
    Better::Higher
}

fn lower(_: &Segmentation) -> Better {
    Better::Lower
}

fn neither(_: &Segmentation) -> Better {
    Better::Neither
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_id_occurs_twice_and_ids_are_snake_case() {
        let ids: BTreeSet<_> = METRICS.iter().map(|metric| metric.id).collect();
        assert_eq!(ids.len(), METRICS.len());
        for id in ids {
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{id}");
        }
    }

    #[test]
    fn no_column_of_the_per_unit_table_occurs_twice() {
        let metrics = METRICS.iter().filter(|metric| metric.per_unit).map(|metric| metric.id);
        let columns: Vec<&str> = COLUMNS.iter().map(|column| column.name).chain(metrics).collect();
        assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
    }

    #[test]
    fn every_definition_is_written_out() {
        for Metric { id, doc, .. } in METRICS {
            for (heading, text) in
                [("measures", doc.measures), ("formula", doc.formula), ("reference", doc.reference)]
            {
                assert!(!text.is_empty(), "{id} lacks {heading}");
            }
            assert!(!doc.example.0.is_empty() && !doc.example.1.is_empty(), "{id} lacks an example");
        }
    }

    #[test]
    fn boundary_f1_says_that_it_is_a_function_of_biou() {
        let metric = METRICS.iter().find(|metric| metric.id == "boundary_f1").unwrap();
        assert!(metric.doc.differs.contains("2B/(1+B), B = biou"));
    }
}
