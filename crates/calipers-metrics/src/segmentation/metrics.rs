//! The metric table: every number of the family in report order, and what its lines share.

use calipers_core::metric::{joined, lines_of};
use calipers_core::{Column, Metric, Range};

use super::boundary::{biou, cheng, contour_f1};
use super::heads;
use super::overlap::pixels::{IGNORED_PIXELS, SCORED_PIXELS, UNPREDICTED_PIXELS};
use super::overlap::{Confusion, agreement, classes, images, pixels, worst};
use super::probability::{calibration, classwise, reliability, temperature};
pub(crate) use super::protocol::{Measure, Segmentation};
pub(crate) use super::row::Row;
pub(crate) use super::row::evidence::*;
use super::surface;
pub(crate) use crate::line::*;

pub(crate) type Line = Metric<Segmentation>;

/// The ideas in report order, each with a table of its own.
const TABLES: &[&[Line]] = &[
    classes::METRICS,
    agreement::METRICS,
    pixels::METRICS,
    images::METRICS,
    biou::METRICS,
    cheng::METRICS,
    contour_f1::METRICS,
    calibration::METRICS,
    reliability::METRICS,
    calibration::IMAGE_METRICS,
    classwise::METRICS,
    temperature::METRICS,
    heads::metrics::METRICS,
    surface::lines::METRICS,
    worst::METRICS,
];

/// Every metric in report order.
pub(crate) const METRICS: &[Line] = &joined::<_, { lines_of(TABLES) }>(TABLES);

/// The first columns of the per-unit table.
pub(crate) const COLUMNS: &[Column<Segmentation>] = &[
    Column { name: "height", read: |_, row| length(row, row.height) },
    Column { name: "width", read: |_, row| length(row, row.width) },
    Column { name: SCORED_PIXELS.id, read: |_, row| Value::Count(row.confusion.pixels()) },
    Column { name: IGNORED_PIXELS.id, read: |_, row| Value::Count(row.ignored.into()) },
    Column {
        name: UNPREDICTED_PIXELS.id,
        read: |protocol, row| Value::Count(unpredicted(&row.confusion, protocol.classes())),
    },
];

/// Those that follow where surfaces are measured.
pub(crate) const SPATIAL_COLUMNS: &[Column<Segmentation>] = &[
    Column {
        name: "depth",
        read: |_, row| match row.space() {
            Some(space) if space.depth > 1 => Value::Count(space.depth.into()),
            _ => Value::undefined("an image has no depth"),
        },
    },
    Column { name: "spacing", read: |_, row| spacing(row) },
];

fn spacing(row: &Row) -> Value {
    let Some((space, steps)) = row.space().and_then(|space| Some((space, space.spacing?))) else {
        return Value::undefined("no spacing is known");
    };
    let first = usize::from(space.depth == 1);
    Value::Text(steps[first..].iter().map(f64::to_string).collect::<Vec<_>>().join(";"))
}

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
pub(crate) use document;

/// The reasons of a part of the report, then those of the metric itself.
macro_rules! reasons {
    (overlap $(, $reason:literal)*) => {
        concat!("\"not requested\"" $(, "; \"", $reason, "\"")*, ".")
    };
    (pixels $(, $reason:literal)*) => {
        concat!("\"not requested\"; \"confusion matrices carry no pixels\"" $(, "; \"", $reason, "\"")*, ".")
    };
    (heads $(, $reason:literal)*) => {
        reasons!(
            pixels, "needs two or more heads", "truth is given in the global space",
            "head is missing in every unit" $(, $reason)*
        )
    };
    (bands $(, $reason:literal)*) => {
        concat!(
            "\"not requested\"; \"confusion matrices carry no pixels\"; ",
            "\"bands and contours are measured on 2-D images; UNIT is a volume\"" $(, "; \"", $reason, "\"")*, "."
        )
    };
    (surface $(, $reason:literal)*) => {
        concat!("\"confusion matrices carry no pixels\"" $(, "; \"", $reason, "\"")*, ".")
    };
    (scores $(, $reason:literal)*) => {
        concat!(
            "\"not requested\"; \"confusion matrices carry no pixels\"; ",
            "\"predictions are label maps, not probabilities\"" $(, "; \"", $reason, "\"")*, "."
        )
    };
}
pub(crate) use reasons;

pub(crate) const UP_TO_PIXELS: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
pub(crate) const FACTOR: Range = Range { low: 0.25, high: 4.0, text: "[1/4, 4]" };

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_column_of_the_per_unit_table_occurs_twice() {
        let metrics = METRICS.iter().filter(|metric| metric.per_unit).map(|metric| metric.id);
        let columns: Vec<&str> = COLUMNS.iter().map(|column| column.name).chain(metrics).collect();
        assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
    }

    #[test]
    fn boundary_f1_says_that_it_is_a_function_of_biou() {
        let metric = METRICS.iter().find(|metric| metric.id == "boundary_f1").unwrap();
        assert!(metric.differs.contains("2B/(1+B), B = biou"));
    }
}
