//! State files: damage is refused with its place, and equal states are equal files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use calipers::core::{Accumulator, Ledger};
use calipers::metrics::independent_set::graph::{Graph, Storage};
use calipers::metrics::independent_set::unit::{Scores, Unit};
use calipers::metrics::independent_set::{IndependentSet, Kind};
use calipers::{ErrorKind, states};

fn edges(units: &[&str], logits: [f64; 2], labels: [bool; 2]) -> Accumulator<IndependentSet> {
    let protocol = IndependentSet { scores: Some(Kind::Logits), ..IndependentSet::default() };
    let mut accumulator = Accumulator::new(protocol);
    let entries = [(0, 1), (1, 0)];
    let graph = Graph::build(2, Storage::Both, &entries.as_slice()).unwrap();
    for name in units {
        let scores = Scores::new(Kind::Logits, None, &logits, 2).unwrap();
        accumulator.update(*name, Unit::new(&graph, Some(scores), Some(&labels), None).unwrap()).unwrap();
    }
    accumulator
}

fn sample(units: &[&str]) -> Vec<Box<dyn Ledger>> {
    let mut accumulator = edges(units, [1.0, -2.0], [true, false]);
    accumulator.provenance.shards.entry(3).or_default().insert(units.len() as u32);
    vec![Box::new(accumulator)]
}

#[test]
fn a_state_cut_anywhere_is_refused_with_its_place() {
    let bytes = states::to_bytes(&sample(&["a", "b"]));
    for length in 0..bytes.len() {
        let error = states::from_bytes(&bytes[..length], "cut.state").map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert_eq!(error.file(), Some("cut.state"));
        assert!(error.place().is_some(), "{error}");
    }
}

#[test]
fn every_single_flipped_bit_is_noticed() {
    let bytes = states::to_bytes(&sample(&["a"]));
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(states::from_bytes(&damaged, "flipped.state").is_err(), "bit {bit}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(states::from_bytes(&longer, "longer.state").is_err());
}

#[test]
fn merged_shards_say_which_ones_are_missing() {
    let mut merged = sample(&["a"]);
    assert!(merged[0].report().warnings.iter().all(|warning| warning.code != "shards-missing"));
    states::merge(&mut merged, sample(&["a", "b"])).unwrap();
    let report = merged[0].report();
    let warning = report.warnings.iter().find(|warning| warning.code == "shards-missing").unwrap();
    assert_eq!(warning.message, "expected 3 shards, have 2, missing 3/3");
    states::merge(&mut merged, sample(&["a", "b", "c"])).unwrap();
    assert!(merged[0].report().warnings.iter().all(|warning| warning.code != "shards-missing"));
}

#[test]
fn the_order_of_merging_does_not_show_in_the_bytes() {
    let (mut ab, mut ba) = (sample(&["a"]), sample(&["a", "b"]));
    states::merge(&mut ab, sample(&["a", "b"])).unwrap();
    states::merge(&mut ba, sample(&["a"])).unwrap();
    assert_eq!(states::to_bytes(&ab), states::to_bytes(&ba));
}

#[test]
fn a_repeated_unit_keeps_the_first_row_and_the_report_says_so() {
    let mut first = edges(&["a", "b"], [1.0, -2.0], [true, false]);
    let alone = first.clone();
    first.merge_repeated(edges(&["b", "c"], [1.5, -2.0], [true, false])).unwrap();
    let rows: Vec<_> = first.rows().named().map(|(name, row)| (name.to_owned(), row.clone())).collect();
    assert_eq!(rows[1].1, *alone.rows().named().nth(1).unwrap().1);
    assert_eq!(rows.len(), 3);
    let report = first.finish();
    let warning = report.warnings.iter().find(|warning| warning.code == "padded-rows-differ").unwrap();
    assert_eq!(warning.units, ["b"]);
    assert!(warning.message.starts_with("1 unit was measured by several processes"));
    let decoded = states::from_bytes(&states::to_bytes(&[Box::new(first)]), "again").unwrap();
    assert_eq!(decoded[0].report().warnings, report.warnings);
}

#[test]
fn a_repeated_unit_of_another_truth_is_a_conflict_and_changes_nothing() {
    let mut first = edges(&["a", "b"], [1.0, -2.0], [true, false]);
    let before = first.clone();
    let error = first.merge_repeated(edges(&["b"], [1.0, -2.0], [false, false])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(first, before);
}
