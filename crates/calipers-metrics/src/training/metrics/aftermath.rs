//! What follows the first saturation.

use calipers_core::{Doc, Number, Value};

use super::super::reading::{Group, NO_SATURATION, Reading, by_group, mean, number, quotient};
use super::{DEPTH, EPOCHS, Line, SHARE, higher, lower};

pub(super) const RETENTION: Line = Line {
    id: "retention",
    group: "after saturation",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "How much of what follows the first saturation is not broken.",
        formula: "Mean over the saturating runs with points after saturation of (those points - b) / those \
                  points.",
        undefined: "\"no fold saturates\"; \"every saturating fold saturates at its last evaluation\".",
        differs: "1 is steady under every preset, and a late saturation does not make a run look steady: \
                  only points after it count.",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.7}"#),
    },
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| number(retention(group)))),
    ..Line::DEFAULTS
};

pub(super) const DROP_DEPTH_MEAN: Line = Line {
    id: "drop_depth_mean",
    group: "after saturation",
    better: lower,
    range: DEPTH,
    doc: Doc {
        measures: "How far runs fall below the threshold after saturating.",
        formula: "Mean over saturating runs of the largest distance of a broken point from the threshold, \
                  0 without one.",
        undefined: "\"no fold saturates\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.2275}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            number(mean(group.saturating().map(|aftermath| aftermath.drop_depth), NO_SATURATION))
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const DROP_DEPTH_MAX: Line = Line {
    id: "drop_depth_max",
    group: "after saturation",
    better: lower,
    range: DEPTH,
    doc: Doc {
        measures: "The deepest fall below the threshold after saturating.",
        formula: "Largest distance of a broken point from the threshold over all saturating runs, 0 \
                  without one.",
        undefined: "\"no fold saturates\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.9}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            let deepest = group.saturating().map(|aftermath| aftermath.drop_depth).reduce(f64::max);
            deepest.map_or(Value::Undefined(NO_SATURATION), Value::Number)
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const LONGEST_BREAK_MAX: Line = Line {
    id: "longest_break_max",
    group: "after saturation",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "The longest time that a saturated run stays broken.",
        formula: "Most consecutive broken points over all saturating runs.",
        undefined: "\"no fold saturates\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 3}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            let longest = group.saturating().map(|aftermath| aftermath.longest_break).max();
            longest.map_or(Value::Undefined(NO_SATURATION), |points| Value::Count(points.into()))
        })
    }),
    ..Line::DEFAULTS
};

fn retention(group: &Group<'_, '_>) -> Reading {
    if group.saturating().next().is_none() {
        return Err(NO_SATURATION);
    }
    let followed = group.saturating().filter(|aftermath| aftermath.points_after > 0);
    let kept = followed.map(|aftermath| {
        quotient(aftermath.points_after - aftermath.saturation.broken, aftermath.points_after)
    });
    mean(kept, "every saturating fold saturates at its last evaluation".into())
}
