//! Delimited histories: the same runs in every layout, damaged ones and real ones.

use std::path::Path;

use calipers_io::history::delimited::{self, Long, Options};
use calipers_io::history::{Origin, Places, Table, Wanted};

const WIDE: &[u8] = include_bytes!("../../../oracles/training/formats/wide.csv");
const LONG: &[u8] = include_bytes!("../../../oracles/training/formats/long.tsv");
const PANEL: &[u8] = include_bytes!("../../../oracles/training/formats/panel.csv");
const KERAS: &[u8] = include_bytes!("../../../oracles/training/formats/keras/cfgA_0.csv");
const LIGHTNING: &[u8] =
    include_bytes!("../../../oracles/training/formats/lightning/cfgA/version_0/metrics.csv");

/// The curve that all layouts hold for fold 0 of configuration A.
const CURVE: [f64; 5] = [0.5, 0.91, 0.95, 0.89, 0.96];

fn wanted(numbers: &[&str], texts: &[&str]) -> Wanted {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    Wanted { numbers: owned(numbers), texts: owned(texts), ..Wanted::default() }
}

fn read(bytes: &[u8], numbers: &[&str], texts: &[&str]) -> Table {
    delimited::read(bytes, &wanted(numbers, texts), &Options::default()).expect("a table")
}

fn long_layout() -> Options {
    let long = Long { key_column: "name".to_owned(), value_column: "value".to_owned() };
    Options { long: Some(long), ..Options::default() }
}

/// The values of a key with the x of their rows.
fn points(table: &Table, key: &str, x: &str) -> Vec<(f64, f64)> {
    let (curve, x) = (table.number(key).expect("the key"), table.number(x).expect("the x"));
    assert_eq!((&curve.unreadable, &x.unreadable), (&None, &None));
    let at = |row: &u32| x.values[x.rows.binary_search(row).expect("an x in every row")];
    curve.rows.iter().map(at).zip(curve.values.iter().copied()).collect()
}

fn values(points: &[(f64, f64)]) -> Vec<f64> {
    points.iter().map(|(_, value)| *value).collect()
}

#[test]
fn the_wide_table_has_a_mark_an_index_sparse_rows_and_a_test_row() {
    let table = read(WIDE, &["val_F1", "epoch"], &["run"]);
    assert_eq!((table.origin, table.rows, &table.places), (Origin::Table, 38, &Places::LinesFrom(2)));
    assert_eq!(table.keys, ["run", "epoch", "train_loss", "val_F1", "test_F1"]);
    let points = points(&table, "val_F1", "epoch");
    assert_eq!((points.len(), &values(&points)[..5]), (17, &CURVE[..]));
    let runs = table.text("run").unwrap();
    assert_eq!(runs.names, ["cfgA_0", "cfgA_1", "cfgB_0", "cfgB_1"]);
    assert_eq!((runs.cells.len(), runs.cells[11]), (38, (11, 1)));
}

#[test]
fn the_long_table_has_the_key_in_a_column() {
    let wanted = wanted(&["val_F1", "epoch"], &["config", "fold"]);
    let table = delimited::read(LONG, &wanted, &long_layout()).unwrap();
    assert_eq!(table.keys, ["config", "fold", "epoch", "train_loss", "val_F1"]);
    let points = points(&table, "val_F1", "epoch");
    assert_eq!((points.len(), &values(&points)[..5]), (17, &CURVE[..]));
    assert_eq!(table.text("config").unwrap().names, ["cfgA", "cfgB"]);
}

#[test]
fn the_panel_has_a_column_per_run() {
    let panels = [WIDE, LONG, PANEL, KERAS, LIGHTNING].map(delimited::is_panel);
    assert_eq!(panels, [false, false, true, false, false]);
    let panel = delimited::read_panel(PANEL, &wanted(&["val_F1"], &[]), &Options::default()).unwrap();
    assert_eq!(panel.x, "Step");
    let runs: Vec<_> = panel.into_runs().collect();
    assert_eq!((runs.len(), runs.iter().filter(|run| run.aggregated).count()), (4, 0));
    assert_eq!(runs[0].table.run.name.as_deref(), Some("cfgA_0"));
    assert_eq!(values(&points(&runs[0].table, "val_F1", "Step")), CURVE);
    assert_eq!(points(&runs[2].table, "val_F1", "Step"), [(0.0, 0.93), (1.0, 0.85), (2.0, 0.97)]);
}

#[test]
fn loggers_write_semicolons_missing_words_and_sparse_rows() {
    let keras = read(KERAS, &["accuracy", "val_accuracy", "epoch"], &[]);
    assert_eq!(keras.number("accuracy").unwrap().rows, [1, 2, 3, 4, 5]);
    let repeated = points(&keras, "val_accuracy", "epoch");
    assert_eq!(repeated[1..3], [(1.0, 0.123), (1.0, 0.91)]);
    let lightning = read(LIGHTNING, &["val_F1", "epoch", "step"], &[]);
    assert_eq!(values(&points(&lightning, "val_F1", "step")), CURVE);
    assert_eq!(lightning.number("val_F1").unwrap().rows, [1, 3, 5, 7, 9]);
}

/// Reads the bytes in every layout; none may panic.
fn read_all(bytes: &[u8]) {
    let wanted = wanted(&["val_F1", "val_accuracy", "epoch", "Step"], &["run", "config"]);
    for options in [Options::default(), long_layout(), Options { decimal_comma: true, ..Options::default() }]
    {
        drop(delimited::read(bytes, &wanted, &options));
    }
    let panel = delimited::read_panel(bytes, &wanted, &Options::default());
    let has_runs = |panel: delimited::Panel| panel.into_runs().next().is_some();
    assert!(panel.is_err() || !delimited::is_panel(bytes) || panel.is_ok_and(has_runs));
}

#[test]
fn no_cut_and_no_flipped_bit_makes_a_reader_panic() {
    for sample in [WIDE, LONG, PANEL, KERAS, LIGHTNING] {
        for length in 0..=sample.len() {
            read_all(&sample[..length]);
        }
        for bit in 0..8 * sample.len() {
            let mut bytes = sample.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            read_all(&bytes);
        }
    }
}

#[test]
fn a_table_cut_between_rows_has_the_rows_before_the_cut() {
    let whole = read(WIDE, &["val_F1"], &["run"]);
    let ends = (0..WIDE.len()).filter(|place| WIDE[*place] == b'\n');
    for (rows, end) in ends.enumerate() {
        let cut = read(&WIDE[..=end], &["val_F1"], &["run"]);
        let (known, all) = (&cut.numbers[0], &whole.numbers[0]);
        assert_eq!((cut.rows, cut.texts[0].cells.len()), (rows, rows));
        assert_eq!(known.rows[..], all.rows[..known.rows.len()]);
        assert_eq!(known.values[..], all.values[..known.rows.len()]);
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn published_tables_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/training");
    if !folder.is_dir() {
        return eprintln!("skipped: no folder {}", folder.display());
    }
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let strict = read(&bytes("results_12ShadesSyntax_STRICT.csv"), &["S_RTP", "V_F1+"], &["tag_name"]);
    assert_eq!((strict.rows, strict.keys.len(), strict.numbers[0].rows.len()), (24, 36, 24));
    let model = strict.texts[0].names.iter().position(|name| name == "T5_b_v_j").unwrap();
    assert!((strict.numbers[0].values[model] - 0.822_943_722_943_723).abs() < 1e-12);
    let wanted = wanted(&["R_TP", "V_RTP", "add_vocab"], &["tag_name"]);
    let options = Options { decimal_comma: true, ..Options::default() };
    let comma = delimited::read(&bytes("GIGATABLEAU_FINAL.csv"), &wanted, &options).unwrap();
    assert_eq!((comma.rows, &comma.numbers[0].unreadable), (65, &None));
    assert_eq!((comma.numbers[0].values[1], comma.numbers[1].values[0]), (0.59, 0.2));
    assert!(comma.numbers[2].unreadable.is_some());
    let point = read(&bytes("GIGATABLEAU_FINAL.csv"), &["R_TP"], &[]);
    assert!(point.numbers[0].unreadable.as_ref().unwrap().to_string().contains("--decimal comma"));
}
