//! Logs of real runs, where they lie beside the checkout.

use std::fs;
use std::path::{Path, PathBuf};

use calipers_io::history::{Field, Table, Wanted, tensorboard, wandb};

#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn samples(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../../../shared/data/training/samples").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no folder {}", folder.display());
    None
}

fn wanted(keys: &[&str]) -> Wanted {
    Wanted {
        numbers: keys.iter().map(|key| (*key).to_owned()).collect(),
        texts: vec!["lr".to_owned()],
        ..Wanted::default()
    }
}

fn events(folder: &Path, keys: &[&str]) -> Table {
    let entry = fs::read_dir(folder).expect("a listed folder").next();
    let bytes = fs::read(entry.expect("one file").expect("a listed file").path()).expect("a listed file");
    assert!(tensorboard::is_events(&bytes));
    tensorboard::read(&[("events", &bytes)], &wanted(keys)).expect("a whole file")
}

#[test]
fn pytorch_event_files_hold_their_points() {
    let Some(samples) = samples("tensorboard/reducer") else { return };
    let sizes = [
        ("strict", "strict/foo", [100; 3]),
        ("lax", "lax/foo", [110, 120, 130]),
        ("duplicate_steps", "dup_steps/foo", [210; 3]),
    ];
    for (folder, tag, sizes) in sizes {
        for (run, size) in (1..).zip(sizes) {
            let table = events(&samples.join(format!("{folder}/run_{run}")), &[tag, "step"]);
            let values = table.number(tag).unwrap();
            assert_eq!((values.values.len(), table.cut_at), (size, None));
            if folder != "lax" {
                let first = values.values.iter().position(|value| *value > 1.9).unwrap();
                let saturated = match (folder, run) {
                    ("strict", 1) => 22,
                    ("duplicate_steps", 1) => 14,
                    _ => 1,
                };
                assert_eq!(first + 1, saturated, "{folder}/run_{run}");
            }
            let steps = &table.number("step").unwrap().values;
            assert_eq!(steps.len(), table.rows);
        }
    }
}

#[test]
fn keras_event_files_are_read_past_their_graph() {
    let Some(samples) = samples("tensorboard/keras_tf1") else { return };
    let table = events(&samples, &["epoch_acc", "epoch_val_acc"]);
    let values = |key: &str| table.number(key).unwrap().values.clone();
    let mut accuracy = vec![1.0; 17];
    assert_eq!(values("epoch_val_acc"), accuracy);
    accuracy[0] = 0.0;
    assert_eq!(values("epoch_acc"), accuracy);
}

#[test]
fn offline_runs_of_the_sdk_hold_their_rows_names_and_configuration() {
    let Some(samples) = samples("wandb-offline/demo") else { return };
    let mut folders: Vec<_> = fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let sizes = [(76, 15), (106, 21), (76, 15), (96, 19), (91, 18), (111, 22)];
    assert_eq!(folders.len(), sizes.len());
    for (place, (folder, (rows, evaluations))) in folders.iter().zip(sizes).enumerate() {
        let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        let keys = ["val.acc", "val_F1_micro", "trainer/global_step", "epoch", "_step"];
        let table = wandb::read(&fs::read(file).unwrap(), &wanted(&keys)).unwrap();
        assert_eq!((table.rows, table.cut_at), (rows, None));
        for key in ["val.acc", "val_F1_micro"] {
            assert_eq!(table.number(key).unwrap().values.len(), evaluations);
        }
        assert_eq!(
            table.number("_step").unwrap().values,
            (0..rows).map(|row| row as f64).collect::<Vec<_>>()
        );
        let rate = if place < 3 { "1e-4" } else { "1e-5" };
        assert_eq!(table.run.field(Field::Group), Some(format!("bert_lr{rate}").as_str()));
        assert_eq!(table.run.name, Some(format!("bert_lr{rate}_{}", place % 3)));
        assert_eq!(table.run.labels["lr"], rate);
    }
}

#[test]
fn an_offline_run_without_history_has_no_rows() {
    let Some(samples) = samples("wandb-offline/no-history") else { return };
    let table =
        wandb::read(&fs::read(samples.join("run-g9dvvkua.wandb")).unwrap(), &wanted(&["_step"])).unwrap();
    assert_eq!(
        (table.rows, table.run.id.as_deref(), table.run.field(Field::Group)),
        (0, Some("g9dvvkua"), None)
    );
}
