//! Numbers of units as rows of their own, where a family has no rate and no median of them.

use calipers::Result;
use calipers::core::resample::Sampling;
use calipers::core::{
    Accumulator, Column, IntervalRule, Metric, Number, Protocol, Provenance, Rows, Value, Warning,
};
use serde::{Deserialize, Serialize};

use super::rows::Drawable;
use crate::sample;

/// The median of one number per unit, and the share of units that reach a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Columns;

/// The number, and 1 where it reaches the level, else 0.
pub(crate) type Row = [Option<f64>; 2];

pub(crate) const RATE: &str = "columns.rate";
pub(crate) const MEDIAN: &str = "columns.median";

/// The share of units of a population that reaches the level.
pub(crate) const REACHES: f64 = 0.8;

fn median(rows: &Rows<'_, Row>) -> Value {
    let mut numbers: Vec<f64> = rows.iter().filter_map(|[number, _]| *number).collect();
    numbers.sort_by(f64::total_cmp);
    match (numbers.len() / 2, numbers.len() % 2) {
        (0, 0) => Value::undefined("no number"),
        (half, 1) => Value::Number(numbers[half]),
        (half, _) => Value::Number((numbers[half - 1] + numbers[half]) / 2.0),
    }
}

fn of(number: Option<f64>) -> Value {
    number.map_or(Value::undefined("no number"), Value::Number)
}

impl Protocol for Columns {
    const NAME: &'static str = "columns";
    const METRICS: &'static [Metric<Self>] = &[
        Metric {
            id: "rate",
            number: Number::Mean { of: |_, [_, reached]| of(*reached), none: Some("no number") },
            ..Metric::DEFAULTS
        },
        Metric {
            id: "median",
            interval: IntervalRule::OrderStatistic,
            number: Number::Rows(|_, rows| median(rows)),
            ..Metric::DEFAULTS
        },
    ];
    const COLUMNS: &'static [Column<Self>] = &[];
    const READING_IN_ROWS: &'static [&'static str] = &[];
    const SAMPLING: Sampling = Sampling::UNITS;

    type Unit<'a> = Row;
    type Row = Row;

    fn measure(&self, _: &str, row: Row) -> Result<Row> {
        Ok(row)
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn check_row(&self, _: &Row) -> Result<()> {
        Ok(())
    }

    fn warnings(&self, _: &Rows<'_, Row>, _: &Provenance) -> Vec<Warning> {
        Vec::new()
    }
}

/// A number of every sampling unit, read from its rows alone, as rows in the order of the sampling units.
pub(crate) fn of_each(units: &dyn Drawable, path: &str) -> Result<Accumulator<Columns>> {
    let number = |unit: usize| Ok(sample::value(&*units.sample(&[unit])?, path));
    let numbers: Vec<Option<f64>> = (0..units.len()).map(number).collect::<Result<_>>()?;
    let mut sorted: Vec<f64> = numbers.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    let level = sorted.get(((1.0 - REACHES) * sorted.len() as f64) as usize).copied().unwrap_or(0.0);
    let mut rows = Accumulator::new(Columns);
    for (unit, number) in numbers.into_iter().enumerate() {
        let reached = number.map(|number| f64::from(u8::from(number >= level)));
        rows.insert(format!("{unit:04}"), [number, reached])?;
    }
    Ok(rows)
}
