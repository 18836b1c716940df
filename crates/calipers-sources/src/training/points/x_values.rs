//! The x of each row under a chosen key: its position, the value beside it, or the one logged at its step.

use std::collections::BTreeMap;

use calipers_core::Result;
use calipers_io::history::{Numbers, Origin, Table};

use super::x_axis::{ROW, STEP, missing};

/// Where the x of rows comes from.
pub(super) enum Source<'a> {
    /// The position in the file; this many rows come before the table.
    Row(usize),
    Column(&'a Numbers),
    /// Values were logged one key at a time; those at the same step belong together.
    AtStep {
        steps: &'a Numbers,
        by_step: BTreeMap<u64, f64>,
    },
}

impl<'a> Source<'a> {
    /// The x that a key of the table gives.
    pub(super) fn of(table: &'a Table, key: &str) -> Result<Self> {
        if key == ROW {
            return Ok(Self::Row(table.before));
        }
        let column = table.number(key).ok_or_else(|| missing(table, key))?;
        readable(column)?;
        let apart = matches!(table.origin, Origin::Tensorboard | Origin::Mlflow | Origin::Dvclive);
        Ok(match table.number(STEP) {
            Some(steps) if apart && ![STEP, "wall_time", "timestamp"].contains(&key) => {
                readable(steps)?;
                let mut step_of = Cursor::new(steps);
                let at_step = |(row, x): (&u32, &f64)| Some((step_of.at(*row)?.to_bits(), *x));
                // Of several x at one step the later one stands.
                let by_step = column.rows.iter().zip(&column.values).filter_map(at_step).collect();
                Self::AtStep { steps, by_step }
            }
            _ => Self::Column(column),
        })
    }

    /// Looks x up by ascending rows.
    pub(super) fn along(&self) -> Along<'_> {
        match self {
            Self::Row(before) => Along::Row(*before),
            Self::Column(column) => Along::Column(Cursor::new(column)),
            Self::AtStep { steps, by_step } => Along::AtStep(Cursor::new(steps), by_step),
        }
    }
}

/// Looks x up by ascending rows.
pub(super) enum Along<'a> {
    /// The position of a row is x, counted from this row of the file.
    Row(usize),
    /// A column is.
    Column(Cursor<'a>),
    /// The x logged at the step of a row is.
    AtStep(Cursor<'a>, &'a BTreeMap<u64, f64>),
}

impl Along<'_> {
    /// The x of a row, which is not before the one asked for last.
    pub(super) fn at(&mut self, row: u32) -> Option<f64> {
        match self {
            Self::Row(before) => Some((*before + row as usize) as f64),
            Self::Column(cursor) => cursor.at(row),
            Self::AtStep(steps, by_step) => by_step.get(&steps.at(row)?.to_bits()).copied(),
        }
    }
}

/// Looks values up by ascending rows.
#[derive(Debug)]
pub struct Cursor<'a> {
    column: &'a Numbers,
    next: usize,
}

impl<'a> Cursor<'a> {
    /// Before the first row.
    pub fn new(column: &'a Numbers) -> Self {
        Self { column, next: 0 }
    }

    /// The value of a row, which is not before the one asked for last.
    pub fn at(&mut self, row: u32) -> Option<f64> {
        let rows = &self.column.rows;
        while rows.get(self.next).is_some_and(|at| *at < row) {
            self.next += 1;
        }
        (rows.get(self.next) == Some(&row)).then(|| self.column.values[self.next])
    }
}

/// Passes on why a column cannot be used.
pub fn readable(column: &Numbers) -> Result<()> {
    column.unreadable.clone().map_or(Ok(()), Err)
}
