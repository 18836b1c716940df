//! Databases that are read in their files: the same tables as from their bytes, and nothing written.

use calipers_core::Result;
use calipers_io::file::InputFile;
use calipers_io::history::Table;
use calipers_io::history::mlflow_sqlite::Database;

use crate::database::{GOLDEN, METRICS, RUNS, TAGS, database};
use crate::wanted;

/// What MLflow itself creates, and what older versions of it did.
const INDEXES: [&str; 4] = [
    "",
    "CREATE INDEX i ON metrics (run_uuid);",
    "CREATE INDEX \"odd \"\"name\" ON metrics (run_uuid, \"key\", step); CREATE INDEX i ON metrics (run_uuid);",
    "CREATE INDEX i ON metrics (run_uuid) WHERE step > 1; CREATE INDEX j ON metrics (run_uuid COLLATE NOCASE);",
];

/// Seven runs whose rows lie in no order, one of them deleted, one without metrics.
const ROWS: &str = "INSERT INTO runs VALUES ('a', 'x', 'active'), ('A', 'y', 'active'), ('b', NULL, 'active'),
        ('c', '', 'deleted'), ('d', 'x', 'active'), ('\u{e9}', 'u', 'active'), ('empty', 'v', 'active');
    WITH RECURSIVE step(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM step WHERE s < 40)
        INSERT INTO metrics SELECT key.column1, (s * 37 % 11) / 11.0, s * 7 % 5, run_uuid, 40 - s, s = 9
        FROM step, runs, (VALUES ('m'), ('other'), ('step'), ('M')) AS key WHERE run_uuid <> 'empty';
    INSERT INTO metrics VALUES ('m', 'high', 1, 'b', 30, 0), ('m', 'low', 1, 'b', 4, 0), ('m', 1, 1, 'nobody', 0, 0),
        ('m', 1.7976931348623157e308, 1, 'd', 99, 0), (NULL, 1, 1, 'd', 0, 0), ('m', 1, 1, NULL, 0, 0);
    INSERT INTO tags VALUES ('mlflow.runName', 'z', 'b'), ('fold', '1', 'a'), ('fold', '2', 'd');
    INSERT INTO params VALUES ('fold', '3', 'd'), ('fold', '4', 'b');";

/// Every run of a database, or why it cannot be read.
fn tables(database: Result<Database>) -> Result<Vec<Table>> {
    let database = database?;
    let keys = wanted(&["m", "step", "timestamp", "M"], &["fold"]);
    database.runs()?.iter().map(|run| database.read(run, &keys)).collect()
}

/// The same from a file with that name, which must stay alone in its folder.
fn in_file(name: &str, bytes: &[u8]) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    let file = InputFile::open(&path).expect("the file");
    let found = tables(Database::open_file(&file, &path).map(|database| database.expect("a path")));
    assert_eq!(std::fs::read(&path).expect("the file"), bytes, "the file has changed");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "a file beside it");
    found
}

/// Compares both ways; texts, since a NaN equals nothing.
fn compare(bytes: &[u8], about: &str) {
    let (expected, found) = (tables(Database::open(bytes.to_vec())), in_file("mlflow.db", bytes));
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{about}");
}

#[test]
fn a_database_in_its_file_gives_the_tables_of_its_bytes_with_and_without_an_index() {
    for index in INDEXES {
        let bytes = database(&[METRICS, RUNS, TAGS, ROWS, index]);
        let tables = in_file("mlflow.db", &bytes).unwrap();
        assert_eq!((tables.len(), tables[0].rows, tables[0].keys.len()), (6, 82, 4));
        compare(&bytes, index);
    }
    compare(GOLDEN, "golden");
}

#[test]
fn what_is_wrong_with_a_database_is_the_same_in_its_file() {
    let insert = "INSERT INTO runs VALUES ('r', 'one', 'active');";
    for statements in [
        &["CREATE TABLE cats (name text);"][..],
        &[METRICS],
        &[RUNS, "CREATE TABLE m (a); CREATE VIEW metrics AS SELECT a AS value FROM m;"],
        &[METRICS, "CREATE TABLE runs (run_uuid text); INSERT INTO runs VALUES ('r'), ('r');"],
        &[METRICS, RUNS, insert, "INSERT INTO metrics VALUES ('m', 1, 1, x'00', 0, 0);", INDEXES[1]],
        &[METRICS, RUNS, insert, "INSERT INTO metrics VALUES (x'00', 1, 1, 's', 0, 0);", INDEXES[2]],
    ] {
        let bytes = database(statements);
        assert!(in_file("mlflow.db", &bytes).is_err(), "{statements:?}");
        compare(&bytes, &format!("{statements:?}"));
    }
    for length in [1, 15, 99, 100, 1023, 1024, 5000, 12_288, GOLDEN.len() - 1] {
        compare(&GOLDEN[..length], &format!("{length} bytes"));
    }
}

#[test]
fn damage_is_an_error_or_a_table_in_a_file_too() {
    let bytes = database(&[METRICS, RUNS, TAGS, ROWS, INDEXES[2]]);
    for bit in (0..8 * bytes.len()).step_by(1 + bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        drop(in_file("mlflow.db", &damaged));
    }
}

#[test]
fn a_write_ahead_log_beside_the_file_is_neither_read_nor_touched() {
    let mut bytes = database(&[METRICS, RUNS, TAGS, ROWS, INDEXES[2]]);
    bytes[18..20].copy_from_slice(&[2, 2]);
    compare(&bytes, "write-ahead mode");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mlflow.db");
    std::fs::write(&path, &bytes).unwrap();
    for ending in ["-wal", "-shm", "-journal"] {
        std::fs::write(folder.path().join(format!("mlflow.db{ending}")), "not one").unwrap();
    }
    let file = InputFile::open(&path).unwrap();
    assert_eq!(tables(Database::open_file(&file, &path).map(Option::unwrap)).unwrap().len(), 6);
    for ending in ["-wal", "-shm", "-journal"] {
        assert_eq!(std::fs::read(folder.path().join(format!("mlflow.db{ending}"))).unwrap(), b"not one");
    }
}

#[test]
fn a_name_is_a_name_whatever_it_means_in_an_address() {
    for name in ["a?mode=rwc&x=1.db", "100%41.db", "a#b.db", "a b\u{e9}.db", "file:a.db", ":memory:"] {
        assert_eq!(in_file(name, GOLDEN).unwrap().len(), 4, "{name}");
    }
}

#[test]
fn a_path_that_is_too_long_for_sqlite_is_left_to_a_reader_of_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join(["x".repeat(200), "y".repeat(200), "z".repeat(200)].join("/"));
    std::fs::create_dir_all(&deep).unwrap();
    let path = deep.join("mlflow.db");
    std::fs::write(&path, GOLDEN).unwrap();
    assert!(Database::open_file(&InputFile::open(&path).unwrap(), &path).unwrap().is_none());
}

#[test]
fn a_file_that_was_replaced_since_it_was_opened_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("mlflow.db"), folder.path().join("other.db"));
    std::fs::write(&path, GOLDEN).unwrap();
    std::fs::write(&other, GOLDEN).unwrap();
    let file = InputFile::open(&path).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let error = Database::open_file(&file, &path).err().unwrap().to_string();
    assert!(error.contains("changed while it was read"), "{error}");
}

#[test]
fn an_index_that_leads_to_other_rows_than_the_table_has_is_refused() {
    // Every page of this file is sound; only two indexes of equal length have been exchanged.
    let exchange =
        "CREATE TABLE another AS SELECT 'a' AS run_uuid FROM metrics; CREATE INDEX j ON another (run_uuid);
        PRAGMA writable_schema = ON;
        CREATE TEMP TABLE roots AS SELECT name, rootpage FROM sqlite_schema WHERE name IN ('i', 'j');
        UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM roots WHERE name <> sqlite_schema.name)
        WHERE name IN ('i', 'j');";
    let bytes = database(&[METRICS, RUNS, TAGS, ROWS, INDEXES[1], exchange]);
    let error = in_file("mlflow.db", &bytes).unwrap_err().to_string();
    assert!(error.contains("an index to") && error.contains("copy the file again"), "{error}");
}

#[test]
fn ten_thousand_runs_are_read_from_a_file() {
    let rows = "WITH RECURSIVE run(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM run WHERE n < 9999)
            INSERT INTO runs SELECT printf('%032d', n), 'run ' || n, 'active' FROM run;
        WITH RECURSIVE step(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM step WHERE s < 4)
            INSERT INTO metrics SELECT 'm', s / 5.0, s, run_uuid, s, 0 FROM step, runs;";
    for index in &INDEXES[..3] {
        let tables = in_file("mlflow.db", &database(&[METRICS, RUNS, rows, index]));
        let tables = tables.unwrap();
        assert_eq!((tables.len(), tables.iter().map(|table| table.rows).sum::<usize>()), (10_000, 50_000));
    }
}
