use std::fs;
use std::path::Path;

use calipers_io::history::{Field, Table, Wanted, wandb};

use crate::writer::{bytes, config, flat_item, history, item, log, run, whole};

fn wanted(numbers: &[&str], texts: &[&str]) -> Wanted {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    Wanted { numbers: owned(numbers), texts: owned(texts), ..Wanted::default() }
}

fn read(file: &[u8], numbers: &[&str]) -> calipers_core::Result<Table> {
    wandb::read(file, &wanted(numbers, &[]))
}

fn column(table: &Table, key: &str) -> (Vec<u32>, Vec<f64>) {
    let column = table.number(key).expect("a key of the file");
    assert_eq!(column.unreadable, None);
    (column.rows.clone(), column.values.clone())
}

/// The golden run: training and validation rows in turn, then a test row.
fn golden(id: &str, group: &str, name: &str, curve: &[f64], nested: bool, pad: usize) -> Vec<u8> {
    let number =
        |value: f64| if value > 0.0 && value < 1.0 { format!("{value}") } else { format!("{value:.1}") };
    let entry = |key: &str, json: &str| if nested { item(&[key], json) } else { flat_item(key, json) };
    let mut rows = Vec::new();
    for (epoch, value) in curve.iter().enumerate() {
        let at = epoch as f64;
        rows.push(vec![
            entry("epoch", &epoch.to_string()),
            entry("train_loss", &number(1.0 / (at + 1.0))),
            entry("_runtime", &number(1.5 * at)),
        ]);
        rows.push(vec![
            entry("epoch", &epoch.to_string()),
            entry("val_F1", &number(*value)),
            item(&["val", "acc"], &number(value / 2.0)),
            entry("_runtime", &number(1.5 * at + 1.0)),
        ]);
    }
    rows.push(vec![
        entry("epoch", &curve.len().to_string()),
        entry("test_F1", "0.5"),
        entry("_runtime", "99.0"),
    ]);
    let header = [whole(1, 1), bytes(21, "")].concat();
    let mut records = vec![header, [whole(1, 2), run(id, group, name)].concat()];
    for (row, items) in (0..).zip(&rows) {
        records.push([whole(1, row + 3), history(row, items)].concat());
        if pad > 0 {
            let output = [whole(1, 1), bytes(3, vec![b'x'; pad])].concat();
            records.push([whole(1, 1000 + row), bytes(4, output)].concat());
        }
    }
    records.push([whole(1, 9999), bytes(18, whole(1, 0))].concat());
    log(&records)
}

const CURVES: [(&str, &str, &[f64]); 4] = [
    ("cfgA", "cfgA_0", &[0.5, 0.91, 0.95, 0.89, 0.96]),
    ("cfgA", "cfgA_1", &[0.2, 0.4, 0.6, 0.7, 0.8]),
    ("cfgB", "cfgB_0", &[0.93, 0.85, 0.97]),
    ("cfgB", "cfgB_1", &[0.1, 0.92, 0.93, 0.94]),
];

#[test]
fn golden_runs_are_read_whole_even_across_blocks() {
    for (place, (group, name, curve)) in CURVES.into_iter().enumerate() {
        let id = format!("id{place:02}");
        let file = golden(&id, group, name, curve, place % 2 == 0, if place == 0 { 9000 } else { 0 });
        let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/training/formats");
        let stored = formats.join(format!("wandb/offline-run-{place}/run-{id}.wandb"));
        assert_eq!(fs::read(stored).unwrap(), file, "the writer of the tests and the golden file differ");
        assert!(place > 0 || file.len() > 3 << 15);
        assert!(wandb::is_wandb(&file));
        let table = read(&file, &["val_F1", "epoch", "_step", "val.acc"]).unwrap();
        let rows: Vec<u32> = (0..curve.len() as u32).map(|point| 2 * point + 1).collect();
        assert_eq!(column(&table, "val_F1"), (rows.clone(), curve.to_vec()));
        assert_eq!(column(&table, "val.acc"), (rows, curve.iter().map(|value| value / 2.0).collect()));
        assert_eq!(column(&table, "epoch").0.len(), table.rows);
        assert_eq!(column(&table, "_step").1, (0..table.rows).map(|row| row as f64).collect::<Vec<_>>());
        assert_eq!(table.keys, ["epoch", "train_loss", "_runtime", "_step", "val_F1", "val.acc", "test_F1"]);
        assert_eq!((table.rows, table.cut_at), (2 * curve.len() + 1, None));
        let run = &table.run;
        let names = [run.id.as_deref(), run.name.as_deref(), run.field(Field::Group)].map(Option::unwrap);
        assert_eq!(names, [id, name.to_owned(), group.to_owned()]);
    }
}

#[test]
fn nested_keys_one_part_keys_and_objects_are_one_key() {
    let file = log(&[
        history(0, &[item(&["val", "acc"], "0.1"), item(&["loss"], "1")]),
        history(1, &[flat_item("loss", "2"), flat_item("val.acc", "0.2")]),
        history(2, &[item(&["val"], r#"{"acc": 0.3, "f1": NaN}"#)]),
        history(3, &[flat_item("val", r#" {"acc": "Infinity"}"#)]),
    ]);
    let table = read(&file, &["val.acc", "loss"]).unwrap();
    assert_eq!(column(&table, "val.acc"), ((0..4).collect(), vec![0.1, 0.2, 0.3, f64::INFINITY]));
    assert_eq!(column(&table, "loss"), (vec![0, 1], vec![1.0, 2.0]));
    assert_eq!(table.keys, ["val.acc", "loss", "val.f1"]);
}

#[test]
fn a_key_written_with_points_goes_before_one_that_is_nested() {
    let exact = flat_item("val.acc", "0.5");
    let nested = [item(&["val", "acc"], "0.1"), item(&["val"], r#"{"acc": 0.2}"#)];
    for other in nested {
        for items in [[exact.clone(), other.clone()], [other.clone(), exact.clone()]] {
            assert_eq!(column(&read(&log(&[history(0, &items)]), &["val.acc"]).unwrap(), "val.acc").1, [0.5]);
        }
    }
}

#[test]
fn the_step_of_the_record_stands_in_for_a_missing_item() {
    let rows = [
        history(5, &[item(&["a"], "1")]),
        history(9, &[item(&["_step"], "7")]),
        bytes(2, bytes(1, item(&["a"], "2"))),
    ];
    let table = read(&log(&rows), &["_step"]).unwrap();
    assert_eq!(column(&table, "_step"), (vec![0, 1], vec![5.0, 7.0]));
    assert_eq!(table.rows, 3);
}

#[test]
fn null_is_not_logged_and_nan_is() {
    let file = log(&[
        history(0, &[item(&["a"], "null")]),
        history(1, &[item(&["a"], "NaN")]),
        history(2, &[item(&["a"], "\"NaN\"")]),
    ]);
    let table = read(&file, &["a", "b"]).unwrap();
    let (rows, values) = column(&table, "a");
    assert!(rows == [1, 2] && values.iter().all(|value| value.is_nan()));
    assert!(table.number("b").is_none());
}

#[test]
fn what_is_no_number_is_told_by_record_key_and_what_it_holds() {
    for (json, what) in [
        (r#"{"_type": "image-file", "path": "media/a.png"}"#, "an object of type `image-file`"),
        (r#"{"_type": "histogram", "bins": [0, 1], "values": [3]}"#, "an object of type `histogram`"),
        (r#"{"acc": 0.5}"#, "an object of 1 keys"),
        ("[1, 2, 3]", "a list of 3 values"),
        ("\"high\"", "the text `high`"),
        ("true", "true"),
        ("{\"acc\": ", "the end"),
    ] {
        let file =
            log(&[history(0, &[item(&["b"], "1")]), history(1, &[item(&["a"], json), item(&["b"], "2")])]);
        let table = read(&file, &["a", "b"]).unwrap();
        let reason = table.number("a").unwrap().unreadable.as_ref().unwrap().to_string();
        for part in [what, "key `a`", "history record 2", "byte 2"] {
            assert!(reason.contains(part), "{part} is missing from {reason}");
        }
        assert_eq!(column(&table, "b").1, [1.0, 2.0]);
        assert_eq!(column(&read(&file, &["b"]).unwrap(), "b").1, [1.0, 2.0]);
    }
}

#[test]
fn names_come_from_the_configuration_and_from_the_rows() {
    let first = [bytes(1, "id"), bytes(4, bytes(1, flat_item("lr", "\"1e-4\"")))].concat();
    let update = [
        item(&["fold"], "3"),
        item(&["optim"], r#"{"name": "sgd", "nesterov": true}"#),
        item(&["lr"], "0.5"),
    ];
    let file =
        log(&[bytes(17, first), config(&update), history(0, &[item(&["phase"], "\"train\\u002f1\"")])]);
    let texts = ["lr", "fold", "optim.name", "optim.nesterov", "phase", "missing", "optim"];
    let table = wandb::read(&file, &wanted(&[], &texts)).unwrap();
    let labels: Vec<_> = table.run.labels.iter().map(|(key, name)| (&key[..], &name[..])).collect();
    assert_eq!(labels, [("fold", "3"), ("lr", "0.5"), ("optim.name", "sgd"), ("optim.nesterov", "true")]);
    let phase = table.text("phase").unwrap();
    assert_eq!((&phase.names[..], &phase.cells[..]), (&["train/1".to_owned()][..], &[(0, 0)][..]));
    assert_eq!((table.run.name.as_deref(), table.run.field(Field::Group)), (None, None));
}

#[test]
fn a_log_without_history_is_a_table_without_rows() {
    let table = read(&log(&[run("id", "", ""), config(&[item(&["lr"], "1")])]), &["lr", "_step"]).unwrap();
    assert_eq!((table.rows, table.keys.len(), table.numbers.len()), (0, 0, 0));
    assert_eq!(table.run.id.as_deref(), Some("id"));
}

#[test]
fn a_cut_at_any_byte_is_an_error_of_the_head_or_a_curve_up_to_there() {
    let (group, name, curve) = CURVES[2];
    let file = golden("id02", group, name, curve, true, 0);
    for length in 0..file.len() {
        match read(&file[..length], &["val_F1"]) {
            Ok(table) => {
                assert!(table.cut_at.is_none_or(|start| start < length as u64));
                let values = table.number("val_F1").map_or(&[][..], |column| &column.values);
                assert!(curve.starts_with(values), "cut at {length}");
            }
            Err(_) => assert!(length < 7),
        }
    }
}

#[test]
fn a_cut_inside_a_record_that_spans_blocks_is_told_by_its_first_byte() {
    let long = bytes(4, vec![b'x'; 100_000]);
    let before = log(&[history(0, &[item(&["a"], "1")])]);
    let file = log(&[history(0, &[item(&["a"], "1")]), long, history(1, &[item(&["a"], "2")])]);
    for length in [before.len() + 3, before.len() + 5000, 32_768, 32_771, 65_536, 70_000] {
        let table = read(&file[..length], &["a"]).unwrap();
        assert_eq!((table.cut_at, column(&table, "a").1), (Some(before.len() as u64), vec![1.0]));
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_noted_as_a_cut() {
    let (group, name, curve) = CURVES[2];
    let file = golden("id02", group, name, curve, true, 0);
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match read(&damaged, &["val_F1"]) {
            Ok(table) => {
                assert!(
                    table.cut_at.is_some_and(|start| start <= bit as u64 / 8),
                    "bit {bit} went unnoticed"
                );
                let values = table.number("val_F1").map_or(&[][..], |column| &column.values);
                assert!(curve.starts_with(values));
            }
            Err(error) => assert!(error.place().unwrap().starts_with("byte "), "{error}"),
        }
    }
}

#[test]
fn a_record_that_is_no_message_is_told_by_its_byte() {
    let error = read(&log(&[b"\x12\x7f".to_vec()]), &["a"]).unwrap_err();
    assert_eq!(error.place(), Some("byte 7"));
    assert!(read(b"", &["a"]).unwrap_err().to_string().contains("empty"));
}
