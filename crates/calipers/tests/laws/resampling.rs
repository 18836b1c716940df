//! Resampling by weighted sums gives the bits of reading the resampled rows.

use calipers::core::resample::{Bootstrap, Leaf, Scope, percentile_interval};
use calipers::core::{Accumulator, Ledger, Protocol, Rows, SplitMix64, UnitId, Value};

/// The numbers of a metric's value, by label.
fn numbers(id: String, value: &Value) -> Vec<(Leaf, f64)> {
    match value {
        Value::PerLabel(entries) => entries
            .iter()
            .filter_map(|(label, value)| {
                Some((Leaf { id: id.clone(), label: Some(label.clone()) }, value.as_f64()?))
            })
            .collect(),
        value => value.as_f64().map(|number| (Leaf { id, label: None }, number)).into_iter().collect(),
    }
}

/// Every number of the accumulator over the rows at these positions, read from the rows.
fn from_rows<P: Protocol>(whole: &Accumulator<P>, positions: &[usize]) -> Vec<(Leaf, f64)> {
    let (protocol, rows) = (whole.protocol(), whole.rows());
    let names: Vec<UnitId> = rows.named().map(|(name, _)| name.into()).collect();
    let kept: Vec<&P::Row> = rows.iter().collect();
    // The rows written down again and again, without a weight.
    let sample = Rows::new(positions.iter().map(|&at| (&names[at], kept[at])).collect());
    let reported = P::METRICS.iter().filter(|metric| metric.is_reported(protocol, &rows));
    reported
        .flat_map(|metric| numbers(format!("{}.{}", P::NAME, metric.id), &metric.read(protocol, &sample)))
        .collect()
}

pub(crate) fn weighted_sums_give_the_bits_of_the_rows<P>(whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let bootstrap = Bootstrap { resamples: 40, confidence: 0.9, seed: 11 };
    let resampler = Ledger::resampler(whole, Scope::Labels, &|_| true);
    let units = whole.len();
    let mut random = SplitMix64::new(bootstrap.seed);
    let mut drawn: Vec<Vec<usize>> = Vec::new();
    for _ in 0..bootstrap.resamples {
        let mut positions: Vec<usize> = (0..units).map(|_| random.below(units as u64) as usize).collect();
        positions.sort_unstable();
        drawn.push(positions);
    }
    let blocks = bootstrap.blocks();
    let read = blocks.iter().flat_map(|block| resampler.read(&bootstrap.draw(units, block)));
    let read: Vec<Vec<Option<f64>>> = read.collect();
    let expected: Vec<Vec<(Leaf, f64)>> = drawn.iter().map(|positions| from_rows(whole, positions)).collect();
    assert_eq!(read.len(), expected.len());
    for (read, expected) in read.iter().zip(&expected) {
        for ((leaf, _), number) in resampler.leaves().iter().zip(read) {
            let slow = expected.iter().find(|(other, _)| other == leaf).map(|(_, number)| number.to_bits());
            assert_eq!(number.map(f64::to_bits), slow, "{}", leaf.path());
        }
    }
    intervals_are_those_of_the_values(whole, &bootstrap, &expected);
}

fn intervals_are_those_of_the_values<P>(
    whole: &Accumulator<P>,
    bootstrap: &Bootstrap,
    expected: &[Vec<(Leaf, f64)>],
) where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let report = whole.report_with_intervals(bootstrap);
    let all: Vec<usize> = (0..whole.len()).collect();
    let single = from_rows(whole, &all).into_iter().filter(|(leaf, _)| leaf.label.is_none());
    let slow: Vec<(String, [u64; 2])> = single
        .filter_map(|(leaf, _)| {
            let values: Vec<f64> =
                expected.iter().flatten().filter(|(other, _)| *other == leaf).map(|(_, x)| *x).collect();
            let enough = values.len() as f64 >= 0.9 * f64::from(bootstrap.resamples);
            let interval = percentile_interval(values, bootstrap.confidence).filter(|_| enough)?;
            Some((leaf.id, interval.map(f64::to_bits)))
        })
        .collect();
    let fast = report.intervals.unwrap_or_default().into_iter();
    assert_eq!(fast.map(|(id, bounds)| (id, bounds.map(f64::to_bits))).collect::<Vec<_>>(), slow);
}
