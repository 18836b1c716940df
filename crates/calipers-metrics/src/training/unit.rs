//! One run as it was logged.

use calipers_core::Stored;

/// The logged values of one metric in one run.
#[derive(Clone, Copy)]
pub struct Curve<'a> {
    /// The configuration it belongs to.
    pub group: &'a str,
    /// Which fold of the configuration it is.
    pub fold: &'a str,
    /// How many folds a file of runs lists for the configuration; `None` without such a file.
    pub folds: Option<u32>,
    /// The key that x was read from.
    pub x_key: &'a str,
    /// The logged values in the order of logging: of several at one x, the later one stands later.
    pub samples: &'a [Sample],
    /// The precision in which the values were stored.
    pub stored: Stored,
    /// Whether the file marks missing values otherwise, so that a NaN in it was really logged.
    pub marks_missing: bool,
    /// How messages name a row.
    pub place: &'a dyn Fn(u32) -> String,
}

impl<'a> Curve<'a> {
    /// A run whose x are epochs, without a file.
    pub fn new(group: &'a str, fold: &'a str, samples: &'a [Sample]) -> Self {
        let place = &|row| format!("value {row}");
        Self {
            group,
            fold,
            folds: None,
            x_key: "epoch",
            samples,
            stored: Stored::Double,
            marks_missing: false,
            place,
        }
    }

    /// The name of the unit.
    pub fn name(&self) -> String {
        unit_name(self.group, self.fold)
    }
}

/// The name of a run: `<group>/<fold>`.
pub fn unit_name(group: &str, fold: &str) -> String {
    format!("{group}/{fold}")
}

/// One logged value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The row of the file it comes from, or its position.
    pub row: u32,
    /// Where it stands in the run: an epoch, a step or a time.
    pub x: f64,
    /// The value as logged, before scaling; may be NaN or infinite.
    pub value: f64,
    /// Which of several sessions that come one after the other it belongs to; 0 where there is one.
    pub session: u32,
}

impl Sample {
    /// Values at 0, 1, 2, ...
    pub fn series(values: &[f64]) -> Vec<Self> {
        (0..).zip(values).map(|(row, &value)| Self { row, x: row.into(), value, session: 0 }).collect()
    }
}
