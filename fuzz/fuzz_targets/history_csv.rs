//! Delimited histories: tables in the wide and in the long layout and the tables behind panels.
//!
//! Covers: history/csv, history/wandb-panel.
#![no_main]

use calipers_io::history::delimited::{self, Long, Options};
use calipers_io::history::{Table, Wanted};
use libfuzzer_sys::fuzz_target;

fn check(table: &Table) {
    for column in &table.numbers {
        assert_eq!(column.rows.len(), column.values.len());
        assert!(column.rows.is_sorted_by(|earlier, later| earlier < later));
        assert!(column.rows.last().is_none_or(|row| (*row as usize) < table.rows));
    }
    for column in &table.texts {
        assert!(column.cells.is_sorted_by(|(earlier, _), (later, _)| earlier < later));
        assert!(column.cells.iter().all(|(_, name)| (*name as usize) < column.names.len()));
    }
}

fuzz_target!(|bytes: &[u8]| {
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let wanted = Wanted {
        numbers: keys(&["val_F1", "epoch", "Step"]),
        texts: keys(&["run", "epoch"]),
        ..Wanted::default()
    };
    let long = Long { key_column: "name".to_owned(), value_column: "value".to_owned() };
    let wide = Options::default();
    for options in [
        wide.clone(),
        Options { delimiter: Some(b' '), decimal_comma: true, long: None },
        Options { long: Some(long), ..Options::default() },
    ] {
        if let Ok(table) = delimited::read(bytes, &wanted, &options) {
            check(&table);
        }
    }
    if delimited::is_panel(bytes)
        && let Ok(panel) = delimited::read_panel(bytes, &wanted, &wide)
    {
        panel.into_runs().for_each(|run| check(&run.table));
    }
});
