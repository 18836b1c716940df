use std::fs;
use std::path::Path;

use calipers_io::history::{Table, Wanted, tensorboard};

use crate::writer::{bytes, double, event, single, summary, tagged, version, whole};

fn wanted(keys: &[&str]) -> Wanted {
    Wanted {
        numbers: keys.iter().map(|key| (*key).to_owned()).collect(),
        texts: Vec::new(),
        ..Wanted::default()
    }
}

fn read(file: &[u8], keys: &[&str]) -> calipers_core::Result<Table> {
    tensorboard::read(&[("events", file)], &wanted(keys))
}

fn column(table: &Table, key: &str) -> (Vec<u32>, Vec<f64>) {
    let column = table.number(key).expect("a key of the file");
    assert_eq!(column.unreadable, None);
    (column.rows.clone(), column.values.clone())
}

fn curve(values: &[f32]) -> Vec<u8> {
    let scalar =
        |(step, value): (usize, &f32)| tagged(step as f64, step as u64, "val/F1", &single(2, *value));
    [version(0.0), values.iter().enumerate().flat_map(scalar).collect()].concat()
}

#[test]
fn golden_runs_of_two_files_give_the_curves_in_single_precision() {
    let curves: [(&str, &[f64]); 4] = [
        ("cfgA/0", &[0.5, 0.91, 0.95, 0.89, 0.96]),
        ("cfgA/1", &[0.2, 0.4, 0.6, 0.7, 0.8]),
        ("cfgB/0", &[0.93, 0.85, 0.97]),
        ("cfgB/1", &[0.1, 0.92, 0.93, 0.94]),
    ];
    for (run, want) in curves {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/training/formats/tb").join(run);
        let names = ["events.out.tfevents.1700000000.host.1.0", "events.out.tfevents.1700000100.host.1.1"];
        let files = names.map(|name| (name, fs::read(folder.join(name)).unwrap()));
        let files: Vec<_> = files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        assert!(files.iter().all(|(_, bytes)| tensorboard::is_events(bytes)));
        let table = tensorboard::read(&files, &wanted(&["val/F1", "step", "wall_time", "epoch"])).unwrap();
        let rows: Vec<u32> = (0..want.len() as u32).map(|point| 2 * point + 1).collect();
        let values: Vec<f64> = want.iter().map(|value| f64::from(*value as f32)).collect();
        assert_eq!(column(&table, "val/F1"), (rows, values), "{run}");
        assert_eq!(
            (table.rows, &table.keys[..], table.cut_at),
            (2 * want.len(), &["epoch".to_owned(), "val/F1".to_owned()][..], None)
        );
        let steps = column(&table, "step").1;
        let times = column(&table, "wall_time").1;
        for row in 0..table.rows {
            assert_eq!(steps[row].to_bits(), (100.0 * (row / 2) as f64).to_bits());
            assert_eq!(times[row].to_bits(), (1_700_000_000.0 + row as f64 / 2.0).to_bits());
        }
    }
}

#[test]
fn scalars_are_read_from_every_form_they_are_written_in() {
    let f = 0.1_f32.to_le_bytes();
    let d = 0.1_f64.to_le_bytes();
    let metadata = bytes(9, bytes(1, bytes(1, "scalars")));
    let tensor = |parts: &[Vec<u8>]| [bytes(8, parts.concat()), metadata.clone()].concat();
    let forms = [
        single(2, 0.1),
        tensor(&[whole(1, 1), bytes(2, ""), bytes(4, f)]),
        tensor(&[whole(1, 1), bytes(5, f)]),
        tensor(&[whole(1, 1), single(5, 0.1)]),
        tensor(&[whole(1, 2), bytes(4, d)]),
        tensor(&[whole(1, 2), bytes(6, d)]),
        tensor(&[whole(1, 2), double(6, 0.1)]),
    ];
    let file: Vec<u8> = forms.iter().flat_map(|form| tagged(0.0, 1, "loss", form)).collect();
    let table = read(&file, &["loss"]).unwrap();
    let wide = f64::from(0.1_f32);
    assert_eq!(column(&table, "loss"), ((0..7).collect(), vec![wide, wide, wide, wide, 0.1, 0.1, 0.1]));
}

#[test]
fn what_is_no_scalar_is_told_by_its_tag_and_what_it_holds() {
    let three = [0.5_f32.to_le_bytes(); 3].concat();
    let forms = [
        (bytes(4, "png"), "an image"),
        (bytes(5, ""), "a histogram"),
        (bytes(6, ""), "a sound"),
        (bytes(8, [whole(1, 1), bytes(5, three)].concat()), "a tensor of 3 elements (float)"),
        (bytes(8, [whole(1, 7), bytes(8, "text")].concat()), "a tensor of text"),
    ];
    for (form, what) in forms {
        let file =
            [tagged(0.0, 0, "a", &single(2, 1.0)), tagged(0.0, 0, "b", &form), tagged(0.0, 1, "b", &form)]
                .concat();
        assert_eq!(column(&read(&file, &["a"]).unwrap(), "a").1, [1.0]);
        let table = read(&file, &["a", "b"]).unwrap();
        let reason = table.number("b").unwrap().unreadable.as_ref().unwrap().to_string();
        let place = format!("byte {}", tagged(0.0, 0, "a", &single(2, 1.0)).len());
        for part in ["`b`", what, "events", &place] {
            assert!(reason.contains(part), "{part} is missing from {reason}");
        }
    }
}

#[test]
fn events_without_a_summary_are_no_rows_and_several_values_share_one() {
    let graph = event(&[double(1, 0.0), bytes(4, "graph")].concat());
    let both = summary(2.0, 7, &[("a", &single(2, 1.0)), ("b", &single(2, 2.0))]);
    let file = [version(0.0), graph, both].concat();
    let table = read(&file, &["b", "a", "step"]).unwrap();
    assert_eq!(
        (table.rows, column(&table, "a"), column(&table, "b")),
        (1, (vec![0], vec![1.0]), (vec![0], vec![2.0]))
    );
    assert_eq!(column(&table, "step").1, [7.0]);
}

#[test]
fn a_tag_that_comes_twice_in_one_event_takes_two_rows() {
    let file = summary(2.0, 7, &[("a", &single(2, 1.0)), ("a", &single(2, 3.0))]);
    let table = read(&file, &["a", "step"]).unwrap();
    assert_eq!((table.rows, column(&table, "a")), (2, (vec![0, 1], vec![1.0, 3.0])));
    assert_eq!(column(&table, "step"), (vec![0, 1], vec![7.0, 7.0]));
}

#[test]
fn the_step_of_the_event_stands_before_a_tag_of_that_name() {
    let file = tagged(2.0, 7, "step", &single(2, 1.0));
    assert_eq!(column(&read(&file, &["step"]).unwrap(), "step").1, [7.0]);
}

#[test]
fn nan_infinity_and_the_order_of_fields_do_not_matter() {
    let value = bytes(1, [single(2, f32::NAN), bytes(1, "a")].concat());
    let late = event(&[bytes(5, value), whole(2, u64::MAX), double(1, 1.0)].concat());
    let file = [late, tagged(0.0, 3, "a", &single(2, f32::NEG_INFINITY))].concat();
    let table = read(&file, &["a", "step"]).unwrap();
    let (rows, values) = column(&table, "a");
    assert!(values[0].is_nan() && values[1] < f64::MIN, "{values:?}");
    assert_eq!((rows, column(&table, "step").1), (vec![0, 1], vec![-1.0, 3.0]));
}

#[test]
fn a_cut_at_any_byte_gives_the_curve_up_to_there_and_says_where() {
    let file = curve(&[0.5, 0.9, 0.25]);
    let whole_table = read(&file, &["val/F1"]).unwrap();
    let ends: Vec<usize> = (0..=3).map(|points| curve(&[0.5, 0.9, 0.25][..points]).len()).collect();
    assert!(read(b"", &["val/F1"]).unwrap_err().to_string().contains("empty"));
    for length in 1..file.len() {
        let table = read(&file[..length], &["val/F1"]).unwrap();
        let points = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
        let start = ends.iter().rev().find(|end| **end <= length).copied().unwrap_or(0);
        assert_eq!(table.rows, points);
        assert_eq!(table.cut_at, (start != length).then_some(start as u64), "cut at {length}");
        let values = table.number("val/F1").map_or(&[][..], |column| &column.values);
        assert_eq!(values, &whole_table.number("val/F1").unwrap().values[..points]);
    }
}

#[test]
fn every_flipped_bit_is_an_error_that_names_file_and_byte() {
    let file = curve(&[0.5, 0.9]);
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = read(&damaged, &["val/F1"]).unwrap_err();
        assert!(error.place().unwrap().starts_with("byte ") && error.file() == Some("events"), "{error}");
    }
}

#[test]
fn a_cut_file_before_another_one_is_noted_too() {
    let first = curve(&[0.5, 0.9]);
    let second = curve(&[0.25]);
    let files = [("a", &first[..first.len() - 1]), ("b", &second[..])];
    let table = tensorboard::read(&files, &wanted(&["val/F1"])).unwrap();
    assert_eq!(column(&table, "val/F1").1, [0.5, 0.25]);
    assert_eq!(table.cut_at, Some(curve(&[0.5]).len() as u64));
}

#[test]
fn a_record_that_is_no_message_is_told_by_its_byte() {
    let file = [version(0.0), event(b"\x2a\x7f")].concat();
    let error = read(&file, &["a"]).unwrap_err();
    assert_eq!(error.place(), Some(&format!("byte {}", version(0.0).len())[..]));
}

#[test]
fn other_files_are_not_taken_for_events() {
    for other in [&b""[..], b"epoch,val\n0,1\n2,3\n", b"{\"a\": [1, 2, 3, 4]}", &[0; 64]] {
        assert!(!tensorboard::is_events(other));
    }
}
