//! Where a value stands in its run: which key is x, and the x of each row.

use std::collections::BTreeMap;

use calipers_core::spelling::nearest;
use calipers_core::{Error, Result};
use calipers_io::history::{Numbers, Origin, Table};

/// The keys that are x when none is named: the first that a table has.
pub const DEFAULTS: [&str; 8] = [
    "epoch",
    "train/epoch",
    "trainer/global_step",
    "train/global_step",
    "global_step",
    "step",
    "Step",
    "_step",
];

/// The keys that say which of two values at one x was logged later: the first that a table has
/// and that is not x itself.
pub const LATER: [&str; 8] = [
    "_step",
    "step",
    "trainer/global_step",
    "train/global_step",
    "global_step",
    "_timestamp",
    "timestamp",
    "wall_time",
];

/// The word that stands for the position of a row.
pub const ROW: &str = "row";
const STEP: &str = "step";

/// The x of the rows of a table.
#[derive(Debug)]
pub struct XAxis<'a> {
    /// The key it is read from.
    pub key: &'a str,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    /// The position in the file, of which so many rows come before the table.
    Row(usize),
    Column(&'a Numbers),
    /// Values were logged one key at a time; those at the same step belong together.
    AtStep {
        steps: &'a Numbers,
        by_step: BTreeMap<u64, f64>,
    },
}

impl<'a> XAxis<'a> {
    /// The x that was asked for, else the one that belongs to the format. `own` is the x that the
    /// file itself names.
    pub fn choose(table: &'a Table, asked: Option<&'a str>, own: Option<&'a str>) -> Result<Self> {
        let none = |tried: &str| {
            Error::value("no x was found")
                .found(format!("the keys {}", table.keys.join(", ")))
                .allowed(tried)
                .advice("name the x of a row with --x KEY, or count rows with --x row")
        };
        let Some(key) = asked.or_else(|| default(table, own)) else {
            return Err(none(&DEFAULTS.join(", ")));
        };
        if key == ROW {
            return Ok(Self { key, source: Source::Row(table.before) });
        }
        let column = table.number(key).ok_or_else(|| match asked {
            Some(_) => missing(table, key),
            None => none(key),
        })?;
        readable(column)?;
        let apart = matches!(table.origin, Origin::Tensorboard | Origin::Mlflow);
        let source = match table.number(STEP) {
            Some(steps) if apart && !["step", "wall_time", "timestamp"].contains(&key) => {
                readable(steps)?;
                let mut step_of = Cursor::new(steps);
                let at_step = |(row, x): (&u32, &f64)| Some((step_of.at(*row)?.to_bits(), *x));
                // Of several x at one step the later one stands.
                let by_step = column.rows.iter().zip(&column.values).filter_map(at_step).collect();
                Source::AtStep { steps, by_step }
            }
            _ => Source::Column(column),
        };
        Ok(Self { key, source })
    }

    /// Looks x up by ascending rows.
    pub fn along(&self) -> Along<'_> {
        match &self.source {
            Source::Row(before) => Along::Row(*before),
            Source::Column(column) => Along::Column(Cursor::new(column)),
            Source::AtStep { steps, by_step } => Along::AtStep(Cursor::new(steps), by_step),
        }
    }
}

/// Where the look at x has come to.
#[derive(Debug)]
pub enum Along<'a> {
    /// Rows are x, after so many of the file.
    Row(usize),
    /// A column is.
    Column(Cursor<'a>),
    /// The x logged at the step of a row is.
    AtStep(Cursor<'a>, &'a BTreeMap<u64, f64>),
}

impl Along<'_> {
    /// The x of a row, which is not before the one asked for last.
    pub fn at(&mut self, row: u32) -> Option<f64> {
        match self {
            Self::Row(before) => Some((*before + row as usize) as f64),
            Self::Column(cursor) => cursor.at(row),
            Self::AtStep(steps, by_step) => by_step.get(&steps.at(row)?.to_bits()).copied(),
        }
    }
}

fn default<'a>(table: &'a Table, own: Option<&'a str>) -> Option<&'a str> {
    match table.origin {
        Origin::Panel => own,
        Origin::Tensorboard | Origin::TrainerState | Origin::Mlflow => Some(STEP),
        origin @ (Origin::Table | Origin::Columns | Origin::Wandb) => {
            let first = DEFAULTS.into_iter().find(|key| table.number(key).is_some());
            first.or((origin == Origin::Columns).then_some(ROW))
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

/// A key that a file does not have, with the keys it has.
pub fn missing(table: &Table, key: &str) -> Error {
    let error = Error::value(format!("no key '{key}' in the history")).found(match table.keys.as_slice() {
        [] => "no keys".into(),
        keys => format!("the keys {}", keys.join(", ")),
    });
    match nearest(key, table.keys.iter().map(String::as_str)) {
        Some(near) => error.advice(format!("did you mean '{near}'?")),
        None => error.advice("name a key exactly as the file has it"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::table;
    use super::*;

    const ONE: &[f64] = &[1.0];

    #[test]
    fn each_format_has_its_own_x() {
        let key = |format, columns: &[(&str, &[f64])]| {
            XAxis::choose(&table(format, columns), None, Some("Step")).map(|axis| axis.key.to_owned())
        };
        assert_eq!(key(Origin::Table, &[("_step", ONE), ("epoch", ONE)]).unwrap(), "epoch");
        assert_eq!(key(Origin::Wandb, &[("_step", ONE), ("global_step", ONE)]).unwrap(), "global_step");
        assert_eq!(key(Origin::TrainerState, &[("step", ONE), ("epoch", ONE)]).unwrap(), "step");
        assert_eq!(key(Origin::Panel, &[("Step", ONE)]).unwrap(), "Step");
        assert_eq!(key(Origin::Columns, &[("m", ONE)]).unwrap(), "row");
        for origin in [Origin::Table, Origin::TrainerState] {
            assert!(key(origin, &[("m", ONE)]).unwrap_err().to_string().contains("--x row"), "{origin:?}");
        }
    }

    #[test]
    fn an_x_that_was_logged_apart_is_joined_by_its_step() {
        let mut table = table(Origin::Tensorboard, &[("step", &[0.0, 0.0, 9.0, 9.0])]);
        let apart = |key: &str, rows: &[u32], values: &[f64]| Numbers {
            key: key.into(),
            rows: rows.to_vec(),
            values: values.to_vec(),
            unreadable: None,
            ..Numbers::default()
        };
        table.numbers.push(apart("epoch", &[0, 2], &[1.0, 2.0]));
        let axis = XAxis::choose(&table, Some("epoch"), None).unwrap();
        let mut x = axis.along();
        assert_eq!([1, 3].map(|row| x.at(row)), [Some(1.0), Some(2.0)]);
    }
}
