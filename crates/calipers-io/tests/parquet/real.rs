//! Files that other programs wrote.

use std::path::{Path, PathBuf};

use calipers_io::history::parquet;

use crate::{cells, wanted};

/// The folder of real histories, where there is one beside the repository.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn samples() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/training/samples");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no folder {}", folder.display());
    None
}

#[test]
fn an_exported_history_has_its_rows_in_five_groups() {
    let Some(folder) = samples() else { return };
    let bytes = std::fs::read(folder.join("wandb_history.parquet")).unwrap();
    let key = "Mean actual goods consumed";
    let table = parquet::read(&bytes, &wanted(&["_step", key], &[])).unwrap();
    let values = &table.number(key).unwrap().values;
    assert_eq!((table.rows, values.len()), (999, 999));
    assert_eq!(cells(&table, "_step").len(), 999);
    assert_eq!(values.iter().position(|value| *value > 1.5), Some(311));
    assert!(values[311] > values[998]);
}

#[test]
fn three_compressions_hold_the_known_curves() {
    let Some(folder) = samples() else { return };
    for (file, want) in [
        ("cfgA_0", &[0.5, 0.91, 0.95, 0.89, 0.96][..]),
        ("cfgA_1", &[0.2, 0.4, 0.6, 0.7, 0.8]),
        ("cfgA_2", &[0.93, 0.85, 0.97]),
    ] {
        let bytes = std::fs::read(folder.join(format!("parquet/{file}.parquet"))).unwrap();
        let table = parquet::read(&bytes, &wanted(&["val_F1"], &[])).unwrap();
        let found: Vec<u64> = cells(&table, "val_F1").into_iter().map(|(_, bits)| bits).collect();
        let want: Vec<u64> = want.iter().map(|value: &f64| value.to_bits()).collect();
        assert_eq!(found, want, "{file}");
        assert!(table.rows > want.len(), "{file} has rows without the key");
    }
}
