//! The points of MLflow metrics as the columns of a table; the file store and the database share it.

use calipers_core::{Error, Result};

use crate::history::{Numbers, Wanted};

/// The column of a point's step.
pub(in crate::history) const STEP: &str = "step";
/// The column of a point's time, in milliseconds.
pub(in crate::history) const TIMESTAMP: &str = "timestamp";

/// One logged value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::history) struct Point {
    /// The step it was logged at.
    pub(in crate::history) step: i64,
    /// When it was logged.
    pub(in crate::history) timestamp: i64,
    /// What was logged.
    pub(in crate::history) value: f64,
}

/// The points of one metric, and why the first that cannot be read cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::history) struct Metric {
    /// Which of the wanted numbers it is.
    pub(in crate::history) wanted: usize,
    /// Its points, in order.
    pub(in crate::history) points: Vec<Point>,
    /// The first point that cannot be read.
    pub(in crate::history) unreadable: Option<Error>,
}

/// Which of the wanted numbers a metric key is. A metric called `step` or `timestamp` is none: these
/// columns are the points' own.
pub(in crate::history) fn place(wanted: &Wanted, key: &str) -> Option<usize> {
    let own = key == STEP || key == TIMESTAMP;
    if own { None } else { wanted.numbers.iter().position(|number| number == key) }
}

/// One row per point, metric after metric: the columns that are wanted, in the order wanted.
pub(in crate::history) fn columns(wanted: &Wanted, metrics: Vec<Metric>) -> Result<(usize, Vec<Numbers>)> {
    let rows: usize = metrics.iter().map(|metric| metric.points.len()).sum();
    if u32::try_from(rows).is_err() {
        return Err(Error::format("too many points")
            .found(rows)
            .allowed(format_args!("at most {}", u32::MAX)));
    }
    let mut found: Vec<Option<Numbers>> = vec![None; wanted.numbers.len()];
    for (column, key) in found.iter_mut().zip(&wanted.numbers) {
        let read: fn(&Point) -> f64 = match key.as_str() {
            STEP => |point| point.step as f64,
            TIMESTAMP => |point| point.timestamp as f64,
            _ => continue,
        };
        let values = metrics.iter().flat_map(|metric| &metric.points).map(read).collect();
        *column = Some(Numbers {
            key: key.clone(),
            rows: (0..rows as u32).collect(),
            values,
            unreadable: None,
            ..Numbers::default()
        });
    }
    let mut first = 0;
    for metric in metrics {
        let next = first + metric.points.len() as u32;
        found[metric.wanted] = Some(Numbers {
            key: wanted.numbers[metric.wanted].clone(),
            rows: (first..next).collect(),
            values: metric.points.iter().map(|point| point.value).collect(),
            unreadable: metric.unreadable,
            ..Numbers::default()
        });
        first = next;
    }
    Ok((rows, found.into_iter().flatten().collect()))
}
