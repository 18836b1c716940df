//! The lines of one metric: numbers with as many digits as are worth reading, series, and what is below them.

use calipers_core::resample::Bounds;
use calipers_core::{Better, Form, Value};

use super::form::in_words;
use super::{Cell, Digits, Line, Spread};
use crate::leaf::{Leaf, children, leaf};
use crate::sparkline::sparkline;

/// How the lines of a metric are written.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) form: Form,
    /// The most values of it.
    pub(super) most: usize,
    pub(super) spread: Spread,
}

/// The line of a value, and those of the values inside it.
pub(super) fn push_lines(
    lines: &mut Vec<Line>,
    depth: usize,
    (name, path): (String, String),
    (value, bounds): (&Value, Option<&Bounds>),
    how: How,
) {
    let line = |depth: usize, name: String, path: String, cell: Cell| Line {
        depth,
        name,
        path,
        cell,
        better: Better::Neither,
        range: "",
    };
    let cell = cell(value, bounds.and_then(Bounds::single), how);
    let nested = matches!(cell, Cell::Heading);
    lines.push(line(depth, name, path.clone(), cell));
    if nested {
        let below = children(value);
        let left_out = below.len().saturating_sub(how.most);
        for (key, child) in below.into_iter().take(how.most) {
            let below = bounds.and_then(|bounds| bounds.below(&key));
            let names = (key.clone(), format!("{path}.{key}"));
            push_lines(lines, depth + 1, names, (child, below), how);
        }
        if left_out > 0 {
            lines.push(line(depth + 1, String::new(), path, Cell::Omitted(left_out)));
        }
    }
}

fn cell(value: &Value, bounds: Option<[f64; 2]>, How { form, spread, .. }: How) -> Cell {
    if let Some(words) = in_words(value, form) {
        return if form == Form::Interval { Cell::Interval(words) } else { Cell::Sweep(words) };
    }
    match (value, leaf(value)) {
        (_, Some(Leaf::Undefined(reason))) => Cell::Undefined(reason.into()),
        (_, Some(found)) => {
            let digits = match (found, bounds) {
                (Leaf::Number(x), _) => Digits::alone(x, bounds),
                (_, Some(bounds)) => Digits::of_count(bounds),
                (_, None) => Digits::alone(0.0, None),
            };
            let number = found.as_f64();
            Cell::Number(digits.leaf(found), bounds.map(|bounds| digits.spread(spread, number, bounds)))
        }
        (Value::Series(values), None) => sparkline(values).map_or(Cell::Heading, |bars| Cell::Series {
            bars,
            ends: ends(values),
            length: values.len(),
        }),
        _ => Cell::Heading,
    }
}

fn ends(values: &[Value]) -> String {
    let end = |value: Option<&Value>| value.and_then(leaf).map(short).unwrap_or_default();
    match values.len() {
        0 => "empty".into(),
        1 => end(values.first()),
        _ => format!("{} … {}", end(values.first()), end(values.last())),
    }
}

/// A single number and its interval, with the digits that this justifies; `None` for what is no number.
pub(crate) fn number(value: &Value, bounds: Option<[f64; 2]>) -> Option<(String, Option<String>)> {
    match cell(value, bounds, How { form: Form::Plain, most: 0, spread: Spread::Brackets }) {
        Cell::Number(number, interval) => Some((number, interval)),
        _ => None,
    }
}

fn short(leaf: Leaf<'_>) -> String {
    let x = if let Leaf::Number(x) = leaf { x } else { 0.0 };
    Digits::alone(x, None).leaf(leaf)
}
