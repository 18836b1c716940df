//! Percentile intervals by resampling the runs of a group.

use calipers_core::resample::percentile_interval;
use calipers_core::{SplitMix64, Value};

use super::reading::{Group, Reading};
use super::row::Row;

/// The interval of a number of the group: for each resample as many runs as the group has are drawn
/// with replacement, and the number is read from them.
pub(crate) fn interval(group: &Group<'_, '_>, read: impl Fn(&Group<'_, '_>) -> Reading) -> Value {
    let resamples = group.protocol.bootstrap;
    let runs = group.runs.len() as u64;
    let mut random = SplitMix64::new(group.protocol.seed);
    let mut drawn: Vec<&Row> = Vec::with_capacity(group.runs.len());
    let mut values = Vec::with_capacity(resamples as usize);
    for _ in 0..resamples {
        drawn.clear();
        drawn.extend((0..runs).map(|_| group.runs[random.below(runs) as usize]));
        values.extend(read(&Group { protocol: group.protocol, runs: &drawn }));
    }
    let defined = values.len();
    match percentile_interval(values, group.protocol.confidence) {
        Some(bounds) if defined as f64 >= 0.9 * f64::from(resamples) => {
            Value::Series(bounds.map(Value::Number).into())
        }
        _ => Value::Undefined(format!("defined in {defined} of {resamples} resamples").into()),
    }
}
