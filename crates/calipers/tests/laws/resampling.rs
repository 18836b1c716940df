//! Resampling by weighted sums gives the bits of reading the resampled rows, and intervals are those of
//! what was read, whoever shares the work.

use std::collections::BTreeMap;

use calipers::core::resample::{Asked, Bootstrap, Bounds, Evidence, Leaf, Method, Scope};
use calipers::core::{Accumulator, IntervalRule, Ledger, Protocol, Report, Rows, UnitId, Value};
use calipers::run::Threads;

/// Every number of a value that is not in a series, with its path.
fn numbers(path: &str, value: &Value, out: &mut BTreeMap<String, f64>) {
    match value {
        Value::PerLabel(entries) => {
            entries.iter().for_each(|(label, value)| numbers(&format!("{path}.{label}"), value, out));
        }
        value => out.extend(value.as_f64().map(|number| (path.to_owned(), number))),
    }
}

/// Every number of the accumulator over the rows that count, read from the rows.
fn from_rows<P: Protocol>(whole: &Accumulator<P>, counts: &[u32]) -> BTreeMap<String, f64> {
    let (protocol, rows) = (whole.protocol(), whole.rows());
    let names: Vec<UnitId> = rows.named().map(|(name, _)| name.into()).collect();
    // The rows written down again and again, without a weight.
    let repeated = rows.iter().zip(&names).zip(counts);
    let sample: Vec<_> = repeated.flat_map(|((row, name), n)| (0..*n).map(move |_| (name, row))).collect();
    let sample = Rows::new(sample);
    let mut all = BTreeMap::new();
    for metric in P::METRICS.iter().filter(|metric| metric.is_reported(protocol, &rows)) {
        numbers(&metric.full_id(), &metric.read(protocol, &sample), &mut all);
    }
    all
}

const BOOTSTRAP: Bootstrap = Bootstrap { resamples: 40, confidence: 0.9, seed: 11, method: Method::Bca };

pub(crate) fn weighted_sums_give_the_bits_of_the_rows<P>(whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let plan = Ledger::plan(whole, None).unwrap();
    let resampler = Ledger::resampler(whole, Scope::Intervals, &|_| true);
    let drawn = plan.draw(BOOTSTRAP.seed, 0..BOOTSTRAP.resamples);
    let left_out = plan.leave_out(0..plan.left_out_samples() as u32);
    let mut slow = Vec::new();
    for weights in [&drawn, &left_out] {
        let expected: Vec<_> = weights.each().map(|counts| from_rows(whole, counts)).collect();
        let read = resampler.read(weights);
        assert_eq!(read.len(), expected.len());
        for (read, expected) in read.iter().zip(&expected) {
            for ((leaf, _), number) in resampler.leaves().iter().zip(read) {
                let slow = expected.get(&leaf.path()).map(|number| number.to_bits());
                assert_eq!(number.map(f64::to_bits), slow, "{}", leaf.path());
            }
        }
        slow.push(expected);
    }
    for method in [Method::Expanded, Method::Percentile, Method::Bca] {
        intervals_are_those_of_the_values(whole, Bootstrap { method, ..BOOTSTRAP }, &slow);
    }
}

fn report<P: Protocol>(whole: &Accumulator<P>, bootstrap: Bootstrap, threads: usize) -> Report {
    let asked = Asked { bootstrap, clusters: None, memory: u64::MAX };
    let mut report = whole.finish();
    whole.add_intervals(&mut report, &asked, &Threads(threads)).unwrap();
    report
}

fn intervals_are_those_of_the_values<P>(
    whole: &Accumulator<P>,
    bootstrap: Bootstrap,
    slow: &[Vec<BTreeMap<String, f64>>],
) where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let plan = Ledger::plan(whole, None).unwrap();
    let mut expected: BTreeMap<String, Result<[u64; 2], String>> = BTreeMap::new();
    let resampler = Ledger::resampler(whole, Scope::Intervals, &|_| true);
    for (leaf, value) in resampler.leaves() {
        let Leaf { id, label } = leaf;
        let line = P::METRICS.iter().find(|metric| metric.full_id() == *id).unwrap();
        let strata = plan.read_by(label.as_deref());
        let column = |samples: &[BTreeMap<String, f64>]| -> Vec<f64> {
            samples.iter().map(|sample| sample.get(&leaf.path()).copied().unwrap_or(f64::NAN)).collect()
        };
        let left_out = column(&slow[1]);
        let evidence = Evidence {
            value: *value,
            resamples: column(&slow[0]),
            left_out: strata.clone().map(|stratum| &left_out[plan.left_out_of(stratum)]).collect(),
            sizes: plan.sizes(strata.clone()),
            order_statistic: line.interval == IntervalRule::OrderStatistic,
        };
        let found = match plan.too_small(strata) {
            Some(reason) => Err(reason),
            None => bootstrap.level().interval(evidence).map(|interval| interval.bounds.map(f64::to_bits)),
        };
        expected.insert(leaf.path(), found);
    }
    let whole_report = report(whole, bootstrap, 1);
    let intervals = whole_report.intervals.as_ref().unwrap();
    let mut found: BTreeMap<String, Result<[u64; 2], String>> = BTreeMap::new();
    for (id, bounds) in &intervals.bounds {
        Bounds::visit(bounds, id, &mut |path, bounds| {
            found.insert(path.into(), Ok(bounds.map(f64::to_bits)));
        });
    }
    found.extend(intervals.missing.iter().map(|(path, reason)| (path.clone(), Err(reason.clone()))));
    assert_eq!(found, expected, "{bootstrap:?}");
    assert_eq!(report(whole, bootstrap, 3), whole_report, "three threads");
}
