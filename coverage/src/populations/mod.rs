//! Rows as populations: their numbers over all rows are the true ones.
//!
//! ```text
//! rows     sampling units with their rows, and how a drawn one is named
//! columns  numbers of units where a family has no rate and no median
//! demo     what the demo's generators make: always there
//! real     frames of videos and published confusion matrices, where a folder of data is given
//! ```

pub(crate) mod columns;
mod demo;
mod real;
mod rows;

use std::path::Path;

use calipers::{Error, Result};

pub(crate) use rows::Drawable;

/// What a number is, which decides how well an interval of it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A mean of numbers of sampling units.
    Mean,
    /// A quotient of sums.
    Ratio,
    /// A mean over labels.
    OverLabels,
    /// A number of a label that not every unit has.
    Label,
    /// A share of sampling units.
    Rate,
    /// An order statistic.
    Median,
}

impl Kind {
    /// What tables call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Ratio => "ratio of sums",
            Self::OverLabels => "mean over labels",
            Self::Label => "one label",
            Self::Rate => "rate",
            Self::Median => "median",
        }
    }
}

/// A number of a population.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) kind: Kind,
    /// The path as intervals have it.
    pub(crate) path: String,
    /// The number over the whole population.
    pub(crate) truth: f64,
    /// Whether labels are so rare that samples lack them.
    pub(crate) rare_labels: bool,
}

/// Rows of one protocol, and the numbers that are read from them.
pub(crate) struct Part {
    pub(crate) rows: Box<dyn Drawable>,
    pub(crate) numbers: Vec<Number>,
    /// The number of each sampling unit that the rows hold, where they are no rows of a family.
    pub(crate) each: Option<&'static str>,
}

impl Part {
    /// Rows with these numbers of theirs.
    fn new(rows: Box<dyn Drawable>, numbers: &[(Kind, String)]) -> Result<Self> {
        let whole = rows.all()?;
        let number = |(kind, path): &(Kind, String)| {
            let truth = crate::sample::value(&*whole, path)
                .ok_or_else(|| Error::value("a population lacks a number").found(path))?;
            Ok(Number { kind: *kind, path: path.clone(), truth, rare_labels: false })
        };
        let numbers = numbers.iter().map(number).collect::<Result<_>>()?;
        Ok(Self { rows, numbers, each: None })
    }

    /// The rate and the median of a number that every sampling unit has alone.
    fn of_each(units: &dyn Drawable, path: &'static str) -> Result<Self> {
        let rows = rows::units_of(&columns::of_each(units, path)?);
        let numbers = [(Kind::Rate, columns::RATE.into()), (Kind::Median, columns::MEDIAN.into())];
        Ok(Self { each: Some(path), ..Self::new(Box::new(rows), &numbers)? })
    }
}

/// Rows that are drawn from.
pub(crate) struct Population {
    pub(crate) name: &'static str,
    pub(crate) parts: Vec<Part>,
}

/// Rows whose sampling units come together.
pub(crate) struct Clustered {
    pub(crate) name: &'static str,
    pub(crate) part: Part,
}

/// Several models over the same units.
pub(crate) struct Models {
    pub(crate) name: &'static str,
    /// Model after model.
    pub(crate) models: Vec<Box<dyn Drawable>>,
    pub(crate) numbers: Vec<(Kind, String)>,
}

/// Everything that is drawn from.
pub(crate) struct Populations {
    pub(crate) single: Vec<Population>,
    pub(crate) clustered: Vec<Clustered>,
    pub(crate) models: Vec<Models>,
}

/// Those of the demo's generators, and those of a folder of data.
pub(crate) fn all(data: Option<&Path>, threads: usize) -> Result<Populations> {
    let folder = tempfile::tempdir().map_err(|error| Error::io(error.to_string()))?;
    let mut all = demo::all(folder.path(), threads)?;
    if let Some(data) = data {
        let real = real::all(data, folder.path(), threads)?;
        all.single.extend(real.single);
        all.clustered.extend(real.clustered);
        all.models.extend(real.models);
    }
    Ok(all)
}
