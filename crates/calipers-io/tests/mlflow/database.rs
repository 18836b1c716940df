//! Databases of the tracking server.

use std::time::{Duration, Instant};

use calipers_core::Result;
use calipers_io::history::Origin;
use calipers_io::history::mlflow_sqlite::{Database, is_sqlite};
use proptest::prelude::*;
use rusqlite::{Connection, MAIN_DB};

use crate::{CURVES, bits, values, wanted};

pub(crate) const GOLDEN: &[u8] = include_bytes!("../../../../oracles/training/formats/mlflow.db");

pub(crate) const METRICS: &str =
    "CREATE TABLE metrics (\"key\" varchar(250), value float, timestamp bigint, run_uuid varchar(32),
    step bigint default 0, is_nan boolean default 0);";
pub(crate) const RUNS: &str =
    "CREATE TABLE runs (run_uuid varchar(32) primary key, name varchar(250), lifecycle_stage varchar(20));";
pub(crate) const TAGS: &str =
    "CREATE TABLE tags (\"key\" varchar(250), value varchar(8000), run_uuid varchar(32));
    CREATE TABLE params (\"key\" varchar(250), value varchar(8000), run_uuid varchar(32));";

/// The bytes of a database after these statements.
pub(crate) fn database(statements: &[&str]) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().expect("a database");
    for statement in statements {
        connection.execute_batch(statement).expect("a statement");
    }
    connection.serialize(MAIN_DB).expect("its bytes").to_vec()
}

fn open(statements: &[&str]) -> Result<Database> {
    Database::open(database(statements))
}

fn refused(statements: &[&str]) -> String {
    open(statements).err().expect("an error").to_string()
}

#[test]
fn the_golden_database_holds_the_golden_curves_and_no_deleted_run() {
    assert!(is_sqlite(GOLDEN) && !is_sqlite(b"SQLite format 4\0"));
    let database = Database::open(GOLDEN.to_vec()).unwrap();
    let runs = database.runs().unwrap();
    assert_eq!(runs.len(), 4);
    for ((name, _, curve), id) in CURVES.into_iter().zip(&runs) {
        let table =
            database.read(id, &wanted(&["val/F1", "step", "timestamp"], &["config", "gone"])).unwrap();
        assert_eq!((table.origin, table.keys.as_slice()), (Origin::Mlflow, &["val/F1".to_owned()][..]));
        assert_eq!(values(&table, "val/F1")[..curve.len()], bits(curve), "{name}");
        assert_eq!((table.run.name.as_deref(), table.run.id.as_ref()), (Some(name), Some(id)));
        assert_eq!(table.run.labels["config"], name[..4]);
        assert_eq!(table.run.labels.len(), 1);
    }
    let first = database.read(&runs[0], &wanted(&["step", "val/F1"], &[])).unwrap();
    assert_eq!(values(&first, "step"), bits(&[0.0, 1.0, 2.0, 3.0, 4.0, 99.0]));
    assert!(first.number("val/F1").unwrap().values[5].is_nan());
    assert!(database.read("ffffffffffffffffffffffffffffffff", &wanted(&[], &[])).is_err());
}

#[test]
fn infinities_and_nan_are_read_as_they_are_stored() {
    let rows = "INSERT INTO runs VALUES ('r', 'one', 'active');
        INSERT INTO metrics VALUES ('a', 1.7976931348623157e308, 1, 'r', 0, 0), ('a', -1.7976931348623157e308, 1, 'r', 1, 0),
            ('a', 0, 1, 'r', 2, 1), ('a', 7, 1, 'r', 3, 0), ('a', 1.7976931348623155e308, 1, 'r', 4, 0);";
    let database = open(&[METRICS, RUNS, rows]).unwrap();
    let found = database.read("r", &wanted(&["a"], &[])).unwrap().number("a").unwrap().values.clone();
    assert!(found[2].is_nan());
    let numbers = [found[0], found[1], found[3], found[4]];
    assert_eq!(bits(&numbers), bits(&[f64::INFINITY, f64::NEG_INFINITY, 7.0, f64::MAX.next_down()]));
}

#[test]
fn points_are_ordered_by_step_timestamp_and_value() {
    let rows = "INSERT INTO runs VALUES ('r', 'one', NULL);
        INSERT INTO metrics VALUES ('b', 1, 9, 'r', 0, 0), ('a', 5, 2, 'r', 1, 0), ('a', 4, 2, 'r', 1, 0),
            ('a', 3, 1, 'r', 1, 0), ('a', 2, 9, 'r', 0, 0), ('c', 8, 1, 'r', 0, 0), ('a', 9, 1, 'other', 0, 0);";
    let database = open(&[METRICS, RUNS, rows]).unwrap();
    let table = database.read("r", &wanted(&["timestamp", "a", "b"], &[])).unwrap();
    assert_eq!(values(&table, "a"), bits(&[2.0, 3.0, 4.0, 5.0]));
    assert_eq!(table.number("b").unwrap().rows, [4]);
    assert_eq!(values(&table, "timestamp"), bits(&[9.0, 1.0, 2.0, 2.0, 9.0]));
    assert_eq!((table.rows, table.keys), (5, vec!["a".to_owned(), "b".into(), "c".into()]));
}

#[test]
fn runs_are_named_by_name_then_tag_then_identifier() {
    let rows = "INSERT INTO runs VALUES ('4', 'z', 'active'), ('3', '', 'active'), ('2', NULL, 'active'), ('1', 'z', 'active');
        INSERT INTO tags VALUES ('mlflow.runName', 'y', '3'), ('mlflow.runName', 'w', '4'), ('fold', 'tag', '1');
        INSERT INTO params VALUES ('fold', 'param', '1'), ('fold', 'param', '2');";
    let database = open(&[METRICS, RUNS, TAGS, rows]).unwrap();
    let runs = database.runs().unwrap();
    assert_eq!(runs, ["2", "3", "1", "4"]);
    let table = |id: &str| database.read(id, &wanted(&[], &["fold"])).unwrap();
    let names: Vec<_> = runs.iter().map(|id| table(id).run.name.unwrap()).collect();
    assert_eq!(names, ["2", "y", "z", "z"]);
    assert_eq!((&table("1").run.labels["fold"][..], &table("2").run.labels["fold"][..]), ("tag", "param"));
    assert!(table("4").run.labels.is_empty());
}

#[test]
fn old_schemas_without_steps_or_stages_are_read() {
    let schema = "CREATE TABLE metrics (run_uuid text, timestamp bigint, value float, \"key\" text);
        CREATE TABLE runs (run_uuid text); INSERT INTO runs VALUES ('r');
        INSERT INTO metrics VALUES ('r', 1, 0.5, 'a'), ('r', 2, 0.6, 'a');";
    let table = open(&[schema]).unwrap().read("r", &wanted(&["a", "step"], &[])).unwrap();
    assert_eq!(values(&table, "step"), bits(&[0.0, 0.0]));
    assert_eq!(table.run.name.as_deref(), Some("r"));
}

#[test]
fn a_file_in_write_ahead_mode_is_read_from_its_bytes() {
    let mut bytes = GOLDEN.to_vec();
    bytes[18..20].copy_from_slice(&[2, 2]);
    let database = Database::open(bytes).unwrap();
    assert_eq!(database.runs().unwrap().len(), 4);
}

#[test]
fn other_databases_name_the_missing_table_or_column() {
    assert!(Database::open(Vec::new()).err().unwrap().to_string().contains("empty"));
    assert!(refused(&[]).contains("no tables"));
    let error = refused(&["CREATE TABLE cats (name text);"]);
    assert!(error.contains("`metrics` is missing") && error.contains("cats"), "{error}");
    assert!(refused(&[METRICS]).contains("`runs` is missing"));
    let error = refused(&[RUNS, "CREATE TABLE metrics (\"key\" text, run_uuid text, timestamp bigint);"]);
    assert!(error.contains("column `value`") && error.contains("table `metrics`"), "{error}");
    let view = "CREATE TABLE m (a); CREATE VIEW metrics AS SELECT a AS value FROM m;";
    assert!(refused(&[RUNS, view]).contains("`metrics` is missing"));
    let virtual_table = "CREATE VIRTUAL TABLE metrics USING fts5(\"key\", value, timestamp, run_uuid);";
    assert!(refused(&[RUNS, virtual_table]).contains("`metrics` is missing"));
    let computed =
        "CREATE TABLE metrics (\"key\" text, run_uuid text, timestamp bigint, value AS (zeroblob(9)));";
    assert!(refused(&[RUNS, computed]).contains("column `value`"));
}

#[test]
fn a_value_that_is_no_number_spoils_only_its_metric() {
    let rows = "INSERT INTO runs VALUES ('r', 'one', 'active');
        INSERT INTO metrics VALUES ('a', 'high', 1, 'r', 3, 0), ('b', 0.5, 1, 'r', 0, 0), ('c', NULL, 1, 'r', 0, 0);";
    let database = open(&[METRICS, RUNS, rows]).unwrap();
    let table = database.read("r", &wanted(&["a", "b", "c"], &[])).unwrap();
    let error = table.number("a").unwrap().unreadable.clone().unwrap().to_string();
    assert!(error.contains("`high`") && error.contains("step 3"), "{error}");
    assert_eq!(values(&table, "b"), bits(&[0.5]));
    assert!(table.number("c").unwrap().unreadable.is_some());
}

#[test]
fn two_runs_of_one_identifier_are_refused() {
    let rows = "CREATE TABLE runs (run_uuid text, name text); INSERT INTO runs VALUES ('r', 'a'), ('s', 'b'), ('r', 'c');";
    assert!(refused(&[METRICS, rows]).contains("same run_uuid"));
}

#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    for length in 0..GOLDEN.len() {
        assert!(Database::open(GOLDEN[..length].to_vec()).is_err(), "{length}");
    }
    let error = Database::open(GOLDEN[..12_288].to_vec()).err().unwrap().to_string();
    assert!(error.contains("12288 bytes") && error.contains("13312 bytes"), "{error}");
}

#[test]
fn flipped_bits_are_an_error_or_a_table() {
    let keys = wanted(&["val/F1", "step"], &["config"]);
    for bit in (0..8 * GOLDEN.len()).step_by(61) {
        let mut bytes = GOLDEN.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Ok(database) = Database::open(bytes) else { continue };
        for run in database.runs().unwrap() {
            if let Ok(table) = database.read(&run, &keys) {
                assert!(
                    table.numbers.iter().all(|column| column.rows.len() == column.values.len()),
                    "bit {bit}"
                );
            }
        }
    }
}

#[test]
fn ten_thousand_runs_are_read_in_one_pass() {
    let rows = "WITH RECURSIVE run(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM run WHERE n < 9999)
            INSERT INTO runs SELECT printf('%032d', n), 'run ' || n, 'active' FROM run;
        WITH RECURSIVE step(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM step WHERE s < 4)
            INSERT INTO metrics SELECT 'a', s / 5.0, s, run_uuid, s, 0 FROM runs, step;
        INSERT INTO tags SELECT 'fold', name, run_uuid FROM runs;";
    let bytes = database(&[METRICS, RUNS, TAGS, rows]);
    let start = Instant::now();
    let database = Database::open(bytes).unwrap();
    let keys = wanted(&["a", "step"], &["fold"]);
    let runs = database.runs().unwrap();
    assert_eq!(runs.len(), 10_000);
    for run in &runs {
        let table = database.read(run, &keys).unwrap();
        assert_eq!((table.rows, table.run.name.as_ref()), (5, table.run.labels.get("fold")));
    }
    // A scan for every run would take minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn any_damage_is_an_error_or_tables(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..16),
    ) {
        let mut bytes = GOLDEN.to_vec();
        for (place, byte) in damage {
            bytes[place.index(GOLDEN.len())] = byte;
        }
        if let Ok(database) = Database::open(bytes) {
            for run in database.runs().unwrap() {
                drop(database.read(&run, &wanted(&["val/F1", "step"], &["config"])));
            }
        }
    }
}
