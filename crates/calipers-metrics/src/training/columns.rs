//! The per-unit table: what is known of a single run.

use calipers_core::{Column, Value};

use super::protocol::Training;
use super::row::Row;
use super::saturation::aftermath::Aftermath;
use super::saturation::by_preset::stability_of;

/// The columns of the per-unit table.
pub(super) const COLUMNS: &[Column<Training>] = &[
    Column { name: "group", read: |_, row| Value::Text(row.group.clone()) },
    Column { name: "fold", read: |_, row| Value::Text(row.fold.clone()) },
    Column { name: "n", read: |_, row| Value::Count(row.epochs.into()) },
    Column {
        name: "velocity",
        read: |_, row| whole(row.by_preset.map(|saturation| saturation.number), NEVER),
    },
    Column { name: "x_at_saturation", read: |_, row| after(row, |strict| coordinate(strict.x)) },
    Column {
        name: "broken",
        read: |_, row| after(row, |strict| Value::Count(strict.saturation.broken.into())),
    },
    Column {
        name: "stability",
        read: |protocol, row| number(stability_of(protocol.preset, row), "no stability"),
    },
    Column {
        name: "divergence",
        read: |_, row| Value::Count(row.by_preset.is_some_and(|saturation| saturation.diverged).into()),
    },
    Column { name: "value_at_saturation", read: |_, row| after(row, |strict| Value::Number(strict.value)) },
    Column { name: "last", read: |_, row| number(row.last, "not finite") },
    Column { name: "best", read: |_, row| number(row.best, "no finite value") },
    Column { name: "sustained", read: |_, row| whole(row.sustained, "no sustained saturation") },
    Column { name: "drop_depth", read: |_, row| after(row, |strict| Value::Number(strict.drop_depth)) },
];

const NEVER: &str = "never saturates";

fn after(row: &Row, read: impl Fn(&Aftermath) -> Value) -> Value {
    row.strict.as_ref().map_or(Value::undefined(NEVER), read)
}

fn whole(value: Option<u64>, reason: &'static str) -> Value {
    value.map_or(Value::undefined(reason), |value| Value::Count(value.into()))
}

fn number(value: Option<f64>, reason: &'static str) -> Value {
    value.map_or(Value::undefined(reason), Value::Number)
}

/// An x: epochs and steps are whole numbers, times need not be.
fn coordinate(x: f64) -> Value {
    const EXACT: f64 = (1u64 << 53) as f64;
    if x.fract().abs() <= 0.0 && x.abs() <= EXACT { Value::Count(x as i128) } else { Value::Number(x) }
}
