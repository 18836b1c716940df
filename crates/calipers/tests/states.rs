//! State files: damage is refused with its place, and equal states are equal files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::Path;

use calipers::core::{Accumulator, Ledger, Listing};
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
    let listing = Listing::of(["a", "b", "c"]);
    accumulator.provenance.listings.insert(Some(listing), units.len() as u32, 3);
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
fn a_state_has_the_same_bytes_whether_it_is_held_or_written_in_pieces() {
    let names: Vec<String> = (0..30_000).map(|number| format!("{number:0>40}")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    for units in [&[][..], &["a", "b"], &many] {
        let ledgers: [Box<dyn Ledger>; 1] = [Box::new(edges(units, [1.0, -2.0], [true, false]))];
        let mut written = Vec::new();
        states::write_to(&ledgers, &mut written).unwrap();
        assert_eq!(written, states::to_bytes(&ledgers), "{} units", units.len());
    }
}

#[test]
fn a_disk_that_is_full_is_said_to_be_full() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for room in [0, 20, 30, 100] {
        let error = states::write_to(&sample(&["a", "b"]), &mut Full(room)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{room} bytes");
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

fn codes(ledgers: &[Box<dyn Ledger>]) -> Vec<String> {
    ledgers[0].report().warnings.into_iter().map(|warning| warning.code).collect()
}

#[test]
fn merged_shards_say_which_ones_are_missing_and_whole_ones_have_the_bytes_of_one_run() {
    let mut merged = sample(&["a"]);
    states::merge(&mut merged, sample(&["a", "b"])).unwrap();
    let report = merged[0].report();
    let warning = report.warnings.iter().find(|warning| warning.code == "missing-shards").unwrap();
    assert_eq!(warning.message, "expected 3 shards, have 2, missing 3/3");
    assert!(states::require_whole(&merged).unwrap_err().to_string().contains("missing 3/3"));
    states::merge(&mut merged, sample(&["a", "b", "c"])).unwrap();
    states::require_whole(&merged).unwrap();
    assert!(!codes(&merged).iter().any(|code| code == "missing-shards"));
    let mut one = edges(&["a", "b", "c"], [1.0, -2.0], [true, false]);
    one.provenance.listings.insert(Some(Listing::of(["a", "b", "c"])), 1, 1);
    assert_eq!(states::to_bytes(&merged), states::to_bytes(&[Box::new(one)]));
}

/// A shard of three that the first state format wrote.
fn first(index: u32) -> Vec<Box<dyn Ledger>> {
    let path = format!("{}/tests/fixtures/first-{index}-of-3.bin", env!("CARGO_MANIFEST_DIR"));
    states::read(Path::new(&path)).unwrap()
}

#[test]
fn a_state_of_the_first_format_is_read_and_its_shards_count_as_before() {
    let mut merged = first(3);
    states::merge(&mut merged, first(1)).unwrap();
    assert!(states::require_whole(&merged).unwrap_err().to_string().contains("missing 2/3"));
    states::merge(&mut merged, first(2)).unwrap();
    states::require_whole(&merged).unwrap();
    assert_eq!(merged[0].units(), 6);
    let again = states::from_bytes(&states::to_bytes(&merged), "again").unwrap();
    assert_eq!(states::to_bytes(&again), states::to_bytes(&merged), "written as the second format");
}

#[test]
fn left_out_units_travel_in_states_and_impossible_ones_are_refused() {
    let mut some = edges(&["a"], [1.0, -2.0], [true, false]);
    some.provenance.left_out.insert("b".into(), "cut short".into());
    let read = |accumulator: &Accumulator<IndependentSet>| {
        states::from_bytes(&states::to_bytes(&[Box::new(accumulator.clone())]), "some.state")
    };
    let report = read(&some).unwrap()[0].report();
    assert_eq!(report.left_out, [("b".to_owned(), "cut short".to_owned())]);
    for (unit, reason) in [("a", "measured too"), ("", "no name"), ("c", "")] {
        let mut bad = some.clone();
        bad.provenance.left_out.insert(unit.into(), reason.into());
        let error = read(&bad).map(drop).unwrap_err();
        assert!(error.file() == Some("some.state") && error.kind() == ErrorKind::Format, "{error}");
    }
    let mut bad = some;
    bad.provenance.listings.insert(Some(Listing::of(["a"])), 4, 3);
    assert!(read(&bad).map(drop).unwrap_err().to_string().contains("shard 4 of 3"));
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
