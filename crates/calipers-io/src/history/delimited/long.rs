//! The long layout: each row holds one value, and a column says of which key.

use std::collections::{BTreeMap, HashSet};

use calipers_core::Result;

use super::column::{NumberColumn, Picks, TextColumn, log_texts};
use super::header::Header;
use super::walk::Walk;
use super::{Long, Options, once_each, text_columns};
use crate::history::chunks::Chunks;
use crate::history::{Origin, Run, Table, Wanted};

/// A table in the long layout.
pub(super) struct LongTable<'a> {
    walk: Walk<'a>,
    /// The columns, then the keys in the order found.
    keys: Vec<String>,
    seen: HashSet<String>,
    /// The wanted numbers, each once, in order.
    wanted: Vec<String>,
    /// Those that are columns.
    numbers: Vec<NumberColumn>,
    /// Those that are keys.
    named: BTreeMap<String, NumberColumn>,
    texts: Vec<TextColumn>,
    picks: Picks,
    /// Which of the picked cells hold the key and the value.
    cells: (usize, usize),
    decimal_comma: bool,
}

impl<'a> LongTable<'a> {
    /// Finds the wanted columns; what is no column is a key.
    pub(super) fn new(
        walk: Walk<'a>,
        header: Header,
        wanted: &Wanted,
        options: &Options,
        long: &Long,
    ) -> Result<Self> {
        let (key_column, value_column) =
            (header.needed(&long.key_column)?, header.needed(&long.value_column)?);
        let (mut numbers, mut named) = (Vec::new(), BTreeMap::new());
        for key in once_each(&wanted.numbers) {
            match NumberColumn::find(&header, key) {
                Some(column) => numbers.push(column),
                None => {
                    named.insert(key.to_owned(), NumberColumn::new(key, Ok(value_column)));
                }
            }
        }
        let texts = text_columns(&header, wanted)?;
        let read = numbers.iter().filter_map(|column| column.column);
        let read = read.chain(texts.iter().map(|column| column.column));
        let picks = Picks::new(read.chain([key_column, value_column]));
        let mut keys = header.keys;
        keys.retain(|key| *key != long.key_column && *key != long.value_column);
        Ok(Self {
            walk,
            seen: keys.iter().cloned().collect(),
            keys,
            wanted: once_each(&wanted.numbers).map(String::from).collect(),
            numbers,
            named,
            texts,
            cells: (picks.cell(key_column), picks.cell(value_column)),
            picks,
            decimal_comma: options.decimal_comma,
        })
    }
}

impl Chunks for LongTable<'_> {
    fn next(&mut self) -> Result<Option<Table>> {
        let Self { walk, keys, seen, named, decimal_comma, .. } = self;
        let mut numbers = self.picks.numbers(&mut self.numbers);
        let mut texts = self.picks.texts(&mut self.texts);
        let (before, (key_cell, value_cell)) = (walk.before, self.cells);
        let lines = walk.rows(&self.picks, |row, line, text, cells| {
            log_texts(&mut texts, row, text, cells);
            let key = cells[key_cell].of(text);
            let key = key.trim_ascii();
            if !key.is_empty() && !seen.contains(key) {
                seen.insert(key.to_owned());
                keys.push(key.to_owned());
            }
            let Some(values) = named.get_mut(key) else { return };
            values.log(row, line, &cells[value_cell].of(text), *decimal_comma);
            for (cell, column) in &mut numbers {
                column.log(row, line, &cells[*cell].of(text), *decimal_comma);
            }
        })?;
        let Some((rows, places)) = lines.map(|lines| lines.finish()) else { return Ok(None) };
        walk.before += rows;
        let mut found: BTreeMap<&str, &mut NumberColumn> = named
            .iter_mut()
            .filter(|(key, _)| seen.contains(*key))
            .map(|(key, column)| (&**key, column))
            .collect();
        let mut columns = self.numbers.iter_mut().peekable();
        let wanted =
            self.wanted.iter().filter_map(|key| match columns.next_if(|column| column.numbers.key == *key) {
                Some(column) => Some(column.take()),
                None => found.remove(&**key).map(NumberColumn::take),
            });
        Ok(Some(Table {
            origin: Origin::Table,
            run: Run::default(),
            keys: keys.clone(),
            before,
            rows,
            numbers: wanted.collect(),
            texts: self.texts.iter_mut().map(TextColumn::take).collect(),
            places,
            cut_at: walk.cut_at,
        }))
    }
}
