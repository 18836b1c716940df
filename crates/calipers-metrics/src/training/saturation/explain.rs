//! One run in words: where it first saturated and which points broke afterwards.

use super::aftermath::{Aftermath, Break};
use crate::training::protocol::Training;
use crate::training::protocol::parameters::Index;
use crate::training::row::Row;

/// The first saturation and the broken points of a run, by the strict rule.
pub(crate) fn explain(protocol: &Training, row: &Row) -> String {
    let (one, many) = match protocol.index {
        Index::Evaluation => ("evaluation", "evaluations"),
        Index::Epoch => ("epoch", "epochs"),
    };
    let Some(aftermath) = &row.strict else {
        return format!("never saturates in {} {}", row.epochs, if row.epochs == 1 { one } else { many });
    };
    let Aftermath { saturation, x, value, breaks, .. } = aftermath;
    let first = format!("first saturation: {one} {} (x = {x}), value {value}", saturation.number);
    let broken = match saturation.broken {
        0 => "broken: none".into(),
        1 => format!("broken: {one} {}", listed(breaks)),
        _ => format!("broken: {many} {}", listed(breaks)),
    };
    format!("{first}; {broken}")
}

fn listed(breaks: &[Break]) -> String {
    let one = |stretch: &Break| {
        let (first, last) = stretch.numbers;
        let (from, to) = stretch.x;
        if first == last {
            format!("{first} (x = {from})")
        } else {
            format!("{first} to {last} (x = {from} to {to})")
        }
    };
    breaks.iter().map(one).collect::<Vec<_>>().join(", ")
}
