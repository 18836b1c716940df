//! What pictures read from rows: metrics by their constants, over all units or each alone.

use calipers_core::{Accumulator, Metric, Protocol, Value};
use calipers_report::chart::{Art, Picture};
use calipers_report::grid::{Cell, Grid};

/// The most rows that the data behind a picture has.
pub(super) const MOST_ROWS: usize = 20_000;

/// A metric over all units; undefined with the reason where the report has none.
pub(super) fn over_all<P: Protocol>(rows: &Accumulator<P>, metric: &Metric<P>) -> Value {
    let (protocol, all) = (rows.protocol(), rows.rows());
    if metric.is_reported(protocol, &all) {
        metric.read(protocol, &all)
    } else {
        Value::undefined("the report has no such number")
    }
}

/// A metric of each unit that has a number for it, with the name of the unit and its position.
pub(super) fn of_each<P: Protocol>(rows: &Accumulator<P>, metric: &Metric<P>) -> Vec<(usize, String, f64)> {
    let all = rows.rows();
    let fixed = rows.protocol().for_single_rows(&all);
    if !(metric.presets)(&fixed) {
        return Vec::new();
    }
    let read = |(i, (name, _)): (usize, (&str, _))| {
        let number = metric.read(&fixed, &all.single(i)).as_f64()?;
        Some((i, name.to_owned(), number))
    };
    all.named().enumerate().filter_map(read).collect()
}

/// The numbers of a series; NaN where it has none.
pub(super) fn series(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::Series(values) => {
            Some(values.iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect())
        }
        _ => None,
    }
}

/// Why a metric cannot be drawn.
pub(super) fn reason(value: &Value) -> String {
    value.reason().filter(|reason| !reason.is_empty()).unwrap_or("there is no value").to_owned()
}

/// A table behind a picture, cut to [`MOST_ROWS`].
pub(super) fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Grid {
    Grid {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: rows.into_iter().take(MOST_ROWS).collect(),
    }
}

/// A cell of words.
pub(super) fn words(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// A picture that cannot be drawn, and why.
pub(super) fn missing(slug: &str, title: &str, why: impl Into<String>) -> Picture {
    Picture {
        slug: slug.into(),
        title: title.into(),
        caption: String::new(),
        art: Art::Missing(why.into()),
        data: Vec::new(),
        unit: None,
    }
}
