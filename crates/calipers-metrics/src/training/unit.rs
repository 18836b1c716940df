//! One run as it was logged.

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
    /// Whether the file marks missing values otherwise, so that a NaN in it was really logged.
    pub marks_missing: bool,
    /// How messages name a row of the file.
    pub place: &'a dyn Fn(u32) -> String,
}

/// One logged value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The row of the file it comes from.
    pub row: u32,
    /// Where it stands in the run: an epoch, a step or a time.
    pub x: f64,
    /// The value as logged, before scaling; may be NaN or infinite.
    pub value: f64,
}
