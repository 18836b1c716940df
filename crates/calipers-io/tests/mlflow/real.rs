//! Histories that MLflow itself wrote.

use std::path::{Path, PathBuf};

use calipers_io::history::{Table, mlflow_sqlite};

use crate::{bits, folder, wanted};

/// The folder of real histories, where there is one beside the repository.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn samples() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/training/samples/mlflow");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no folder {}", folder.display());
    None
}

/// The two runs that both stores hold.
fn check(mut tables: Vec<Table>) {
    tables.sort_by_key(|table| table.run.name.clone());
    let names: Vec<_> = tables.iter().map(|table| table.run.name.as_deref()).collect();
    assert_eq!(names, [Some("cfgA_0"), Some("cfgA_1")]);
    let values: Vec<_> =
        tables.iter().map(|table| &table.number("val/F1").expect("the metric").values).collect();
    assert_eq!(bits(values[0]), bits(&[0.5, 0.91, 0.95, 0.89, 0.96]));
    assert_eq!(bits(&values[1][..2]), bits(&[0.2, 0.4]));
    assert!(values[1][2].is_nan());
    assert_eq!(bits(&values[1][3..]), bits(&[0.7, f64::INFINITY]));
    for (fold, table) in ["0", "1"].into_iter().zip(&tables) {
        assert_eq!(table.keys, ["val/F1"]);
        assert_eq!(bits(&table.number("step").expect("the steps").values), bits(&[0.0, 1.0, 2.0, 3.0, 4.0]));
        assert_eq!((&table.run.labels["group"][..], &table.run.labels["fold"][..]), ("cfgA", fold));
    }
}

#[test]
fn the_database_holds_the_known_runs() {
    let Some(folder) = samples() else { return };
    let bytes = std::fs::read(folder.join("mlflow.db")).unwrap();
    let database = mlflow_sqlite::Database::open(bytes).unwrap();
    let keys = wanted(&["val/F1", "step"], &["group", "fold"]);
    check(database.runs().unwrap().iter().map(|run| database.read(run, &keys).unwrap()).collect());
}

#[test]
fn the_run_folders_hold_the_known_runs() {
    let Some(samples) = samples() else { return };
    let experiment = samples.join("mlruns/346260437462661249");
    let runs = ["bb02aad38d954cf9a0e433aa36f69bc8", "ec67b6f74a1e4edb8d008eb90a8b7230"];
    let read = |run| folder::read(&experiment.join(run), &["val/F1", "step"], &["group", "fold"]).unwrap();
    check(runs.into_iter().map(read).collect());
}
