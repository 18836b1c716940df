//! The wide layout: every key has a column of its own.

use calipers_core::Result;

use super::column::{NumberColumn, Picks, TextColumn, log_texts};
use super::header::Header;
use super::walk::Walk;
use super::{Options, once_each, text_columns};
use crate::history::chunks::Chunks;
use crate::history::{Origin, Run, Table, Wanted};

/// A table in the wide layout.
pub(super) struct WideTable<'a> {
    walk: Walk<'a>,
    keys: Vec<String>,
    numbers: Vec<NumberColumn>,
    texts: Vec<TextColumn>,
    picks: Picks,
    decimal_comma: bool,
}

impl<'a> WideTable<'a> {
    /// Finds the wanted columns.
    pub(super) fn new(walk: Walk<'a>, header: Header, wanted: &Wanted, options: &Options) -> Result<Self> {
        let find = |key| NumberColumn::find(&header, key);
        let numbers: Vec<_> = once_each(&wanted.numbers).filter_map(find).collect();
        let texts = text_columns(&header, wanted)?;
        let read = numbers.iter().filter_map(|column| column.column);
        let picks = Picks::new(read.chain(texts.iter().map(|column| column.column)));
        Ok(Self { walk, keys: header.keys, numbers, texts, picks, decimal_comma: options.decimal_comma })
    }
}

impl Chunks for WideTable<'_> {
    fn next(&mut self) -> Result<Option<Table>> {
        let mut numbers = self.picks.numbers(&mut self.numbers);
        let mut texts = self.picks.texts(&mut self.texts);
        let (before, decimal_comma) = (self.walk.before, self.decimal_comma);
        let lines = self.walk.rows(&self.picks, |row, line, text, cells| {
            for (cell, column) in &mut numbers {
                column.log(row, line, &cells[*cell].of(text), decimal_comma);
            }
            log_texts(&mut texts, row, text, cells);
        })?;
        let Some((rows, places)) = lines.map(|lines| lines.finish()) else { return Ok(None) };
        self.walk.before += rows;
        Ok(Some(Table {
            origin: Origin::Table,
            run: Run::default(),
            keys: self.keys.clone(),
            before,
            rows,
            numbers: self.numbers.iter_mut().map(NumberColumn::take).collect(),
            texts: self.texts.iter_mut().map(TextColumn::take).collect(),
            places,
            cut_at: self.walk.cut_at,
        }))
    }
}
