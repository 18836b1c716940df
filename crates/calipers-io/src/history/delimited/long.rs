//! The long layout: each row holds one value, and a column says of which key.

use std::collections::{BTreeMap, HashSet};

use calipers_core::Result;

use super::column::{NumberColumn, Picks, RowLines, log_texts};
use super::header::Header;
use super::rows::Rows;
use super::{Long, Options, once_each, text_columns};
use crate::history::{Format, Numbers, Run, Table, Wanted};

/// Reads a table in the long layout.
pub(super) fn read(
    text: &str,
    header: Header,
    wanted: &Wanted,
    options: &Options,
    long: &Long,
) -> Result<Table> {
    let (key_column, value_column) = (header.needed(&long.key_column)?, header.needed(&long.value_column)?);
    let (mut numbers, mut named) = (Vec::new(), BTreeMap::new());
    for key in once_each(&wanted.numbers) {
        match NumberColumn::find(&header, key) {
            Some(column) => numbers.push(column),
            None => {
                named.insert(key, NumberColumn::new(key, Ok(value_column)));
            }
        }
    }
    let mut texts = text_columns(&header, wanted)?;
    let read = numbers.iter().filter_map(|column| column.column);
    let read = read.chain(texts.iter().map(|column| column.column));
    let picks = Picks::new(read.chain([key_column, value_column]));
    let (mut into_numbers, mut into_texts) = (picks.numbers(&mut numbers), picks.texts(&mut texts));
    let (key_cell, value_cell) = (picks.cell(key_column), picks.cell(value_column));
    let mut keys = header.keys;
    keys.retain(|key| *key != long.key_column && *key != long.value_column);
    let mut seen: HashSet<String> = keys.iter().cloned().collect();
    let mut rows = Rows::new(text, header.delimiter, header.width, picks.columns(), header.rows);
    let mut lines = RowLines::new(header.rows.1);
    while let Some((line, cells)) = rows.next()? {
        let row = lines.next(line)?;
        log_texts(&mut into_texts, row, text, cells);
        let key = cells[key_cell].of(text);
        let key = key.trim_ascii();
        if !key.is_empty() && !seen.contains(key) {
            seen.insert(key.to_owned());
            keys.push(key.to_owned());
        }
        let Some(values) = named.get_mut(key) else { continue };
        values.log(row, line, &cells[value_cell].of(text), options.decimal_comma);
        for (cell, column) in &mut into_numbers {
            column.log(row, line, &cells[*cell].of(text), options.decimal_comma);
        }
    }
    let (rows, places) = lines.finish();
    let mut found: BTreeMap<String, Numbers> =
        numbers.into_iter().map(|column| (column.numbers.key.clone(), column.numbers)).collect();
    for (key, column) in named {
        if seen.contains(key) {
            found.insert(key.to_owned(), column.numbers);
        }
    }
    Ok(Table {
        format: Format::Csv,
        run: Run::default(),
        keys,
        rows,
        numbers: wanted.numbers.iter().filter_map(|key| found.remove(key)).collect(),
        texts: texts.into_iter().map(|column| column.texts).collect(),
        places,
        cut_at: None,
    })
}
