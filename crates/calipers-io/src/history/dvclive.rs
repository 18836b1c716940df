//! A run folder of DVCLive: one table of two columns per metric, `step` and the last part of its key.

use std::ops::Range;

use calipers_core::{Error, Result};

use super::{Numbers, Origin, Places, Run, Table, Wanted, delimited};

const STEP: &str = "step";

/// Reads the files of a run, each with its key; those of keys that are not wanted may be empty.
///
/// There is one row for each line of each wanted metric, and the column `step` besides those of the metrics.
pub fn read(files: &[(&str, &[u8])], wanted: &Wanted) -> Result<Table> {
    let mut keys: Vec<String> = Vec::new();
    let mut numbers: Vec<Numbers> = Vec::new();
    let mut steps = Numbers { key: STEP.into(), ..Numbers::default() };
    let (mut rows, mut lines, mut cut_at) = (0_u32, Vec::new(), None);
    for (key, bytes) in files {
        keys.push((*key).to_owned());
        if *key == STEP || !wanted.numbers.iter().any(|wanted| wanted == key) {
            continue;
        }
        let name = key.rsplit('/').next().unwrap_or(key);
        let columns = Wanted { numbers: vec![name.into(), STEP.into()], ..Wanted::default() };
        let about = |error: Error| error.at(format_args!("{key}.tsv"));
        let table = delimited::read(bytes, &columns, &delimited::Options::default()).map_err(about)?;
        cut_at = cut_at.or(table.cut_at);
        let range = rows..rows + table.rows as u32;
        lines.extend((0..table.rows as u32).map(|row| line(&table.places, row)));
        let found = |name: &str| table.number(name).cloned();
        let Some(column) = found(name) else {
            return Err(about(Error::format(format!("no column '{name}'")).found(table.keys.join(", "))));
        };
        numbers.push(Numbers { key: (*key).to_owned(), ..moved(column, &range) });
        if let Some(column) = found(STEP) {
            let Numbers { rows, values, unreadable, .. } = moved(column, &range);
            steps.rows.extend(rows);
            steps.values.extend(values);
            steps.unreadable = steps.unreadable.or(unreadable.map(about));
        }
        rows = range.end;
    }
    if wanted.numbers.iter().any(|key| key == STEP) {
        numbers.push(steps);
    }
    Ok(Table {
        origin: Origin::Dvclive,
        run: Run::default(),
        keys,
        before: 0,
        rows: rows as usize,
        numbers,
        texts: Vec::new(),
        places: Places::Lines(lines),
        cut_at,
    })
}

fn moved(column: Numbers, rows: &Range<u32>) -> Numbers {
    Numbers { rows: column.rows.iter().map(|row| row + rows.start).collect(), ..column }
}

/// The line of a row, as its table has it.
fn line(places: &Places, row: u32) -> u64 {
    match places {
        Places::LinesFrom(first) => first + u64::from(row),
        Places::Lines(lines) => lines.get(row as usize).copied().unwrap_or_default(),
        Places::Numbered(_, before) => before + u64::from(row) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(keys: &[&str]) -> Wanted {
        Wanted { numbers: keys.iter().map(|key| (*key).to_owned()).collect(), ..Wanted::default() }
    }

    #[test]
    fn every_metric_has_its_steps_and_its_key_with_all_parts() {
        let files: &[(&str, &[u8])] =
            &[("epoch", b"step\tepoch\n0\t5\n"), ("val/acc", b"step\tacc\n0\t0.5\n1\t0.75\n"), ("loss", b"")];
        let table = read(files, &wanted(&["val/acc", "step", "epoch"])).unwrap();
        assert_eq!(table.keys, ["epoch", "val/acc", "loss"]);
        assert_eq!((table.rows, &table.number("val/acc").unwrap().rows[..]), (3, &[1, 2][..]));
        assert_eq!(table.number("step").unwrap().rows, [0, 1, 2]);
        assert_eq!(table.places.of(2), "line 3");
    }

    #[test]
    fn a_last_line_that_is_cut_off_is_said() {
        let files: &[(&str, &[u8])] = &[("acc", b"step\tacc\n0\t0.5\n1")];
        let table = read(files, &wanted(&["acc", "step"])).unwrap();
        assert_eq!((table.rows, table.cut_at), (1, Some(15)));
    }

    #[test]
    fn a_file_without_its_column_is_named() {
        let error = read(&[("acc", b"step\tother\n0\t1\n")], &wanted(&["acc"])).unwrap_err().to_string();
        assert!(error.contains("acc.tsv") && error.contains("other"), "{error}");
    }
}
