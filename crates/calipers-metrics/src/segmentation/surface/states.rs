//! In how many units a class has two surfaces, one, or none.

use calipers_core::{Number, Sums, Terms, Value};

use super::row::SurfaceRow;
use crate::line::{NON_NEGATIVE, lower, neither};
use crate::segmentation::metrics::{Line, reasons};
use crate::segmentation::protocol::{Measure, Segmentation};
use crate::segmentation::row::Row;
use crate::segmentation::row::evidence::{FIRST, has_pixels, pixels};

/// The columns of a class.
const STATES: usize = 4;
const BOTH: usize = 0;
const MISSED: usize = 1;
const INVENTED: usize = 2;
const ABSENT: usize = 3;

const UNITS: Line = Line {
    group: "surface",
    better: neither,
    range: NON_NEGATIVE,
    undefined: reasons!(surface),
    presets: |protocol| protocol.measures(Measure::Surface),
    ..Line::DEFAULTS
};

pub(super) const METRICS: &[Line] = &[BOTH_UNITS, MISSED_UNITS, INVENTED_UNITS, ABSENT_UNITS];

fn state(surfaces: Option<&SurfaceRow>) -> usize {
    match surfaces.map_or((0, 0), |surfaces| (surfaces.truth, surfaces.pred)) {
        (0, 0) => ABSENT,
        (_, 0) => MISSED,
        (0, _) => INVENTED,
        _ => BOTH,
    }
}

fn add_row<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(pixels) = pixels(row, terms) else { return };
    for class in protocol.foreground() {
        let surfaces = pixels.space.as_ref().and_then(|space| space.surfaces.get(&(class as u32)));
        terms.whole(FIRST + STATES * class + state(surfaces), 1);
    }
}

fn counts(protocol: &Segmentation, sums: &Sums<'_, Row>, state: usize) -> Value {
    let count = |(class, name): (usize, &str)| {
        (name.to_owned(), Value::Count(sums.whole(FIRST + STATES * class + state)))
    };
    match has_pixels(protocol, sums, Measure::Surface) {
        Ok(()) => Value::PerLabel(protocol.foreground_names().map(count).collect()),
        Err(reason) => Value::Undefined(reason),
    }
}

const BOTH_UNITS: Line = Line {
    id: "surface_both_units",
    measures: "The units in which a class has a surface in truth and prediction.",
    formula: concat!(
        "Count per foreground class. With the other three counts, the number of units. ",
        conventions!()
    ),
    differs: "Distances are means over these units alone, unless a rule gives the others a value. A mean over \
              3 of 50 units looks as good as one over 50.",
    example: ("surface-states", r#"{"organ": 1, "lesion": 0}"#),
    number: Number::pooled(add_row, |protocol, sums| counts(protocol, sums, BOTH)),
    ..UNITS
};

const MISSED_UNITS: Line = Line {
    id: "surface_missed_units",
    better: lower,
    measures: "The units in which a class has a surface in the truth alone.",
    formula: concat!("Count per foreground class. ", conventions!()),
    example: ("surface-states", r#"{"organ": 1, "lesion": 1}"#),
    number: Number::pooled(add_row, |protocol, sums| counts(protocol, sums, MISSED)),
    ..UNITS
};

const INVENTED_UNITS: Line = Line {
    id: "surface_invented_units",
    better: lower,
    measures: "The units in which a class has a surface in the prediction alone.",
    formula: concat!("Count per foreground class. ", conventions!()),
    example: ("surface-states", r#"{"organ": 0, "lesion": 1}"#),
    number: Number::pooled(add_row, |protocol, sums| counts(protocol, sums, INVENTED)),
    ..UNITS
};

const ABSENT_UNITS: Line = Line {
    id: "surface_absent_units",
    measures: "The units in which a class has no surface at all.",
    formula: concat!("Count per foreground class. ", conventions!()),
    example: ("surface-states", r#"{"organ": 1, "lesion": 1}"#),
    number: Number::pooled(add_row, |protocol, sums| counts(protocol, sums, ABSENT)),
    ..UNITS
};
