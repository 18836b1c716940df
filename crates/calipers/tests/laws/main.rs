//! The laws every registered protocol obeys, written once.
//!
//! A family takes part by a line in [`every_registered_family_is_held_to_the_laws`]; one that is
//! registered but not listed there fails the test.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod explanation;
mod forged;
mod independent_set;
mod joining;
mod resampling;
mod robustness;
mod segmentation;
mod training;

use std::collections::BTreeSet;

use calipers::core::state;
use calipers::core::{Accumulator, ErrorKind, Ledger, Protocol, SplitMix64};
use calipers::inputs::Inputs;
use calipers::run::{Named, Threads, Work, measure_all};
use calipers::{registry, states};

/// How many random splits, orders and merge trees are tried for each protocol.
const ROUNDS: usize = 50;
const UNITS: usize = 23;

/// A protocol with units to try it on: unit i goes into an accumulator under a name.
struct Sample<P: Protocol> {
    protocol: P,
    /// A protocol of the same family with another parameter.
    other: P,
    add: fn(&mut Accumulator<P>, name: &str, unit: usize),
}

#[test]
fn every_registered_family_is_held_to_the_laws() {
    let mut held = BTreeSet::new();
    for sample in independent_set::samples() {
        held.insert(check(&sample));
    }
    for sample in explanation::samples() {
        held.insert(check(&sample));
    }
    for sample in robustness::samples() {
        held.insert(check(&sample));
    }
    for sample in segmentation::samples() {
        held.insert(check(&sample));
    }
    for sample in training::samples() {
        held.insert(check(&sample));
    }
    let registered: BTreeSet<&str> = registry::FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(held, registered);
    forged::figure();
}

fn check<P>(sample: &Sample<P>) -> &'static str
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let whole = of(sample, 0..UNITS);
    let mut random = SplitMix64::new(7);
    any_split_and_merge_tree_gives_the_whole(sample, &whole, &mut random);
    order_does_not_matter(sample, &whole, &mut random);
    a_shard_twice_counts_once(sample, &whole);
    empty_is_neutral(sample, &whole);
    a_state_survives_the_round_trip(&whole);
    forged::edited_states_are_refused_or_reported(&whole);
    rows_without_protocol_give_the_whole(sample, &whole);
    joining::states_joined_on_the_disk_have_the_bytes_of_those_in_memory(sample, &mut SplitMix64::new(9));
    duplicates_conflicts_and_other_parameters_are_refused(sample, &whole);
    any_thread_count_gives_the_same_bytes(sample, &whole);
    every_metric_reports_under_its_own_id(&whole);
    resampling::weighted_sums_give_the_bits_of_the_rows(&whole);
    let mut dealt = SplitMix64::new(8);
    let split = |shards: usize| -> Vec<Accumulator<P>> {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); shards];
        (0..UNITS).for_each(|unit| parts[dealt.below(shards as u64) as usize].push(unit));
        parts.into_iter().map(|part| of(sample, part)).collect()
    };
    resampling::intervals_do_not_depend_on_who_did_what(&whole, split, &mut random);
    P::NAME
}

fn name(unit: usize) -> String {
    format!("unit {unit:02}")
}

fn of<P: Protocol>(sample: &Sample<P>, units: impl IntoIterator<Item = usize>) -> Accumulator<P> {
    let mut accumulator = Accumulator::new(sample.protocol.clone());
    for unit in units {
        (sample.add)(&mut accumulator, &name(unit), unit);
    }
    accumulator
}

fn bytes<P: Protocol + Send + Sync>(accumulator: &Accumulator<P>) -> Vec<u8>
where
    P::Row: Send + Sync,
{
    state::encode(&[accumulator.section()])
}

fn shuffled(count: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}

fn rows_without_protocol_give_the_whole<P>(sample: &Sample<P>, whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let parts = [0..UNITS / 2, UNITS / 3..UNITS].map(|part| of(sample, part));
    let rows: Vec<u8> = parts.iter().flat_map(|part| part.rows_alone()).collect();
    let mut rebuilt = Accumulator::new(sample.protocol.clone());
    rebuilt.add_rows(&rows, "rows").unwrap();
    assert_eq!(bytes(&rebuilt), bytes(whole));
    assert!(rebuilt.add_rows(&rows[..rows.len() - 1], "rows").is_err());
    let [mut first, second] = parts;
    first.merge_repeated(second).unwrap();
    assert_eq!(bytes(&first), bytes(whole), "equal rows leave no trace");
}

fn any_split_and_merge_tree_gives_the_whole<P>(
    sample: &Sample<P>,
    whole: &Accumulator<P>,
    random: &mut SplitMix64,
) where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    for _ in 0..ROUNDS {
        let shards = 1 + random.below(9) as usize;
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); shards];
        (0..UNITS).for_each(|unit| parts[random.below(shards as u64) as usize].push(unit));
        let mut states: Vec<Accumulator<P>> = parts.into_iter().map(|part| of(sample, part)).collect();
        while states.len() > 1 {
            let right = states.swap_remove(random.below(states.len() as u64) as usize);
            let left = random.below(states.len() as u64) as usize;
            states[left].merge(right).unwrap();
        }
        assert_eq!(bytes(&states[0]), bytes(whole));
        assert_eq!(states[0].finish(), whole.finish());
    }
}

fn order_does_not_matter<P>(sample: &Sample<P>, whole: &Accumulator<P>, random: &mut SplitMix64)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    for _ in 0..ROUNDS {
        assert_eq!(bytes(&of(sample, shuffled(UNITS, random))), bytes(whole));
    }
}

fn a_shard_twice_counts_once<P>(sample: &Sample<P>, whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let mut state = whole.clone();
    state.merge(of(sample, 3..11)).unwrap();
    state.merge(whole.clone()).unwrap();
    assert_eq!(bytes(&state), bytes(whole));
}

fn empty_is_neutral<P>(sample: &Sample<P>, whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let mut left = of(sample, []);
    left.merge(whole.clone()).unwrap();
    let mut right = whole.clone();
    right.merge(of(sample, [])).unwrap();
    assert_eq!(bytes(&left), bytes(whole));
    assert_eq!(bytes(&right), bytes(whole));
    of(sample, []).finish();
}

fn a_state_survives_the_round_trip<P>(whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let read = states::from_bytes(&bytes(whole), "whole.state").unwrap();
    assert_eq!(states::to_bytes(&read), bytes(whole));
    assert_eq!(read[0].report(), whole.finish());
    assert_eq!(read[0].per_unit(), whole.per_unit());
}

fn duplicates_conflicts_and_other_parameters_are_refused<P>(sample: &Sample<P>, whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let mut conflicting = Accumulator::new(sample.protocol.clone());
    (sample.add)(&mut conflicting, &name(0), 1);
    conflicting.set_source("second.state");
    let mut state = whole.clone();
    state.set_source("first.state");
    let mut again = whole.clone();
    again.set_source("again.state");
    state.merge(again).unwrap();
    let error = state.merge(conflicting).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let text = error.to_string();
    assert!(
        text.contains("unit 00") && text.contains("first.state") && text.contains("second.state"),
        "{text}"
    );
    assert_eq!(bytes(&state), bytes(whole), "a refused merge changes nothing");

    let other = Accumulator::new(sample.other.clone());
    assert_eq!(state.merge(other).unwrap_err().kind(), ErrorKind::ProtocolMismatch);
}

fn any_thread_count_gives_the_same_bytes<P>(sample: &Sample<P>, whole: &Accumulator<P>)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let units: Vec<Unit> = (0..UNITS).map(|unit| Unit(unit, name(unit))).collect();
    let (report, inputs) = (whole.finish(), Inputs::default());
    for threads in [1, 2, 3, 4, 7, 8, 16, 32, 64] {
        let work = Work::quiet(threads);
        let chosen = work.choose(&units, &inputs, &[]).unwrap();
        let run = measure_all(
            &sample.protocol,
            &chosen,
            &work,
            (&inputs, None),
            |_| {},
            |unit, _, accumulator| {
                (sample.add)(accumulator, unit.name(), unit.0);
                Ok(())
            },
        );
        assert_eq!(bytes(&run.unwrap()), bytes(whole), "{threads} threads");
        assert_eq!(whole.finish_on(&Threads(threads)), report, "{threads} threads");
    }
}

/// A unit by its number, and its name.
struct Unit(usize, String);

impl Named for Unit {
    fn name(&self) -> &str {
        &self.1
    }
}

fn every_metric_reports_under_its_own_id<P: Protocol>(whole: &Accumulator<P>) {
    let report = whole.finish();
    let ids: BTreeSet<&String> = report.metrics.iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), report.metrics.len());
    assert_eq!(report.units, UNITS as u64);
}
