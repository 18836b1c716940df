//! Resampling by weighted sums gives the bits of reading the resampled rows, and intervals are those of
//! what was read, whoever shares the work.

use std::collections::BTreeMap;

use calipers::core::input_files::Notes;
use calipers::core::resample::{Asked, Bootstrap, Bounds, Clusters, Evidence, Leaf, Method, Scope};
use calipers::core::{
    Accumulator, Digest, Input, IntervalRule, Ledger, Protocol, Report, Rows, SplitMix64, UnitId, Value,
};
use calipers::report::json;
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

/// How many clusters the sampling units are dealt to.
const CLUSTERS: usize = 6;

fn clusters(ledger: &dyn Ledger) -> Clusters {
    let units = ledger.sampling_units();
    let of = units.iter().enumerate().map(|(at, unit)| (unit.to_string(), format!("c{}", at % CLUSTERS)));
    let table = Input { bytes: 3, blake3: Digest::of(b"who"), notes: Notes::default() };
    Clusters {
        rule: "who.csv:patient".into(),
        of: Some(of.collect()),
        lacks: "has no row in who.csv".into(),
        inputs: std::iter::once(("who.csv".to_owned(), table)).collect(),
    }
}

/// The report as it is written, with intervals and all that is said about them.
fn written(ledger: &dyn Ledger, method: Method, by_cluster: bool, threads: usize) -> String {
    let clusters = by_cluster.then(|| clusters(ledger));
    let bootstrap = Bootstrap { method, ..BOOTSTRAP };
    let asked = Asked { bootstrap, clusters: clusters.as_ref(), memory: u64::MAX };
    let mut report = ledger.report_on(&Threads(threads));
    ledger.add_intervals(&mut report, &asked, &Threads(threads)).unwrap();
    json::write(&[report])
}

/// However the units were dealt out and joined again, and however many threads share the work, the report
/// with intervals has the same bytes; with clusters too.
pub(crate) fn intervals_do_not_depend_on_who_did_what<P>(
    whole: &Accumulator<P>,
    mut split: impl FnMut(usize) -> Vec<Accumulator<P>>,
    random: &mut SplitMix64,
) where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let mut joined: Vec<Accumulator<P>> = Vec::new();
    for shards in [1, 2, 5] {
        let mut parts = split(shards);
        while parts.len() > 1 {
            let right = parts.swap_remove(random.below(parts.len() as u64) as usize);
            let left = random.below(parts.len() as u64) as usize;
            parts[left].merge(right).unwrap();
        }
        joined.append(&mut parts);
    }
    for method in [Method::Expanded, Method::Percentile, Method::Bca] {
        for by_cluster in [false, true] {
            let wanted = written(whole, method, by_cluster, 1);
            assert!(wanted.contains("\"intervals\"") && wanted.contains("\"cluster_by\""), "{wanted}");
            for (rows, threads) in joined.iter().zip([2, 3, 16]) {
                let found = written(rows, method, by_cluster, threads);
                assert_eq!(found, wanted, "{method:?}, clusters: {by_cluster}, {threads} threads");
            }
        }
    }
}
